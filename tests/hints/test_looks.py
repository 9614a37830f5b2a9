"""Every command that our messages name to look at something changes nothing."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.conftest import Project, Session, make_root
from tests.hints.following import Work
from tests.house.effects import LOOKS

pytestmark = pytest.mark.long

NAME: Final = "SESSION"
TYPED: Final[Mapping[str, str]] = {
    "agentmux agents probe": "agentmux agents probe demo",
    "agentmux agents show": "agentmux agents show demo",
    "agentmux diff": f"agentmux diff {NAME}",
    "agentmux help": "agentmux help start",
    "agentmux logs": f"agentmux logs {NAME}",
    "agentmux pipelines show": "agentmux pipelines show quick",
    "agentmux show": f"agentmux show {NAME}",
    "agentmux show --role": f"agentmux show {NAME} --role coder-1",
    "agentmux status": f"agentmux status {NAME}",
    "git log --all --oneline -n": "git log --oneline --all -n 10",
    "git log --left-right --oneline": "git log --oneline --left-right main...",
    "git log --oneline": "git log --oneline main..",
    "git log -p": "git log -p main..main",
    "git status --ignore-submodules --untracked-files": (
        "git status --untracked-files=all --ignore-submodules=none"
    ),
    "git status --short --untracked-files": "git status --short --untracked-files=all",
}
"""What is typed for a shape that is no whole command."""


@pytest.fixture(scope="module")
def stopped() -> Iterator[Session]:
    """A stopped session with a worktree, beside edits and commits in both work trees."""
    project = Project(make_root())
    session = project.start("add a greeting", "--worktree").wait()
    Work(project).plant(project.path, "the user").plant(Path(session.state["worktree"]), "a coder")
    project.ok("stop", session.name)
    session.gone()
    yield session
    project.close()


def everything(root: Path) -> dict[str, str]:
    """Return a hash of each file below ``root``, but for caches and git's list of file times."""
    return {
        str(path.relative_to(root)): f"{path.lstat().st_mode:o} {_hash(path)}"
        for path in root.rglob("*")
        if not path.is_relative_to(root / "home" / "cache") and path.name != "index"
    }


def _hash(path: Path) -> str:
    if not stat.S_ISREG(path.lstat().st_mode):
        return ""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("shape", sorted(LOOKS))
def test_it_changes_nothing(stopped: Session, shape: str) -> None:
    project = stopped.project
    before = everything(project.root)
    line = TYPED.get(shape, shape).replace(NAME, stopped.name)
    done = project.program("sh", "-c", line)
    assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    assert everything(project.root) == before
    assert not project.processes()
