"""What keys do in the monitor: no single key does anything irreversible."""

from __future__ import annotations

import string
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.terminal.keys.console import (
    ANSWER_S,
    DRAFT_MAX,
    READ_S,
    REST_S,
    Console,
    TextPage,
    ask,
    press,
)
from agentmux.core.terminal.keys.key_commands import MONITOR, KeyCommand, KeyPlace
from agentmux.core.terminal.keys.key_table import KEYS
from agentmux.core.terminal.keys.keys import Key, Pressed
from agentmux.core.terminal.keys.monitor_keys import CONFIRMED, help_lines, name_key

NOW = 100.0
PAGE = TextPage(rows=10, last=95)
EVERY_KEY = (*Key, *string.printable[:95], "ä", "日")


def pressed(
    *keys: Pressed, decides: bool = True, after_s: float = 1.0
) -> tuple[Console, KeyCommand]:
    """Press keys one after the other; each question is shown at once."""
    console, command, now_s = Console(), KeyCommand.NOTHING, NOW
    for key in keys:
        console, command = press(console, key, now_s=now_s, decides=decides, page=PAGE)
        if command is KeyCommand.ASK:
            console = ask(console, "again?", now_s)
        now_s += after_s
    return console, command


# -- the table -------------------------------------------------------------------------------------

SITUATIONS = {
    KeyPlace.ALWAYS: (Console(), False),
    KeyPlace.DECIDES: (Console(), True),
    KeyPlace.READS: (Console(reads=KeyCommand.DIFF, top=50), False),
    KeyPlace.WRITES: (Console(draft="ab"), True),
}
ASKED = ask(Console(command=KeyCommand.APPROVE, reads=KeyCommand.APPROVE, top=50), "again?", NOW)


def does_something(console: Console, key: Pressed, *, decides: bool) -> bool:
    after, command = press(console, key, now_s=NOW, decides=decides, page=PAGE)
    said = after.note != console.note
    return command is not KeyCommand.NOTHING or (after != console and not said)


@pytest.mark.parametrize("when", MONITOR)
def test_every_key_that_does_something_is_among_those_that_are_shown(when: KeyPlace) -> None:
    console, decides = SITUATIONS[when]
    held = {KeyPlace.ALWAYS, when} if when is not KeyPlace.WRITES else {when}
    shown = {key for each in KEYS.lines_at(*held) for key in each.keys}
    typed = {key for key in EVERY_KEY if isinstance(key, str)} if when is KeyPlace.WRITES else set()
    does = {key for key in EVERY_KEY if does_something(console, key, decides=decides)}
    idle = {"y"} | ({"escape", "q"} if console == Console() else set())
    assert set(map(name_key, does)) | (idle & shown) == shown | set(map(name_key, typed))


def test_a_question_with_a_text_hears_no_other_keys() -> None:
    shown = {key for each in KEYS.lines_at(*MONITOR[:-1]) for key in each.keys}
    does = {key for key in EVERY_KEY if press(ASKED, key, now_s=NOW, decides=True)[1]
            is not KeyCommand.NOTHING}  # fmt: skip
    assert set(map(name_key, does)) <= shown
    for key in (each for each in EVERY_KEY if name_key(each) not in shown):
        console, _ = press(ASKED, key, now_s=NOW, decides=True, page=PAGE)
        assert console == Console(note=console.note)


def test_the_keys_are_shown_under_headings() -> None:
    lines = help_lines("C-b L goes back (main)")
    for each in KEYS.lines_at(*MONITOR):
        assert f"  {each.label:<11}{each.says}" in lines
    headings = [each.value for each in MONITOR]
    headings.insert(2, "To leave; all goes on without you")
    assert [line for line in lines if line and line[0] != " "] == headings
    assert max(map(len, lines)) <= 76


def test_keys_of_tmux_are_explained_to_who_does_not_know_them() -> None:
    lines = "\n".join(help_lines("C-b L goes back (main)"))
    leave = "  C-b L goes back (main)\n  Ctrl and b together, let go, then L\n"
    assert f"all goes on without you\n{leave}" in lines
    assert "together" not in "\n".join(help_lines("detach: prefix d"))


def test_no_key_has_two_meanings_at_once() -> None:
    for one, other in product(KEYS.lines_at(*MONITOR), KEYS.lines_at(*MONITOR)):
        at_once = one.place is other.place or (KeyPlace.WRITES not in {one.place, other.place})
        if one is not other and at_once:
            assert not set(one.keys) & set(other.keys), (one.label, other.label)


