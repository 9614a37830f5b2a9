from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from agentmux.app.world import World
from agentmux.cli.ask.agent_choice import choose_agent
from agentmux.wiring import build
from tests.conftest import trust

Install = Callable[..., Path]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def install(tmp_path: Path, system_path: str, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that puts programs with a help text on an otherwise bare PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{system_path}")

    def program(name: str, says: str = "") -> Path:
        path = folder / name
        path.write_text(f"#!/bin/sh\ncat <<'END'\n{says}\nEND\n")
        path.chmod(0o755)
        return path

    return program


CLAUDE_HELP = "  --session-id <uuid>  id\n  -r, --resume [value]  resume\n"


def world_of(project: Path, **environ: str) -> World:
    return build.world(project, environ={**os.environ, "SHELL": "/bin/sh", **environ})


class Person:
    """A user who gives one answer after the other, and keeps the text that was shown."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.shown = ""

    def __call__(self, text: str) -> str:
        self.shown += text
        return self.answers.pop(0)


def written(project: Path) -> object:
    return yaml.safe_load((project / ".agentmux/config.yaml").read_text())


def test_enter_takes_the_installed_default_and_remembers_it(
    project: Path, install: Install
) -> None:
    install("claude", CLAUDE_HELP)
    install("codex")
    person = Person("", "")
    assert choose_agent(world_of(project), person) == "claude"
    assert written(project) == {"defaults": {"agent": "claude"}}
    lines = person.shown.splitlines()
    assert next(line for line in lines if "claude" in line).split()[:3] == ["2", "↻", "claude"]
    assert next(line for line in lines if "codex" in line).split()[:2] == ["3", "codex"]
    assert "custom…" in person.shown
    assert "gemini" not in person.shown


def test_unattended_words_are_named_and_written_only_when_told(
    project: Path, install: Install
) -> None:
    install("claude", CLAUDE_HELP)
    person = Person("claude", "everything")
    choose_agent(world_of(project), person)
    assert "--dangerously-skip-permissions" in person.shown
    assert written(project) == {
        "defaults": {"agent": "claude"},
        "agents": {"claude": {"permission_args": ["--dangerously-skip-permissions"]}},
    }
    trust(project)  # as `start` does with the new choice
    assert world_of(project).agents.spec("claude").permission_args == (
        "--dangerously-skip-permissions",
    )


def test_the_shell_is_the_users_own(project: Path, install: Install) -> None:
    """The choice is shared by all users of the project, and each one gets their own shell."""
    assert choose_agent(world_of(project, SHELL="/bin/bash"), Person("shell")) == "shell"
    assert written(project) == {"defaults": {"agent": "shell"}}


def test_a_custom_command_is_taken_as_typed_once_it_can_run(
    project: Path, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("robot")
    person = Person("9", "", "custom", "no-such", "custom", "'open", "custom", "robot --fast: x")
    assert choose_agent(world_of(project), person) == "robot --fast: x"
    assert written(project) == {"defaults": {"agent": "robot --fast: x"}}
    said = capsys.readouterr().err
    assert "`9` is not in the list" in said
    assert "choose one of the list" in said  # no default: it is only the offline agent
    assert "`no-such` is not on PATH" in said
    assert "no closing quotation" in said


@pytest.mark.parametrize(
    "config", ["defaults: {agent: codex}\n", "roles: {coder: {agent: codex}}\n"]
)
@pytest.mark.parametrize("layer", ["project", "user", "flag"])
def test_a_configured_project_is_not_asked(
    config: str, layer: str, project: Path, tmp_path: Path
) -> None:
    user = Path(os.environ["XDG_CONFIG_HOME"]) / "agentmux/config.yaml"
    flag = tmp_path / "flag.yaml"
    path = {"project": project / ".agentmux/config.yaml", "user": user, "flag": flag}[layer]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(config)
    before = path.read_bytes()
    chosen = choose_agent(world_of(project), Person(), config=flag if layer == "flag" else None)
    assert chosen is None
    assert path.read_bytes() == before


def test_nobody_there_means_no_question(project: Path) -> None:
    assert choose_agent(world_of(project), None) is None
    assert not (project / ".agentmux").exists()


def test_comments_of_an_existing_file_stay(project: Path, install: Install) -> None:
    install("codex")
    path = project / ".agentmux/config.yaml"
    path.parent.mkdir()
    path.write_text("# ours\nversion: 1\ndefaults: # d\n  max_review_iterations: 5 # five\n# end\n")
    choose_agent(world_of(project), Person("codex", ""))
    assert path.read_text() == (
        "# ours\nversion: 1\ndefaults: # d\n  max_review_iterations: 5 # five\n"
        "  agent: codex\n# end\n"
    )


def test_a_file_that_cannot_be_edited_is_left_and_the_line_is_shown(
    project: Path, install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("codex")
    real = tmp_path / "shared.yaml"
    real.write_text("version: 1\n")
    (project / ".agentmux").mkdir()
    (project / ".agentmux/config.yaml").symlink_to(real)
    assert choose_agent(world_of(project), Person("codex", "ask")) == "codex"
    assert real.read_text() == "version: 1\n"
    assert "hint: add to it by hand: defaults: {agent: codex}" in capsys.readouterr().err


ASK = "from agentmux.cli.ask.agent_choice import asking; print('got', repr(asking()('Which? ')))"


def test_a_person_at_a_terminal_is_asked_on_stderr() -> None:
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            [sys.executable, "-c", ASK], stdin=theirs, stdout=subprocess.PIPE, stderr=theirs
        ) as process:
            os.write(ours, b"claude\n")
            assert process.communicate(timeout=60)[0] == b"got 'claude'\n"
        assert b"Which? " in os.read(ours, 1000)
    finally:
        os.close(ours)
        os.close(theirs)


def test_the_end_of_the_input_interrupts() -> None:
    code = subprocess.run([sys.executable, "-c", ASK], input=b"", capture_output=True, check=False)
    assert b"KeyboardInterrupt" in code.stderr


def test_the_middle_way_is_offered_between_asking_and_everything(
    project: Path, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("claude", CLAUDE_HELP)
    person = Person("claude", "some", "2")
    choose_agent(world_of(project), person)
    names = [line.split()[1] for line in person.shown.splitlines() if line.split()[:1] != ["with"]]
    assert [each for each in names if each in {"ask", "edits", "everything"}] == [
        *("ask", "edits", "everything"),
    ]
    assert "`some` is not in the list" in capsys.readouterr().err
    trust(project)
    words = world_of(project).agents.spec("claude").permission_args
    assert words == world_of(project).agents.spec("claude").edit_args
    assert words[:2] == ("--permission-mode", "acceptEdits")


def test_an_agent_that_never_asks_is_not_asked_about(project: Path, install: Install) -> None:
    install("pi")
    assert choose_agent(world_of(project), Person("pi")) == "pi"


def test_what_the_configuration_says_is_not_asked_again(project: Path, install: Install) -> None:
    install("claude", CLAUDE_HELP)
    user = Path(os.environ["XDG_CONFIG_HOME"]) / "agentmux/config.yaml"
    user.parent.mkdir(parents=True)
    user.write_text("agents: {claude: {permission_args: [--permission-mode, plan]}}\n")
    assert choose_agent(world_of(project), Person("claude")) == "claude"
