"""The lines of the desk fit: what does not fit whole is left out, or goes on in the next line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.terminal.keys.key_commands import TABS, KeyCommand
from agentmux.core.terminal.keys.key_table import KEYS
from agentmux.core.terminal.text.text_width import width
from agentmux.desk.screens.widgets import _broken, foot_parts, tab_parts
from agentmux.desk.styled import BOLD, PLAIN, plain

ALWAYS = (KeyCommand.KEYS, KeyCommand.QUIT)
WORDS = {
    each: each.value for each in (KeyCommand.APPROVE, KeyCommand.CHANGES, KeyCommand.NEW, *ALWAYS)
}


@given(cols=st.integers(0, 120))
def test_the_foot_shows_only_whole_keys(cols: int) -> None:
    parts, names = foot_parts(WORDS, KEYS, ALWAYS, cols)
    shown = plain(parts)
    assert width(shown) <= cols
    assert len(parts) == len(names)
    found = [each for each in shown.split("  ") if each]
    assert set(found) <= {"a approve", "c ask for changes", "n new", "? all keys", "q quit"}


def test_the_foot_keeps_the_way_out_first() -> None:
    assert plain(foot_parts(WORDS, KEYS, ALWAYS, 29)[0]) == "a approve  ? all keys  q quit"
    assert plain(foot_parts(WORDS, KEYS, ALWAYS, 18)[0]) == "? all keys  q quit"


@pytest.mark.parametrize("tab", TABS)
@given(cols=st.integers(20, 120))
def test_tabs_are_whole_words_or_numbers(tab: str, cols: int) -> None:
    parts, names = tab_parts(tab, cols)
    assert width(plain(parts)) <= cols
    assert len(parts) == len(names)
    words = {*TABS, "docs", "log", *"123456"}
    assert set(plain(parts).split()) <= words


def test_all_tabs_have_their_words_on_a_small_screen() -> None:
    assert plain(tab_parts("overview", 46)[0]) == "1 overview 2 screens 3 docs 4 diff 5 why 6 log"


def test_a_line_of_several_styles_goes_on_in_the_next_line() -> None:
    parts = (("done", BOLD), (", cycle 2, updated 44 minutes ago", PLAIN))
    broken = list(_broken(parts, 20))
    assert [plain(each) for each in broken] == ["done, cycle 2,", "  updated 44 minutes", "  ago"]
    assert broken[0][0] == ("done", BOLD)


@given(
    words=st.lists(st.text(st.characters(codec="utf-8"), max_size=30), max_size=8),
    cols=st.integers(4, 40),
)
def test_broken_lines_fit_and_keep_every_letter(words: list[str], cols: int) -> None:
    parts = (("  head ", BOLD), *((f"{each} ", PLAIN) for each in words))
    broken = [plain(each) for each in _broken(parts, cols)]
    assert all(width(each) <= cols for each in broken)
    letters = "".join(plain(parts).split())
    if letters.isprintable() and letters.isascii():
        assert "".join("".join(broken).split()) == letters
