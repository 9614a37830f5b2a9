"""Which seats wait for something that a person can do; pure."""

from __future__ import annotations

from typing import Final

from agentmux.core.decisions.limits import is_parked
from agentmux.core.journal.state import AGENT_MODES, SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.names.statuses import BROKEN, LAUNCHED, LEFT, STOPPED

_ENDED: Final = LEFT | {BROKEN}


def list_stopped_seats(state: SessionState) -> tuple[str, ...]:
    """Return the seats whose panes wait for a choice."""
    return tuple(name for name, seat in state.seats.items() if seat.status == STOPPED)


def tellable(state: SessionState) -> tuple[str, ...]:
    """Return the seats whose agents take a message now."""
    return tuple(
        name
        for name, seat in state.seats.items()
        if seat.status == LAUNCHED and seat.mode in AGENT_MODES and not is_parked(state, name)
    )


def restartable(state: SessionState) -> tuple[str, ...]:
    """Return the seats that go on only if a person starts them again.

    They have ended without their work, or the session failed because of them.
    """
    failure = state.interruption if state.phase == Phase.FAILED else None
    failed = failure.seat if failure else ""
    return tuple(
        name
        for name, seat in state.seats.items()
        if seat.status in _ENDED or (name == failed and seat.status != LAUNCHED)
    )


def skippable(state: SessionState) -> tuple[str, ...]:
    """Return the seats of checks that could not run, without which a person may go on."""
    return tuple(name for name, seat in state.seats.items() if seat.status == BROKEN)
