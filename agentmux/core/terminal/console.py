"""What keys at the monitor mean: the user's two decisions, and the orchestrator's end; pure."""

from __future__ import annotations

from enum import Enum
from typing import Final

from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.terminal.keys import Key, Pressed

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
        question: What is asked because of it.
        until_s: Until when asking again does it, on the clock of `ask`.
    """

    draft: str | None = None
    wish: Wish = Wish.NOTHING
    question: str = ""
    until_s: float = float("-inf")

    def asks(self, now_s: float) -> str:
        """Return the question that is still open; empty where none is."""
        return self.question if now_s < self.until_s else ""


def press(console: Console, key: Pressed, *, now_s: float, decides: bool) -> tuple[Console, Wish]:
    """Return what a key makes of the console, and what is to be done.

    Args:
        console: What was begun before.
        key: Anything that means nothing here takes back what was asked.
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
    """Return the console once its question is shown."""
    return replace(console, question=question, until_s=now_s + ANSWER_S)


def _again(
    console: Console, wish: Wish, now_s: float, *, draft: str | None
) -> tuple[Console, Wish]:
    """Do what was asked for before; else ask, and keep the draft until the answer.

    Keys that were meant for an agent come here when its pane closes under them.
    """
    if wish is Wish.NOTHING or (wish is console.wish and now_s < console.until_s):
        return Console(), wish
    return Console(draft=draft, wish=wish), Wish.ASK


def _wish(key: Pressed, *, decides: bool) -> Wish:
    if key is Key.INTERRUPT:
        return Wish.END
    return Wish.APPROVE if decides and key in {"a", "A"} else Wish.NOTHING


def _written(draft: str, key: Pressed) -> str | None:
    """Return the draft after a key; None where it is left."""
    if key in {Key.ESCAPE, Key.INTERRUPT}:
        return None
    if isinstance(key, str):
        return (draft + key)[:DRAFT_MAX]
    if key is Key.BACKSPACE:
        return draft[:-1]
    return "" if key is Key.CLEAR else draft
