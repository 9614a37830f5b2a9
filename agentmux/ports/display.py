"""The monitor: what it shows, and the keys it hears."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from agentmux.core.codec.frozen import dataclass

if TYPE_CHECKING:  # what only looks at tmux does without the core
    from agentmux.core.journal.state import SessionState
    from agentmux.core.terminal.keys import Pressed


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatStatus:
    """What one seat is seen to do.

    Attributes:
        status: ``starting``, ``busy``, ``idle``, ``waiting_for_user``, ``usage_limit``,
            ``stalled`` or ``unknown``; else the seat's mode, or its status in the state.
        source: What says so: ``screen``, ``journal``, ``exit record`` or ``delivery``.
        since: UTC, ISO 8601.
        resets: When a usage limit ends, as the agent words it; empty where it is not known.
        trouble: What the agent says of its service last (an error, another try); empty for none.
    """

    status: str
    source: str
    since: str
    resets: str = ""
    trouble: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What the monitor shows.

    Attributes:
        problem: What went wrong last, with no reaction possible by itself; None when all is well.
        messages: What happened, oldest first.
        draft: The changes that the user is writing; None while they write none.
        question: What the same key does when it is pressed again; empty while nothing is asked.
    """

    state: SessionState
    statuses: Mapping[str, SeatStatus]
    problem: str | None
    messages: tuple[str, ...]
    now: datetime
    draft: str | None = None
    question: str = ""


class Display(Protocol):
    """Where the orchestrator shows what it does, and hears keys."""

    def show(self, picture: Picture) -> None:
        """Draw it; never raises."""

    def fileno(self) -> int | None:
        """Where keys come from; None without a terminal."""

    def keys(self) -> tuple[Pressed, ...]:
        """Return the keys that were pressed since the last call."""

    def resized(self) -> None:
        """The terminal has another size now."""

    def close(self) -> None:
        """Leave the last picture, and give the terminal back."""
