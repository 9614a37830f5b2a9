"""The table of keys of the monitor, which `console.press` and the help ``?`` read.

A key that is not in this table does nothing in the monitor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.terminal.keys.keys import Key, Pressed


class MonitorCommand(Enum):
    """What a key of the monitor does."""

    NOTHING = "nothing"
    ASK = "ask"
    """Ask the user to confirm with a second press: call `console.ask` with a question."""
    APPROVE = "approve"
    CHANGE = "change"
    """Request changes; the request is the ``draft`` of the console before the key."""
    END = "end"
    DIFF = "diff"
    SUMMARY = "summary"
    GO = "go"
    """Go to the pane of the seat whose number was pressed."""
    GO_WAITING = "go waiting"
    RESUME = "resume"
    RESTART = "restart"
    SKIP = "skip"
    TYPE = "type"
    # These commands only change the console.
    WRITE = "write"
    KEYS = "keys"
    LINE_DOWN = "line down"
    LINE_UP = "line up"
    PAGE_DOWN = "page down"
    PAGE_UP = "page up"
    FIRST_PAGE = "first page"
    LAST_PAGE = "last page"
    BACK = "back"
    SEND = "send"
    BEGINNING = "beginning"
    ERASE = "erase"
    CLEAR = "clear"


class KeyCondition(Enum):
    """When a key of the monitor works; the value is a heading in the help."""

    DECIDES = "When it is your turn to decide"
    ALWAYS = "At any time"
    READS = "While a text is shown"
    WRITES = "While you write what should change"


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorKey:
    """One line of the table of keys.

    Attributes:
        keys: The keys; all of them do the same. Empty if the line is only for the help.
        shown: The keys as the help shows them.
        says: What they do, as the help shows it.
        command: The command that they stand for.
        when: The condition under which they work.
    """

    keys: tuple[Pressed, ...]
    shown: str
    says: str
    command: MonitorCommand
    when: KeyCondition


def _line(
    when: KeyCondition, command: MonitorCommand, keys: tuple[Pressed, ...], shown: str, says: str
) -> MonitorKey:
    return MonitorKey(keys=keys, shown=shown, says=says, command=command, when=when)


_C = MonitorCommand
_D, _A, _R, _W = KeyCondition.DECIDES, KeyCondition.ALWAYS, KeyCondition.READS, KeyCondition.WRITES

MONITOR_KEYS: Final = (
    _line(_D, _C.APPROVE, ("a", "A"), "a", "approve: shows what would happen, then asks"),
    _line(_D, _C.WRITE, ("c", "C"), "c", "ask for changes: write what should change"),
    _line(_A, _C.DIFF, ("d", "D"), "d", "the diff: every change so far"),
    _line(_A, _C.SUMMARY, ("s", "S"), "s", "the whole summary"),
    _line(_A, _C.GO, tuple("123456789"), "1-9", "go to the pane of the seat with this number"),
    _line(_A, _C.GO_WAITING, ("o", "O"), "o", "go to the seat that waits for you"),
    _line(_A, _C.RESUME, ("R",), "R", "resume all panes that wait for your choice (asks)"),
    _line(_A, _C.RESTART, ("r",), "r", "start a seat again that failed or ended (asks)"),
    _line(_A, _C.SKIP, ("x",), "x", "go on without a check that could not run (asks)"),
    _line(_A, _C.TYPE, ("t",), "t", "type a waiting prompt, whatever the screen shows (asks)"),
    _line(_A, _C.KEYS, ("?",), "?", "all keys"),
    _line(_A, _C.NOTHING, (), "y", "yes to what is asked, as its own key again"),
    _line(_A, _C.BACK, (Key.ESCAPE, "q"), "Esc q", "close a text; take back a question"),
    _line(_A, _C.END, (Key.INTERRUPT,), "Ctrl-C", "end the orchestrator (asks); agents go on"),
    _line(_A, _C.NOTHING, (), "any key", "close the session once it is done"),
    _line(_R, _C.LINE_DOWN, (Key.DOWN, "j"), "\u2193 j", "a line down"),
    _line(_R, _C.LINE_UP, (Key.UP, "k"), "\u2191 k", "a line up"),
    _line(_R, _C.PAGE_DOWN, (Key.PAGE_DOWN, " "), "PgDn Space", "the next page"),
    _line(_R, _C.PAGE_UP, (Key.PAGE_UP, "b"), "PgUp b", "the page before"),
    _line(_R, _C.FIRST_PAGE, (Key.HOME, "g"), "Home g", "the beginning"),
    _line(_R, _C.LAST_PAGE, (Key.END, "G"), "End G", "the end"),
    _line(_W, _C.SEND, (Key.ENTER,), "Enter", "send it; a second Enter confirms"),
    _line(_W, _C.BEGINNING, (Key.TAB,), "Tab", "choose where the next cycle begins"),
    _line(_W, _C.ERASE, (Key.BACKSPACE,), "Backspace", "erase the last letter"),
    _line(_W, _C.CLEAR, (Key.CLEAR,), "Ctrl-U", "erase all"),
    _line(_W, _C.BACK, (Key.ESCAPE, Key.INTERRUPT), "Esc", "cancel"),
)  # fmt: skip

DETACH: Final = "detach: prefix d"
"""How to detach from a session, for use while tmux's key bindings are not known."""

