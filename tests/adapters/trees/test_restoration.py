"""A worktree that is made again has the files of its last checkpoint, with real git."""

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.git.program import GitProgram, GitReply
from agentmux.adapters.trees.worktrees import LinkedWorktrees
from agentmux.core.journal.state import TreeCheckpoint
from agentmux.core.names.layout import COPIED
from agentmux.errors import BlockedError
from agentmux.overriding import override
from agentmux.ports.git.worktrees import CheckpointUnusableError, WorktreeSpec
from tests.adapters.trees.test_checkpoints import digests, dirty, taken
from tests.adapters.trees.test_worktrees import Killed, KilledGit, spec_of, worktrees
from tests.app.driver import git, make_project
from tests.fakes.hanging_git import hanging_git


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def made_with_work(project: Path) -> WorktreeSpec:
    """Make a worktree with commits of its own and uncommitted work."""
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    (spec.path / ".agentmux").mkdir()
    dirty(spec.path)
    (spec.path / "key.secret").unlink()
    shutil.rmtree(spec.path / ".agentmux")
    return spec


def saved(spec: WorktreeSpec) -> WorktreeSpec:
    """Return the worktree with a checkpoint of its files."""
    found = taken(spec.path, spec.home)
    checkpoint = TreeCheckpoint(
        number=1, because="phase", phase="planning", commit=found.commit, head=found.head,
        branch=found.branch, missing=found.missing,
    )  # fmt: skip
    return replace(spec, checkpoint=checkpoint, leaves_folder=True)


def files_of(spec: WorktreeSpec) -> dict[str, str]:
    return {name: each for name, each in digests(spec.path).items() if name != ".git"}


def test_it_has_all_files_of_the_checkpoint(project: Path) -> None:
    spec = saved(made_with_work(project))
    before, status = files_of(spec), git(spec.path, "status", "--porcelain")
    refs = git(project, "for-each-ref")
    shutil.rmtree(spec.path)
    assert worktrees(project).obstacle(spec, again=True) is None
    assert not spec.path.exists()
    assert worktrees(project).make(spec, again=True) == ()
    assert files_of(spec) == before
    assert os.access(spec.path / "run.sh", os.X_OK)
    assert git(project, "for-each-ref") == refs
    # The files are as they were; only what was staged is not any more.
    assert len(git(spec.path, "status", "--porcelain").splitlines()) == len(status.splitlines())


@pytest.mark.long
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 9))
def test_killed_around_a_command_of_git(project: Path, at: int, *, after: bool) -> None:
    spec = saved(made_with_work(project))
    before = files_of(spec)
    shutil.rmtree(spec.path)
    killed = True
    try:
        LinkedWorktrees(KilledGit(project, at, after=after)).make(spec, again=True)
        killed = False
    except Killed:
        assert not worktrees(project).is_made(spec)
    assert killed or at > 4
    worktrees(project).make(spec, again=True)
    assert files_of(spec) == before


class KilledInside(GitProgram):
    """Dies at its k-th command inside of the new worktree."""

    left = 0

    @override
    def run(self, *argv: str, **more: Any) -> GitReply:
        if "checkout-index" in argv:
            KilledInside.left -= 1
            if KilledInside.left == 0:
                raise Killed
        return super().run(*argv, **more)


