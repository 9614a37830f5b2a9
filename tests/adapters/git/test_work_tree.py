"""The work tree around a directory is found as git finds it, without starting git."""

import subprocess
from pathlib import Path

import pytest

from agentmux.adapters.git.work_tree import (
    MARKER,
    branch_at,
    is_branch_gone,
    is_half_made,
    repository_around,
    work_tree,
    worktree_tops,
)
from tests.app.driver import git, make_project


def asked(folder: Path) -> tuple[str, str]:
    """Return what git itself says."""
    top, git_dir = git(folder, "rev-parse", "--show-toplevel", "--absolute-git-dir").splitlines()
    return top, git_dir


def found(folder: Path) -> tuple[str, str]:
    tree = work_tree(folder)
    assert tree is not None
    return str(tree.top), str(tree.git_dir.resolve())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def test_in_a_checkout_and_below_it(project: Path) -> None:
    below = project / "some" / "where"
    below.mkdir(parents=True)
    for folder in (project, below):
        assert found(folder) == asked(folder) == (str(project), str(project / ".git"))


def test_in_a_linked_worktree(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(project, "worktree", "add", "-q", str(other), "-b", "other")
    assert found(other) == asked(other)
    assert found(other)[1] != found(project)[1]


def test_in_a_submodule(project: Path, tmp_path: Path) -> None:
    make_project(tmp_path / "part")
    allowed = ("-c", "protocol.file.allow=always")
    git(project, *allowed, "submodule", "--quiet", "add", str(tmp_path / "part"), "part")
    assert found(project / "part") == asked(project / "part")


def test_a_git_folder_that_is_no_repository_is_passed_over(project: Path) -> None:
    for name, text in (("empty", None), ("text", "no link"), ("gone", "gitdir: /nowhere\n")):
        folder = project / name
        folder.mkdir()
        if text is None:
            (folder / ".git").mkdir()
            assert found(folder) == asked(folder)
        else:
            (folder / ".git").write_text(text)
        assert found(folder)[0] == str(project)


def test_outside_of_git_and_in_a_bare_repository_there_is_none(tmp_path: Path) -> None:
    assert work_tree(tmp_path) is None
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "bare.git"], check=True)
    assert work_tree(tmp_path / "bare.git") is None


def test_the_branch_is_read_without_git(project: Path, tmp_path: Path) -> None:
    assert branch_at(tmp_path) is None
    assert branch_at(project) == "main"
    place = tmp_path / "place"
    git(project, "worktree", "add", "-q", "-b", "a/b", str(place))
    (place / "below").mkdir()
    assert branch_at(place / "below") == "a/b"
    git(place, "checkout", "-q", "--detach")
    assert branch_at(place) == ""
    (project / ".git" / "worktrees" / "place" / "rebase-merge").mkdir()
    assert branch_at(place) is None
    (project / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n")  # as with reftables
    assert branch_at(project) is None


def test_all_worktrees_share_one_git_directory(project: Path, tmp_path: Path) -> None:
    other, bare = tmp_path / "other", tmp_path / "bare.git"
    git(project, "worktree", "add", "-q", str(other), "-b", "other")
    git(project, "clone", "-q", "--bare", ".", str(bare))
    for folder in (project, other):
        assert repository_around(folder) == project / ".git"
    assert repository_around(bare) == bare
    assert repository_around(tmp_path) is None
    assert {*worktree_tops(project / ".git")} == {project, other}
    git(project, "worktree", "move", str(other), str(tmp_path / "moved"))
    assert {*worktree_tops(project / ".git")} == {project, tmp_path / "moved"}


def test_a_worktree_that_nobody_has_marked_is_half_made(project: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    git(project, "worktree", "add", "-q", "-b", "a/b", str(place))
    assert is_half_made(place)
    (project / ".git" / "worktrees" / "place" / MARKER).write_text("/home\nuuid\n")
    assert not is_half_made(place)
    (project / ".git").rename(tmp_path / "moved")  # nobody knows
    assert not is_half_made(place)
    assert not is_half_made(tmp_path)


def test_a_branch_is_looked_for_without_git(project: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    git(project, "worktree", "add", "-q", "-b", "a/b", str(place))
    for folder in (project, place):
        assert not is_branch_gone(folder, "a/b")
        assert is_branch_gone(folder, "b")
        assert is_branch_gone(folder, "a"), "it is a folder"
    git(project, "pack-refs", "--all")
    assert not is_branch_gone(place, "a/b")
    assert is_branch_gone(place, "b")
    assert not is_branch_gone(tmp_path, "b")  # nobody knows
    (project / ".git" / "reftable").mkdir()
    assert not is_branch_gone(project, "b")  # nor here
