"""Picking a session by keys, and what is done with its seats."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.names.conversations import SeatChoice, seat_choices
from agentmux.core.terminal.keys.keys import Key, Pressed
from agentmux.core.terminal.keys.picker import Choice, Picker, begin, offer, press, refuse, tell

NAMES = ("beta", "alpha", "gamma", "delta")


def picker(*names: str, refused: str = "") -> Picker:
    return begin(
        [
            Choice(name=name, words=name, refused="no" if name == refused else "")
            for name in names or NAMES
        ]
    )


def pressed(start: Picker, *keys: Pressed) -> Picker:
    for key in keys:
        start = press(start, key)
    return start


def names(state: Picker) -> list[str]:
    return [each.name for each in state.matching_choices]


def test_arrows_and_letters_move_and_stop_at_the_ends() -> None:
    start = picker()
    assert start.at == "beta"
    assert pressed(start, Key.UP).at == "beta"
    assert pressed(start, "j", Key.DOWN).at == "gamma"
    assert pressed(start, "j", "j", "j", "j", "k").at == "gamma"
    assert pressed(start, Key.END).at == "delta"
    assert pressed(start, Key.END, Key.HOME).at == "beta"
    assert pressed(start, Key.PAGE_DOWN).at == "delta"


def test_typing_filters_by_words_and_keeps_what_is_selected() -> None:
    start = pressed(picker("add auth", "fix auth", "fix cache"), "j")
    both = pressed(start, *"auth")
    assert names(both) == ["add auth", "fix auth"]
    assert both.at == "fix auth"
    assert names(pressed(both, *" FIX")) == ["fix auth"]
    assert pressed(start, *"cac").at == "fix cache"


def test_typing_looks_for_what_is_known_of_a_choice_by_then() -> None:
    start = picker("add auth", "fix cache")
    assert names(pressed(start, *"wait")) == []
    told = tell(pressed(start, *"wait"), {"fix cache": "waiting for you"})
    assert (names(told), told.at) == (["fix cache"], "fix cache")


def test_where_nothing_is_resumed_nothing_starts_afresh() -> None:
    start = begin([Choice(name="fork", words="fork"), Choice(name="x", words="x")], attaches=True)
    assert not pressed(start, Key.CTRL_F).fresh
    assert names(pressed(start, "f")) == ["fork"]


def test_letters_that_are_keys_are_text_in_a_search() -> None:
    start = picker("jolly", "fork")
    assert pressed(start, "f").fresh
    found = pressed(start, "/", "f")
    assert (found.fresh, names(found)) == (False, ["fork"])
    assert names(pressed(start, "l", "j")) == []  # any other letter begins a filter
    assert pressed(found, Key.CTRL_F).fresh
    assert not pressed(found, Key.CTRL_F, Key.CTRL_F).fresh


def test_an_emptied_search_is_over() -> None:
    start = pressed(picker(), "a", Key.BACKSPACE)
    assert not start.typing
    assert pressed(start, "f").fresh
    assert pressed(picker(), "g", "a", Key.CLEAR).matching_choices == picker().choices


def test_escape_clears_a_search_then_leaves() -> None:
    cleared = pressed(picker(), "g", Key.ESCAPE)
    assert (cleared.left, cleared.sought, cleared.at) == (False, "", "gamma")
    left = pressed(cleared, Key.ESCAPE)
    assert (left.left, left.interrupted, left.taken) == (True, False, None)


def test_control_c_interrupts_at_once() -> None:
    state = pressed(picker(), "g", Key.INTERRUPT)
    assert (state.left, state.interrupted) == (True, True)


def test_enter_takes_the_selected_one() -> None:
    assert pressed(picker(), "j", Key.ENTER).taken == "alpha"


def test_a_refused_one_cannot_be_taken_and_says_why() -> None:
    state = refuse(picker(), {"beta": "it is live", "alpha": ""})
    tried = pressed(state, Key.ENTER)
    assert (tried.taken, tried.says, tried.is_over) == (None, "it is live", False)
    assert pressed(tried, Key.DOWN).says == ""
    assert pressed(tried, Key.DOWN, Key.ENTER).taken == "alpha"


def test_it_begins_at_one_that_can_be_taken() -> None:
    assert picker(refused="beta").at == "alpha"
    assert picker("only", refused="only").at == "only"


def test_nothing_found_takes_nothing() -> None:
    state = pressed(picker(), *"zzz", Key.DOWN, Key.ENTER)
    assert (state.taken, state.at, state.says) == (None, "", "nothing matches what you typed")
    assert pressed(state, Key.ESCAPE).at == "beta"


def test_another_session_begins_at_its_first_screen() -> None:
    assert pressed(picker(), Key.TAB).screen == 1
    assert pressed(picker(), Key.TAB, Key.UP).screen == 1
    assert pressed(picker(), Key.TAB, Key.DOWN).screen == 0


KEYS = st.lists(st.one_of(st.sampled_from(list(Key)), st.sampled_from("abglmjkf/ ")), max_size=30)


@given(keys=KEYS)
def test_whatever_is_pressed_the_selected_one_is_on_the_list(keys: list[Pressed]) -> None:
    state = pressed(picker(refused="gamma"), *keys)
    assert state.at in names(state) or (state.at == "" and not state.matching_choices)
    assert state.taken in {None, "alpha", "beta", "delta"}
    assert not (state.left and state.taken)


# -- the seats of a resume -----------------------------------------------------------------------

P, F, SH, ST = SeatChoice
SEATS = (seat_choices("native"), seat_choices("fresh"), seat_choices("shell"))


def asked(*names: str) -> Picker:
    start = begin([Choice(name=name, words=name) for name in names], asks=True)
    return offer(start, dict.fromkeys(names, SEATS))


def test_the_number_of_a_seat_goes_through_what_can_be_chosen_for_it() -> None:
    start = offer(picker(), {"beta": SEATS})
    assert start.seat_choices("beta") == (P, P, P)
    assert start.seat_choices("alpha") == ()
    went = [pressed(start, *"1" * count).seat_choices("beta")[0] for count in range(5)]
    assert went == [P, F, SH, ST, P]
    went = [pressed(start, *"2" * count).seat_choices("beta")[1] for count in range(4)]
    assert went == [P, SH, ST, P]  # there is no conversation that could come back
    assert pressed(start, "3").seat_choices("beta") == (P, P, P)
    assert pressed(start, "3").says == "there is nothing to choose for seat 3"
    assert pressed(start, "4").says == "this session starts no seat 4"
    assert pressed(start, "j", "1").says == "this session starts no seat 1"
    assert pressed(start, "1", "j", "k").seat_choices("beta")[0] is F


def test_one_key_chooses_new_conversations_for_all_seats() -> None:
    start = offer(picker(), {"beta": SEATS})
    assert pressed(start, "f").seat_choices("beta") == (F, P, P)
    assert pressed(start, "f", "1").seat_choices("beta") == (SH, P, P)
    assert pressed(start, "1", "1", "f").seat_choices("beta") == (F, P, P)
    assert pressed(start, "f", "f").seat_choices("beta") == (P, P, P)


def test_a_digit_is_text_in_a_search_and_where_nothing_is_resumed() -> None:
    start = offer(picker("issue 12", "beta"), {"issue 12": SEATS})
    assert names(pressed(start, "/", "1", "2")) == ["issue 12"]
    start = begin([Choice(name="v1", words="v1"), Choice(name="x", words="x")], attaches=True)
    assert names(pressed(start, "1")) == ["v1"]


def test_the_question_about_a_resume_has_no_search() -> None:
    start = asked("one", "two")
    assert pressed(start, Key.ENTER).taken == "one"
    assert pressed(start, "y").taken == "one"
    for key in ("n", "q", Key.ESCAPE):
        assert pressed(start, key).left
    same = pressed(start, "x", "/", "z", Key.PASTE)
    assert (same.typing, same.sought, len(same.matching_choices)) == (False, "", 2)
    assert pressed(start, "j", "1", Key.ENTER).seat_choices("two")[0] is F


def test_nobody_agrees_to_what_is_not_known_yet() -> None:
    start = begin([Choice(name=name, words=name) for name in ("one", "two")], asks=True)
    start = offer(start, {"one": SEATS})
    early = pressed(start, Key.ENTER)
    assert (early.taken, early.says) == (None, "1 session still to be examined")
    assert pressed(refuse(start, {"two": "unreadable"}), Key.ENTER).taken == "one"
