"""The monitor: what it shows, and the keys that are pressed there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from agentmux.core.codec.frozen import dataclass

if TYPE_CHECKING:  # who only needs tmux must not import the core
    from agentmux.core.journal.state import SessionState
    from agentmux.core.terminal.keys import Pressed


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatStatus:
    """What the agent of one seat is doing, as far as the orchestrator can see.

    Attributes:
        status: ``starting``, ``busy``, ``idle``, ``waiting_for_user``, ``usage_limit``,
            ``stalled`` or ``unknown``. If the pane was opened without an agent, the mode of the
            launch (such as ``shell``). If the agent has ended or waits to be started, the seat's
            status in the session's state.
        source: Where the status comes from: ``screen``, ``journal``, ``exit record`` or
            ``delivery`` (typing into the pane).
        since: When the status began: UTC, ISO 8601.
        resets: When a usage limit ends, in the agent's words; empty where unknown.
        until: When a parked agent is to be woken: UTC, ISO 8601; empty if it is not parked.
        trouble: The agent's last message about trouble with its own service (an error, a
            retry); empty for none.
    """

    status: str
    source: str
    since: str
    resets: str = ""
    until: str = ""
    trouble: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What the monitor shows.

    Attributes:
        problem: The last problem that is not solved yet, as a text for the user; None for none.
        messages: What happened, oldest first.
        now: The current time, with its zone.
        draft: The request for changes that the user is writing; None while they write none.
        question: What another press of the same key would do; empty while nothing is asked.
        preview: What to read before the answer, line by line; empty for nothing.
        page: Which page of the preview to show, counted from 0; after the last comes the first.
        name: The shortest name of the session that commands take; empty: its whole name.
    """

    state: SessionState
    statuses: Mapping[str, SeatStatus]
    problem: str | None
    messages: tuple[str, ...]
    now: datetime
    draft: str | None = None
    question: str = ""
    preview: tuple[str, ...] = ()
    page: int = 0
    name: str = ""


class Display(Protocol):
    """The monitor: the orchestrator shows pictures on it, and reads the keys pressed there."""

    def show(self, picture: Picture) -> None:
        """Draw the picture; never raises."""

    def fileno(self) -> int | None:
        """Return the file descriptor that keys are read from; None without a keyboard."""

    def keys(self) -> tuple[Pressed, ...]:
        """Return the keys that were pressed since the last call, in their order."""

    def resized(self) -> None:
        """Draw the last picture again, since the size of the terminal has changed."""

    def close(self) -> None:
        """Leave the last picture on the screen, and restore the terminal's modes."""
