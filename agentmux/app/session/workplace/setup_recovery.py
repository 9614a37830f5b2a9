"""Finds a step of the setup that succeeded although the journal does not record its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.core.decisions.next_actions import cause_of_step
from agentmux.core.journal.events import AgentExited
from agentmux.core.names.phase import SETUP
from agentmux.core.names.statuses import FINISHED, LAUNCHED

if TYPE_CHECKING:
    from agentmux.app.session.writer import Session
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session.session_files import SessionFiles


def succeeded_step(state: SessionState, files: SessionFiles) -> AgentExited | None:
    """Return the fact that a setup step succeeded, if the journal does not record its end yet.

    That happens if the orchestrator was killed before. None if there is no such step.
    """
    seat = state.seats.get(SETUP)
    if seat is None or seat.status != LAUNCHED:
        return None
    end = files.launch_record(seat.launch).exit
    if end is None or cause_of_step(end) != FINISHED:
        return None
    return AgentExited(cause=FINISHED, status=end.status, signal=end.signal)


def adopt_step(session: Session) -> None:
    """Record a setup step that has succeeded without a record, so that it is not rerun.

    That happens if the orchestrator was killed before. The session's events must have been applied.
    """
    state = session.state
    fact = succeeded_step(state, session.files)
    if fact is not None:
        session.record(fact, seat=SETUP, launch=state.seats[SETUP].launch)
