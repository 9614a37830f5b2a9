"""Widths of characters."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcwidth

from agentmux.core.terminal.text.text_width import ONE_CELL, cut, cut_apart, cut_start, width


def test_the_blocks_that_are_measured_without_the_library_are_as_it_says() -> None:
    for first, last in ONE_CELL:
        chars = map(chr, range(ord(first), ord(last) + 1))
        assert {char: wcwidth(char) for char in chars if wcwidth(char) != 1} == {}


def test_our_own_signs_and_latin_letters_do_not_load_the_library() -> None:
    code = (
        "import sys\n"
        "from agentmux.core.terminal.text.text_width import width\n"
        "signs = 'Grüße · … ─│┌┘ → ↻ ◆ █'\n"
        "assert width(signs) == len(signs)\n"
        "assert 'wcwidth' not in sys.modules\n"
        "assert width('你') == 2\n"
        "assert 'wcwidth' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("cols", "kept"),
    [
        (28, "new conversation, started …"),
        (27, "new conversation, started …"),
        (29, "new conversation, started 2 …"),
        (38, "new conversation, started 2 times …"),
        (8, "new con…"),  # a word alone would leave more than a quarter empty
    ],
)
def test_prose_is_cut_after_a_word(cols: int, kept: str) -> None:
    assert cut("new conversation, started 2 times today", cols) == kept


@pytest.mark.parametrize(
    ("cols", "kept"),
    [(9, "…d-a-日本"), (8, "…-a-日本"), (5, "…日本"), (4, "…本"), (1, "…"), (0, "")],
)
def test_a_path_keeps_its_end(cols: int, kept: str) -> None:
    assert cut_start("add-a-日本", 10) == "add-a-日本"
    assert cut_start("add-a-日本", cols) == kept


def test_texts_that_would_look_the_same_are_cut_in_their_middle() -> None:
    texts = ("name both lines", "name both files", "add login", "add login")
    assert cut_apart(texts, 10) == ("name…lines", "name…files", "add login", "add login")
    long = tuple(f"add a flag to the {each} of the shop" for each in ("import", "export"))
    assert cut_apart(long, 20) == ("add a…import of the…", "add a…export of the…")
    assert cut_apart(("name both lines", "add a login"), 9) == ("name bot…", "add a lo…")


@given(st.lists(st.text(alphabet="ab 四", max_size=30), max_size=4), st.integers(1, 20))
def test_each_of_them_fits(texts: list[str], cols: int) -> None:
    assert all(width(each) <= cols for each in cut_apart(texts, cols))