@pytest.mark.parametrize("at", [1, 2])
def test_killed_while_the_files_are_written(
    project: Path, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = made_with_work(project)
    (spec.path / ".gitattributes").write_text("*.txt text\n")
    spec = saved(spec)
    before = files_of(spec)
    shutil.rmtree(spec.path)
    KilledInside.left = at
    with monkeypatch.context() as context:
        context.setattr("agentmux.adapters.trees.worktrees.GitProgram", KilledInside)
        with pytest.raises(Killed):
            worktrees(project).make(spec, again=True)
    assert spec.path.exists()
    assert not worktrees(project).is_made(spec)
    worktrees(project).make(spec, again=True)
    assert files_of(spec) == before


def moved(project: Path, spec: WorktreeSpec, name: str, text: str) -> None:
    """Commit on the session's branch, as its user may do in another worktree."""
    other = project.parent / "other"
    git(project, "worktree", "prune")
    shutil.rmtree(project / ".git" / "worktrees", ignore_errors=True)
    git(project, "worktree", "add", "-q", str(other), spec.branch)
    (other / name).write_text(text)
    git(other, "add", name)
    git(other, "commit", "-qm", "Moved")
    git(project, "worktree", "remove", "--force", str(other))


def test_the_changes_are_applied_to_a_branch_that_has_moved(project: Path) -> None:
    spec = saved(made_with_work(project))
    before = files_of(spec)
    shutil.rmtree(spec.path)
    moved(project, spec, "kept.txt", "moved\n")
    assert worktrees(project).make(spec, again=True) == ()
    assert (spec.path / "kept.txt").read_text() == "moved\n"
    after = files_of(spec)
    moved_ones = {"kept.txt": "", "link": ""}  # one links to the other
    assert {**after, **moved_ones} == {**before, **moved_ones}


def test_a_rewritten_branch_does_not_get_its_old_commits_again(project: Path) -> None:
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    (spec.path / "bad.txt").write_text("bad\n")
    git(spec.path, "add", "bad.txt")
    git(spec.path, "commit", "-qm", "Bad")
    (spec.path / "new.txt").write_text("new\n")
    spec = saved(spec)
    shutil.rmtree(spec.path)
    git(project, "update-ref", f"refs/heads/{spec.branch}", spec.commit)
    moved(project, spec, "good.txt", "good\n")
    worktrees(project).make(spec, again=True)
    assert (spec.path / "new.txt").exists()
    assert (spec.path / "good.txt").exists()
    assert not (spec.path / "bad.txt").exists()


def test_a_detached_head_comes_back_as_files(project: Path) -> None:
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    git(spec.path, "switch", "-q", "--detach")
    (spec.path / "one.txt").write_text("one\n")
    git(spec.path, "add", "one.txt")
    git(spec.path, "commit", "-qm", "Detached")
    (spec.path / "two.txt").write_text("two\n")
    spec = saved(spec)
    before = files_of(spec)
    shutil.rmtree(spec.path)
    git(project, "worktree", "prune")
    git(project, "gc", "-q", "--prune=now")
    worktrees(project).make(spec, again=True)
    assert files_of(spec) == before


def test_a_conflict_refuses_and_changes_nothing(project: Path) -> None:
    spec = saved(made_with_work(project))
    shutil.rmtree(spec.path)
    moved(project, spec, "both.txt", "moved\n")
    refs = git(project, "for-each-ref")
    error = worktrees(project).obstacle(spec, again=True)
    assert isinstance(error, CheckpointUnusableError)
    assert error.reason == "checkpoint_conflict"
    assert "both changed both.txt" in error.message
    assert "--without-checkpoint" in error.hints[-1]
    with pytest.raises(CheckpointUnusableError):
        worktrees(project).make(spec, again=True)
    assert not spec.path.exists()
    assert git(project, "for-each-ref") == refs
    worktrees(project).make(replace(spec, checkpoint=None), again=True)
    assert (spec.path / "both.txt").read_text() == "moved\n"


def test_objects_that_are_gone_refuse(project: Path) -> None:
    spec = saved(made_with_work(project))
    shutil.rmtree(spec.path)
    blob = next(
        path for path in (spec.home / "work-tree" / "objects").glob("??/*") if path.is_file()
    )
    blob.unlink()
    with pytest.raises(BlockedError, match="is not complete"):
        worktrees(project).make(spec, again=True)
    assert not spec.path.exists()


def test_an_older_git_says_what_it_needs(project: Path, tmp_path: Path) -> None:
    spec = saved(made_with_work(project))
    shutil.rmtree(spec.path)
    moved(project, spec, "kept.txt", "moved\n")
    path = hanging_git(tmp_path, "merge-tree")["PATH"]
    script = Path(path.split(":", 1)[0]) / "git"
    text = script.read_text().replace("import os", "import os", 1)
    script.write_text(
        text.replace(
            "import os, sys, time\n",
            "import os, sys, time\n"
            'if "version" in sys.argv: print("git version 2.37.1"); sys.exit()\n',
        )
    )
    old = LinkedWorktrees(GitProgram(project, {**os.environ, "PATH": path}))
    error = old.obstacle(spec, again=True)
    assert error is not None
    assert "needs git 2.38" in error.message


def test_a_copied_file_does_not_replace_one_of_the_checkpoint(project: Path) -> None:
    spec = spec_of(project)
    (spec.home / COPIED).write_text(".env\n")
    (project / ".gitignore").write_text(".env\n")
    git(project, "add", ".gitignore")
    git(project, "commit", "-qm", "Ignore")
    (project / ".env").write_text("of the checkout\n")
    spec = replace(spec, commit=git(project, "rev-parse", "HEAD").strip())
    worktrees(project).make(spec, again=False)
    git(spec.path, "add", "-f", ".env")
    (spec.path / ".env").write_text("of the worktree\n")
    spec = saved(spec)
    shutil.rmtree(spec.path)
    worktrees(project).make(spec, again=True)
    assert (spec.path / ".env").read_text() == "of the worktree\n"
