"""Reviews, nominations of reviewers, and the fix request after a failed review."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.shape import Fields, Shape, describe_value, indent_list_item
from agentmux.core.names.phase import REVIEWER_LOGIC, REVIEWERS
from agentmux.core.names.words.nearest import suggestion
from agentmux.errors import UsageError

PREFIX: Final = "reviewer_"
"""The prefix of the long names of the built-in reviewers."""
SHORT_ROLES: Final = tuple(role.removeprefix(PREFIX) for role in REVIEWERS)
"""The short names of the built-in reviewers, such as ``logic``."""
DEFAULT_NOMINATIONS: Final = (REVIEWER_LOGIC,)
"""The long names of the reviewers if the architect nominates nobody."""

_FINDING_FIELDS = ("location", "issue", "severity", "recommendation")
# Spaces between the words, but no line ends: the search stays linear in a file of empty lines.
_VERDICT_LINE = re.compile(
    r"^[ \t#>*_-]*verdict[ \t*_]*:[ \t*_`]*(pass|fail)\b", re.IGNORECASE | re.MULTILINE
)


class Verdict(StrEnum):
    """A reviewer's verdict: ``pass`` or ``fail``."""

    PASS = "pass"  # noqa: S105 (a verdict, no password)
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem that a reviewer found; all fields are free text, and may be empty.

    They are the place in the code (``location``), the problem (``issue``), the ``severity``, and
    what to do (``recommendation``).
    """

    location: str
    issue: str
    severity: str
    recommendation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A review by one reviewer; a failed review has findings.

    Attributes:
        role: The reviewer's long name, such as ``reviewer_logic``.
        commit_message: The commit message that the reviewer proposes; None if there is none.
    """

    role: str
    verdict: Verdict
    summary: str
    findings: tuple[Finding, ...]
    commit_message: str | None

    def to_fields(self) -> dict[str, object]:
        """Return the content of the review's file as plain values, which `check_review` reads."""
        fields: dict[str, object] = {
            "verdict": self.verdict.value,
            "summary": self.summary,
            "findings": [
                {key: getattr(finding, key) for key in _FINDING_FIELDS} for finding in self.findings
            ],
        }
        if self.commit_message is not None:
            fields["commit_message"] = self.commit_message
        return fields


def is_reviewer(role: str) -> bool:
    """Whether ``role`` is a built-in reviewer: a short (``logic``) or long name."""
    return role.removeprefix(PREFIX) in SHORT_ROLES


def short_reviewer_name(role: str) -> str:
    """Return the short name of a built-in reviewer, given its short or long name.

    For example, return ``logic`` for ``logic`` and for ``reviewer_logic``.

    Raises:
        UsageError: No built-in reviewer has this name.
    """
    name = role.removeprefix(PREFIX)
    if name not in SHORT_ROLES:
        choices = ", ".join(f"`{known}`" for known in SHORT_ROLES)
        raise UsageError(
            f"no reviewer role `{role}`{suggestion(name, SHORT_ROLES)}",
            hints=(f"the roles are {choices}",),
        )
    return name


def long_reviewer_name(role: str) -> str:
    """Return the long name of a built-in reviewer, given its short or long name.

    For example, return ``reviewer_logic`` for ``logic`` and for ``reviewer_logic``.

    Raises:
        UsageError: No built-in reviewer has this name.
    """
    return PREFIX + short_reviewer_name(role)


def label(role: str) -> str:
    """Return a reviewer's name for people: ``role`` without the prefix of built-in reviewers."""
    return role.removeprefix(PREFIX)


def expand_role(role: str) -> str:
    """Return the long name if ``role`` is a built-in reviewer; otherwise return ``role`` itself."""
    return long_reviewer_name(role) if is_reviewer(role) else role


def seat_named(text: str) -> str:
    """Return the role or seat that a person typed, in AgentMux's spelling.

    For example, ``logic`` becomes ``reviewer_logic``, and ``coder_2`` becomes ``coder-2``. The
    result need not exist.
    """
    name = text.replace("-", "_")
    return long_reviewer_name(name) if is_reviewer(name) else text.replace("_", "-")


