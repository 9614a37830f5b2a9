"""What a command of a check has shown, from what its launch has left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.core.checks.tail import tail
from agentmux.core.decisions.check_actions import RecordCheck
from agentmux.core.decisions.next_actions import check_exit
from agentmux.core.fold.acceptance import working_phase
from agentmux.core.journal.events import CheckDone
from agentmux.core.names.phase import CHECK
from agentmux.core.names.statuses import LAUNCHED, PASSED
from agentmux.core.pipeline.check_phase import command_of
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from agentmux.app.session.writer import Session
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session_files import SessionFiles

TREE_S: Final = 60.0
"""How long the id of the files may take."""


def check_fact(state: SessionState, files: SessionFiles, action: RecordCheck) -> CheckDone:
    """Return the fact that records the end of a command of the check in which the session is."""
    phase, command = working_phase(state), command_of(state, action.name)
    result = state.results.get(phase)
    passed = action.outcome == PASSED
    return CheckDone(
        phase=phase,
        name=action.name,
        outcome=action.outcome,
        status=action.status,
        signal=action.signal,
        timed_out=action.timed_out,
        tree="" if result is None else result.tree,
        required=command is None or command.required,
        output="" if passed else tail(files.launch_output(action.launch)),
    )


def adopt_check(world: World, session: Session) -> None:
    """Record a command that has ended since the last orchestrator was killed; or it runs again.

    It counts only if it ran on the files as they are now. The session's events have to be applied
    before.
    """
    ended = _ended(session)
    if ended is None:
        return
    fact = check_fact(session.state, session.files, ended)
    if fact.tree and fact.tree == _tree(world, session):
        session.record(fact, seat=ended.seat, launch=ended.launch)


def _ended(session: Session) -> RecordCheck | None:
    for name, seat in session.state.seats.items():
        if seat.role == CHECK and seat.status == LAUNCHED:
            end = session.files.launch_record(seat.launch).exit
            action = None if end is None else check_exit(name, seat, end)
            if isinstance(action, RecordCheck):
                return action
    return None


def _tree(world: World, session: Session) -> str | None:
    home = session.files.path.resolve()
    try:
        return world.checkpoints(world.tree, home, session.state.session_id).tree(limit_s=TREE_S)
    except (AgentmuxError, OSError):
        return None  # it runs again
