"""The table of the desk's keys: one meaning for a key, a key for every command, and its page."""

from pathlib import Path

from agentmux.cli.command_table import GROUPS
from agentmux.core.terminal.keys.desk_keys import (
    DESK_KEYS,
    TABS,
    DeskCommand,
    help_lines,
    key_of,
)
from agentmux.core.terminal.keys.fleet_keys import FLEET_KEYS

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "desk.md"


def test_a_key_has_one_meaning_and_every_command_a_key() -> None:
    keys = [key for each in DESK_KEYS for key in each.keys]
    assert len(keys) == len(set(keys))
    assert {each.action for each in DESK_KEYS} == set(DeskCommand)
    assert "y" not in keys


def test_there_is_a_number_for_each_tab() -> None:
    assert key_of(DeskCommand.TAB).keys == tuple(map(str, range(1, len(TABS) + 1)))


def test_keys_run_commands_that_exist_and_only_looking_is_for_agents() -> None:
    commands = {name for group in GROUPS.values() for name in group}
    run = {each.command for each in DESK_KEYS if each.command}
    assert run <= commands
    assert not key_of(DeskCommand.ATTACH).decides
    assert {each.command for each in DESK_KEYS if each.decides} == run - {"attach", "diff"}


def test_the_help_and_the_page_have_every_line_of_the_table() -> None:
    said, page = "\n".join(help_lines()), PAGE.read_text("utf-8")
    assert all(len(line) <= 78 for line in help_lines())
    for each in DESK_KEYS:
        assert f"  {each.shown:<8}{each.says}" in said
        assert f"| `{each.shown}` | {each.says} |" in page


def test_the_page_of_the_fleet_has_every_key_of_its_view() -> None:
    page = PAGE.with_name("fleet.md").read_text("utf-8")
    assert all(f"| `{each.shown}` | {each.says} |" in page for each in FLEET_KEYS)