def review_file(role: str) -> str:
    """Return the name of a reviewer's file in the review folder, such as ``review_logic.yaml``.

    ``role`` is the short or the long name of a built-in reviewer, or a role that the configuration
    adds.
    """
    return f"review_{label(role)}.yaml"


def review_files(role: str, *, alone: bool) -> tuple[str, ...]:
    """Return the possible names of a reviewer's file; of these, the first that exists counts.

    For the reviewer ``logic`` or ``reviewer_logic`` they are ``review_logic.yaml`` and
    ``review_reviewer_logic.yaml``. ``alone`` says whether ``role`` is the only nominated reviewer;
    if it is, the last possible name is ``review.yaml``.
    """
    names = dict.fromkeys((review_file(role), f"review_{expand_role(role)}.yaml"))
    return (*names, "review.yaml") if alone else tuple(names)


def check_review(
    value: object, role: str, *, strict: bool = True
) -> tuple[Review | None, tuple[str, ...]]:
    """Validate the parsed content of a review file.

    Args:
        value: Plain values, as parsed from the file.
        role: The short or the long name of a built-in reviewer, or a role that the configuration
            adds.
        strict: Whether to apply every rule, as for a submission. Otherwise only the verdict is
            required and unknown fields are ignored, for files that an older or newer version
            accepted.

    Returns:
        A pair: the review, or None if there are problems; and all problems, each as
        ``<place>: <description>``.
    """
    shape = Shape(review_file(role))
    top = shape.mapping(
        value, "", required=("verdict", "summary") if strict else ("verdict",),
        optional=("findings", "commit_message"), closed=strict,
    )  # fmt: skip
    review = Review(
        role=expand_role(role),
        verdict=_verdict(top),
        summary=top.text("summary") if strict or top.values.get("summary") else "",
        findings=_findings(top, strict=strict),
        commit_message=_commit_message(top),
    )
    if strict and review.verdict is Verdict.FAIL and not top.values.get("findings"):
        shape.note("findings", "a review that fails needs at least one finding")
    return (None, shape.problems) if shape.problems else (review, ())


def _verdict(top: Fields) -> Verdict:
    value = top.values.get("verdict", Verdict.PASS)
    name = value.strip().lower() if isinstance(value, str) else value
    if name in tuple(Verdict):
        return Verdict(str(name))
    top.shape.note("verdict", f"expected `pass` or `fail`, found {describe_value(value)}")
    return Verdict.PASS


def _findings(top: Fields, *, strict: bool) -> tuple[Finding, ...]:
    if top.values.get("findings") is None:
        return ()
    return tuple(
        _finding(top.shape, entry, place, strict=strict) for place, entry in top.items("findings")
    )


def _finding(shape: Shape, value: object, place: str, *, strict: bool) -> Finding:
    required = _FINDING_FIELDS if strict else ()
    fields = shape.mapping(value, place, required=required, closed=strict)
    return Finding(
        location=fields.text("location"),
        issue=fields.text("issue"),
        severity=fields.text("severity"),
        recommendation=fields.text("recommendation"),
    )


def _commit_message(top: Fields) -> str | None:
    return top.text("commit_message") if top.values.get("commit_message") else None


