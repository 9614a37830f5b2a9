"""The how-to about adding an agent works, step by step, with an invented program."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
import yaml

from agentmux.adapters.config.agent_registry import BUILT_IN
from agentmux.core.agents.command_lines import launch_argv, resume_argv
from agentmux.core.agents.screens import is_rejection
from agentmux.core.agents.spec import choose_strategy
from agentmux.wiring import build
from tests.conftest import trust

PAGE = (Path(__file__).parent.parent / "docs/how-to/add-an-agent.md").read_text("utf-8")
REFERENCE = (Path(__file__).parent.parent / "docs/reference/agents.md").read_text("utf-8")

PARROT = """#!{python} -IS
import pathlib, sys
words = sys.argv[1:]
if words == ["--help"]:
    sys.stdout.write({help!r})
    sys.exit()
flag, chat, prompt = words[-3:]
path = pathlib.Path({folder!r}, chat)
if flag == "--reopen" and not path.exists():
    sys.exit("no chat has the id " + chat)
old = path.read_text() if path.exists() else ""
path.write_text(old + prompt + "\\n")
print(path.read_text(), end="")
"""


def consoles() -> dict[str, str]:
    """Return the output of each command, as the page shows it."""
    blocks = re.findall(r"```console\n\$ (.+?)\n(.*?)```", PAGE, re.DOTALL)
    return dict(blocks)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the page's configuration, and with the program on PATH."""
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    program = bin_dir / "parrot"
    text = PARROT.format(
        python=sys.executable, help=consoles()["parrot --help"], folder=str(tmp_path)
    )
    program.write_text(text)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_dir}:{os.environ['PATH']}")
    folder = tmp_path / "project"
    (folder / ".agentmux").mkdir(parents=True)
    (folder / ".agentmux/config.yaml").write_text(blocks()[0])
    trust(folder)
    return folder


def blocks() -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def agentmux(project: Path, *words: str) -> str:
    argv = [sys.executable, "-m", "agentmux", "--project", str(project), *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.parametrize("command", ["agentmux agents probe parrot", "agentmux agents show parrot"])
def test_the_page_shows_what_the_commands_print(command: str, project: Path) -> None:
    shown = consoles()[command]
    shown = shown.replace("/opt/parrot/bin", str(project.parent / "bin"))
    shown = shown.replace("/home/me/project", str(project))
    assert agentmux(project, *command.split()[1:]) == shown


def test_the_described_agent_gets_its_conversation_back(project: Path) -> None:
    world = build.world(project, environ=os.environ)
    spec = world.agents.spec("parrot")
    strategy = choose_strategy(spec, world.agents.programs.probe(spec))
    chat = str(uuid.uuid4())
    launch = launch_argv(spec, strategy, session_ref=chat, prompt="the word is plum")
    resume = resume_argv(spec, strategy, session_ref=chat, prompt="which word?")
    assert run(launch) == (0, "the word is plum\n")
    assert run(resume) == (0, "the word is plum\nwhich word?\n")
    unknown = resume_argv(spec, strategy, session_ref=str(uuid.uuid4()), prompt="which word?")
    code, said = run(unknown)
    assert code == 1
    assert is_rejection(spec, said)


def run(argv: tuple[str, ...]) -> tuple[int, str]:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr


def test_permissions_are_set_by_the_second_block_alone(project: Path) -> None:
    assert build.world(project, environ=os.environ).agents.spec("parrot").permission_args == ()
    first, second = (yaml.safe_load(block) for block in blocks())
    first["agents"]["parrot"] |= second["agents"]["parrot"]
    (project / ".agentmux/config.yaml").write_text(yaml.safe_dump(first))
    trust(project)
    found = json.loads(agentmux(project, "agents", "show", "parrot", "--json"))
    assert found["agents"][0]["launch"][:2] == ["parrot", "--approve-all"]


def test_a_start_with_it_is_planned(
    project: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))  # no tmux server runs there
    said = agentmux(project, "start", "--agent", "parrot", "--dry-run", "--json", "a feature")
    assert set(json.loads(said)["agents"].values()) == {"parrot"}


def test_the_reference_has_every_agent_and_no_bypass_by_itself() -> None:
    table = yaml.safe_load(BUILT_IN.read_text("utf-8"))
    for name, entry in table.items():
        if name.startswith("demo-"):
            assert f"`{name}`" in REFERENCE
            continue
        assert f"\n## {name}\n" in REFERENCE
        for word in entry.get("unattended_args", ()):
            assert word in REFERENCE
        assert "permission_args" not in entry
