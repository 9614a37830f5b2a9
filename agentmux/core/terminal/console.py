"""What a key at the monitor does: approve, request changes, or end the orchestrator; pure."""

from __future__ import annotations

from enum import Enum
from typing import Final

from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.terminal.keys import Key, Pressed

ANSWER_S: Final = 10.0
"""How long a question stays open: a key that ends or commits something is pressed twice."""

DRAFT_MAX: Final = 4000
"""The longest request that can be typed, in characters; a longer one comes from a file."""


class Wish(Enum):
    """What to do after a key."""

    NOTHING = "nothing"
    ASK = "ask"
    """Show what the same key will do when it is pressed again, then call `ask`."""
    APPROVE = "approve"
    CHANGE = "change"
    """Request the changes in the draft of the console before the key."""
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """What a person at the monitor has begun, and not finished.

    Attributes:
        draft: The change request that is being written; None while there is none.
        wish: What the last key asked for, which must be confirmed by the same key.
        question: The question that is shown for it.
        until_s: When the question ends, on the clock of `ask`.
    """

    draft: str | None = None
    wish: Wish = Wish.NOTHING
    question: str = ""
    until_s: float = float("-inf")

    def asks(self, now_s: float) -> str:
        """Return the open question; empty without one."""
        return self.question if now_s < self.until_s else ""


def press(console: Console, key: Pressed, *, now_s: float, decides: bool) -> tuple[Console, Wish]:
    """Return the console after a key, and what to do.

    Args:
        console: What was begun before.
        key: A key without a meaning here closes an open question.
        now_s: On the clock of `ask`.
        decides: Whether the session takes a decision now.
    """
    if decides and console.draft is not None:
        if key is Key.ENTER and console.draft.strip():
            return _again(console, Wish.CHANGE, now_s, draft=console.draft)
        return Console(draft=_written(console.draft, key)), Wish.NOTHING
    if decides and key in {"c", "C"}:
        return Console(draft=""), Wish.NOTHING
    return _again(console, _wish(key, decides=decides), now_s, draft=None)


def ask(console: Console, question: str, now_s: float) -> Console:
    """Return the console with its question now shown."""
    return replace(console, question=question, until_s=now_s + ANSWER_S)


def _again(
    console: Console, wish: Wish, now_s: float, *, draft: str | None
) -> tuple[Console, Wish]:
    """Do what the same key asked for before; else ask, and keep the draft until the answer.

    A key is confirmed because it may have been meant for an agent whose pane has just closed.
    """
    if wish is Wish.NOTHING or (wish is console.wish and now_s < console.until_s):
        return Console(), wish
    return Console(draft=draft, wish=wish), Wish.ASK


def _wish(key: Pressed, *, decides: bool) -> Wish:
    if key is Key.INTERRUPT:
        return Wish.END
    return Wish.APPROVE if decides and key in {"a", "A"} else Wish.NOTHING


def _written(draft: str, key: Pressed) -> str | None:
    """Return the draft after a key; None where it is given up."""
    if key in {Key.ESCAPE, Key.INTERRUPT}:
        return None
    if isinstance(key, str):
        return (draft + key)[:DRAFT_MAX]
    if key is Key.BACKSPACE:
        return draft[:-1]
    return "" if key is Key.CLEAR else draft
