"""Editing configuration files."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentmux.adapters.config.edit import as_line, set_value, with_value
from agentmux.errors import ConfigError

AGENT = ("defaults", "agent")

# The file before and after `defaults.agent: bob` is set.
EDITS = [
    ("", "defaults:\n  agent: bob\n"),
    ("# only this\n", "# only this\ndefaults:\n  agent: bob\n"),
    ("version: 1", "version: 1\ndefaults:\n  agent: bob\n"),
    (
        "version: 1  # one\n\n# the end\n",
        "version: 1  # one\n\n# the end\ndefaults:\n  agent: bob\n",
    ),
    (
        "defaults:\n    model: x # why\n\n# other\nroles: {}\n",
        "defaults:\n    model: x # why\n    agent: bob\n\n# other\nroles: {}\n",
    ),
    ("defaults: {model: x}  # c\n", "defaults: {agent: bob, model: x}  # c\n"),
    ("defaults: {}\n", "defaults: {agent: bob}\n"),
    ("defaults:  # mine\nversion: 1\n", "defaults:  # mine\n  agent: bob\nversion: 1\n"),
    ("defaults: null\n", "defaults: {agent: bob}\n"),
    ("defaults: ~ # c\n", "defaults: {agent: bob} # c\n"),
    ("defaults:\n  agent: claude # c\n", "defaults:\n  agent: bob # c\n"),
    ("defaults:\n  agent:\n", "defaults:\n  agent: bob\n"),
    ("{version: 1}\n", "{defaults: {agent: bob}, version: 1}\n"),
    ("---\nversion: 1\n", "---\nversion: 1\ndefaults:\n  agent: bob\n"),
    ("version: 1\r\n", "version: 1\r\ndefaults:\r\n  agent: bob\r\n"),
    ("\ufeffversion: 1\n", "\ufeffversion: 1\ndefaults:\n  agent: bob\n"),
    (
        "defaults:\n  session_name: |\n    x\n# c\n",
        "defaults:\n  session_name: |\n    x\n  agent: bob\n# c\n",
    ),
]


@pytest.mark.parametrize(("before", "after"), EDITS)
def test_one_value_is_set_and_the_rest_stays(before: str, after: str) -> None:
    assert with_value(before, AGENT, "bob") == after


@pytest.mark.parametrize(
    "text",
    [
        "- a list\n",
        "defaults: [\n",
        "version: 1\n...\n",
        "version: 1\n---\nversion: 2\n",
        "defaults: text\n",
        "defaults:\n  agent: [a,\n    b] # c\n",
    ],
)
def test_what_cannot_be_edited_without_loss_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        with_value(text, AGENT, "bob")


@given(value=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=40))
def test_any_text_arrives_as_it_is(value: str) -> None:
    for before, _ in EDITS:
        made = yaml.safe_load(with_value(before, AGENT, value))
        assert made["defaults"]["agent"] == value


def test_a_list_deep_below_new_keys() -> None:
    made = with_value("agents:\n  x: {}\n", ("agents", "claude", "permission_args"), ["-a", "b"])
    assert made == "agents:\n  x: {}\n  claude:\n    permission_args: [-a, b]\n"


def test_the_line_to_add_by_hand_says_the_same() -> None:
    assert yaml.safe_load(as_line(AGENT, "a: b")) == {"defaults": {"agent": "a: b"}}


def test_a_file_is_made_and_keeps_its_mode_when_changed(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.yaml"
    set_value(path, AGENT, "bob")
    assert path.read_text() == "defaults:\n  agent: bob\n"
    path.chmod(0o640)
    set_value(path, AGENT, "eve")
    assert path.read_text() == "defaults:\n  agent: eve\n"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_is_left_alone_and_the_line_is_named(tmp_path: Path) -> None:
    real, link = tmp_path / "real.yaml", tmp_path / "config.yaml"
    real.write_text("version: 1\n")
    link.symlink_to(real)
    with pytest.raises(ConfigError, match="left as it is") as caught:
        set_value(link, AGENT, "bob")
    assert caught.value.hints == ("add to it by hand: defaults: {agent: bob}",)
    assert link.is_symlink()
    assert real.read_text() == "version: 1\n"
