"""A suppression is an exception to a rule of the linter, of mypy or of a coverage tool.

There are few, and each says why on its line. A rule that is wrong for a whole room has its line in
`pyproject.toml`, with the reason, once.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from typing import Final, NamedTuple

from tests.house.sources import texts

SUPPRESSIONS_MAX: Final = 65
"""What there is in the program now, rounded up: it may only be lowered."""

_SUPPRESSION: Final = re.compile(
    r"# *(?:(?:ruff|flake8|mypy): *\S+|noqa\b|type: *ignore|pragma:)", re.IGNORECASE
)
_FORMS: Final = (
    re.compile(r"# noqa: [A-Z]+\d+(?:, [A-Z]+\d+)* \((?P<reason>.+)\)"),
    re.compile(r"# type: ignore\[[a-z-]+(?:, [a-z-]+)*\]  # (?P<reason>.+)"),
    re.compile(r"# pragma: no cover \((?P<reason>.+)\)"),
)
"""One rule or more, then the reason. A whole file has none: there is `per-file-ignores`."""
_ELSEWHERE: Final = re.compile(r"(?:as|see) (?:above|before|below)\b", re.IGNORECASE)


class Suppression(NamedTuple):
    """A comment that suppresses rules; its reason is empty if it has none of its own."""

    line: int
    text: str
    reason: str


def _suppressions(source: str) -> Iterator[Suppression]:
    """Yield the suppressions of a module; a comment may hold several."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            begins = [each.start() for each in _SUPPRESSION.finditer(token.string)]
            for begin, end in zip(begins, [*begins[1:], None], strict=False):
                text = token.string[begin:end].strip()
                forms = (form.fullmatch(text) for form in _FORMS)
                reason = next((form["reason"] for form in forms if form), "")
                yield Suppression(token.start[0], text, reason)


def _without_reason(source: str) -> Iterator[Suppression]:
    """Yield the suppressions that have no reason, or that of another one."""
    before = ""
    for each in _suppressions(source):
        if not each.reason or _ELSEWHERE.match(each.reason) or each.reason == before:
            yield each
        before = each.reason


def test_there_are_few_suppressions() -> None:
    places = [f"{path}:{each.line}" for path, text in texts() for each in _suppressions(text)]
    assert 0 < len(places) <= SUPPRESSIONS_MAX, "\n".join(places)


def test_each_suppression_has_a_reason_of_its_own() -> None:
    unexplained = [
        f"{path}:{each.line}: {each.text}"
        for path, text in texts()
        for each in _without_reason(text)
    ]
    assert unexplained == []


EXPLAINED: Final = """\
a = open(b)  # noqa: SIM115, PTH123 (it stays open)
c.d = e  # type: ignore[attr-defined]  # its stub lacks it
if f:  # pragma: no cover (another process was faster)
    g = "# noqa"
h = i  # type: ignore[arg-type]  # its stub is wrong  # noqa: SLF001 (it has no other name)
"""


def test_what_is_explained_is_counted_and_passes() -> None:
    lines = [each.line for each in _suppressions(EXPLAINED)]
    assert (lines, [*_without_reason(EXPLAINED)]) == ([1, 2, 3, 5, 5], [])


def test_what_is_not_explained_is_named() -> None:
    source = """\
# ruff: noqa: PTH104
a = 1  # noqa
b = 1  # noqa: S105
c = 1  # noqa: S105 (as above)
d = 1  # noqa (no rule)
e = 1  # type: ignore
f = 1  # type: ignore[misc]
g = 1  # type:ignore[misc]  # without a blank
h = 1  # pragma: no cover
i = 1  # noqa: S105 (no password)
j = 1  # noqa: S105 (no password)
k = 1  # NOQA: S105 (in capitals)
"""
    assert [each.line for each in _without_reason(source)] == [*range(1, 10), 11, 12]
