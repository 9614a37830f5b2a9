"""The setting ``notify``: who may set it, and what is refused."""

from pathlib import Path

import pytest

from agentmux.adapters.config.effective import plain_settings
from agentmux.adapters.config.layers import load_settings
from agentmux.core.config.settings import Address, Settings
from agentmux.core.names.occasion import Occasion
from agentmux.errors import ConfigError, ExitCode

TOKEN = "tk_secretsecret"


def load(tmp_path: Path, text: str, *, project: str = "", explicit: str = "") -> Settings:
    for name, content in (("user", text), ("project/.agentmux", project), ("given", explicit)):
        (tmp_path / name).mkdir(parents=True)
        if content:
            (tmp_path / name / "config.yaml").write_text(content)
    given = tmp_path / "given" / "config.yaml" if explicit else None
    return load_settings(tmp_path / "user", tmp_path / "project", given).settings


def test_bell_and_tmux_are_the_default(tmp_path: Path) -> None:
    settings = load(tmp_path, "")
    assert [str(each) for each in settings.addresses(Occasion.PARKED)] == ["bell", "tmux"]


def test_each_occasion_has_its_addresses(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        f"notify: [{{on: [decision], to: [bell, 'ntfy://{TOKEN}@x/y']}}, {{to: [desktop, bell]}}]",
    )
    found = settings.addresses(Occasion.DECISION)
    assert [each.value for each in found] == ["bell", f"ntfy://{TOKEN}@x/y", "desktop"]
    assert settings.addresses(Occasion.DONE) == (Address("desktop"), Address("bell"))
    shown = plain_settings(settings)["notify"]
    assert shown[0] == {"on": ["decision"], "to": ["bell", "ntfy://…"]}
    assert TOKEN not in f"{settings!r} {found} {[str(each) for each in found]} {shown}"


def test_nobody_is_notified_if_the_list_is_empty(tmp_path: Path) -> None:
    assert load(tmp_path, "notify: []").addresses(Occasion.DONE) == ()


@pytest.mark.parametrize("layer", ["project", "explicit"])
def test_only_the_users_own_file_may_set_it(tmp_path: Path, layer: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, "", **{layer: "verify: []\nnotify: [{to: ['json://evil/']}]\n"})
    assert "config.yaml:2: `notify` may stand in your own configuration only" in str(raised.value)
    assert str(tmp_path / "user/config.yaml") in raised.value.hints[0]
    assert raised.value.exit_code is ExitCode.CONFIG


@pytest.mark.parametrize(
    "text",
    [
        f"notify: ntfy://{TOKEN}",
        f"notify: [ntfy://{TOKEN}]",
        f"notify: [{{to: ntfy://{TOKEN}}}]",
        f"notify: [{{to: ['ntfy:{TOKEN}']}}]",
        f"notify: [{{to: ['ntfy://a b{TOKEN}']}}]",
        f"notify: [{{to: [{{{TOKEN}: 1}}]}}]",
        f"notify: [{{on: ['ntfy://{TOKEN}'], to: [bell]}}]",
        f"notify: [{{'ntfy://{TOKEN}': 1, to: [bell]}}]",
        f"notify: ['{TOKEN}']",
        "notify: [{on: [done]}]",
    ],
)
def test_no_error_quotes_an_address(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text)
    assert "config.yaml:1: " in str(raised.value)
    assert TOKEN not in f"{raised.value} {raised.value.hints}"


def test_a_mistyped_word_gets_the_right_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, "notify: [{on: [descision], to: [bell]}]")
    assert "did you mean `decision`?" in raised.value.hints
