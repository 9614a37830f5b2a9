"""The commands of a check phase, and their results so far.

In all functions, ``phase`` is the name of the check, and ``name`` that of a command.
"""

from __future__ import annotations

from agentmux.core.checks.verdict import checks_verdict, find_blocking
from agentmux.core.codec.frozen import replace
from agentmux.core.config.commands import VerifyCommand
from agentmux.core.definitions.definition import Expect, Kind, PhaseDefinition
from agentmux.core.journal.results import CheckResult, PhaseResult
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import CHECK
from agentmux.core.names.statuses import BROKEN, FAILED
from agentmux.core.pipeline.checks.verify_commands import frozen_commands
from agentmux.core.pipeline.results import with_result


def check_seat(name: str) -> str:
    """Return the name of the seat in which the check's command ``name`` runs."""
    return f"{CHECK}-{name}"


def check_commands(state: SessionState, phase: str) -> tuple[VerifyCommand, ...]:
    """Return the commands that the check ``phase`` runs, in the order in which they run.

    Empty if ``phase`` is not a check.
    """
    check = _check(state, phase)
    if check is None:
        return ()
    return tuple(each for each in frozen_commands(state) if not check.run or each.name in check.run)


def command_of(state: SessionState, name: str) -> VerifyCommand | None:
    """Return the check command called ``name``; None if the session has no such command."""
    return next((each for each in frozen_commands(state) if each.name == name), None)


def result_of(state: SessionState, phase: str) -> PhaseResult | None:
    """Return the result so far of the check ``phase``; None if the check has not begun."""
    return state.results.get(phase)


def trees_of(result: PhaseResult) -> frozenset[str]:
    """Return the tree ids (`PhaseResult.tree`) of the files that a check ran on.

    They are the files as they were when the check began, and as each command left them. It does not
    matter whether the check passed. Empty if no id is known.
    """
    return frozenset({result.tree, *(each.left for each in result.checks.values())} - {""})


def verdict_of(state: SessionState, phase: str) -> str:
    """Return the outcome of the check ``phase``: ``passed``, ``failed``, or empty while undecided.

    `checks_verdict` decides it from the results of the commands so far.
    """
    return checks_verdict(
        _map_required(state, phase),
        _checks(state, phase),
        expect=_expect(state, phase),
        red_before=failed_on_base(state),
    )


def waiting_for_user(state: SessionState, phase: str) -> tuple[str, ...]:
    """Return the names of the commands that could not run and need a decision of the user.

    ``phase`` is the check. Empty until all its commands have ended, and after it is decided.
    """
    result = result_of(state, phase)
    if result is None or result.outcome:
        return ()
    return find_blocking(_map_required(state, phase), result.checks, expect=_expect(state, phase))


def next_command(state: SessionState, phase: str) -> VerifyCommand | None:
    """Return the first command of the check ``phase`` without a result; None if all have ended.

    The command may be running already.
    """
    checks = _checks(state, phase)
    return next((each for each in check_commands(state, phase) if each.name not in checks), None)


def commands_ahead(state: SessionState) -> tuple[str, ...]:
    """Return the names of the current check's commands that would run if the session were resumed.

    It is assumed that the files are unchanged. These are the commands without a result, and the
    required ones that could not run and that the user has not skipped. Empty outside of a check.
    """
    checks = _checks(state, state.phase)
    return tuple(
        each.name
        for each in check_commands(state, state.phase)
        if each.name not in checks or _is_open(checks[each.name])
    )


def failed_on_base(state: SessionState) -> frozenset[str]:
    """Return the names of the check commands that failed on the base.

    The base is the commit that the session began on. Empty if no commands were run there.
    """
    base = state.base_checks
    checks = base.checks if base is not None else {}
    return frozenset(name for name, each in checks.items() if each.outcome == FAILED)


def began(state: SessionState, phase: str, tree: str) -> SessionState:
    """Return the state in which the check ``phase`` begins on files with the id ``tree``.

    The function runs nothing. The check keeps only results of commands on the same files. The other
    commands will run again, and so will required commands that could not run and that the user has
    not skipped. Seats of commands are removed.
    """
    known = result_of(state, phase) or PhaseResult()
    kept = {name: each for name, each in known.checks.items() if _counts(each, tree)}
    result = PhaseResult(iteration=state.iteration, tree=tree, checks=kept)
    return without_seats(with_result(state, phase, result))


def _counts(check: CheckResult, tree: str) -> bool:
    return tree in {check.tree, check.left} and not _is_open(check)


def _is_open(check: CheckResult) -> bool:
    return check.outcome == BROKEN and check.required and not check.skipped


def with_check(state: SessionState, phase: str, name: str, found: CheckResult) -> SessionState:
    """Return the state with ``found`` as the result of the command ``name`` in the check ``phase``.

    The check is not decided by that; `decide_check` does it.
    """
    known = result_of(state, phase) or PhaseResult(iteration=state.iteration)
    result = replace(known, checks={**known.checks, name: found})
    return with_result(state, phase, result)


def with_command_rerun(state: SessionState, phase: str, name: str) -> SessionState:
    """Return the state without the result of a check's command, so that it will run again.

    The id of the checked files is removed, too. If the check has not begun, ``state`` itself is
    returned.

    Args:
        state: The state before.
        phase: The name of the check.
        name: The name of the command.
    """
    known = result_of(state, phase)
    if known is None:
        return state
    kept = {other: each for other, each in known.checks.items() if other != name}
    return with_result(state, phase, replace(known, checks=kept, tree=""))


def without_seats(state: SessionState) -> SessionState:
    """Return the state without the seats of check commands."""
    left = {name: seat for name, seat in state.seats.items() if seat.role != CHECK}
    return replace(state, seats=left)


def _check(state: SessionState, phase: str) -> PhaseDefinition | None:
    phases = state.pipeline.phases
    return next((e for e in phases if e.phase == phase and e.kind is Kind.CHECK), None)


def _expect(state: SessionState, phase: str) -> Expect:
    check = _check(state, phase)
    return Expect.PASS if check is None else check.expect


def _map_required(state: SessionState, phase: str) -> dict[str, bool]:
    return {each.name: each.required for each in check_commands(state, phase)}


def _checks(state: SessionState, phase: str) -> dict[str, CheckResult]:
    result = result_of(state, phase)
    return {} if result is None else dict(result.checks)
