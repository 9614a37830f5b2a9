"""`agentmux pipelines` as a user types it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentmux.cli.main import main
from agentmux.core.definitions.drawing import WIDTH
from tests.fakes.pseudo_terminal import read_to_end

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
def run(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
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
    assert "pipelines/mine.yaml:4: phases[0].kind: no kind `reviw`; did you mean `review`?" in said
    assert ".agentmux/pipelines/mine.yaml:5: no role `nobody`" in said
    assert "hint:" not in said
    assert run("trust", "--yes") == 0
    capsys.readouterr()
    assert run("start", "--pipeline", "mine", "--agent", "demo", "x") == 7
    said = capsys.readouterr().err
    assert "error: pipeline `mine` has 2 problems:\n  .agentmux/pipelines/mine.yaml:4: " in said
    assert "hint: check it again: agentmux pipelines show mine" in said
    assert run("pipelines", "show", "quik") == 2
    assert "did you mean `quick`?" in capsys.readouterr().err


OWN = """\
version: 1
name: own
phases:
  - {phase: threats, kind: document, roles: [security], prompt: a.md, leaves: [a.md]}
  - {phase: completing, kind: complete, roles: [security], prompt: summary}
"""


def test_a_start_needs_trust_in_the_pipeline_its_prompts_and_its_roles(
    run: Run, capsys: Capture, tmp_path: Path
) -> None:
    folder = tmp_path / ".agentmux"
    (folder / "config.yaml").write_text("roles: {security: {agent: demo}}\n")
    (folder / "pipelines/own.yaml").write_text(OWN)
    (folder / "pipelines/a.md").write_text("Look.\n")
    asked = ("start", "--pipeline", "own", "--agent", "demo", "x")
    assert run(*asked) == 7
    assert "(roles.security, pipelines.own)" in capsys.readouterr().err
    assert run(*asked, "--dry-run") == 0
    said = capsys.readouterr()
    assert "in phase threats" in said.out
    assert "pipeline own" in said.out
    assert "you will be asked about" in said.err
    assert run("trust", "--yes") == 0
    (folder / "pipelines/a.md").write_text("Do something else.\n")
    capsys.readouterr()
    assert run(*asked) == 7
    assert "(pipelines.own)" in capsys.readouterr().err


def test_a_role_of_ones_own_can_be_played_by_another_agent(
    run: Run, capsys: Capture, tmp_path: Path
) -> None:
    folder = tmp_path / ".agentmux"
    (folder / "config.yaml").write_text("roles: {security: {agent: demo}}\n")
    (folder / "pipelines/own.yaml").write_text(OWN)
    (folder / "pipelines/a.md").write_text("Look.\n")
    assert run("trust", "--yes") == 0
    words = ("start", "--pipeline", "own", "--dry-run", "--json", "x")
    capsys.readouterr()
    assert run(*words, "--role", "security=demo-paste") == 0
    assert json.loads(capsys.readouterr().out)["agents"] == {"security": "demo-paste"}
    assert run(*words, "--role", "sekurity=demo") == 2
    assert "`security`" in json.loads(capsys.readouterr().out)["problems"][0]["hints"][0]


def test_a_start_on_a_terminal_says_which_pipeline_it_takes(run: Run, tmp_path: Path) -> None:
    def said(*words: str) -> str:
        ours, theirs = pty.openpty()
        argv = [sys.executable, "-m", "agentmux", "start", "--agent", "demo", "--dry-run", *words]
        process = subprocess.Popen(argv, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        text = read_to_end(ours)
        assert process.wait(60) == 0, text
        return text

    usual = said("x")
    assert "pipeline feature; its phases: agentmux pipelines show feature" in usual
    small = 'for a small change: agentmux start --quick "…"'
    assert small in usual.splitlines(), "a terminal of 80 columns breaks no line in a word"
    assert "small change" not in said("--pipeline", "plan", "x")
    short = said("--quick", "x")
    assert "pipeline quick; its phases: agentmux pipelines show quick" in short
    assert "small change" not in short
