"""Which seats the user can act on now, for each kind of action; pure."""

from __future__ import annotations

from typing import Final

from agentmux.core.decisions.limits import is_parked
from agentmux.core.journal.state import AGENT_MODES, SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.names.statuses import BROKEN, ENDED_STATUSES, LAUNCHED, STOPPED

_ENDED: Final = ENDED_STATUSES | {BROKEN}


def list_stopped_seats(state: SessionState) -> tuple[str, ...]:
    """Return the names of the seats whose panes wait for the user before they start an agent."""
    return tuple(name for name, seat in state.seats.items() if seat.status == STOPPED)


def list_messageable_seats(state: SessionState) -> tuple[str, ...]:
    """Return the names of the seats whose agents can receive a message from the user now."""
    return tuple(
        name
        for name, seat in state.seats.items()
        if seat.status == LAUNCHED and seat.mode in AGENT_MODES and not is_parked(state, name)
    )


def list_restartable_seats(state: SessionState) -> tuple[str, ...]:
    """Return the names of the seats that continue only if a person restarts them.

    Their agents have ended without handing in their work, or the session failed because of them.
    """
    failure = state.interruption if state.phase == Phase.FAILED else None
    failed = failure.seat if failure else ""
    return tuple(
        name
        for name, seat in state.seats.items()
        if seat.status in _ENDED or (name == failed and seat.status != LAUNCHED)
    )


def list_skippable_seats(state: SessionState) -> tuple[str, ...]:
    """Return the names of the seats of check commands that could not run and may be skipped."""
    return tuple(name for name, seat in state.seats.items() if seat.status == BROKEN)
