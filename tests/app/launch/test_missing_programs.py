"""What is said of an agent whose program is not found, and what is hinted at."""

import os
import shlex
from pathlib import Path

import pytest

from agentmux.app.commands.resume.resume import find_lacking_program, plan_resume
from agentmux.app.session.search.lookup import entry_at, live
from agentmux.app.views.explanation import explanation
from agentmux.app.views.outlook import outlook
from agentmux.errors import AgentmuxError
from tests.app.staging import Stage
from tests.house.messages import commands_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of programs that has the agent's."""
    made = tmp_path / "bin"
    made.mkdir()
    program = made / "robot"
    program.write_text('#!/bin/sh\nexec agentmux-demo-agent "$@"\n')
    program.chmod(0o755)
    return made


@pytest.fixture
def stage(tmp_path: Path, folder: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A session whose agents were launched with that folder on their PATH."""
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    made = Stage(tmp_path, "robot", cache=tmp_path / "cache")
    made.config("agents: {robot: {like: demo, command: robot}}\nroles: {coder: {agent: robot}}")
    path = os.pathsep.join((str(folder), os.environ["PATH"]))
    made.launch(world=made.world({"PATH": path}))
    return made


def refusal(stage: Stage) -> AgentmuxError:
    world = stage.world()
    error = find_lacking_program(world, plan_resume(world, world.files(stage.path)))
    assert error is not None
    assert "no program `robot` for coder-1, `robot` for coder-2 on the PATH" in error.message
    return error


def hints(stage: Stage) -> tuple[str, ...]:
    return tuple(each for each in refusal(stage).hints if "PATH=" in each)


def test_an_earlier_path_that_has_the_program_is_hinted_at(stage: Stage, folder: Path) -> None:
    (hint,) = hints(stage)
    assert hint.startswith("with the PATH that its agents had: PATH=")
    assert str(folder) in shlex.split(hint.partition("had: ")[2])[0]


def test_an_earlier_path_without_the_program_is_not(stage: Stage, folder: Path) -> None:
    assert ", nor on that of its agents" not in refusal(stage).message
    (folder / "robot").unlink()
    assert hints(stage) == ()
    error = refusal(stage)
    _, _, theirs = error.message.partition(", nor on that of its agents: ")
    assert str(folder) in theirs.split(os.pathsep)
    (way,) = error.hints
    (command,) = commands_of(way)
    assert command.text == "agentmux agents show robot"


def test_a_face_that_types_without_a_person_shows_the_refusal_and_no_shell(stage: Stage) -> None:
    world = stage.world()
    entry = entry_at(world, stage.path)
    lines = "\n".join(explanation(world, world, entry, explain=False))
    assert "cannot resume: no program `robot` for coder-1" in lines
    assert "with the PATH that its agents had: PATH=" in lines
    assert "a shell" not in lines
    found = live(world, (entry,))[entry.path]
    attended, alone = (
        outlook(world, entry, found, lambda *_: None, is_attended=each) for each in (True, False)
    )
    assert "a shell for you" in attended.warning
    assert alone.warning.startswith("no program `robot` for coder-1")
    assert (alone.kind, attended.kind) == ("missing", "")
