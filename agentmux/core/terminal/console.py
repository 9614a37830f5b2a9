"""What a key at the monitor does: approve, request changes, or end the orchestrator; pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.terminal.keys import Key, Pressed

ANSWER_S: Final = 10.0
"""How long, in seconds, the monitor waits for the second press of a key that needs two."""

READ_S: Final = 60.0
"""As `ANSWER_S`, for a question with a preview to read first; turning a page begins it anew."""

DRAFT_MAX: Final = 4000
"""The greatest length, in characters, of a change request that is typed at the monitor.

A longer one can be given to the command line as a file.
"""

# No key that types a character: that may be meant for an agent whose pane has just closed.
_PAGES: Final[Mapping[Pressed, int]] = {
    Key.DOWN: 1,
    Key.PAGE_DOWN: 1,
    Key.UP: -1,
    Key.PAGE_UP: -1,
}


class Wish(Enum):
    """What the monitor has to do after a key."""

    NOTHING = "nothing"
    ASK = "ask"
    """Make a question that says what a second press of the key will do; call `ask` with it."""
    APPROVE = "approve"
    CHANGE = "change"
    """Request changes; the request is the ``draft`` of the console before the key."""
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """What a person at the monitor has begun, and not finished.

    Attributes:
        draft: The change request that is being typed; None if none is.
        wish: What the last key asked for, which a second press of the key must confirm.
        question: The question to the person whether to do that.
        until_s: The time at which the question ends, in seconds on the caller's clock.
        preview: What to read before the answer, line by line; empty for nothing.
        page: Which page of the preview is wanted, from 0; it may be negative, or beyond the last:
            after the last page comes the first again.
    """

    draft: str | None = None
    wish: Wish = Wish.NOTHING
    question: str = ""
    until_s: float = float("-inf")
    preview: tuple[str, ...] = ()
    page: int = 0

    def asks(self, now_s: float) -> str:
        """Return the question that is open at ``now_s``; empty if none is."""
        return self.question if now_s < self.until_s else ""


def press(console: Console, key: Pressed, *, now_s: float, decides: bool) -> tuple[Console, Wish]:
    """Return the console after a key, and what to do.

    Args:
        console: The console before the key.
        key: The key; one without a meaning here closes an open question.
        now_s: The time, in seconds on the caller's clock.
        decides: Whether a decision of the user would count now.
    """
    if decides and console.preview and console.asks(now_s) and key in _PAGES:
        turned = replace(console, page=console.page + _PAGES[key])
        return ask(turned, console.question, now_s), Wish.NOTHING
    if decides and console.draft is not None:
        if key is Key.ENTER and console.draft.strip():
            return _again(console, Wish.CHANGE, now_s, draft=console.draft)
        return Console(draft=_written(console.draft, key)), Wish.NOTHING
    if decides and key in {"c", "C"}:
        return Console(draft=""), Wish.NOTHING
    return _again(console, _wish(key, decides=decides), now_s, draft=None)


def ask(console: Console, question: str, now_s: float) -> Console:
    """Return the console with ``question`` open from ``now_s`` on.

    It is open for `ANSWER_S` seconds, or with a preview for `READ_S`.
    """
    time_s = READ_S if console.preview else ANSWER_S
    return replace(console, question=question, until_s=now_s + time_s)


def _again(
    console: Console, wish: Wish, now_s: float, *, draft: str | None
) -> tuple[Console, Wish]:
    """Return the console after a key that asked for ``wish``, and what the monitor has to do.

    That is ``wish`` if it is `Wish.NOTHING` or the open question is about the same wish; else it is
    `Wish.ASK`, and the console keeps ``draft`` meanwhile. A key needs a second press because the
    first may have been meant for an agent whose pane has just closed.
    """
    if wish is Wish.NOTHING or (wish is console.wish and now_s < console.until_s):
        return Console(), wish
    return Console(draft=draft, wish=wish), Wish.ASK


def _wish(key: Pressed, *, decides: bool) -> Wish:
    if key is Key.INTERRUPT:
        return Wish.END
    return Wish.APPROVE if decides and key in {"a", "A"} else Wish.NOTHING


def _written(draft: str, key: Pressed) -> str | None:
    """Return the draft after ``key`` was typed; None if the key gives it up."""
    if key in {Key.ESCAPE, Key.INTERRUPT}:
        return None
    if isinstance(key, str):
        return (draft + key)[:DRAFT_MAX]
    if key is Key.BACKSPACE:
        return draft[:-1]
    return "" if key is Key.CLEAR else draft