# -- what counts is pressed twice ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("a", KeyCommand.APPROVE),
        (Key.INTERRUPT, KeyCommand.END),
        ("R", KeyCommand.RESUME),
        ("r", KeyCommand.RESTART),
        ("w", KeyCommand.SKIP),
        ("p", KeyCommand.TYPE),
    ],
)
def test_what_counts_is_pressed_twice(key: Pressed, command: KeyCommand) -> None:
    assert pressed(key)[1] is KeyCommand.ASK
    assert pressed(key, key) == (Console(), command)
    assert pressed(key, "y") == (Console(), command)
    assert pressed(key, "y", after_s=ANSWER_S)[1] is KeyCommand.NOTHING
    assert pressed(key, key, key)[1] is KeyCommand.ASK
    assert pressed(key, "z", key)[1] is KeyCommand.ASK
    assert pressed(key, key, after_s=ANSWER_S)[1] is KeyCommand.ASK


def test_one_question_is_no_answer_to_another() -> None:
    assert pressed("a", Key.INTERRUPT)[1] is KeyCommand.ASK
    assert pressed(Key.INTERRUPT, "a")[1] is KeyCommand.ASK


def test_a_question_that_was_never_shown_is_not_answered() -> None:
    console, command = press(Console(), "a", now_s=NOW, decides=True)
    assert command is KeyCommand.ASK
    assert press(console, "a", now_s=NOW, decides=True)[1] is KeyCommand.ASK
    assert press(console, "y", now_s=NOW, decides=True)[1] is KeyCommand.NOTHING


def test_a_word_with_the_same_letter_twice_answers_nothing() -> None:
    console, _ = press(Console(), "R", now_s=NOW, decides=False)
    console = ask(console, "again?", NOW, rest_s=REST_S)
    for key in ("R", "y"):
        assert press(console, key, now_s=NOW + REST_S / 2, decides=False)[1] is KeyCommand.NOTHING
    assert press(console, "R", now_s=NOW + REST_S, decides=False)[1] is KeyCommand.RESUME


def test_where_nothing_is_to_be_decided_no_key_decides() -> None:
    for key in ("a", "c"):
        console, command = pressed(key, key, decides=False)
        assert (command, console) == (KeyCommand.NOTHING, Console(note=console.note))
        assert (
            console.note
            == f"`{key}` does nothing here, nothing is to be decided now: ? shows all keys"
        )
    assert pressed(Key.INTERRUPT, Key.INTERRUPT, decides=False)[1] is KeyCommand.END


def test_a_question_is_open_until_it_is_answered_or_forgotten() -> None:
    console, _ = pressed("a")
    assert console.asks(NOW) == console.asks(NOW + ANSWER_S - 1) == "again?"
    assert console.asks(NOW + ANSWER_S) == ""
    assert [pressed("a", key)[0].asks(NOW) for key in ("a", "z", Key.ESCAPE)] == [""] * 3


# -- a key without a meaning -----------------------------------------------------------------------


def test_a_key_without_a_meaning_says_where_all_keys_are() -> None:
    console, command = pressed("z")
    assert (command, console.note) == (
        KeyCommand.NOTHING,
        "`z` does nothing here: ? shows all keys",
    )
    for capital in "ACDSOY":  # a small letter's meaning is not that of its capital
        assert pressed(capital) == (
            Console(note=f"`{capital}` does nothing here: ? shows all keys"),
            KeyCommand.NOTHING,
        )
    assert pressed("z", Key.TAB)[0].note == "`tab` does nothing here: ? shows all keys"
    assert pressed(Key.PAGE_DOWN)[0].note.startswith("`pagedown` does nothing here, no text")
    assert pressed("z", "?")[0].note == ""
    assert pressed(Key.DOWN)[0].note.startswith("`down` does nothing here, no text is shown")
    assert pressed(Key.PASTE)[0] == Console()
    assert pressed("d", "z")[0].reads is KeyCommand.DIFF


# -- reading ---------------------------------------------------------------------------------------


def test_a_text_is_shown_and_closed_by_its_key() -> None:
    for key, command in (
        ("d", KeyCommand.DIFF),
        ("s", KeyCommand.SUMMARY),
        ("?", KeyCommand.KEYS),
    ):
        assert pressed(key) == (Console(reads=command), command)
        assert pressed(key, key) == pressed(key, "q") == (Console(), KeyCommand.NOTHING)
    assert pressed("d", "s") == (Console(reads=KeyCommand.SUMMARY), KeyCommand.SUMMARY)
    assert pressed("d", "c")[0] == Console(draft="")


