"""A worktree without a branch: it shows a commit, and is made and removed like any other."""

from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.trees.worktrees import LinkedWorktrees
from agentmux.core.codec.frozen import replace
from agentmux.ports.git.worktrees import WorktreeSpec
from tests.adapters.trees.test_worktrees import (
    SESSION,
    Killed,
    KilledGit,
    everything,
    project,
    spec_of,
    worktrees,
)
from tests.app.driver import git

__all__ = ["project"]


def detached(project: Path, **changed: Any) -> WorktreeSpec:
    return spec_of(project, branch="", **changed)


def check(project: Path, spec: WorktreeSpec) -> None:
    assert worktrees(project).is_made(spec)
    listed = git(project, "worktree", "list", "--porcelain").strip().split("\n\n")
    assert listed[-1] == f"worktree {spec.path}\nHEAD {spec.commit}\ndetached\nlocked {SESSION}"
    assert git(spec.path, "status", "--porcelain") == ""


def test_it_is_made_once_and_taken_back_without_a_trace(project: Path) -> None:
    spec = detached(project)
    before, made = everything(project), worktrees(project)
    for again in (False, False, True):
        assert made.obstacle(spec, again=again) is None
        assert made.make(spec, again=again) == ()
        check(project, spec)
    made.undo_make(spec)
    assert everything(project) == before
    assert not spec.path.exists()


@pytest.mark.parametrize("after", [False, True])
def test_killed_around_the_command_of_git(project: Path, *, after: bool) -> None:
    spec = detached(project)
    before = everything(project)
    with pytest.raises(Killed):
        LinkedWorktrees(KilledGit(project, 1, after=after)).make(spec, again=False)
    worktrees(project).make(spec, again=False)
    check(project, spec)
    worktrees(project).remove(spec, None)
    assert everything(project) == before
    assert not spec.path.parent.exists()


def test_what_its_removal_would_lose(project: Path) -> None:
    made, spec = worktrees(project), detached(project)
    made.make(spec, again=False)
    assert not made.removal_loss(spec, "main")
    (spec.path / "new.txt").write_text("new\n")
    assert made.removal_loss(spec, "main").changed == ("new.txt",)
    git(spec.path, "add", "new.txt")
    git(spec.path, "commit", "-qm", "On no branch")
    found = made.removal_loss(spec, "main")
    assert [each.partition(" ")[2] for each in found.commits_off_branch] == ["On no branch"]
    assert (found.changed, found.tip) == ((), None)
    git(spec.path, "switch", "-q", "--create", "kept")
    assert not made.removal_loss(spec, "main")


def test_a_session_may_have_two_worktrees(project: Path) -> None:
    made, own = worktrees(project), spec_of(project)
    base = replace(own, path=own.path.with_name("x-base"), branch="", session=f"{own.session}-base")
    made.make(own, again=False)
    before = everything(project)
    made.make(base, again=False)
    assert made.is_made(own)
    assert made.is_made(base)
    made.remove(base, None)
    assert everything(project) == before
    assert made.is_made(own)
