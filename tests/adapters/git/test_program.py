"""How long a command of git may look at a repository, and who is told meanwhile."""

import os
import pty
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from threading import Event

import pytest

from agentmux.adapters.git.program import GitProgram, Patience
from agentmux.adapters.git.repository import Git
from agentmux.core.config.settings import GitSettings
from agentmux.errors import MissingError
from agentmux.wiring import build
from tests.app.driver import make_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def slow_git(folder: Path, gate: str) -> dict[str, str]:
    """Return an environment whose ``git status`` waits until the file ``gate`` is there."""
    stub = folder / "slow" / "git"
    stub.parent.mkdir()
    wait = f'case " $* " in *" status "*) until [ -e {gate} ]; do sleep 0.05; done;; esac'
    stub.write_text(f'#!/bin/sh\n{wait}\nexec {shutil.which("git")} "$@"\n')
    stub.chmod(0o755)
    return {**os.environ, "PATH": f"{stub.parent}{os.pathsep}{os.environ['PATH']}"}


def test_git_is_waited_for_and_the_user_is_told(project: Path, tmp_path: Path) -> None:
    gate, said = tmp_path / "gate", Event()
    told: list[str] = []

    def slow(text: str) -> None:
        told.append(text)
        gate.touch()
        said.set()

    environ = slow_git(tmp_path, str(gate))
    git = Git(project, environ, Patience(slow=slow, slow_after_s=0.2))
    (project / "new.txt").touch()
    assert git.dirty() == ("new.txt",)
    assert said.is_set()
    assert told == [f"git status in {project} is still at work (Ctrl-C ends it)"]


def test_a_quick_git_is_not_talked_about(project: Path) -> None:
    told: list[str] = []
    assert Git(project, os.environ, Patience(slow=told.append)).dirty() == ()
    left = [each for each in threading.enumerate() if isinstance(each, threading.Timer)]
    assert [each for each in left if not each.finished.is_set()] == [], "nothing speaks later"
    assert told == []


def test_a_limit_of_the_configuration_ends_git_and_says_what_to_do(
    project: Path, tmp_path: Path
) -> None:
    (project / ".agentmux").mkdir()
    (project / ".agentmux" / "config.yaml").write_text("git: {timeout: 1s}\n")
    world = build.world(project, environ=slow_git(tmp_path, str(tmp_path / "never")))
    with pytest.raises(
        MissingError, match=f"git status did not answer within 1 s in {project}"
    ) as caught:
        world.repository.dirty()
    assert caught.value.hints == (
        "make git faster: git config core.untrackedCache true",
        "and, where git has it: git config core.fsmonitor true",
        "or allow it more time: `git.timeout` in the configuration",
    )
    with pytest.raises(MissingError):
        world.git.repository_at(project).dirty()


def test_a_limit_goes_along_to_other_directories_and_environments(project: Path) -> None:
    patience = Patience(limit_s=7.0)
    git = GitProgram(project, os.environ, patience)
    assert git.at(project.parent).patience is patience
    assert git.with_variables({"A": "b"}).patience is patience
    assert Patience().limit_s == GitSettings().timeout_s == 600.0


LOOK = """
import os, sys
from pathlib import Path
from agentmux.adapters.git.program import GitProgram
sys.exit(GitProgram(Path(sys.argv[1]), os.environ).show("diff"))
"""


@pytest.mark.parametrize("pager", ["true", "head -n 1", "cat"])
def test_a_pager_that_is_left_before_its_end_is_no_failure(project: Path, pager: str) -> None:
    (tracked, *_) = (each for each in project.iterdir() if each.is_file())
    tracked.write_text("a line of text\n" * 50_000)
    ours, theirs = pty.openpty()
    environ = {**os.environ, "GIT_PAGER": pager, "TERM": "xterm"}
    argv = [sys.executable, "-c", LOOK, str(project)]
    process = subprocess.Popen(argv, stdout=theirs, stderr=theirs, env=environ)
    os.close(theirs)
    with suppress(OSError):  # the end of a terminal
        while os.read(ours, 65_536):
            pass
    os.close(ours)
    assert process.wait(60) == 0