CONFIRMED: Final = frozenset(
    {
        _C.APPROVE,
        _C.END,
        _C.RESUME,
        _C.RESTART,
        _C.SKIP,
        _C.TYPE,
    }
)
"""The commands that need a second press of their key as a confirmation."""

YES: Final = frozenset({"y", "Y"})
"""The keys that answer any question with yes, like a second press of the command's own key."""

READS: Final = frozenset({MonitorCommand.DIFF, MonitorCommand.SUMMARY, MonitorCommand.KEYS})
"""The commands that show a text."""


MOVES: Final = frozenset(each.command for each in MONITOR_KEYS if each.when is KeyCondition.READS)
"""The commands that scroll the shown text."""


def command_of(key: Pressed, *, reads: bool, decides: bool) -> MonitorCommand:
    """Return what a key does while no change request is typed; ``NOTHING`` if it does nothing now.

    Args:
        key: The key.
        reads: Whether a text is shown.
        decides: Whether a decision of the user would count now.
    """
    held = {
        KeyCondition.ALWAYS,
        *([KeyCondition.READS] if reads else ()),
        *([KeyCondition.DECIDES] if decides else ()),
    }
    return next(
        (e.command for e in MONITOR_KEYS if key in e.keys and e.when in held),
        MonitorCommand.NOTHING,
    )


def writing_command(key: Pressed) -> MonitorCommand:
    """Return what a key does while a change request is typed; ``NOTHING`` if it has no meaning."""
    return next(
        (e.command for e in MONITOR_KEYS if key in e.keys and e.when is KeyCondition.WRITES),
        MonitorCommand.NOTHING,
    )


def why_not(key: Pressed) -> str:
    """Return the message for a user who pressed a key that does nothing now; empty for a paste.

    It does not check whether ``key`` does something.
    """
    if key is Key.PASTE:
        return ""
    name = key if isinstance(key, str) else key.value
    reasons = {
        KeyCondition.DECIDES: "nothing is to be decided now",
        KeyCondition.READS: "no text is shown",
    }
    known = next((reasons[e.when] for e in MONITOR_KEYS if key in e.keys and e.when in reasons), "")
    return f"`{name}` does nothing here{f', {known}' if known else ''}: ? shows all keys"


def help_lines(leave: str) -> tuple[str, ...]:
    """Return the text that ``?`` shows, as lines: the keys under their headings, and how to leave.

    Args:
        leave: How the user can leave the session, such as ``C-b d detaches``.
    """
    lines: list[str] = []
    for when in KeyCondition:
        lines += [when.value]
        keys = (each for each in MONITOR_KEYS if each.when is when)
        lines += [f"  {each.shown:<11}{each.says}" for each in keys]
        if when is KeyCondition.ALWAYS:
            lines += ["", "To leave; all goes on without you", f"  {leave}", *_spell_key(leave)]
        lines += [""]
    return tuple(lines[:-1])


_OF_TMUX: Final = re.compile(r"C-(\w) (\S+) ")


def _spell_key(leave: str) -> Iterator[str]:
    """Yield a line that explains how to press the first key in ``leave``, such as ``C-b d``."""
    for prefix, key in _OF_TMUX.findall(leave)[:1]:
        yield f"  Ctrl and {prefix} together, let go, then {key}"
