"""Lines of styled text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.terminal.text.text_width import clean, width
from agentmux.desk.styled import BOLD, PLAIN, cut, fill, fit_parts, plain

_COLS = st.integers(min_value=0, max_value=100)


def test_parts_are_cut_where_the_line_ends() -> None:
    assert fit_parts((("one ", BOLD), ("two three", PLAIN), ("four", BOLD)), 8) == (
        ("one ", BOLD),
        ("two…", PLAIN),
    )
    assert fit_parts((("one", BOLD), ("漢字", PLAIN)), 6) == (("one", BOLD), ("漢…", PLAIN))


@given(texts=st.lists(st.text()), cols=_COLS)
def test_a_line_never_takes_more_than_its_cells(texts: list[str], cols: int) -> None:
    assert width(plain(fit_parts(((clean(each), PLAIN) for each in texts), cols))) <= cols


@given(text=st.text(), cols=_COLS)
def test_a_column_has_its_width(text: str, cols: int) -> None:
    assert width(cut(text, cols)) <= cols
    assert width(fill(text, cols)) == cols
    assert fill(text, cols).isprintable()
