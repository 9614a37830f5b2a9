"""What a command has shown, and whether a check has passed; pure."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Final

from agentmux.core.definitions.definition import Expect
from agentmux.core.journal.results import CheckResult
from agentmux.core.names.statuses import BROKEN, FAILED, PASSED

_NOT_RUN: Final = frozenset({126, 127})
"""What every shell returns for a program that it cannot run, or does not find."""


def outcome_of(status: int | None, signal: int | None, *, stopped: bool) -> str:
    """Return what a command has shown: ``passed``, ``failed``, or ``broken`` if it could not run.

    Args:
        status: The exit status; None if a Unix signal ended the command, or nothing is known.
        signal: The number of that Unix signal, or None.
        stopped: Whether it was ended from outside: it took too long, or its pane was closed.
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
    """Return whether a check has passed: ``passed``, ``failed``, or empty while that is open.

    It is open until every command has a result. After that it is open while the user has to say
    what becomes of the commands in `find_blocking`.

    Args:
        required: Each command of the check by its name: whether the check needs it.
        checks: What the commands have shown so far, by name.
        expect: Whether the commands have to pass, or one of them has to fail.
        red_before: The commands that had failed before the session changed anything. That they
            still fail is not held against it.
    """
    if not checks.keys() >= required.keys():
        return ""
    failed = [name for name in required if required[name] and checks[name].outcome == FAILED]
    if expect is Expect.FAIL:
        if failed or not any(required.values()):  # what is only reported never fails
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
    """Return the commands that could not run and keep the check from being decided.

    Empty as long as a command has no result: the user is asked once, about all of them. The
    arguments are those of `checks_verdict`.
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


def proves(checks: Mapping[str, CheckResult]) -> bool:
    """Whether a required command has passed, and none that is required has failed or was broken."""
    outcomes = {each.outcome for each in checks.values() if each.required}
    return outcomes == {PASSED}