def check_nominations(value: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Validate ``value``, the field ``reviewers`` in the front matter of ``architecture.md``.

    Valid are a list of names of built-in reviewers (short or long), a text with such names
    separated by commas, and None, which nominates nobody.

    Returns:
        A pair: the long names of the nominated reviewers, in the given order and without
        duplicates; and all problems, each as ``<place>: <description>``. If nobody is nominated or
        there are problems, the names are `DEFAULT_NOMINATIONS`.
    """
    shape = Shape("architecture.md")
    if isinstance(value, str):
        value = [name.strip() for name in value.split(",")]
    fields = Fields(shape, "", {} if value is None else {"reviewers": value})
    roles = [_read_nomination(shape, entry, place) for place, entry in fields.items("reviewers")]
    if shape.problems or not roles:
        return DEFAULT_NOMINATIONS, shape.problems
    return tuple(dict.fromkeys(roles)), ()


def _read_nomination(shape: Shape, value: object, place: str) -> str:
    name = shape.text(value, place)
    if name and not is_reviewer(name):
        hint = suggestion(name.removeprefix(PREFIX), SHORT_ROLES)
        choices = ", ".join(SHORT_ROLES)
        shape.note(place, f"`{name}` is not a reviewer ({choices}){hint}")
    return PREFIX + name.removeprefix(PREFIX)


def outcome(nominated: Iterable[str], verdicts: Mapping[str, Verdict]) -> Verdict | None:
    """Return the outcome of a review phase; None if it depends on verdicts that are missing.

    A single fail is enough to fail; to pass, all nominated reviewers have to pass. Verdicts of
    other reviewers do not count. Also None if nobody is nominated.

    Args:
        nominated: The long names of the nominated reviewers.
        verdicts: The verdicts so far, by the reviewer's long name.
    """
    role_verdicts = [verdicts.get(role) for role in nominated]
    if Verdict.FAIL in role_verdicts:
        return Verdict.FAIL
    return Verdict.PASS if role_verdicts and None not in role_verdicts else None


def verdict_in(review_md_text: str) -> Verdict | None:
    """Return the verdict in the first ``Verdict:`` line of a ``review.md``; None if it has none."""
    match = _VERDICT_LINE.search(review_md_text)
    return Verdict(match[1].lower()) if match else None


def overall_verdict(reviews: Iterable[Review]) -> Verdict:
    """Return `Verdict.FAIL` if any of the reviews fails, else `Verdict.PASS`."""
    failed = any(review.verdict is Verdict.FAIL for review in reviews)
    return Verdict.FAIL if failed else Verdict.PASS


def commit_message(reviews: Iterable[Review]) -> str | None:
    """Return the first commit message that a review proposes; None if none does."""
    return next((review.commit_message for review in reviews if review.commit_message), None)


def review_md(reviews: Sequence[Review]) -> str:
    """Return the text of ``review.md``: the overall ``Verdict:`` line, then each review."""
    parts = [f"# Review\n\nVerdict: {overall_verdict(reviews).value}\n"]
    for review in reviews:
        head = f"## {label(review.role)}: {review.verdict.value}\n\n{review.summary}\n"
        parts.append("\n".join([head, *_finding_blocks(review)]))
    return "\n".join(parts)


def fix_request_md(reviews: Sequence[Review], iteration: int) -> str:
    """Return the text of ``fix_request.md`` with the findings of the failed reviews, for the coder.

    ``iteration`` is the number of the fix iteration, from 1.
    """
    parts = [
        f"# Fix request, iteration {iteration}\n",
        "The review failed. Fix every finding below, and change nothing else.\n",
    ]
    for review in reviews:
        if review.verdict is Verdict.FAIL:
            parts.append(f"## From the {label(review.role)} review\n\n{review.summary}\n")
            parts.extend(_finding_blocks(review))
    return "\n".join(parts)


def requested_fix_md(text: str) -> str:
    """Return the text of ``fix_request.md`` for a change that the user requested.

    ``text`` is the user's request.
    """
    quoted = "\n".join(f"> {line}".rstrip() for line in text.strip().split("\n"))
    return (
        "# Fix request of the user\n\n"
        "The user looked at the finished work, and asks for this. Do it, and nothing else.\n\n"
        f"{quoted}\n"
    )


def _finding_blocks(review: Review) -> list[str]:
    return [_finding_block(number, each) for number, each in enumerate(review.findings, start=1)]


def _finding_block(number: int, finding: Finding) -> str:
    rows = (
        ("Severity", finding.severity),
        ("Issue", finding.issue),
        ("Recommendation", finding.recommendation),
    )
    lines = [f"- {name}: {indent_list_item(text)}" for name, text in rows if text]
    return "\n".join([f"### {number}. {finding.location or 'no location'}", "", *lines]) + "\n"
