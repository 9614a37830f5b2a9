"""The rules see what they are for."""

from tests.screens.rules import beyond_first_screen, cut_words, equal_rows, too_wide, wrapped_ids

ID = "20260101-101500-add-login"


def test_an_id_that_goes_on_in_the_next_line_is_seen() -> None:
    assert wrapped_ids(["see it: agentmux status 20260101-1015", "  00-add-login"], [ID]) == [ID]
    assert wrapped_ids(["see it:", f"  agentmux status {ID}"], [ID]) == []


def test_a_line_that_a_terminal_breaks_is_seen() -> None:
    assert too_wide(["四 四四四", "four", "   " * 9], 8) == ["四 四四四"]


def test_rows_that_say_the_same_are_seen_whatever_is_selected() -> None:
    assert equal_rows(["> add login  5m", "  add login   5m", "  add login  6m"]) == [
        "  add login   5m"
    ]


def test_a_word_that_is_cut_is_seen_unless_it_is_marked() -> None:
    texts = ["raise an error, and name both lines"]
    assert list(cut_words(["raise an er", "ror, and"], texts, 40)) == ["er", "ror"]
    assert list(cut_words(["raise an er…", "… both lines"], texts, 40)) == []


def test_a_word_that_is_wider_than_the_screen_may_be_broken() -> None:
    assert list(cut_words(["aaaaaaaaaa", "aaaaa"], ["a" * 15], 10)) == []


def test_what_is_further_down_is_seen() -> None:
    lines = ["what should", "be built?", "a approve"]
    assert beyond_first_screen(lines, 2, ["should be built?", "a approve"]) == ["a approve"]
