"""What keys at the monitor mean: the user's two decisions, and the orchestrator's end; pure."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Final

from agentmux.core.frozen import dataclass
from agentmux.core.keys import Key, Pressed

ANSWER_S: Final = 10.0
"""How long a question stands: what ends or commits something is pressed twice."""

DRAFT_MAX: Final = 4000
"""So many characters can be written here; longer requests come from a file."""


class Wish(Enum):
    """What is to be done for a key."""

    NOTHING = "nothing"
    ASK = "ask"
    """Say what the same key does when it is pressed again, then `ask`."""
    APPROVE = "approve"
    CHANGE = "change"
    """Request the changes that the draft held before the key."""
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """What a person at the monitor has begun.

    Attributes:
        draft: The changes that are being written; None while none are.
        wish: What was asked for once.
        until_s: Until when asking again does it, on the clock of `ask`.
    """

    draft: str | None = None
    wish: Wish = Wish.NOTHING
    until_s: float = float("-inf")


def press(console: Console, key: Pressed, *, now_s: float, decides: bool) -> tuple[Console, Wish]:
    """Return what a key makes of the console, and what is to be done.

    Args:
        console: What was begun before.
        key: Anything that means nothing here takes back what was asked.
        now_s: On the clock of `ask`.
        decides: Whether the session takes a decision now.
    """
    if console.draft is not None and decides:
        return _written(console, console.draft, key)
    if decides and key in {"c", "C"}:
        return Console(draft=""), Wish.NOTHING
    wish = _wish(key, decides=decides)
    if wish is Wish.NOTHING or (wish is console.wish and now_s < console.until_s):
        return Console(), wish
    return Console(wish=wish), Wish.ASK


def ask(console: Console, now_s: float) -> Console:
    """Return the console once its question is shown."""
    return replace(console, until_s=now_s + ANSWER_S)


def _wish(key: Pressed, *, decides: bool) -> Wish:
    if key is Key.INTERRUPT:
        return Wish.END
    return Wish.APPROVE if decides and key in {"a", "A"} else Wish.NOTHING


def _written(console: Console, draft: str, key: Pressed) -> tuple[Console, Wish]:
    if key is Key.ENTER and draft.strip():
        return Console(), Wish.CHANGE
    if key in {Key.ESCAPE, Key.INTERRUPT}:
        return Console(), Wish.NOTHING
    if isinstance(key, str):
        draft = (draft + key)[:DRAFT_MAX]
    elif key is Key.BACKSPACE:
        draft = draft[:-1]
    elif key is Key.CLEAR:
        draft = ""
    return replace(console, draft=draft), Wish.NOTHING
