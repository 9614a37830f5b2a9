"""How the events of a check change the state; used by `apply`."""

from __future__ import annotations

from typing import Any

from agentmux.core.codec.frozen import replace
from agentmux.core.fold.transitions import decide_check, without_seat
from agentmux.core.journal.events import (
    BaseChecked,
    BaseDone,
    BaseMade,
    CheckDone,
    ChecksBegan,
    CheckSkipped,
    Event,
)
from agentmux.core.journal.results import CheckResult
from agentmux.core.journal.state import Seat, SessionState
from agentmux.core.names.phase import BASE
from agentmux.core.names.statuses import BROKEN, FINISHED
from agentmux.core.pipeline.check_phase import began, check_seat, waiting_for_user, with_check
from agentmux.core.pipeline.registry import working_phase


def checks_began(state: SessionState, event: Event, fact: ChecksBegan) -> SessionState:
    """Return the state in which the check's commands run on the files with the id ``fact.tree``.

    The function runs nothing. Results on other files are dropped. If all commands have already
    ended on these files, this may decide the check; then the session goes on to another phase. An
    event for a phase other than the current one changes nothing.
    """
    if not _is_here(state, fact.phase):
        return state
    return decide_check(began(state, fact.phase, fact.tree))


def check_done(state: SessionState, event: Event, fact: CheckDone) -> SessionState:
    """Return the state with the result of a command that has ended; this may decide the check.

    If it does, the session goes on to another phase. The command's seat is removed, unless the
    command could not run, is required, and was not skipped by the user: then the seat stays, with
    the status ``broken``. An event of another launch than the seat's, or for another phase than the
    current one, changes nothing.
    """
    seat = state.seats.get(event.seat)
    if seat is None or seat.launch != event.launch or not _is_here(state, fact.phase):
        return state
    is_broken = fact.outcome == BROKEN
    result = CheckResult(
        outcome=fact.outcome,
        status=fact.status,
        signal=fact.signal,
        timed_out=fact.timed_out,
        tree=fact.tree,
        left=fact.left,
        required=fact.required,
        launch=event.launch,
        output=fact.output,
        skipped=is_broken and fact.name in state.skipped_checks,
    )
    after = without_seat(state, event.seat)
    if is_broken and fact.required and not result.skipped:
        gone = replace(seat, status=BROKEN, exit_status=fact.status, exit_signal=fact.signal)
        after = replace(after, seats={**after.seats, event.seat: gone})
    return decide_check(with_check(after, fact.phase, fact.name, result))


def check_skipped(state: SessionState, event: Event, fact: CheckSkipped) -> SessionState:
    """Return the state in which the user has skipped a command that could not run.

    This may decide the check; then the session goes on to another phase. The command stays skipped
    in later runs of the check. The event changes nothing if no decision about the command is
    pending.
    """
    phase = working_phase(state)
    if fact.name not in waiting_for_user(state, phase):
        return state
    skipped = tuple(dict.fromkeys((*state.skipped_checks, fact.name)))
    result = replace(state.results[phase].checks[fact.name], skipped=True)
    after = replace(without_seat(state, check_seat(fact.name)), skipped_checks=skipped)
    return decide_check(with_check(after, phase, fact.name, result))


def _is_here(state: SessionState, phase: str) -> bool:
    return working_phase(state) == phase


def base_made(state: SessionState, event: Event, fact: BaseMade) -> SessionState:
    """Return the state that records that the worktree for the commands on the base exists.

    The base is the commit that the session began on; the required check commands also run there. If
    the session has no such run (``base_checks`` is None), ``state`` itself is returned.
    """
    return _with_base(state, made=True)


def base_checked(state: SessionState, event: Event, fact: BaseChecked) -> SessionState:
    """Return the state with the result of a command that has ended on the base, without its seat.

    The base is the commit that the session began on. An event of another launch than the seat's
    changes nothing.
    """
    seat, base = state.seats.get(event.seat), state.base_checks
    if seat is None or seat.launch != event.launch or base is None:
        return state
    result = CheckResult(
        outcome=fact.outcome,
        status=fact.status,
        signal=fact.signal,
        timed_out=fact.timed_out,
        launch=event.launch,
    )
    return _with_base(without_seat(state, event.seat), checks={**base.checks, fact.name: result})


def base_done(state: SessionState, event: Event, fact: BaseDone) -> SessionState:
    """Return the state in which the run of the check commands on the base is finished.

    The seats of these commands are removed. If the session has no such run, nothing else changes.

    Args:
        state: The state before.
        event: The event; not used.
        fact: Gives the reason if the commands could not be run.
    """
    seats = {name: each for name, each in state.seats.items() if each.role != BASE}
    return _with_base(replace(state, seats=seats), finished=True, because=fact.because)


def base_step_ended(state: SessionState, seat: Seat, cause: str) -> SessionState:
    """Return the state after a setup step in the worktree of the base has ended, even if it failed.

    If the session runs no check commands on its base, ``state`` itself is returned.

    Args:
        state: The state, without the step's seat.
        seat: The step's seat; its topic is the step's name.
        cause: Why the step ended, as in `AgentExited`. ``finished`` counts the step as done; any
            other cause is recorded as the reason why the commands cannot run on the base.
    """
    base = state.base_checks
    if base is None:
        return state
    if cause == FINISHED:
        return _with_base(state, done=base.done + 1)
    return _with_base(state, because=f"the setup `{seat.topic}` failed there ({cause})")


def _with_base(state: SessionState, **values: Any) -> SessionState:  # noqa: ANN401 (any field)
    base = state.base_checks
    return state if base is None else replace(state, base_checks=replace(base, **values))