@pytest.mark.parametrize(
    ("keys", "top"),
    [
        ((Key.DOWN,), 1),
        (("j", "j", Key.UP), 1),
        ((Key.UP,), 0),
        ((" ", Key.PAGE_DOWN), 20),
        ((" ", "b"), 0),
        (("G",), 95),
        (("G", " "), 95),
        (("G", Key.PAGE_UP), 85),
        (("G", "g"), 0),
    ],
)
def test_a_text_is_read_from_end_to_end(keys: tuple[Pressed, ...], top: int) -> None:
    assert pressed("d", *keys)[0] == Console(reads=KeyCommand.DIFF, top=top)


def test_what_an_approval_would_do_is_read_by_arrows_which_gives_time_anew() -> None:
    late = NOW + READ_S - 1
    moved, command = press(ASKED, Key.DOWN, now_s=late, decides=True, page=PAGE)
    assert (moved.top, command, moved.asks(late + READ_S - 1)) == (
        51,
        KeyCommand.NOTHING,
        "again?",
    )
    assert press(moved, "a", now_s=late, decides=True) == (Console(), KeyCommand.APPROVE)
    assert press(ASKED, " ", now_s=late, decides=True)[0].reads is KeyCommand.NOTHING
    assert press(ASKED, Key.DOWN, now_s=NOW + READ_S, decides=True)[0].reads is KeyCommand.NOTHING
    assert press(ASKED, Key.DOWN, now_s=NOW, decides=False)[0].reads is KeyCommand.NOTHING


# -- writing ---------------------------------------------------------------------------------------


def test_changes_are_written_until_enter_is_pressed_twice() -> None:
    assert pressed(*"cab")[0].draft == "ab"
    assert pressed(*"cab", Key.BACKSPACE, "c", Key.UP)[0].draft == "ac"
    assert pressed(*"cab", Key.CLEAR, *"more")[0].draft == "more"
    assert pressed(*"cab", Key.ENTER)[0].draft == "ab"
    assert pressed(*"cab", Key.ENTER)[1] is KeyCommand.ASK
    assert pressed(*"cab", Key.ENTER, Key.ENTER) == (Console(), KeyCommand.SEND)
    assert pressed(*"cab", Key.ENTER, Key.ENTER, after_s=ANSWER_S)[1] is KeyCommand.ASK
    assert pressed(*"cab", Key.ENTER, "x", Key.ENTER)[1] is KeyCommand.ASK
    console, command = pressed("c", " ", Key.ENTER)
    assert (console.draft, command) == (" ", KeyCommand.NOTHING)
    assert console.note
    assert pressed("c", *"x" * (DRAFT_MAX + 1))[0].draft == "x" * DRAFT_MAX


def test_where_the_next_cycle_begins_is_chosen_while_writing() -> None:
    assert pressed(*"ca", Key.TAB, Key.TAB, "b")[0] == Console(draft="ab", beginning=2)
    console, command = pressed(*"ca", Key.TAB, Key.ENTER)
    assert (console.beginning, command) == (1, KeyCommand.ASK)


@pytest.mark.parametrize("key", [Key.ESCAPE, Key.INTERRUPT])
def test_writing_is_left_without_a_trace(key: Key) -> None:
    assert pressed(*"cab", key) == (Console(), KeyCommand.NOTHING)


def test_a_decision_elsewhere_takes_the_draft_away() -> None:
    console, _ = pressed(*"cab")
    console, command = press(console, "z", now_s=NOW, decides=False)
    assert (console.draft, command) == (None, KeyCommand.NOTHING)


@given(st.lists(st.sampled_from([*Key, *"acRrxwpdsz?"])))
def test_no_key_alone_does_anything(keys: list[Pressed]) -> None:
    console = Console()
    for key in keys:
        before = console
        console, command = press(console, key, now_s=NOW, decides=True, page=PAGE)
        if command in CONFIRMED | {KeyCommand.SEND}:
            assert (before.command, before.until_s > NOW) == (command, True)
        if command is KeyCommand.SEND:
            assert (before.draft or "").strip()
        if command is KeyCommand.ASK:
            console = ask(console, "again?", NOW)
