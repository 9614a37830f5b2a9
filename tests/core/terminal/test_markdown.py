"""Markdown as plain text for a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.terminal.text.markdown import render_markdown


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# What changed #\n\n\n\nIt **adds** it.", ["What changed:", "", "It adds it."]),
        ("## Why?", ["Why?"]),
        ("- one\n  * two `x`", ["• one", "  • two `x`"]),
        ("See [the page](docs/a.md) and <b>.", ["See the page (docs/a.md) and <b>."]),
        ("```sh\n# no heading\n- no bullet\n```\nx", ["    # no heading", "    - no bullet", "x"]),
        ("2 * 3 * 4 and __init__.py", ["2 * 3 * 4 and __init__.py"]),
        ("", []),
    ],
)  # fmt: skip
def test_marks_are_left_out_and_words_stay(text: str, lines: list[str]) -> None:
    assert list(render_markdown(text)) == lines


@given(st.text(alphabet="ab#*-[]()` \n_", max_size=80))
def test_no_text_is_too_strange(text: str) -> None:
    letters = [char for char in text if char in "ab"]
    assert [char for char in "".join(render_markdown(text)) if char in "ab"] == letters
