"""What the keys of the monitor do, for `console.press` and the help ``?``.

A key that `key_table` does not have for the monitor does nothing in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agentmux.core.terminal.keys.key_commands import MONITOR, KeyCommand, KeyPlace
from agentmux.core.terminal.keys.key_table import KEYS
from agentmux.core.terminal.keys.keys import Key, Pressed

DETACH: Final = "detach: prefix d"
"""How to detach from a session, for use while tmux's key bindings are not known."""

CONFIRMED: Final = frozenset(
    {
        *(KeyCommand.APPROVE, KeyCommand.END, KeyCommand.RESUME, KeyCommand.RESTART),
        *(KeyCommand.SKIP, KeyCommand.TYPE),
    }
)
"""The commands that need a second press of their key, or a yes, as a confirmation."""

READS: Final = frozenset({KeyCommand.DIFF, KeyCommand.SUMMARY, KeyCommand.KEYS})
"""The commands that show a text."""

MOVES: Final = frozenset(each.command for each in KEYS.lines_at(KeyPlace.READS))
"""The commands that scroll the shown text."""


def name_key(key: Pressed) -> str:
    """Return the name of a key, as in `KeyLine.keys`: such as ``pagedown``, ``space`` or ``a``."""
    name = key if isinstance(key, str) else key.value
    return "space" if name == " " else name


def command_of(key: Pressed, *, reads: bool, decides: bool) -> KeyCommand:
    """Return what a key does while no change request is typed; ``NOTHING`` if it does nothing now.

    Args:
        key: The key.
        reads: Whether a text is shown.
        decides: Whether a decision of the user would count now.
    """
    reading = (KeyPlace.READS,) * reads
    return KEYS.find(name_key(key), KeyPlace.ALWAYS, *reading, *(KeyPlace.DECIDES,) * decides)


def writing_command(key: Pressed) -> KeyCommand:
    """Return what a key does while a change request is typed; ``NOTHING`` if it has no meaning."""
    return KEYS.find(name_key(key), KeyPlace.WRITES)


def why_not(key: Pressed) -> str:
    """Return the message for a user who pressed a key that does nothing now; empty for a paste.

    It does not check whether ``key`` does something.
    """
    if key is Key.PASTE:
        return ""
    reasons = {
        KeyPlace.DECIDES: ", nothing is to be decided now",
        KeyPlace.READS: ", no text is shown",
    }
    places = (each.place for each in KEYS.lines_at(*reasons) if name_key(key) in each.keys)
    why = reasons.get(next(places, KeyPlace.ALWAYS), "")
    return f"`{name_key(key)}` does nothing here{why}: ? shows all keys"


def help_lines(leave: str) -> tuple[str, ...]:
    """Return the text that ``?`` shows, as lines: the keys under their headings, and how to leave.

    Args:
        leave: How the user can leave the session, such as ``C-b d detaches``.
    """
    lines = (
        *KEYS.help_lines(*MONITOR[:2]),
        *("To leave; all goes on without you", f"  {leave}", *_spell_key(leave), ""),
        *KEYS.help_lines(*MONITOR[2:]),
    )
    return lines[:-1]


_OF_TMUX: Final = re.compile(r"C-(\w) (\S+) ")


def _spell_key(leave: str) -> Iterator[str]:
    """Yield a line that explains how to press the first key in ``leave``, such as ``C-b d``."""
    for prefix, key in _OF_TMUX.findall(leave)[:1]:
        yield f"  Ctrl and {prefix} together, let go, then {key}"
