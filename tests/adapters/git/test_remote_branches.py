"""Branches of remotes, with real repositories."""

import os
from pathlib import Path

import pytest

from agentmux.adapters.git.program import GitProgram
from agentmux.adapters.git.remote_branches import GitRemoteBranches
from agentmux.ports.git.repository import GitError
from tests.app.driver import git, make_project


def test_a_branch_is_fetched_to_be_looked_at_and_no_branch_is_made(tmp_path: Path) -> None:
    theirs, ours = make_project(tmp_path / "theirs"), tmp_path / "ours"
    git(tmp_path, "clone", "-q", str(theirs), str(ours))
    git(theirs, "checkout", "-q", "-b", "fix")
    git(theirs, "commit", "-q", "--allow-empty", "-m", "Fix")
    tip = git(theirs, "rev-parse", "fix").strip()
    before = git(ours, "for-each-ref", "refs/heads")
    branches = GitRemoteBranches(GitProgram(ours, dict(os.environ)))
    branches.fetch("fix", tip, "origin")
    assert git(ours, "cat-file", "-t", tip).strip() == "commit"
    assert git(ours, "for-each-ref", "refs/heads") == before
    with pytest.raises(GitError, match="branch `fix` of origin is not at cccccccccccc any more"):
        branches.fetch("fix", "c" * 40, "origin")
    with pytest.raises(GitError, match="git could not fetch branch `nowhere` from origin"):
        branches.fetch("nowhere", tip, "origin")
