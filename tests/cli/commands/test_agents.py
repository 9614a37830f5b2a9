from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentmux.errors import ExitCode
from tests.conftest import trust

pytestmark = pytest.mark.long


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".agentmux").mkdir(parents=True)
    return folder


def run(project: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "agentmux", "--project", str(project), "agents", *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == code, done.stderr
    return done


def answer(project: Path, *words: str, code: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(project, *words, "--json", code=code).stdout)
    assert found["schema"] == 1
    return found


def test_the_list_says_what_a_person_asks(project: Path) -> None:
    table, _, install = run(project).stdout.partition("\n\nto install:\n")
    head, *rows = (re.split("  +", line) for line in table.splitlines())
    assert head == ["AGENT", "INSTALLED", "COMES BACK", "ASKS FOR PERMISSION"]
    agents = {row[0]: row[1:] for row in rows}
    assert agents["demo"] == ["1.0.0", "yes", "no"]
    assert agents["shell"] == ["yes", "-", "-"]
    assert agents["claude *"] == ["no", "yes", "yes"]
    assert agents["pi"] == ["no", "yes", "no"]
    assert agents["amp"] == ["no", "yes", "unknown"]
    assert rows[-1][1] == "no"  # those that are installed come first
    assert "  claude    npm install -g @anthropic-ai/claude-code\n" in install
    assert "demo" not in install
    assert max(map(len, run(project).stdout.splitlines())) < 80


def test_the_list_says_what_the_user_configured(project: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF")
    broken.chmod(0o755)
    (project / ".agentmux/config.yaml").write_text(
        "defaults: {agent: /bin/cat}\n"
        "agents:\n  demo: {permission_args: [--yes]}\n"
        f"  broken: {{like: demo, command: {broken}}}\n"
    )
    trust(project)
    rows = [re.split("  +", line) for line in run(project).stdout.splitlines()]
    agents = {row[0]: row[1:] for row in rows}
    assert agents["demo"] == ["1.0.0", "yes", "as you set it"]
    assert agents["broken"] == ["does not run", "unknown", "as you set it"]
    assert agents["cat *"] == ["yes", "no", "unknown"]


def test_the_rest_is_told_with_probe(project: Path) -> None:
    lines = run(project, "--probe").stdout.splitlines()
    assert lines[0].split() == ["NAME", "INSTALLED", "VERSION", "STRATEGY", "PROBE"]
    demo = next(line for line in lines if " demo " in line)
    assert demo.split() == ["↻", "demo", "yes", "1.0.0", "assign", "all", "found"]
    assert not any("demo-learn" in line for line in lines)
    assert "demo-learn" in run(project, "--all", "--probe").stdout


def test_the_list_as_json_has_all_of_them(project: Path) -> None:
    found = {each["name"]: each for each in answer(project)["agents"]}
    assert {"claude", "codex", "demo", "demo-none"} <= found.keys()
    assert found["claude"]["default"] is True
    assert found["demo"]["installed"] is True
    assert found["demo"]["resumes"] is True
    assert found["demo"]["probe"]["strategies"]["assign"] == {
        "works": True,
        "features": ["assign", "resume"],
        "missing": [],
    }
    assert found["demo-none"]["resumes"] is False


def test_a_probe_says_what_works_and_what_is_missing(project: Path, tmp_path: Path) -> None:
    program = tmp_path / "half-robot"
    program.write_text("#!/bin/sh\necho '  --resume ID'\n")
    program.chmod(0o755)
    (project / ".agentmux/config.yaml").write_text(
        f"agents: {{half: {{like: demo, command: {program}}}}}\n"
    )
    trust(project)
    said = run(project, "probe", "half").stdout
    assert "found: resume; missing: assign" in said
    assert "used: none" in said
    shown = run(project, "show", "half").stdout
    assert "    not with the installed version: its help does not show `--session-id`\n" in shown
    (found,) = answer(project, "probe", "half")["agents"]
    assert found["probe"]["strategies"]["assign"]["missing"] == ["assign"]
    assert found["probe"]["asked"] == [str(program), "--help"]


def test_a_probe_names_the_screens_that_were_not_recorded(project: Path, tmp_path: Path) -> None:
    program = tmp_path / "robot"
    program.write_text('#!/bin/sh\n[ "$1" = --version ] && echo 2.1 || echo "  --resume ID"\n')
    program.chmod(0o755)
    known = "{version: '2.0', recorded: [ready, busy, limit], none: {trust: it asks nothing}}"
    strategy = "[{kind: continue, resume: [--resume], probe: {resume: --resume}}]"
    (project / ".agentmux/config.yaml").write_text(
        f"agents: {{robot: {{command: {program}, strategies: {strategy}, screens: {known}}}}}\n"
    )
    trust(project)

    said = run(project, "probe", "robot").stdout

    missing = ["question", "permission", "trouble", "resumed", "rejected", "update"]
    assert "screens recorded from 2.0, not from 2.1: ready, busy, limit\n" in said
    assert "has no screen `trust`: it asks nothing\n" in said
    assert f"screens missing: {', '.join(missing)}\n" in said
    (found,) = answer(project, "probe", "robot")["agents"]
    assert found["screens"] == {
        "version": "2.0",
        "recorded": ["ready", "busy", "limit"],
        "none": {"trust": "it asks nothing"},
        "missing": missing,
    }
    assert answer(project, "probe", "demo")["agents"][0]["screens"] is None


def test_a_probe_says_that_a_package_has_a_successor(project: Path, tmp_path: Path) -> None:
    program = tmp_path / "node_modules/@old/robot/robot"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho '  --resume ID'\n")
    program.chmod(0o755)
    more = "former: ['@old/robot'], install: npm install -g @new/robot"
    (project / ".agentmux/config.yaml").write_text(
        f"agents: {{robot: {{like: demo, command: {program}, {more}}}}}\n"
    )
    trust(project)
    said = run(project, "probe", "robot").stdout
    assert "its package @old/robot has a successor: npm install -g @new/robot\n" in said
    (found,) = answer(project, "probe", "robot")["agents"]
    assert found["probe"]["former"] == "@old/robot"
    assert answer(project, "probe", "demo")["agents"][0]["probe"]["former"] is None


def test_a_probe_of_nothing_is_an_error_with_its_code(project: Path) -> None:
    done = run(project, "probe", "no-such-agent", code=ExitCode.MISSING)
    assert "`no-such-agent` is not on PATH" in done.stderr
    found = answer(project, "probe", "no-such-agent", code=ExitCode.MISSING)
    assert found["problems"][0]["code"] == ExitCode.MISSING


def test_a_program_that_cannot_be_run_is_named(project: Path, tmp_path: Path) -> None:
    program = tmp_path / "broken"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)
    (project / ".agentmux/config.yaml").write_text(
        f"agents: {{broken: {{like: demo, command: {program}}}}}\n"
    )
    trust(project)
    assert "cannot be run" in run(project, "probe", "broken", code=ExitCode.MISSING).stderr


def test_show_prints_the_argv_for_launch_and_resume(project: Path) -> None:
    said = run(project, "show", "demo-checkpoint").stdout
    kept = project / ".agentmux/.sessions/SESSION/checkpoints/SEAT"
    assert f"launch      agentmux-demo-agent --checkpoint-dir {kept} 'Read the file" in said
    assert f"--resume {kept}/session-latest.json 'Read the file" in said
    (found,) = answer(project, "show", "demo-checkpoint")["agents"]
    assert found["launch"][:3] == ["agentmux-demo-agent", "--checkpoint-dir", str(kept)]
    assert f"{kept}/session-latest.json" in found["resume"]
    assert found["strategies"][0]["used"] is True


@pytest.mark.parametrize("command", ["show", "probe"])
def test_json_may_stand_before_the_command(project: Path, command: str) -> None:
    assert json.loads(run(project, "--json", command, "demo").stdout)["schema"] == 1


def test_show_says_what_an_unattended_run_needs(project: Path) -> None:
    assert "needs --dangerously-skip-permissions; not set" in run(project, "show", "claude").stdout
    (project / ".agentmux/config.yaml").write_text(
        "agents: {claude: {permission_args: [--careful]}}\n"
    )
    trust(project)
    assert "runs with --careful, as you configured it" in run(project, "show", "claude").stdout


def test_show_of_an_unknown_command_is_as_typed(project: Path) -> None:
    said = run(project, "show", "my-robot --x 'a b'").stdout
    assert "launch      my-robot --x 'a b'\n" in said
    assert "resume      as launch" in said
    (found,) = answer(project, "show", "my-robot --x 'a b'")["agents"]
    assert (found["known"], found["strategy"], found["resume"]) == (False, "none", None)


def test_colours_are_only_added(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = run(project).stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    painted = run(project).stdout
    assert "  \x1b[32myes\x1b[0m  " in painted
    assert re.sub("\x1b\\[[0-9]*m", "", painted) == plain


def test_nothing_is_left_in_the_project_and_no_colour_is_used(project: Path) -> None:
    before = sorted(project.rglob("*"))
    for words in ((), ("probe", "demo"), ("show", "demo")):
        assert "\x1b" not in run(project, *words).stdout
    assert sorted(project.rglob("*")) == before
