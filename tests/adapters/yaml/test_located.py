"""Plain values with the lines of their file."""

from __future__ import annotations

import pytest

from agentmux.adapters.yaml.located import load_located
from agentmux.core.definitions.located import PROBLEMS_MAX, Located, Problem


def test_each_value_and_key_has_its_line() -> None:
    item, problems = load_located(b"# a comment\na: 1\nb:\n  - x\n  - no\n  -\nc:\n  - d: 2\n")
    assert problems == ()
    assert item == Located(
        value={"a": 1, "b": ["x", "no", None], "c": [{"d": 2}]},
        lines={
            "": 2,
            "a": 2,
            "b": 3,
            "b[0]": 4,
            "b[1]": 5,
            "b[2]": 6,
            "c": 7,
            "c[0]": 8,
            "c[0].d": 8,
        },
    )
    assert item.line("c[0].e") == 8
    assert item.line("e") == 2


@pytest.mark.parametrize("text", [b"", b"~", b"# nothing\n"])
def test_an_empty_file_has_no_value(text: bytes) -> None:
    assert load_located(text) == (None, ())


def test_a_wrong_byte_is_told_with_its_line() -> None:
    problem = Problem(line=2, what="byte 3 is not UTF-8")
    assert load_located(b"a:\n\xff") == (None, (problem,))


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (b"a: 1\nb: [", 3, "did not find expected node content"),
        (b"a: 1\na: 2\n", 2, "the key `a` appears twice, first in line 1"),
        (b"a: &x [1]\nb: *x\n", 1, "an anchor"),
        (b"a: !!python/object:os.system 1\n", 1, "a tag"),
        (b"a: " + b"[" * 30, 1, "nested over 12 levels"),
        (b"a:\n" + b"- 1\n" * 30_000, 19_999, "more than 20000 values"),
        (b"a: 1\n---\nb: 2\n", 2, "a second document begins"),
    ],
)
def test_what_is_no_plain_document_is_refused_with_its_line(
    text: bytes, line: int, what: str
) -> None:
    item, problems = load_located(text)
    assert item is None
    assert problems[0].line == line
    assert problems[0].what.startswith(what)


def test_a_bomb_of_aliases_ends_early() -> None:
    bomb = b"a: &a [x]\n" + b"b: [*a, *a, *a, *a, *a, *a, *a, *a]\n" * 1000
    item, problems = load_located(bomb)
    assert item is None
    assert len(problems) == PROBLEMS_MAX
