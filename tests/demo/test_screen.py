"""The commands that the demo shows at its end can be pasted."""

import shlex
import subprocess
from pathlib import Path

import pytest
from freezegun import freeze_time

from agentmux.demo.screen import DemoScreen


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that prints its arguments, in a folder with a space in its name."""
    folder = tmp_path / "my bin"
    folder.mkdir()
    (folder / "agentmux").write_text('#!/bin/sh\necho "$1: $2"\n')
    (folder / "agentmux").chmod(0o755)
    return folder / "agentmux"


def typed(said: str, path: str) -> list[str]:
    lines = [line for line in said.splitlines() if "  #" in line]
    call = ["/bin/sh", "-c", "\n".join(lines)]
    done = subprocess.run(call, env={"PATH": path}, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("known", [True, False])
def test_the_next_commands_run_as_they_are_typed(
    program: Path, known: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(program.parent) if known else "/nowhere"
    DemoScreen({}).next(program, path)
    said = capsys.readouterr().out
    assert typed(said, path) == ["agents: ", "start: a feature", "--help: "]
    assert ("export PATH=" + shlex.quote(str(program.parent)) in said) is not known
    assert ("    agentmux start" in said) is known


def test_another_agentmux_on_the_path_is_not_taken_for_this_one(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "agentmux"
    other.symlink_to("/bin/true")
    DemoScreen({}).next(program, str(tmp_path))
    assert f"    {shlex.quote(str(program))} start" in capsys.readouterr().out


def test_the_last_line_says_how_long_it_took(capsys: pytest.CaptureFixture[str]) -> None:
    with freeze_time("2026-01-01T10:15:00") as clock:
        screen = DemoScreen({})
        clock.tick(83.456)
        screen.verdict(good=True)
        clock.tick(-100)  # the clock was set back
        screen.verdict(good=False)
    said = capsys.readouterr().out.split("\n")
    assert said[1::2] == ["every check passed, in 83.46 s", "a check FAILED, after 0.00 s"]
