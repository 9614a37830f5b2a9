"""`agentmux doctor` as a user types it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.config.config_schema import SCHEMA_FILE
from agentmux.cli.main import main
from agentmux.core.decisions.session_trace import SessionTrace
from agentmux.core.names import layout
from agentmux.wiring import build

pytestmark = pytest.mark.long

Run = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def run(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    project = tmp_path / "project"
    (project / layout.SESSIONS_DIR).mkdir(parents=True)
    (project / ".agentmux/config.yaml").write_text("defaults: {agent: demo}\n")
    monkeypatch.chdir(project)
    return lambda *argv: main(argv, os.environ)


def answer(capsys: Capture) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def of(found: dict[str, Any], check: str) -> list[dict[str, Any]]:
    return [each for each in found["findings"] if each["check"] == check]


def test_every_part_is_looked_at(run: Run, capsys: Capture) -> None:
    run("trust")
    capsys.readouterr()
    code = run("doctor", "--json")
    found = answer(capsys)
    assert found["schema"] == 1
    assert {each["check"] for each in found["findings"]} >= {
        *("installation", "tmux", "terminal", "git", "forges", "configuration", "trust"),
        *("agents", "system", "disk", "claims", "sessions"),
    }
    assert {*found["findings"][0]} == {"check", "level", "text", "mend", "fixable"}
    assert code == (1 if found["counts"]["problem"] else 0)
    assert sum(found["counts"].values()) == len(found["findings"])


def test_a_mistake_in_the_configuration_is_a_problem_with_its_line(
    run: Run, capsys: Capture
) -> None:
    Path(".agentmux/config.yaml").write_text("defaults:\n  agnet: demo\n")
    assert run("doctor", "--json") == 1
    found = of(answer(capsys), "configuration")
    assert [each["level"] for each in found] == ["problem"]
    assert found[0]["text"].startswith(".agentmux/config.yaml:2: unknown key `agnet`")
    assert found[0]["mend"] == "did you mean `agent`?"


def test_an_agent_that_is_to_play_and_is_not_there(run: Run, capsys: Capture) -> None:
    Path(".agentmux/config.yaml").write_text("defaults: {agent: nowhere-to-be-found}\n")
    run("trust", "--yes")
    capsys.readouterr()
    assert run("doctor") == 1
    shown = capsys.readouterr()
    assert "`nowhere-to-be-found` is not on PATH" in shown.out
    assert "problem" in shown.err


@pytest.mark.rare("CI fixes what doctor has found, by another test")
@pytest.mark.long
def test_a_missing_agent_comes_with_the_command_that_installs_it(
    run: Run, capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    mends = []
    for text in (
        "defaults: {agent: codex}",
        "defaults: {agent: mine}\nagents: {mine: {like: codex, command: x}}",
    ):
        Path(".agentmux/config.yaml").write_text(f"{text}\n")
        run("trust", "--yes")
        capsys.readouterr()
        run("doctor", "--json")
        mends += [each["mend"] for each in of(answer(capsys), "agents") if each["mend"]]
    theirs, mine = mends
    assert theirs == "npm install -g @openai/codex"
    assert mine.endswith("see what it is now: agentmux agents show mine")


@pytest.mark.long
def test_an_agent_whose_package_has_a_successor_comes_with_the_command_too(
    run: Run, capsys: Capture, tmp_path: Path
) -> None:
    program = tmp_path / "node_modules/@old/robot/robot"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho '  --resume ID'\n")
    program.chmod(0o755)
    more = "former: ['@old/robot'], install: npm install -g @new/robot"
    Path(".agentmux/config.yaml").write_text(
        f"agents: {{robot: {{like: demo, command: {program}, {more}}}}}\n"
    )
    run("trust", "--yes")
    capsys.readouterr()
    run("doctor", "--json")
    (found,) = [each for each in of(answer(capsys), "agents") if "robot" in each["text"]]
    assert found["level"] == "warning"
    assert "robot: its package @old/robot has a successor" in found["text"]
    assert found["mend"] == "npm install -g @new/robot"


def test_what_is_not_trusted_is_named(run: Run, capsys: Capture) -> None:
    run("doctor", "--json")
    trust = of(answer(capsys), "trust")
    assert [(each["level"], each["mend"]) for each in trust] == [
        ("warning", "agentmux trust --show")
    ]
    assert "defaults.agent" in trust[0]["text"]


@pytest.mark.long
def test_fix_deletes_only_what_agentmux_has_left(run: Run, capsys: Capture) -> None:
    sessions = Path(layout.SESSIONS_DIR)
    removing, old, young = (
        sessions / name for name in (".removing-a", ".making-old", ".making-young")
    )
    for folder in (removing, old, young, sessions / "mine"):
        (folder / "inner").mkdir(parents=True)
    os.utime(old, (0, 0))
    schema = Path(".agentmux") / SCHEMA_FILE
    schema.write_text("{}")
    run("doctor", "--json")
    fixable = [each for each in answer(capsys)["findings"] if each["fixable"]]
    assert len(fixable) == 3
    assert removing.exists()

    assert run("doctor", "--fix") == 2  # nobody can be asked
    assert removing.exists()
    capsys.readouterr()

    run("doctor", "--fix", "--yes", "--json")
    found = answer(capsys)
    assert found["fixed"] == ["schema", "removals", "half_made"]
    assert not any(each["fixable"] for each in found["findings"])
    assert [path.exists() for path in (removing, old, young, sessions / "mine")] == [
        *(False, False),
        *(True, True),
    ]
    assert len(schema.read_text()) > 1000


def test_an_agent_may_not_fix(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTMUX_LAUNCH_ID", "0123456789ab")
    assert run("doctor", "--fix", "--yes") == 3


@pytest.mark.rare("CI fixes what doctor has found, by another test")
def test_a_session_of_a_project_that_is_gone_is_named_until_it_is_removed(
    run: Run, capsys: Capture, tmp_path: Path
) -> None:
    path = tmp_path / "a project" / layout.SESSIONS_DIR / "20260101-101500-add"
    traces = build.site(Path.cwd(), config=None, environ=dict(os.environ)).traces
    traces.keep(SessionTrace(session="one", path=str(path), feature="add"))
    path.mkdir(parents=True)
    run("doctor", "--json")
    assert of(answer(capsys), "leftovers") == []
    shutil.rmtree(tmp_path / "a project")
    run("doctor", "--json")
    (found,) = of(answer(capsys), "leftovers")
    assert found["text"].endswith(f"{path} is gone with {tmp_path / 'a project'}")
    assert found["mend"] == f"agentmux status '{path}'"
    assert run("status", str(path)) == 4
    assert "agentmux start add" in capsys.readouterr().err
    assert run("remove", "--yes", str(path)) == 0
    capsys.readouterr()
    run("doctor", "--json")
    assert of(answer(capsys), "leftovers") == []
