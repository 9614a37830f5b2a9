"""What keys do in the monitor: no single key does anything irreversible."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.terminal.console import ANSWER_S, DRAFT_MAX, READ_S, Console, Wish, ask, press
from agentmux.core.terminal.keys import Key, Pressed

NOW = 100.0


def pressed(*keys: Pressed, decides: bool = True, after_s: float = 1.0) -> tuple[Console, Wish]:
    """Press keys one after the other; each question is shown at once."""
    console, wish, now_s = Console(), Wish.NOTHING, NOW
    for key in keys:
        console, wish = press(console, key, now_s=now_s, decides=decides)
        if wish is Wish.ASK:
            console = ask(console, "again?", now_s)
        now_s += after_s
    return console, wish


@pytest.mark.parametrize(("key", "wish"), [("a", Wish.APPROVE), (Key.INTERRUPT, Wish.END)])
def test_what_counts_is_pressed_twice(key: Pressed, wish: Wish) -> None:
    assert pressed(key)[1] is Wish.ASK
    assert pressed(key, key) == (Console(), wish)
    assert pressed(key, key, key)[1] is Wish.ASK
    assert pressed(key, "x", key)[1] is Wish.ASK
    assert pressed(key, key, after_s=ANSWER_S)[1] is Wish.ASK


def test_one_question_is_no_answer_to_another() -> None:
    assert pressed("a", Key.INTERRUPT)[1] is Wish.ASK
    assert pressed(Key.INTERRUPT, "a")[1] is Wish.ASK


def test_a_question_that_was_never_shown_is_not_answered() -> None:
    console, wish = press(Console(), "a", now_s=NOW, decides=True)
    assert wish is Wish.ASK
    assert press(console, "a", now_s=NOW, decides=True)[1] is Wish.ASK


def test_where_nothing_is_to_be_decided_only_the_end_is_heard() -> None:
    for key in ("a", "A", "c", "C", Key.ENTER, Key.ESCAPE):
        assert pressed(key, key, decides=False) == (Console(), Wish.NOTHING)
    assert pressed(Key.INTERRUPT, Key.INTERRUPT, decides=False)[1] is Wish.END


def test_a_question_is_open_until_it_is_answered_or_forgotten() -> None:
    console, _ = pressed("a")
    assert console.asks(NOW) == console.asks(NOW + ANSWER_S - 1) == "again?"
    assert console.asks(NOW + ANSWER_S) == ""
    assert [pressed("a", key)[0].asks(NOW) for key in ("a", "x", Key.ESCAPE)] == [""] * 3


def test_a_preview_is_turned_by_arrows_which_gives_time_anew() -> None:
    asked = ask(Console(wish=Wish.APPROVE, preview=("one", "two")), "again?", NOW)
    late = NOW + READ_S - 1
    turned, wish = press(asked, Key.DOWN, now_s=late, decides=True)
    assert (turned.page, wish, turned.asks(late + READ_S - 1)) == (1, Wish.NOTHING, "again?")
    assert press(turned, Key.PAGE_UP, now_s=late, decides=True)[0].page == 0
    assert press(turned, "a", now_s=late, decides=True) == (Console(), Wish.APPROVE)
    assert press(asked, " ", now_s=late, decides=True) == (Console(), Wish.NOTHING)
    assert press(asked, Key.DOWN, now_s=NOW + READ_S, decides=True)[0] == Console()


def test_changes_are_written_until_enter_is_pressed_twice() -> None:
    assert pressed(*"cab")[0].draft == "ab"
    assert pressed(*"cab", Key.BACKSPACE, "c", Key.UP)[0].draft == "ac"
    assert pressed(*"cab", Key.CLEAR, *"more")[0].draft == "more"
    assert pressed(*"cab", Key.ENTER)[0].draft == "ab"
    assert pressed(*"cab", Key.ENTER)[1] is Wish.ASK
    assert pressed(*"cab", Key.ENTER, Key.ENTER) == (Console(), Wish.CHANGE)
    assert pressed(*"cab", Key.ENTER, Key.ENTER, after_s=ANSWER_S)[1] is Wish.ASK
    assert pressed(*"cab", Key.ENTER, "x", Key.ENTER)[1] is Wish.ASK
    assert pressed("c", " ", Key.ENTER) == (Console(draft=" "), Wish.NOTHING)
    assert pressed("c", *"x" * (DRAFT_MAX + 1))[0].draft == "x" * DRAFT_MAX


@pytest.mark.parametrize("key", [Key.ESCAPE, Key.INTERRUPT])
def test_writing_is_left_without_a_trace(key: Key) -> None:
    assert pressed(*"cab", key) == (Console(), Wish.NOTHING)


def test_a_decision_elsewhere_takes_the_draft_away() -> None:
    console, _ = pressed(*"cab")
    assert press(console, "x", now_s=NOW, decides=False) == (Console(), Wish.NOTHING)


@given(st.lists(st.sampled_from([*Key, "a", "c", "x"])))
def test_no_key_alone_does_anything(keys: list[Pressed]) -> None:
    console = Console()
    for key in keys:
        before = console
        console, wish = press(console, key, now_s=NOW, decides=True)
        if wish in {Wish.APPROVE, Wish.CHANGE, Wish.END}:
            assert (before.wish, before.until_s > NOW) == (wish, True)
        if wish is Wish.CHANGE:
            assert (before.draft or "").strip()
        if wish is Wish.ASK:
            console = ask(console, "again?", NOW)
