"""The table of keys: one meaning for a letter in all places, a key for every command, its pages."""

import re
from collections import defaultdict
from itertools import product
from pathlib import Path

import pytest

from agentmux.cli.command_table import GROUPS
from agentmux.core.terminal.keys.key_commands import (
    DESK,
    DESK_HELP,
    MONITOR,
    TABS,
    KeyCommand,
    KeyPlace,
)
from agentmux.core.terminal.keys.key_names import show_key
from agentmux.core.terminal.keys.key_table import KEY_LINES, KEYS

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
PAGES = {"monitor.md": MONITOR, "desk.md": DESK_HELP, "fleet.md": (KeyPlace.FLEET,)}
ENDS = {KeyCommand.STOP, KeyCommand.REMOVE, KeyCommand.DRAIN}
"""The commands that end or delete something."""


def test_a_letter_has_one_meaning_everywhere() -> None:
    meanings = defaultdict(set)
    for each in KEY_LINES:
        for key in each.keys if each.place is not KeyPlace.BOX else ():
            meanings[key].add(each.command)
    letters = {key: does for key, does in meanings.items() if len(key) == 1 and key.isalpha()}
    assert letters.pop("n") == {KeyCommand.NEW, KeyCommand.NEXT_HIT}  # as in programs with `/`
    assert {key: does for key, does in letters.items() if len(does) > 1} == {}


def test_what_ends_something_shares_no_key_with_anything_else() -> None:
    for one, other in product(KEY_LINES, KEY_LINES):
        if one.command in ENDS and one.command is not other.command:
            assert not set(one.keys) & set(other.keys), (one, other)


@pytest.mark.parametrize("place", KeyPlace)
def test_a_key_has_one_line_in_a_place(place: KeyPlace) -> None:
    keys = [key for each in KEYS.lines_at(place) for key in each.keys]
    assert len(keys) == len(set(keys))


def test_every_command_has_a_line() -> None:
    assert {each.command for each in KEY_LINES} == set(KeyCommand) - {KeyCommand.ASK}
    assert {each.place for each in KEY_LINES} == set(KeyPlace)


def test_a_key_does_what_the_first_place_says_that_has_it() -> None:
    assert KEYS.find("n", KeyPlace.FOUND, KeyPlace.DESK) is KeyCommand.NEXT_HIT
    assert KEYS.find("n", KeyPlace.LIST, KeyPlace.DESK, KeyPlace.FOUND) is KeyCommand.NEW
    assert KEYS.find("n", KeyPlace.LIST) is KeyCommand.NOTHING
    assert KEYS.find("S", KeyPlace.ALWAYS, KeyPlace.DECIDES) is KeyCommand.NOTHING


def test_there_is_a_number_for_each_tab() -> None:
    assert KEYS.line_of(KeyCommand.TAB).keys == tuple(map(str, range(1, len(TABS) + 1)))


def test_keys_run_commands_that_exist_and_only_looking_is_for_agents() -> None:
    commands = {name for group in GROUPS.values() for name in group}
    run = {each.runs for each in KEYS.lines_at(*DESK) if each.runs}
    assert run <= commands
    assert not KEYS.line_of(KeyCommand.ATTACH).decides
    decides = {each.runs for each in KEYS.lines_at(*DESK) if each.decides}
    assert decides == run - {"attach", "diff"}


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("a", "a"), ("A", "A"), ("+", "+"), ("?", "?"), ("escape", "Esc"), ("pageup", "PgUp"),
        ("f5", "F5"), ("ctrl+c", "Ctrl-C"), ("shift+tab", "Shift-Tab"), ("up", "\u2191"),
    ],
)  # fmt: skip
def test_keys_are_shown_as_they_are_called(key: str, shown: str) -> None:
    assert show_key(key) == shown


def test_of_several_keys_those_are_shown_that_need_no_second_one() -> None:
    assert KEYS.line_of(KeyCommand.QUIT).label == "q"
    assert KEYS.line_of(KeyCommand.TAB).label == "1-6"
    assert KEYS.line_of(KeyCommand.REMOVE).label == "D Del"
    assert KEYS.line_of(KeyCommand.LOOK).label == "Ctrl-R"
    assert [KEYS.show(each) for each in (KeyCommand.REMOVE, KeyCommand.DOWN)] == ["D", "\u2193"]


@pytest.mark.parametrize("name", PAGES)
def test_the_help_and_the_page_have_every_line_of_the_table(name: str) -> None:
    told = tuple(KEYS.help_lines(*PAGES[name]))
    page = (REFERENCE / name).read_text("utf-8")
    assert max(map(len, told)) <= 78
    for each in KEYS.lines_at(*PAGES[name]):
        assert f"  {each.label:<11}{each.says}" in told
        assert f"| `{each.label}` | {each.says} |" in page


def test_no_line_of_the_desk_names_another_key_which_may_be_a_users_own() -> None:
    names = {"tab", "escape", "enter", "space"}
    shown = {show_key(key) for each in KEY_LINES for key in each.keys if len(key) == 1} - {"a"}
    shown |= {show_key(each) for each in names}
    for each in KEYS.lines_at(*DESK, KeyPlace.FLEET):
        assert not shown & set(re.findall(r"\w+", each.says)), each.says
