"""The agents of a project: which are installed, and what each can do."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentmux.adapters.config.agent_registry import load_registry, probe
from agentmux.app.commands.look.agents import AgentReport, list_agents, probe_agent, show_agent
from agentmux.app.world import World
from agentmux.errors import ExitCode
from agentmux.wiring import build
from tests.conftest import trust

HELP = "  --session-id <uuid>  id\n  -r, --resume [value]  resume\n  -c, --continue  latest\n"


@pytest.fixture
def install(
    tmp_path: Path, system_path: str, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Path]:
    """Return a function that puts a program first on PATH; the program logs its arguments."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{system_path}")

    def program(name: str, says: str, version: str = "") -> Path:
        path = folder / name
        path.write_text(
            f'#!/bin/sh\necho "$*" >> {tmp_path}/{name}.calls\n'
            f"[ \"$1\" = --version ] && echo '{version}' && exit\ncat <<'END'\n{says}\nEND\n"
        )
        path.chmod(0o755)
        return path

    return program


def world(tmp_path: Path, config: str = "") -> World:
    project = tmp_path / "project"
    (project / ".agentmux").mkdir(parents=True, exist_ok=True)
    (project / ".agentmux/config.yaml").write_text(config)
    trust(project)
    return build.world(project, environ=os.environ)


def listed(here: World) -> dict[str, AgentReport]:
    result = list_agents(here, load_registry(here.settings))
    assert result.exit_code is ExitCode.OK
    return {each.spec.name: each for each in result.data}


def test_what_is_installed_is_asked_once_for_help_and_once_for_its_version(
    tmp_path: Path, install: Callable[..., Path]
) -> None:
    path = install("claude", HELP, "2.1.330 (Claude Code)")
    found = listed(world(tmp_path))["claude"]
    assert (found.probe.path, found.version) == (str(path), "2.1.330")
    assert (found.strategy.kind, found.resumes, found.is_default) == ("assign", True, True)
    listed(world(tmp_path))  # answered from the cache, as in another process
    calls = (tmp_path / "claude.calls").read_text().splitlines()
    assert sorted(calls) == ["--help", "--version"]


def test_a_program_that_crashes_has_no_version(
    tmp_path: Path, install: Callable[..., Path]
) -> None:
    crash = "[ \"$1\" = --help ] || { echo 'Node.js v22.23.3'; exit 1; }"
    install("claude", HELP).write_text(f"#!/bin/sh\n{crash}\ncat <<'END'\n{HELP}\nEND\n")
    assert listed(world(tmp_path))["claude"].version == ""


def test_a_program_without_a_feature_gets_the_next_strategy(
    tmp_path: Path, install: Callable[..., Path]
) -> None:
    install("claude", "  -c, --continue  latest\n")
    found = listed(world(tmp_path))["claude"]
    assert (found.strategy.kind, found.resumes) == ("continue", True)
    assert found.probe.missing["assign"] == ("assign", "resume")


def test_what_is_not_installed_resumes_nothing(tmp_path: Path) -> None:
    found = listed(world(tmp_path))["codex"]
    assert (found.probe.installed, found.resumes, found.strategy.kind) == (False, False, "learn")


def test_a_command_of_the_configuration_is_listed_and_never_run(
    tmp_path: Path, install: Callable[..., Path]
) -> None:
    install("robot", HELP)
    found = listed(world(tmp_path, "roles: {coder: {agent: robot --deploy}}\n"))["robot"]
    assert (found.spec.known, found.resumes, found.strategy.kind) == (False, False, "none")
    assert not (tmp_path / "robot.calls").exists()


def test_a_probe_runs_the_program_even_if_its_answer_is_kept(
    tmp_path: Path, install: Callable[..., Path]
) -> None:
    install("claude", HELP)
    here = world(tmp_path)
    listed(here)
    result = probe_agent(
        here, "claude", lambda spec: probe(spec, path_env=here.agents.programs.path, cache_dir=None)
    )
    assert result.exit_code is ExitCode.OK
    assert (tmp_path / "claude.calls").read_text().splitlines().count("--help") == 2


def test_probing_what_is_not_there_is_a_problem(
    tmp_path: Path, install: Callable[..., Path]
) -> None:
    here = world(tmp_path)
    result = probe_agent(here, "claude", here.agents.programs.probe)
    assert result.exit_code is ExitCode.MISSING
    assert "`claude` is not on PATH" in result.problems[0].message


def test_the_argv_of_launch_and_resume(tmp_path: Path, install: Callable[..., Path]) -> None:
    install("claude", HELP)
    here = world(
        tmp_path,
        "defaults: {agent: claude, model: opus}\n"
        "agents: {claude: {permission_args: [--careful]}}\n",
    )
    found = show_agent(here, "claude")
    launch = here.project / ".agentmux/.sessions/SESSION/launches/LAUNCH"
    prompt = f"Read the file {launch}/prompt.md and do what it says."
    standing = ("--model", "opus", "--careful")
    ours = (f"--mcp-config={launch}/mcp.json", "--settings", f"{launch}/hooks.json")
    assert found.used_strategy.launch == (
        "claude", *standing, *ours, "--session-id", "CONVERSATION", prompt,
    )  # fmt: skip
    assert found.used_strategy.resume == (
        "claude",
        *standing,
        *ours,
        "--resume",
        "CONVERSATION",
        prompt,
    )
    assert [each.kind for each in found.strategies] == ["assign", "continue"]


def test_every_agent_of_the_registry_can_be_shown(tmp_path: Path) -> None:
    here = world(tmp_path)
    for name in load_registry(here.settings):
        found = show_agent(here, name)
        assert found.used_strategy.launch[0] == found.report.spec.command[0]
        assert (found.used_strategy.resume is None) == (found.used_strategy.kind == "none")


def test_an_unknown_command_runs_exactly_as_typed(tmp_path: Path) -> None:
    found = show_agent(world(tmp_path), "robot --fast 'two words'")
    assert found.used_strategy.launch == ("robot", "--fast", "two words")
    assert (found.used_strategy.kind, found.used_strategy.resume) == ("none", None)


def test_the_shorthand_for_resuming_holds(tmp_path: Path) -> None:
    here = world(tmp_path, "resume: {commands: {codex: [go, back]}}\n")
    found = show_agent(here, "codex")
    assert found.used_strategy.resume is not None
    assert found.used_strategy.resume[:3] == ("codex", "go", "back")
