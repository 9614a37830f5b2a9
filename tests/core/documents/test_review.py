"""The rules of reviews and nominations, and the pages made of reviews."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.documents import review
from agentmux.core.documents.review import Verdict, check_nominations, check_review, outcome
from agentmux.errors import UsageError


def outcome_of(nominated: tuple[str, ...], reviews: list[review.Review]) -> Verdict | None:
    return outcome(nominated, {each.role: each.verdict for each in reviews})


def finding(**changed: Any) -> dict[str, Any]:
    return {
        "location": "src/a.py:12",
        "issue": "off by one",
        "severity": "high",
        "recommendation": "count from 0",
        **changed,
    }


def failed(**changed: Any) -> dict[str, Any]:
    return {"verdict": "fail", "summary": "Not yet.", "findings": [finding()], **changed}


def made(value: object, role: str = "logic") -> review.Review:
    found, problems = check_review(value, role)
    assert problems == ()
    assert found is not None
    return found


PASSED = {"verdict": "pass", "summary": "Good."}


def test_a_pass_needs_no_findings() -> None:
    found = made({**PASSED, "commit_message": "auth: add log-in"}, "reviewer_quality")
    assert (found.role, found.verdict, found.findings) == ("reviewer_quality", Verdict.PASS, ())
    assert found.commit_message == "auth: add log-in"
    assert made({**PASSED, "findings": None}).findings == ()


def test_a_review_survives_its_fields() -> None:
    for value in (failed(), failed(commit_message="x"), PASSED):
        found = made(value)
        assert made(found.to_fields()) == found


@pytest.mark.parametrize("findings", [{}, {"findings": []}, {"findings": None}])
def test_a_fail_needs_a_finding(findings: dict[str, Any]) -> None:
    found, problems = check_review({"verdict": "fail", "summary": "s", **findings}, "logic")
    assert found is None
    assert problems == ("findings: a review that fails needs at least one finding",)


def test_every_problem_is_listed_at_once() -> None:
    value = {
        "verdict": "maybe",
        "sumary": "x",
        "findings": [finding(severity=None), "text", {"issue": "x"}],
        "commit_message": 3,
    }
    assert check_review(value, "expert") == (
        None,
        (
            "summary: missing",
            "sumary: unknown field; did you mean `summary`?",
            "verdict: expected `pass` or `fail`, found `maybe`",
            "findings[0].severity: expected text, found nothing",
            "findings[1]: expected a mapping, found text",
            "findings[2].location: missing",
            "findings[2].severity: missing",
            "findings[2].recommendation: missing",
            "commit_message: expected text, found a number",
        ),
    )


@pytest.mark.parametrize("verdict", [None, True, [], 1])
def test_a_verdict_is_a_word(verdict: object) -> None:
    assert check_review({**PASSED, "verdict": verdict}, "logic")[0] is None


@pytest.mark.parametrize("verdict", ["pass", "Pass", " PASS "])
def test_the_case_of_a_verdict_does_not_matter(verdict: str) -> None:
    assert made({**PASSED, "verdict": verdict}).verdict is Verdict.PASS


def test_a_document_that_is_no_mapping_is_named_by_its_file() -> None:
    assert check_review([], "reviewer_logic") == (
        None,
        ("review_logic.yaml: expected a mapping, found a list",),
    )


def test_what_an_older_version_accepted_is_read_leniently() -> None:
    value = {"verdict": "fail", "reviewer": "x", "findings": [{"issue": "only this"}]}
    assert check_review(value, "logic")[0] is None
    found, problems = check_review(value, "logic", strict=False)
    assert problems == ()
    assert found is not None
    assert found.findings[0].issue == "only this"
    assert check_review({"summary": "x"}, "logic", strict=False)[1] == ("verdict: missing",)


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["verdict", "summary", "findings", "issue"]), inner, max_size=4
            )
        ),
        max_leaves=10,
    ),
    strict=st.booleans(),
)
def test_no_value_breaks_the_check(value: object, strict: bool) -> None:
    found, problems = check_review(value, "logic", strict=strict)
    assert (found is None) == bool(problems)
    check_nominations(value)


def test_roles_have_a_short_and_a_long_form() -> None:
    for name in ("logic", "quality", "expert"):
        assert (
            review.short_reviewer_name(name)
            == review.short_reviewer_name(f"reviewer_{name}")
            == name
        )
        assert (
            review.long_reviewer_name(name)
            == review.long_reviewer_name(f"reviewer_{name}")
            == f"reviewer_{name}"
        )
    with pytest.raises(UsageError, match="did you mean `logic`"):
        review.long_reviewer_name("logik")
    assert not review.is_reviewer("coder")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("logic", "reviewer_logic"),
        ("reviewer-expert", "reviewer_expert"),
        ("reviewer_quality", "reviewer_quality"),
        ("code_researcher", "code-researcher"),
        ("coder-2", "coder-2"),
        ("logics", "logics"),
        ("*", "*"),
    ],
)
def test_a_seat_is_meant_however_its_role_is_spelled(typed: str, meant: str) -> None:
    assert review.seat_named(typed) == meant


def test_a_lone_reviewer_may_use_the_plain_name() -> None:
    both = ("review_logic.yaml", "review_reviewer_logic.yaml")
    assert review.review_files("logic", alone=False) == both
    assert review.review_files("reviewer_logic", alone=True) == (*both, "review.yaml")


@pytest.mark.parametrize(
    ("value", "roles"),
    [
        (None, ("reviewer_logic",)),
        ([], ("reviewer_logic",)),
        (["expert", "reviewer_logic"], ("reviewer_expert", "reviewer_logic")),
        (["logic", "reviewer_logic", "logic", "logic"], ("reviewer_logic",)),
        ("quality", ("reviewer_quality",)),
        ("logic, quality", ("reviewer_logic", "reviewer_quality")),
    ],
)
def test_nominations(value: object, roles: tuple[str, ...]) -> None:
    assert check_nominations(value) == (roles, ())


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (
            ["logic", "qualty"],
            (
                "reviewers[1]: `qualty` is not a reviewer (logic, quality, expert); "
                "did you mean `quality`?"
            ),
        ),
        ([3], "reviewers[0]: expected text, found a number"),
        ({}, "reviewers: expected a list, found a mapping (text that contains `: ` needs quotes)"),
    ],
)
def test_wrong_nominations_are_named(value: object, problem: str) -> None:
    assert check_nominations(value) == (("reviewer_logic",), (problem,))


BOTH = ("reviewer_logic", "reviewer_quality")


def test_a_fail_that_is_in_decides() -> None:
    assert outcome_of(BOTH, [made(failed(), "quality")]) is Verdict.FAIL


def test_all_passes_pass_and_fewer_decide_nothing() -> None:
    one, other = made(PASSED, "logic"), made(PASSED, "quality")
    assert outcome_of(BOTH, [one, other]) is Verdict.PASS
    assert outcome_of(BOTH, [one]) is None
    assert outcome_of(BOTH, []) is None
    assert outcome_of((), [one]) is None


def test_a_role_that_is_not_nominated_does_not_count() -> None:
    reviews = [made(failed(), "expert"), made(PASSED, "logic")]
    assert outcome_of(("reviewer_logic",), reviews) is Verdict.PASS


def test_the_review_for_people_carries_a_verdict_line() -> None:
    text = review.review_md([made(PASSED), made(failed(), "quality")])
    assert review.verdict_in(text) is Verdict.FAIL
    assert "## quality: fail" in text
    assert "### 1. src/a.py:12\n\n- Severity: high\n- Issue: off by one\n" in text
    assert review.verdict_in(review.review_md([made(PASSED)])) is Verdict.PASS


def test_the_fix_request_has_the_findings_of_failed_reviews_only() -> None:
    reviews = [made({**PASSED, "summary": "Fine by me."}), made(failed(), "quality")]
    text = review.fix_request_md(reviews, 2)
    assert text.startswith("# Fix request, iteration 2\n")
    assert "- Recommendation: count from 0\n" in text
    assert "Fine by me." not in text


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("# Review\n\nVerdict: pass\n", Verdict.PASS),
        ("**Verdict:** FAIL because\n", Verdict.FAIL),
        ("## verdict: `pass`", Verdict.PASS),
        ("- Verdict: fail\nVerdict: pass", Verdict.FAIL),
        ("The verdict: pass", None),
        ("Verdict: passable", None),
        ("Verdict:\npass", None),
        ("", None),
    ],
)
def test_a_lone_review_counts_by_its_verdict_line(text: str, verdict: Verdict | None) -> None:
    assert review.verdict_in(text) is verdict


def test_the_first_commit_message_is_taken() -> None:
    reviews = [made(PASSED), made({**PASSED, "commit_message": "a: b"}, "expert")]
    assert review.commit_message(reviews) == "a: b"
    assert review.commit_message(reviews[:1]) is None
