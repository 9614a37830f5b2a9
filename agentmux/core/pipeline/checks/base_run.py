"""The run of the required check commands on the base, before the session changes anything."""

from __future__ import annotations

from agentmux.core.config.commands import SetupStep, VerifyCommand
from agentmux.core.journal.results import BaseChecks
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import BASE
from agentmux.core.pipeline.checks.setup import step_from
from agentmux.core.pipeline.checks.verify_commands import frozen_commands


def base_seat(name: str) -> str:
    """Return the name of the seat in which the check command ``name`` runs on the base.

    The base is the commit that the session began on.
    """
    return f"{BASE}-{name}"


def is_base_open(state: SessionState) -> bool:
    """Whether the required check commands still have to run on the base, or are running there.

    The base is the commit that the session began on. Checks of the session's own files wait until
    this run is over. False if it is over, or if the session has no such run.
    """
    return state.base_checks is not None and not state.base_checks.finished


def is_base_checked(state: SessionState) -> bool:
    """Whether all required check commands have a result on the base.

    The base is the commit that the session began on. False if no commands are run there.
    """
    base = state.base_checks
    return base is not None and not _open(state, base)


def next_step(state: SessionState) -> SetupStep | None:
    """Return the setup step that runs now or next in the worktree of the base, or None.

    The base is the commit that the session began on; the required check commands run there after
    the setup. None if no step is left, while that worktree does not exist, and after the run has
    failed or ended.
    """
    base = _running(state)
    if base is None or base.done >= len(base.steps):
        return None
    return step_from(base.steps[base.done])


def next_on_base(state: SessionState) -> VerifyCommand | None:
    """Return the check command that runs on the base now or next; None if there is none.

    The base is the commit that the session began on. None, too, before all setup steps in its
    worktree have succeeded, and after the run has failed or ended.
    """
    base = _running(state)
    if base is None or base.done < len(base.steps):
        return None
    return next(iter(_open(state, base)), None)


def base_command(state: SessionState, seat: str, name: str) -> SetupStep | VerifyCommand | None:
    """Return what runs in a seat of the base: a setup step or a command; None if it is unknown.

    The base is the commit that the session began on; check commands run there in seats of their
    own.

    Args:
        state: The session's state.
        seat: The seat; `BASE` is the seat of the setup steps.
        name: The name of the step or command.
    """
    steps = state.base_checks.steps if state.base_checks is not None else ()
    commands = map(step_from, steps) if seat == BASE else frozen_commands(state)
    return next((each for each in commands if each.name == name), None)


def _running(state: SessionState) -> BaseChecks | None:
    base = state.base_checks
    runs = base is not None and base.made and not base.because and not base.finished
    return base if runs else None


def _open(state: SessionState, base: BaseChecks) -> tuple[VerifyCommand, ...]:
    required = (each for each in frozen_commands(state) if each.required)
    return tuple(each for each in required if each.name not in base.checks)
