"""What a command has shown, and whether a check has passed."""

import pytest

from agentmux.core.checks.verdict import (
    all_required_passed,
    checks_verdict,
    find_blocking,
    outcome_of,
)
from agentmux.core.codec.frozen import replace
from agentmux.core.definitions.definition import Expect
from agentmux.core.journal.results import CheckResult

PASS = CheckResult(outcome="passed", status=0)
FAIL = CheckResult(outcome="failed", status=1)
BROKE = CheckResult(outcome="broken", status=127)
BOTH = {"a": True, "b": True}


@pytest.mark.parametrize(
    ("status", "signal", "stopped", "found"),
    [
        (0, None, False, "passed"),
        (1, None, False, "failed"),
        (125, None, False, "failed"),
        (255, None, False, "failed"),
        (126, None, False, "broken"),
        (127, None, False, "broken"),
        (None, 9, False, "broken"),
        (None, None, False, "broken"),
        (0, None, True, "broken"),
        (1, None, True, "broken"),
    ],
)
def test_a_command_passes_fails_or_could_not_run(
    status: int | None, signal: int | None, stopped: bool, found: str
) -> None:
    assert outcome_of(status, signal, stopped=stopped) == found


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (PASS, PASS, "passed"),
        (PASS, FAIL, "failed"),
        (PASS, BROKE, ""),
        (FAIL, BROKE, ""),
        (PASS, replace(BROKE, skipped=True), "passed"),
        (FAIL, replace(BROKE, skipped=True), "failed"),
    ],
)
def test_every_required_command_has_to_pass(
    one: CheckResult, other: CheckResult, found: str
) -> None:
    assert checks_verdict(BOTH, {"a": one, "b": other}) == found


def test_optional_commands_alone_never_fail_a_check() -> None:
    for expect in Expect:
        assert checks_verdict({"a": False}, {"a": PASS}, expect=expect) == "passed"
        assert checks_verdict({"a": False}, {"a": BROKE}, expect=expect) == "passed"


def test_a_check_is_open_until_every_command_has_a_result() -> None:
    assert checks_verdict(BOTH, {"a": FAIL}) == ""
    assert checks_verdict({"a": True, "b": False}, {"a": PASS}) == ""
    assert find_blocking(BOTH, {"a": BROKE}) == ()


@pytest.mark.parametrize("other", [FAIL, BROKE])
def test_what_is_not_required_never_decides(other: CheckResult) -> None:
    required = {"a": True, "b": False}
    assert checks_verdict(required, {"a": PASS, "b": other}) == "passed"
    assert find_blocking(required, {"a": PASS, "b": other}) == ()


def test_what_failed_before_is_not_held_against_the_session() -> None:
    assert checks_verdict(BOTH, {"a": PASS, "b": FAIL}, red_before={"b"}) == "passed"
    assert checks_verdict(BOTH, {"a": FAIL, "b": FAIL}, red_before={"b"}) == "failed"
    assert checks_verdict(BOTH, {"a": PASS, "b": BROKE}, red_before={"b"}) == ""


@pytest.mark.parametrize(
    ("one", "other", "found", "asks"),
    [
        (PASS, PASS, "failed", ()),
        (PASS, FAIL, "passed", ()),
        (FAIL, BROKE, "passed", ()),
        (PASS, BROKE, "", ("b",)),
        (PASS, replace(BROKE, skipped=True), "failed", ()),
    ],
)
def test_a_check_that_expects_a_failure_needs_one(
    one: CheckResult, other: CheckResult, found: str, asks: tuple[str, ...]
) -> None:
    checks = {"a": one, "b": other}
    assert checks_verdict(BOTH, checks, expect=Expect.FAIL, red_before={"b"}) == found
    assert find_blocking(BOTH, checks, expect=Expect.FAIL) == asks


def test_the_user_is_asked_once_about_all_that_could_not_run() -> None:
    assert find_blocking(BOTH, {"a": BROKE, "b": BROKE}) == ("a", "b")
    assert find_blocking(BOTH, {"a": BROKE, "b": replace(BROKE, skipped=True)}) == ("a",)
    assert find_blocking(BOTH, {"a": PASS, "b": FAIL}) == ()


def test_only_required_commands_that_passed_prove_anything() -> None:
    optional = replace(PASS, required=False)
    assert all_required_passed({"a": PASS, "b": replace(FAIL, required=False)})
    assert not all_required_passed({})
    assert not all_required_passed({"a": optional})
    assert not all_required_passed({"a": PASS, "b": FAIL})
    assert not all_required_passed({"a": PASS, "b": replace(BROKE, skipped=True)})
