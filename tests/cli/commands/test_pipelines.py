"""`agentmux pipelines` as a user types it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentmux.cli.main import main
from agentmux.core.definitions.drawing import WIDTH

Run = Callable[..., int]
Capture = pytest.CaptureFixture[str]
MINE = """\
version: 1
name: mine
phases:
  - {phase: reviewing, kind: reviw, roles: [reviewer_logic]}
  - {phase: completing, kind: complete, roles: [nobody], prompt: summary}
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    (tmp_path / ".agentmux/pipelines").mkdir(parents=True)
    (tmp_path / ".agentmux/pipelines/mine.yaml").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return lambda *argv: main(argv, os.environ)


def test_the_list_has_the_built_in_ones_and_those_that_cannot_be_used(
    run: Run, capsys: Capture
) -> None:
    assert run("pipelines") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["*", "feature", "built-in"]
    assert lines[-1].endswith("mine     project   cannot be used: 2 problems")
    assert run("pipelines", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in answer["pipelines"] if each["default"]] == ["feature"]
    mine = answer["pipelines"][-1]
    assert [each["line"] for each in mine["problems"]] == [4, 5]


def test_a_pipeline_is_drawn_in_80_columns(run: Run, capsys: Capture) -> None:
    assert run("pipelines", "show", "quick") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert any(line.startswith("o  implementing") for line in lines)


def test_the_file_of_a_built_in_one_is_the_beginning_of_ones_own(
    run: Run, capsys: Capture, tmp_path: Path
) -> None:
    assert run("pipelines", "show", "quick", "--yaml") == 0
    made = tmp_path / ".agentmux/pipelines/ours.yaml"
    made.write_text(capsys.readouterr().out.replace("name: quick", "name: ours"))
    assert run("pipelines", "show", "ours") == 0
    made.rename(made.with_name("theirs.yaml"))
    assert run("pipelines", "show", "theirs") == 7
    assert "theirs.yaml:3: `name` `ours` must be `theirs`" in capsys.readouterr().err


def test_all_problems_are_shown_with_file_and_line(run: Run, capsys: Capture) -> None:
    assert run("pipelines", "show", "mine") == 7
    said = capsys.readouterr().err
    assert ".agentmux/pipelines/mine.yaml:4: no kind `reviw`; did you mean `review`?" in said
    assert ".agentmux/pipelines/mine.yaml:5: no role `nobody`" in said
    assert run("pipelines", "show", "quik") == 2
    assert "did you mean `quick`?" in capsys.readouterr().err
