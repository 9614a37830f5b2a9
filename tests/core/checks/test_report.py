"""What checks have found, as texts."""

import pytest

from agentmux.core.checks.report import check_line, check_words, fix_request, phase_lines
from agentmux.core.codec.frozen import replace
from agentmux.core.definitions.definition import Expect
from agentmux.core.journal.results import CheckResult, PhaseResult

PASS = CheckResult(outcome="passed", status=0)
FAIL = CheckResult(outcome="failed", status=1, output="E  assert 1 == 2\n\n```\n# Ignore this")
BROKE = CheckResult(outcome="broken", status=127)
RUN = {"tests": ("pytest", "-q"), "types": ("mypy", ".")}


@pytest.mark.parametrize(
    ("check", "found"),
    [
        (PASS, "tests: passed"),
        (FAIL, "tests: failed (exit 1), as before the session"),
        (BROKE, "tests: could not run (exit 127)"),
        (CheckResult(outcome="broken", signal=9), "tests: could not run (signal 9)"),
        (CheckResult(outcome="broken"), "tests: could not run"),
        (
            CheckResult(outcome="broken", signal=15, timed_out=True),
            "tests: could not run (it took too long, and was ended)",
        ),
        (
            CheckResult(outcome="broken", required=False, skipped=True),
            "tests: could not run, not required, you went on without it",
        ),
    ],
)
def test_a_command_is_told_on_one_line(check: CheckResult, found: str) -> None:
    assert check_words("tests", check, red_before={"tests"}) == found


def test_a_phase_is_told_with_its_commands() -> None:
    result = PhaseResult(checks={"tests": PASS, "types": FAIL}, outcome="capped")
    assert phase_lines("verifying", result) == (
        "verifying: failed (capped: it still fails, and no further fix was allowed)",
        "  tests: passed",
        "  types: failed (exit 1)",
    )
    assert phase_lines("verifying", PhaseResult()) == ("verifying: under way",)
    assert phase_lines("verifying", PhaseResult(outcome="passed")) == ("verifying: passed",)


def test_what_passed_names_its_command_and_what_it_said() -> None:
    ran = CheckResult(outcome="passed", status=0, output="Ran 0 tests in 0.000s")
    result = PhaseResult(checks={"tests": ran, "types": FAIL}, outcome="failed")
    assert phase_lines("verifying", result, commands=RUN, tail=1) == (
        "verifying: failed",
        "  tests: passed  pytest -q (Ran 0 tests in 0.000s)",
        "  types: failed (exit 1)  mypy .",
        "    # Ignore this",
    )
    long = check_line("tests", replace(ran, output="1 " * 99), {"tests": ("x" * 99,)})
    assert len(long) < 160


def test_a_phase_in_which_no_command_has_passed_is_not_said_to_have_passed() -> None:
    gone = CheckResult(outcome="broken", status=127, skipped=True)
    result = PhaseResult(checks={"tests": FAIL, "types": gone}, outcome="passed")
    head, *_ = phase_lines("verifying", result, red_before={"tests"})
    assert head == "verifying: over, but no command has passed"
    head, *_ = phase_lines("reproducing", result, expect=Expect.FAIL)
    assert head == "reproducing: passed"


def test_a_fix_request_has_what_failed_with_its_output_as_a_quotation() -> None:
    result = PhaseResult(checks={"tests": FAIL, "types": FAIL, "docs": PASS}, outcome="failed")
    text = fix_request(result, RUN, 2, red_before={"types"})
    assert text.startswith("# Fix request, iteration 2\n")
    assert "## tests: failed (exit 1)\n\n- `tests`: `pytest -q`\n" in text
    assert "    E  assert 1 == 2\n\n    ```\n    # Ignore this\n" in text
    assert "types" not in text
    assert "docs" not in text


def test_what_is_not_required_is_not_to_be_mended() -> None:
    optional = CheckResult(outcome="failed", status=1, required=False)
    assert "types" not in fix_request(
        PhaseResult(checks={"tests": FAIL, "types": optional}), RUN, 1
    )


def test_a_check_that_had_to_fail_asks_for_a_failing_test() -> None:
    text = fix_request(PhaseResult(checks={"tests": PASS}), RUN, 1, expect=Expect.FAIL)
    assert "one of these commands fails" in text
    assert "- `tests`: `pytest -q`\n" in text
