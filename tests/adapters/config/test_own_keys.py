"""The setting ``desk``: a user's own keys and theme, and what is refused."""

from pathlib import Path

import pytest
from textual.theme import BUILTIN_THEMES

from agentmux.adapters.config.layers import load_settings
from agentmux.adapters.config.own_keys import THEMES
from agentmux.core.config.settings import DeskSettings
from agentmux.core.terminal.keys.key_commands import DESK, KeyCommand, KeyPlace
from agentmux.core.terminal.keys.key_table import KEYS, OWN_KEYS
from agentmux.errors import ConfigError, ExitCode


def load(tmp_path: Path, text: str, *, project: str = "", explicit: str = "") -> DeskSettings:
    for name, content in (("user", text), ("project/.agentmux", project), ("given", explicit)):
        (tmp_path / name).mkdir(parents=True)
        if content:
            (tmp_path / name / "config.yaml").write_text(content)
    given = tmp_path / "given" / "config.yaml" if explicit else None
    return load_settings(tmp_path / "user", tmp_path / "project", given).settings.desk


def test_without_a_file_the_keys_are_our_own_and_the_colours_the_terminals(tmp_path: Path) -> None:
    assert load(tmp_path, "") == DeskSettings(keys={}, theme=None)
    assert KEYS.with_own({}) == KEYS


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("A", "A"), ("'+'", "+"), ("'?'", "?"), ("9", "9"), ("n", "n"), ("'\u00e4'", "\u00e4"),
        ("F5", "f5"), ("Ctrl-N", "ctrl+n"), ("ctrl+n", "ctrl+n"), ("Space", "space"),
        ("Shift-Tab", "shift+tab"), ("PgDn", "pagedown"), ("pagedown", "pagedown"),
        ("'\u2193'", "down"), ("','", ","),
    ],
)  # fmt: skip
def test_keys_are_written_as_they_are_shown_or_by_name(
    tmp_path: Path, written: str, key: str
) -> None:
    more = "new: m, next_hit: M, last_part: B, down: J, focus: C, page_down: W, mark: X, keys: L"
    own = load(tmp_path, f"desk: {{keys: {{{more}, pager: {written}}}}}").keys
    assert own["pager"] == (key,)


def test_own_keys_replace_those_of_the_desk_and_its_fleet_and_no_others(tmp_path: Path) -> None:
    own = load(tmp_path, "desk:\n  keys: {approve: [A, F5], stop: ctrl+x, diff: a}").keys
    table = KEYS.with_own(own)
    assert table.find("A", *DESK) is table.find("f5", KeyPlace.FLEET) is KeyCommand.APPROVE
    assert table.find("a", *DESK) is KeyCommand.DIFF
    assert table.find("S", *DESK, KeyPlace.FLEET) is KeyCommand.NOTHING
    assert table.find("a", KeyPlace.DECIDES) is KeyCommand.APPROVE
    assert table.line_of(KeyCommand.APPROVE).label == "A F5"
    assert "  Ctrl-X     stop it: asks first" in table.help_lines(KeyPlace.SESSION)


def test_keys_may_be_swapped_and_the_next_hit_may_have_the_key_of_new(tmp_path: Path) -> None:
    own = load(tmp_path, "desk: {keys: {approve: c, changes: a, new: m, next_hit: m}}").keys
    assert KEYS.with_own(own).find("c", *DESK) is KeyCommand.APPROVE


def test_every_command_of_the_desk_may_have_own_keys_but_for_tabs_and_back() -> None:
    named = {each.name for each in KEYS.lines_at(*DESK, KeyPlace.FLEET)}
    assert named - set(OWN_KEYS) == {"tab", "back"}


def test_the_themes_are_those_of_textual(tmp_path: Path) -> None:
    assert set(THEMES) == set(BUILTIN_THEMES)
    assert load(tmp_path, "desk: {theme: nord}").theme == "nord"


@pytest.mark.parametrize(
    ("text", "told", "hint"),
    [
        ("keys: {aprove: b}", "unknown key `aprove` in `desk.keys`", "did you mean `approve`?"),
        ("keys: {approve: PgUpp}", "must be a key, not `PgUpp`", "did you mean `pageup`?"),
        ("keys: {approve: Esc}", "must be a key, not `Esc`", "a key is a character, or one of:"),
        ("keys: {approve: ctrl+m}", "must be a key, not `ctrl+m`", "did you mean"),
        ("keys: {approve: []}", "must be at least one key", ""),
        ("keys: {approve: ''}", "must be a key", "a key is a character"),
        (
            "keys: {approve: c}",
            "`c` in `desk.keys` is the key of `approve` and of `changes`",
            "choose another key for `approve`, or give `changes` another one, too",
        ),
        ("keys: {stop: q, drain: q}", "`q` in `desk.keys` is the key of", "choose another"),
        ("keys: {stop: '3'}", "is the key of `stop` and of `tab`", "another key for `stop`"),
        ("theme: nrod", "`desk.theme` must be one of", "did you mean `nord`?"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str, told: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=r"user/config.yaml:3: ") as raised:
        load(tmp_path, f"version: 1\ndesk:\n  {text}\n")
    assert told in str(raised.value)
    assert hint in "\n".join(raised.value.hints)


@pytest.mark.parametrize("layer", ["project", "explicit"])
def test_only_the_users_own_file_may_set_it(tmp_path: Path, layer: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, "", **{layer: "desk: {keys: {stop: a, approve: S}}\n"})
    assert "config.yaml:1: `desk` may stand in your own configuration only" in str(raised.value)
    assert raised.value.exit_code is ExitCode.CONFIG
