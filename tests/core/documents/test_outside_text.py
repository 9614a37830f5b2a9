import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.documents.outside_text import (
    CUT,
    TEXT_MAX,
    TITLE_MAX,
    issue_text,
    strip_invisible,
    title_line,
)
from agentmux.core.prompts.prompt import quote


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("a\u2028b\u2029c\x0bd\x0ce\x85f\x1cg", "a\nb\nc\nd\ne\nf\ng"),
        ("\x1b[31mred\x07\x00", "[31mred"),
        ("abc\u202edcb\u2066x\u2069\u200f", "abcdcbx"),
        ("hi\U000e0049\U000e0067 \ufeffthere\u200b", "hi there"),
        ("tab\tstays", "tab\tstays"),
        (
            "\U0001f469\u200d\U0001f4bb \u0645\u06cc\u200c\u062e\u0648 é",
            "\U0001f469\u200d\U0001f4bb \u0645\u06cc\u200c\u062e\u0648 é",
        ),
        ("\udcff", ""),
    ],
)
def test_what_cannot_be_seen_is_left_out(text: str, clean: str) -> None:
    assert strip_invisible(text) == clean


@given(st.text(), st.text())
def test_no_line_of_a_quoted_issue_is_outside_of_the_quotation(title: str, body: str) -> None:
    lines = quote(issue_text(title_line(title), body)).splitlines()
    assert all(line.startswith(">") for line in lines)


def test_a_title_is_one_short_line() -> None:
    assert title_line(" a\n b\u2028c ") == "a b c"
    assert title_line("x" * 1000) == "x" * TITLE_MAX
    assert title_line("\u202e\x00") == ""


def test_an_issue_with_comments() -> None:
    text = issue_text("Title", "body\r\n", [("ann", "one\x00"), ("bob", "two")])
    assert text == "Title\n\nbody\n\nann commented:\n\none\n\nbob commented:\n\ntwo"
    assert issue_text("Title", "  ") == "Title"


def test_a_long_issue_is_cut() -> None:
    text = issue_text("Title", "x" * TEXT_MAX)
    assert len(text) < TEXT_MAX + 100
    assert text.endswith(CUT)
