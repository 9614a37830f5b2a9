"""The state of the monitor's input, and how a key changes it. Pure.

`key_table` has the table of keys.
"""

from __future__ import annotations

from typing import Final

from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.terminal.keys.key_commands import KeyCommand
from agentmux.core.terminal.keys.keys import Pressed
from agentmux.core.terminal.keys.monitor_keys import (
    CONFIRMED,
    MOVES,
    READS,
    command_of,
    why_not,
    writing_command,
)

ANSWER_S: Final = 10.0
"""How many seconds the monitor waits for the second press of a key that needs two."""

READ_S: Final = 60.0
"""As `ANSWER_S`, for a question with a text to read first; scrolling starts the time again."""

REST_S: Final = 0.25
"""How many seconds after the question a second press of a letter begins to count.

A word that was meant for an agent, or a paste, may contain the same letter twice.
"""

DRAFT_MAX: Final = 4000
"""The maximum length, in characters, of a change request that is typed in the monitor.

A longer one can be passed to the command line as a file.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPage:
    """The part of a text that fits on the screen.

    Attributes:
        rows: How many lines of the text the screen shows.
        last: The number of the last line, from 0, that may be at the top of the screen.
    """

    rows: int = 1
    last: int = 0


_NO_PAGE: Final = TextPage()
_LEAVES: Final = frozenset({KeyCommand.BACK, KeyCommand.QUIT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """What the user has begun in the monitor: a command to confirm, a change request, or a text.

    Attributes:
        draft: The text of the change request that the user is typing, which may still be empty;
            None if the user types none.
        beginning: How often the user has switched to another phase for the next cycle to begin in:
            an index in the list of choices, from 0, that starts again at its end.
        command: The command that the last key asked for and that a second press must confirm;
            ``NOTHING`` if there is none.
        question: The question whether to run that command; empty if there is none.
        from_s: The time from which a second press of a letter counts, in seconds on the caller's
            clock; other keys, such as Enter, count at once.
        until_s: The time at which the question expires, in seconds on the caller's clock.
        reads: Which text is shown, named by the command that shows it: `KeyCommand.DIFF`,
            ``SUMMARY`` or ``KEYS``; ``APPROVE`` stands for what an approval would do; ``NOTHING``
            if no text is shown.
        top: The number of the line of that text that is at the top of the screen, from 0.
        note: Why the last key did nothing; shown until the next key; empty if there is no reason.
    """

    draft: str | None = None
    beginning: int = 0
    command: KeyCommand = KeyCommand.NOTHING
    question: str = ""
    from_s: float = float("-inf")
    until_s: float = float("-inf")
    reads: KeyCommand = KeyCommand.NOTHING
    top: int = 0
    note: str = ""

    def asks(self, now_s: float) -> str:
        """Return the question that is open at the time ``now_s``; empty if there is none."""
        return self.question if now_s < self.until_s else ""


def press(
    console: Console, key: Pressed, *, now_s: float, decides: bool, page: TextPage = _NO_PAGE
) -> tuple[Console, KeyCommand]:
    """Return the console after a key, and the command that the monitor must run; runs nothing.

    Args:
        console: The console before the key.
        key: The key; a key without a meaning closes an open question.
        now_s: The current time, in seconds on the caller's clock.
        decides: Whether the session waits for the user to approve or to request changes now.
        page: The part of the shown text that fits on the screen; left out if no text is shown,
            because then nothing can be scrolled.

    Returns:
        The command is ``NOTHING`` if the key changes only the console. It is ``ASK`` if a second
        press has to confirm `Console.command`: then the caller passes a question to `ask`. For
        ``SEND``, the change request is the draft of the console before the key.
    """
    console = replace(_current(console, now_s, decides=decides), note="")
    if console.draft is not None:
        return _edit_draft(console, key, now_s)
    command = command_of(key, reads=console.reads is not KeyCommand.NOTHING, decides=decides)
    if command is KeyCommand.YES:
        command = console.command if console.asks(now_s) else KeyCommand.NOTHING
    if console.reads is KeyCommand.APPROVE and isinstance(key, str) and command in MOVES:
        command = (
            KeyCommand.NOTHING
        )  # a letter may be meant for an agent whose pane has just closed
    if command in CONFIRMED:
        return _again(console, key, command, now_s)
    if command in MOVES:
        return _scroll_text(console, command, now_s, page), KeyCommand.NOTHING
    return _press_once(console, key, command)


def _press_once(console: Console, key: Pressed, command: KeyCommand) -> tuple[Console, KeyCommand]:
    """Return the console after a key that needs no second press, and the command to run."""
    still = console.reads is not KeyCommand.APPROVE
    kept = Console(reads=console.reads, top=console.top) if still else Console()
    if command in READS:
        shown = KeyCommand.NOTHING if command is console.reads else command
        return Console(reads=shown), (
            command if shown is not KeyCommand.NOTHING else KeyCommand.NOTHING
        )
    if command is KeyCommand.CHANGES:
        return Console(draft=""), KeyCommand.NOTHING
    if command in _LEAVES:
        return Console(), KeyCommand.NOTHING
    if command is KeyCommand.NOTHING:
        return replace(kept, note=why_not(key)), command
    return kept, command


def ask(console: Console, question: str, now_s: float, *, rest_s: float = 0.0) -> Console:
    """Return the console in which ``question`` is open, for the user to answer by a second press.

    The question expires after `ANSWER_S` seconds, or after `READ_S` if the console shows what an
    approval would do.

    Args:
        console: The console before; its ``command`` is what the question is about.
        question: The question.
        now_s: The current time, in seconds on the caller's clock.
        rest_s: How many seconds pass before a second press of a letter counts. Other keys, such as
            Enter, count at once.
    """
    time_s = READ_S if console.reads is KeyCommand.APPROVE else ANSWER_S
    return replace(console, question=question, from_s=now_s + rest_s, until_s=now_s + time_s)


def _current(console: Console, now_s: float, *, decides: bool) -> Console:
    """Return an empty console if its question has expired or its decision can no longer be made."""
    asked = console.reads is KeyCommand.APPROVE or console.draft is not None
    if (asked and not decides) or (
        console.reads is KeyCommand.APPROVE and now_s >= console.until_s
    ):
        return Console()
    return console


def _again(
    console: Console, key: Pressed, command: KeyCommand, now_s: float
) -> tuple[Console, KeyCommand]:
    """Return the console after a key that asks for ``command``, and the command to run.

    If the open question is about the same command, that is ``command``. If not, it is
    `KeyCommand.ASK`, and the console keeps its draft. A second press is needed because the
    first may have been meant for an agent whose pane has just closed.
    """
    if command is console.command and now_s < console.until_s:
        early = isinstance(key, str) and now_s < console.from_s
        return (console, KeyCommand.NOTHING) if early else (Console(), command)
    return Console(
        draft=console.draft, beginning=console.beginning, command=command
    ), KeyCommand.ASK


def _scroll_text(console: Console, command: KeyCommand, now_s: float, page: TextPage) -> Console:
    """Return the console with its text scrolled; the time of an open question starts again."""
    steps = {
        KeyCommand.DOWN: 1,
        KeyCommand.UP: -1,
        KeyCommand.PAGE_DOWN: page.rows,
    }
    steps |= {
        KeyCommand.PAGE_UP: -page.rows,
        KeyCommand.FIRST: -console.top,
        KeyCommand.LAST: page.last,
    }
    moved = replace(console, top=min(max(console.top + steps[command], 0), page.last))
    return ask(moved, console.question, now_s) if console.question else moved


def _edit_draft(console: Console, key: Pressed, now_s: float) -> tuple[Console, KeyCommand]:
    """Return the console after a key while a change request is typed, and the command to run."""
    draft, command = console.draft or "", writing_command(key)
    if command is KeyCommand.SEND:
        if draft.strip():
            return _again(console, key, command, now_s)
        return Console(draft=draft, note="write what should change first"), KeyCommand.NOTHING
    if command is KeyCommand.BACK:
        return Console(), KeyCommand.NOTHING
    beginning = console.beginning + (command is KeyCommand.BEGINNING)
    if command is KeyCommand.ERASE:
        draft = draft[:-1]
    elif command is KeyCommand.CLEAR:
        draft = ""
    elif isinstance(key, str):
        draft = (draft + key)[:DRAFT_MAX]
    return Console(draft=draft, beginning=beginning), KeyCommand.NOTHING
