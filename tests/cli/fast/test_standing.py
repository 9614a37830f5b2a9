"""What ``agentmux`` alone says of a project."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.cli.main import main
from agentmux.core.names.phase import Phase
from tests.app.on_disk import OnDisk
from tests.fakes.bench import Bench

Capture = pytest.CaptureFixture[str]
Make = Callable[..., OnDisk]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "calc"
    (folder / ".agentmux").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def make(project: Path, tmux: Bench) -> Make:
    def make(name: str, phase: Phase, **values: Any) -> OnDisk:
        return OnDisk(sessions_dir(project) / name, phase, tmux_socket=tmux.socket, **values)

    return make


def said(capsys: Capture, *argv: str) -> str:
    assert main(argv, os.environ) == 0
    return capsys.readouterr().out


def test_an_empty_project_is_told_how_to_begin(project: Path, capsys: Capture) -> None:
    text = said(capsys)
    assert text.startswith(f"no sessions in {project}\n")
    commands = [line.split("   ")[0].strip() for line in text.splitlines()[2:]]
    assert commands == ["agentmux init", 'agentmux start "…"', "agentmux demo", "agentmux help"]
    (project / ".agentmux" / "config.yaml").write_text("version: 1\n")
    assert "agentmux init" not in said(capsys)


def test_what_needs_the_user_comes_first_each_with_its_next_command(
    make: Make, capsys: Capture
) -> None:
    make("20260101-101500-add-login", Phase.ARCHITECTING)
    make("20260102-101500-fix-typo", Phase.COMPLETING, summary_submitted=True)
    make("20260103-101500-old", Phase.DONE)
    head, *lines = said(capsys).splitlines()
    assert head == "calc: 1 needs you, 1 interrupted, 1 done"
    assert lines[1] == "Needs you:"
    assert lines[2].split()[:2] == ["fix-typo", "completing"]
    assert lines[3].strip().startswith("agentmux approve 20260102-101500-fix-typo")
    assert lines[4].strip().startswith('or agentmux request-changes "…" --session fix-typo')
    assert lines[6] == "Interrupted:"
    assert lines[8].strip() == "agentmux resume add-login"


def test_many_interrupted_sessions_are_cut_and_can_be_resumed_together(
    make: Make, capsys: Capture
) -> None:
    for number in range(7):
        make(f"2026010{number + 1}-101500-add-login", Phase.ARCHITECTING)
    text = said(capsys)
    assert text.startswith("calc: 7 interrupted\n")
    assert text.count("agentmux resume 2026010") == 5
    assert text.splitlines()[-2:] == [
        "  and 2 more: agentmux list",
        "  all of them: agentmux resume --all",
    ]


def test_a_project_in_which_all_is_done(make: Make, capsys: Capture) -> None:
    make("20260103-101500-old", Phase.DONE)
    assert said(capsys).startswith("calc: the only session is done\n")


def test_as_json(make: Make, project: Path, capsys: Capture) -> None:
    make("20260101-101500-add-login", Phase.ARCHITECTING)
    make("20260103-101500-old", Phase.DONE)
    found = json.loads(said(capsys, "--json"))
    assert (found["schema"], found["project"], found["done"]) == (1, str(project), 1)
    (session,) = found["sessions"]
    assert session["group"] == "interrupted"
    assert session["next"] == "agentmux resume 20260101-101500-add-login"
    assert session["status"] == "interrupted"


def test_before_a_command_json_is_refused(project: Path, capsys: Capture) -> None:
    assert main(["--json", "list"], os.environ) == 2
    assert "hint: agentmux list --json\n" in capsys.readouterr().err
