"""`agentmux config` as a user types it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentmux.adapters.config.config_schema import SCHEMA_FILE, config_schema_text
from agentmux.cli.main import main

Run = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    (tmp_path / ".agentmux").mkdir()
    (tmp_path / ".agentmux/config.yaml").write_text("limits: {retry: 1h}\nverify: []\n")
    monkeypatch.chdir(tmp_path)
    return lambda *argv: main(argv, os.environ)


def test_the_origin_of_each_value(run: Run, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "more.yaml").write_text("limits: {retry: 2h}\n")
    assert run("config", "show", "--origin", "--config", "more.yaml") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["limits.retry", "--config", "more.yaml:1", "2h"] in lines
    assert ["resume.native", "built-in", "true"] in lines


def test_what_an_untrusted_project_sets_is_named_and_not_shown(run: Run, capsys: Capture) -> None:
    assert run("config") == 0
    shown = capsys.readouterr()
    assert "retry" in shown.out
    assert "not trusted: verify" in shown.err
    assert run("config", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["untrusted"] == ["verify"]
    retry = {"key": "limits.retry", "value": "1h", "layer": "project"}
    assert {**retry, "at": ".agentmux/config.yaml:1"} in answer["values"]


def test_a_mistake_is_named_with_its_line(run: Run, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / ".agentmux/config.yaml").write_text("limits:\n  retri: 1h\n")
    assert run("config") == 7
    assert ".agentmux/config.yaml:2: unknown key `retri`" in capsys.readouterr().err


def test_the_paths(run: Run, tmp_path: Path, capsys: Capture) -> None:
    assert run("config", "path", "--json") == 0
    paths = {each["name"]: each for each in json.loads(capsys.readouterr().out)["paths"]}
    own = str(tmp_path / ".agentmux/config.yaml")
    assert paths["project"] == {"name": "project", "path": own, "exists": True}
    assert paths["user"]["exists"] is False


def test_init_names_the_schema_that_it_writes(run: Run, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / ".agentmux/config.yaml").unlink()
    assert run("init", "--defaults", "--schema") == 0
    capsys.readouterr()
    first = (tmp_path / ".agentmux/config.yaml").read_text().splitlines()[0]
    assert first == f"# yaml-language-server: $schema={SCHEMA_FILE}"
    assert (tmp_path / ".agentmux" / SCHEMA_FILE).read_text() == config_schema_text()
    assert run("config", "schema") == 0
    assert capsys.readouterr().out == config_schema_text()
