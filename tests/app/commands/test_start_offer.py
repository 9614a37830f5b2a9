"""What a person can choose for a new session, whatever is installed and trusted."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentmux.app.commands.begin.start_offer import StartOffer, read_reply, start_offer
from agentmux.wiring import build

CLAUDE_HELP = "  --session-id <uuid>  id\n  -r, --resume [value]  resume\n"
Install = Callable[..., Path]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".agentmux").mkdir(parents=True)
    return folder


@pytest.fixture
def install(tmp_path: Path, system_path: str, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that puts programs with a help text on an otherwise bare PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{system_path}")

    def program(name: str, says: str = "", *, marks: str = "/dev/null") -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\necho ran >> '{marks}'\ncat <<'END'\n{says}\nEND\n")
        path.chmod(0o755)
        return path

    return program


def offer(project: Path, *, is_configured: bool = False) -> StartOffer:
    world = build.world(project, environ={**os.environ, "SHELL": "/bin/sh"}, read_only=True)
    return start_offer(world, is_configured=is_configured)


def test_installed_agents_come_first_and_each_says_what_becomes_of_its_conversation(
    project: Path, install: Install
) -> None:
    install("codex")
    install("claude", CLAUDE_HELP)
    offered = offer(project)
    says = {each.name: each.says for each in offered.agents}
    assert list(says)[:2] == ["claude", "codex"]
    assert list(says)[-2:] == ["demo", "shell"]
    assert says["claude"] == "its conversations come back"
    assert says["codex"] == "a resume starts a new conversation"
    assert says["gemini"] == "not installed: npm install -g @google/gemini-cli"
    assert not any(name.startswith("demo-") for name in says)
    assert [offered.is_missing(name) for name in ("claude", "gemini", "")] == [False, True, False]
    assert not offered.advice


def test_where_no_agent_is_installed_it_says_how_to_get_one(
    project: Path, install: Install
) -> None:
    assert install("vi").is_file()  # no agent
    advice = "No coding agent is installed here; claude is not installed: npm install"
    offered = offer(project)
    assert offered.advice.startswith(advice)
    assert offered.advice.endswith(". demo, in the list, needs none")
    assert offered.agents[0].name == "claude"
    assert not offer(project, is_configured=True).advice


def test_what_a_project_names_is_shown_and_not_run_until_it_is_trusted(
    project: Path, install: Install, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    own = install("own-agent", CLAUDE_HELP, marks=str(ran))
    (project / ".agentmux/config.yaml").write_text(
        f"defaults: {{agent: claude}}\nroles: {{coder: {{agent: codex}}}}\n"
        f"agents: {{claude: {{command: [{own}]}}}}\ngit: {{worktree: always}}\n"
    )
    offered = offer(project, is_configured=True)
    assert offered.configured == "claude, codex"
    assert "`always`" in offered.places[0][1]
    assert offered.is_missing("claude")
    assert not ran.exists()


def test_a_reply_says_what_a_person_has_to_agree_to() -> None:
    reply = read_reply(
        ("{", '"session": "a",', '"warnings": ["another unfinished session began here", "x"]', "}")
    )
    assert reply.session == "a"
    assert reply.asks == ("another unfinished session began here",)
