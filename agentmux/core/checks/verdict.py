"""The outcome of each command of a check, and whether the check has passed; pure."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Final

from agentmux.core.definitions.definition import Expect
from agentmux.core.journal.results import CheckResult
from agentmux.core.names.statuses import BROKEN, FAILED, PASSED

_NOT_RUN: Final = frozenset({126, 127})
"""The exit statuses of a shell for a program that it cannot run or cannot find (POSIX)."""


def outcome_of(status: int | None, signal: int | None, *, stopped: bool) -> str:
    """Return the outcome of a command: ``passed``, ``failed``, or ``broken`` if it could not run.

    An exit status of 126 or 127 means that a shell could not run or find the program. A command
    that was stopped or ended by a Unix signal, or whose exit status is not known, is ``broken``,
    too.

    Args:
        status: The exit status; None if a Unix signal ended the command, or if it is not known.
        signal: The number of the Unix signal that ended the command, or None.
        stopped: Whether the command was stopped because it took too long or its pane was closed.
    """
    if stopped or signal is not None or status is None or status in _NOT_RUN:
        return BROKEN
    return PASSED if status == 0 else FAILED


def checks_verdict(
    required: Mapping[str, bool],
    checks: Mapping[str, CheckResult],
    *,
    expect: Expect = Expect.PASS,
    red_before: Container[str] = (),
) -> str:
    """Return the verdict of a check: ``passed``, ``failed``, or empty if it is not decided yet.

    It is not decided until every command has a result. It also stays open while the user has to
    decide about commands that could not run (`find_blocking`). If no command is required, the
    check passes, whatever ``expect`` says.

    Args:
        required: Maps the name of each command of the check to whether the check requires it.
        checks: The results of the commands so far, by name.
        expect: ``pass`` if all required commands have to pass, ``fail`` if at least one of them has
            to fail.
        red_before: The names of the commands that failed before the session changed anything. If
            they still fail, the check can pass.
    """
    if not checks.keys() >= required.keys():
        return ""
    failed = [name for name in required if required[name] and checks[name].outcome == FAILED]
    if expect is Expect.FAIL:
        if failed or not any(required.values()):  # no required command, so nothing has to fail
            return PASSED
        return "" if _broken(required, checks) else FAILED
    if _broken(required, checks):
        return ""
    return FAILED if any(name not in red_before for name in failed) else PASSED


def find_blocking(
    required: Mapping[str, bool],
    checks: Mapping[str, CheckResult],
    *,
    expect: Expect = Expect.PASS,
) -> tuple[str, ...]:
    """Return the names of the commands that could not run and so prevent a verdict.

    Empty while any command has no result, so that the user is asked only once, about all of them.

    Args:
        required: Maps the name of each command of the check to whether the check requires it.
        checks: The results of the commands so far, by name.
        expect: ``pass`` if all required commands have to pass, ``fail`` if at least one of them has
            to fail.
    """
    done = checks.keys() >= required.keys()
    if not done or checks_verdict(required, checks, expect=expect):
        return ()
    return _broken(required, checks)


def _broken(required: Mapping[str, bool], checks: Mapping[str, CheckResult]) -> tuple[str, ...]:
    return tuple(
        name
        for name in required
        if required[name] and checks[name].outcome == BROKEN and not checks[name].skipped
    )


def all_required_passed(checks: Mapping[str, CheckResult]) -> bool:
    """Whether all required commands of a check have passed, and at least one is required.

    ``checks`` has the results of the check's commands by name.
    """
    outcomes = {each.outcome for each in checks.values() if each.required}
    return outcomes == {PASSED}
