"""What a person at the monitor has begun, and what a key does with it; pure.

Which keys there are stands in `monitor_keys`.
"""

from __future__ import annotations

from typing import Final

from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.terminal.keys.keys import Pressed
from agentmux.core.terminal.keys.monitor_keys import (
    CONFIRMED,
    MOVES,
    READS,
    YES,
    MonitorCommand,
    command_of,
    why_not,
    writing_command,
)

ANSWER_S: Final = 10.0
"""How long, in seconds, the monitor waits for the second press of a key that needs two."""

READ_S: Final = 60.0
"""As `ANSWER_S`, for a question with a text to read first; turning a page begins it anew."""

REST_S: Final = 0.25
"""A second press of a letter counts only so many seconds after the question: a word that was meant
for an agent, or a paste, may have the same letter twice."""

DRAFT_MAX: Final = 4000
"""The greatest length, in characters, of a change request that is typed at the monitor.

A longer one can be given to the command line as a file.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPage:
    """How much of a text the screen shows: ``rows`` lines, from line ``last`` on at the latest."""

    rows: int = 1
    last: int = 0


_NO_PAGE: Final = TextPage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """What a person at the monitor has begun, and not finished.

    Attributes:
        draft: The change request that is being typed; None if none is.
        beginning: How often another phase was chosen for the next cycle to begin in.
        command: What the last key asked for, which a second press of the key must confirm.
        question: The question to the person whether to do that.
        from_s: A second press counts from this time on, in seconds on the caller's clock.
        until_s: The time at which the question ends.
        reads: Which text is shown: that of `MonitorCommand.DIFF`, ``SUMMARY`` or ``KEYS``, or of
            ``APPROVE`` for what an approval would do; ``NOTHING`` for none.
        top: The first line of that text that is on the screen.
        note: What the last key could not do; it is shown until the next key.
    """

    draft: str | None = None
    beginning: int = 0
    command: MonitorCommand = MonitorCommand.NOTHING
    question: str = ""
    from_s: float = float("-inf")
    until_s: float = float("-inf")
    reads: MonitorCommand = MonitorCommand.NOTHING
    top: int = 0
    note: str = ""

    def asks(self, now_s: float) -> str:
        """Return the question that is open at ``now_s``; empty if none is."""
        return self.question if now_s < self.until_s else ""


def press(
    console: Console, key: Pressed, *, now_s: float, decides: bool, page: TextPage = _NO_PAGE
) -> tuple[Console, MonitorCommand]:
    """Return the console after a key, and what to do.

    Args:
        console: The console before the key.
        key: The key; one without a meaning here closes an open question.
        now_s: The time, in seconds on the caller's clock.
        decides: Whether a decision of the user would count now.
        page: How much of the text that is read is on the screen.
    """
    console = replace(_current(console, now_s, decides=decides), note="")
    if console.draft is not None:
        return _edit_draft(console, key, now_s)
    command = command_of(key, reads=console.reads is not MonitorCommand.NOTHING, decides=decides)
    if key in YES and console.asks(now_s):
        command = console.command
    if console.reads is MonitorCommand.APPROVE and isinstance(key, str) and command in MOVES:
        command = (
            MonitorCommand.NOTHING
        )  # a letter may be meant for an agent whose pane has just closed
    if command in CONFIRMED:
        return _again(console, key, command, now_s)
    if command in MOVES:
        return _scroll_text(console, command, now_s, page), MonitorCommand.NOTHING
    return _press_once(console, key, command)


def _press_once(
    console: Console, key: Pressed, command: MonitorCommand
) -> tuple[Console, MonitorCommand]:
    """Return the console after a key that needs no second press."""
    still = console.reads is not MonitorCommand.APPROVE
    kept = Console(reads=console.reads, top=console.top) if still else Console()
    if command in READS:
        shown = MonitorCommand.NOTHING if command is console.reads else command
        return Console(reads=shown), (
            command if shown is not MonitorCommand.NOTHING else MonitorCommand.NOTHING
        )
    if command is MonitorCommand.WRITE:
        return Console(draft=""), MonitorCommand.NOTHING
    if command is MonitorCommand.BACK:
        return Console(), MonitorCommand.NOTHING
    if command is MonitorCommand.NOTHING:
        return replace(kept, note=why_not(key)), command
    return kept, command


def ask(console: Console, question: str, now_s: float, *, rest_s: float = 0.0) -> Console:
    """Return the console with ``question`` open from ``now_s`` on.

    It is open for `ANSWER_S` seconds, or with a text to read for `READ_S`; an answer counts after
    ``rest_s`` seconds.
    """
    time_s = READ_S if console.reads is MonitorCommand.APPROVE else ANSWER_S
    return replace(console, question=question, from_s=now_s + rest_s, until_s=now_s + time_s)


def _current(console: Console, now_s: float, *, decides: bool) -> Console:
    """Return the console without what is over: a question after its time, a decision made."""
    asked = console.reads is MonitorCommand.APPROVE or console.draft is not None
    if (asked and not decides) or (
        console.reads is MonitorCommand.APPROVE and now_s >= console.until_s
    ):
        return Console()
    return console


def _again(
    console: Console, key: Pressed, command: MonitorCommand, now_s: float
) -> tuple[Console, MonitorCommand]:
    """Return the console after a key that asked for ``command``, and what the monitor has to do.

    That is ``command`` if the open question is about the same command; else it is
    `MonitorCommand.ASK`, and the console keeps its draft meanwhile. A key needs a second
    press because the first may have been meant for an agent whose pane has just closed.
    """
    if command is console.command and now_s < console.until_s:
        early = isinstance(key, str) and now_s < console.from_s
        return (console, MonitorCommand.NOTHING) if early else (Console(), command)
    return Console(
        draft=console.draft, beginning=console.beginning, command=command
    ), MonitorCommand.ASK


def _scroll_text(
    console: Console, command: MonitorCommand, now_s: float, page: TextPage
) -> Console:
    """Return the console at another place in its text; a question about it is open anew."""
    steps = {
        MonitorCommand.LINE_DOWN: 1,
        MonitorCommand.LINE_UP: -1,
        MonitorCommand.PAGE_DOWN: page.rows,
    }
    steps |= {
        MonitorCommand.PAGE_UP: -page.rows,
        MonitorCommand.FIRST_PAGE: -console.top,
        MonitorCommand.LAST_PAGE: page.last,
    }
    moved = replace(console, top=min(max(console.top + steps[command], 0), page.last))
    return ask(moved, console.question, now_s) if console.question else moved


def _edit_draft(console: Console, key: Pressed, now_s: float) -> tuple[Console, MonitorCommand]:
    """Return the console after a key that was pressed while a change request was written."""
    draft, command = console.draft or "", writing_command(key)
    if command is MonitorCommand.SEND:
        if draft.strip():
            return _again(console, key, MonitorCommand.CHANGE, now_s)
        return Console(draft=draft, note="write what should change first"), MonitorCommand.NOTHING
    if command is MonitorCommand.BACK:
        return Console(), MonitorCommand.NOTHING
    beginning = console.beginning + (command is MonitorCommand.BEGINNING)
    if command is MonitorCommand.ERASE:
        draft = draft[:-1]
    elif command is MonitorCommand.CLEAR:
        draft = ""
    elif isinstance(key, str):
        draft = (draft + key)[:DRAFT_MAX]
    return Console(draft=draft, beginning=beginning), MonitorCommand.NOTHING
