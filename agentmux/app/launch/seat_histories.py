"""The histories of a session's seats: what a state records of their earlier launches."""

from __future__ import annotations

from typing import Final

from agentmux.core.conversation.resume_choice import Rung
from agentmux.core.conversation.seat_history import SeatHistory, seat_history
from agentmux.core.journal.state import Seat, SessionState

# What the wrapper, like every shell, records as the status of a program that could not be run.
_NOT_RUN: Final = frozenset({126, 127})


class SeatHistories:
    """The histories of the seats of one state; each is made when it is first asked for."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._made: dict[str, SeatHistory] = {}

    def of(self, seat: str) -> SeatHistory:
        """Return the history of a seat; an empty one before its first launch."""
        if seat not in self._made:
            held = self._state.seats.get(seat)
            self._made[seat] = seat_history(
                self._state.agents.get(seat),
                failed_at_once=held is not None and held.failed_at_once,
                never_ran=held is not None and _never_ran(held),
            )
        return self._made[seat]


def _never_ran(seat: Seat) -> bool:
    return seat.mode == Rung.FRESH and seat.exit_status in _NOT_RUN
