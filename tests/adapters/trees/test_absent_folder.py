"""What git keeps for a worktree whose folder is not at its place; nothing of it is given up."""

import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.adapters.trees.worktrees import LinkedWorktrees
from agentmux.core.journal.state import TreeCheckpoint
from agentmux.errors import BlockedError
from agentmux.ports.git.worktrees import FolderGoneError, WorktreeSpec, WorktreeTakenError
from tests.adapters.trees.test_checkpoints import taken
from tests.adapters.trees.test_worktrees import Killed, KilledGit, spec_of, worktrees
from tests.app.driver import git, make_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


@pytest.fixture
def spec(project: Path) -> WorktreeSpec:
    made = spec_of(project)
    worktrees(project).make(made, again=False)
    return made


def stage(top: Path) -> None:
    (top / "staged.txt").write_text("staged\n")
    git(top, "add", "staged.txt")
    (top / "staged.txt").write_text("and changed\n")


def commit_beside(top: Path) -> None:
    git(top, "switch", "-q", "--detach")
    (top / "beside.txt").write_text("beside\n")
    git(top, "add", "beside.txt")
    git(top, "commit", "-qm", "Beside")


def stop_in_a_merge(top: Path) -> None:
    git(top, "switch", "-q", "-c", "other")
    git(top, "commit", "-q", "--allow-empty", "-m", "Other")
    git(top, "switch", "-q", "-")
    git(top, "merge", "-q", "--no-ff", "--no-commit", "other")


def commit_in_a_submodule(top: Path) -> None:
    inner = make_project(top.parent / "inner")
    allowed = ("-c", "protocol.file.allow=always")
    git(top, *allowed, "submodule", "--quiet", "add", str(inner), "lib")
    git(top, "commit", "-qm", "Submodule")
    user = ("-c", "user.name=Test", "-c", "user.email=t@example.org")
    git(top / "lib", *user, "commit", "-q", "--allow-empty", "-m", "Nowhere else")


def checkpointed(spec: WorktreeSpec) -> WorktreeSpec:
    found = taken(spec.path, spec.home)
    saved = TreeCheckpoint(
        number=1, because="stop", phase="planning", commit=found.commit, head=found.head,
        branch=found.branch,
    )  # fmt: skip
    return replace(spec, checkpoint=saved)


def away(spec: WorktreeSpec) -> Path:
    """Move the folder of the worktree as ``mv`` does, and return where it is."""
    return spec.path.rename(spec.path.with_name("saved"))


def listed_edits(top: Path) -> str:
    return git(top, "status", "--porcelain=v2", "--branch", "--ignore-submodules=all")


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (stage, "1 staged file (staged.txt)"),
        (commit_beside, "which is on no branch"),
        (stop_in_a_merge, "a merge under way"),
        (commit_in_a_submodule, "1 staged file (lib/)"),
    ],
)
def test_a_worktree_is_not_made_again_while_git_keeps_more_for_its_folder(
    project: Path, spec: WorktreeSpec, work: Callable[[Path], None], words: str
) -> None:
    work(spec.path)
    spec = checkpointed(spec)
    before, saved = listed_edits(spec.path), away(spec)
    with pytest.raises(FolderGoneError) as caught:
        worktrees(project).make(spec, again=True)
    assert words in caught.value.message
    assert not spec.path.exists()
    assert worktrees(project).removal_loss(spec, "main")
    assert listed_edits(saved) == before

    repair, again = caught.value.hints
    assert f"agentmux resume --make-again {spec.home.name}" in again
    say = repair.partition(": ")[2].replace("NEW_PATH", shlex.quote(str(saved)))
    subprocess.run(say, shell=True, check=True, cwd=project, capture_output=True)
    assert listed_edits(saved) == before
    with pytest.raises(WorktreeTakenError, match="was moved to"):
        worktrees(project).removal_loss(spec, "main")  # so that neither prune nor remove goes on


def test_a_deleted_worktree_is_made_again_if_its_checkpoint_has_everything(
    project: Path, spec: WorktreeSpec
) -> None:
    (spec.path / "new.txt").write_text("new\n")
    (spec.path / "staged.txt").write_text("staged\n")
    (spec.path / "README.md").write_text("changed\n")
    git(spec.path, "add", "staged.txt")
    git(spec.path, "add", "-N", "new.txt")
    spec = checkpointed(spec)
    away(spec)
    assert worktrees(project).obstacle(spec, again=True) is None
    worktrees(project).make(spec, again=True)
    assert (spec.path / "staged.txt").read_text() == "staged\n"


def test_two_folders_never_share_a_git_directory(project: Path, spec: WorktreeSpec) -> None:
    stage(spec.path)
    spec = replace(checkpointed(spec), leaves_folder=True)
    before, saved = git(spec.path, "status", "--porcelain"), away(spec)
    worktrees(project).make(spec, again=True)
    assert worktrees(project).is_made(spec)
    (spec.path / "later.txt").write_text("later\n")
    git(spec.path, "add", "later.txt")
    git(spec.path, "commit", "-qm", "Later")
    assert git(saved, "status", "--porcelain") == before
    assert git(saved, "show", ":staged.txt") == "staged\n"
    git(saved, "commit", "-qm", "In the folder that was moved")
    assert git(project, "log", "-1", "--format=%s", spec.branch) == "Later\n"

    (kept,) = worktrees(project).list_kept(spec)
    found = worktrees(project).removal_loss(spec, "main")
    assert found.kept == (kept,)
    assert found.tips_off_branch == (git(saved, "rev-parse", "HEAD").strip(),)
    assert found.is_there


def test_a_lock_of_the_user_keeps_the_place_of_a_folder_that_is_away(
    project: Path, spec: WorktreeSpec
) -> None:
    git(project, "worktree", "unlock", str(spec.path))
    git(project, "worktree", "lock", "--reason", "on my disk", str(spec.path))
    spec = replace(checkpointed(spec), leaves_folder=True)
    saved = away(spec)
    with pytest.raises(BlockedError, match=r"is locked \(on my disk\)"):
        worktrees(project).make(spec, again=True)
    saved.rename(spec.path)
    assert worktrees(project).make(spec, again=True) == ()
    assert git(spec.path, "branch", "--show-current").strip() == spec.branch


def test_an_earlier_folder_makes_room_and_stays_a_work_tree(
    project: Path, spec: WorktreeSpec
) -> None:
    stage(spec.path)
    spec = replace(checkpointed(spec), leaves_folder=True)
    before, saved = git(spec.path, "status", "--porcelain"), away(spec)
    worktrees(project).make(spec, again=True)
    made = spec.path.rename(spec.path.with_name("made"))
    saved.rename(spec.path)
    with pytest.raises(WorktreeTakenError, match="an earlier folder of this session") as caught:
        worktrees(project).make(spec, again=True)
    (hint,) = caught.value.hints
    subprocess.run(hint.partition(": ")[2], shell=True, check=True, cwd=project)
    made.rename(spec.path)
    worktrees(project).make(spec, again=True)
    worktrees(project).remove(spec, None)
    assert git(Path(f"{spec.path}.old"), "status", "--porcelain") == before


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_what_git_keeps_survives_a_kill(
    project: Path, spec: WorktreeSpec, at: int, *, after: bool
) -> None:
    stage(spec.path)
    spec = replace(checkpointed(spec), leaves_folder=True)
    saved = away(spec)
    with pytest.raises(Killed):
        LinkedWorktrees(KilledGit(project, at, after=after)).make(spec, again=True)
    worktrees(project).make(spec, again=True)
    assert worktrees(project).is_made(spec)
    assert git(saved, "show", ":staged.txt") == "staged\n"
    assert len(worktrees(project).list_kept(spec)) == 1


def test_a_removal_takes_what_git_keeps_but_no_folder_that_is_found_again(
    project: Path, spec: WorktreeSpec
) -> None:
    stage(spec.path)
    spec = replace(checkpointed(spec), leaves_folder=True)
    found = away(spec)
    worktrees(project).make(spec, again=True)
    git(project, "worktree", "repair", str(found))
    lost = spec.path.rename(spec.path.with_name("lost"))
    worktrees(project).make(spec, again=True)
    (kept,) = worktrees(project).list_kept(spec)
    worktrees(project).remove(spec, worktrees(project).removal_loss(spec, "main").tip)
    assert not kept.exists()
    assert (lost / "staged.txt").exists()
    assert git(found, "show", ":staged.txt") == "staged\n"
    git(project, "worktree", "remove", "--force", str(found))  # it is not locked any more


def test_what_only_the_last_checkpoint_has_counts_if_the_worktree_is_gone(
    project: Path, spec: WorktreeSpec
) -> None:
    for name in ("mine.txt", "theirs.txt"):
        (spec.path / name).write_text("result\n")
    saved, made = checkpointed(spec), worktrees(project)
    assert made.removal_loss(saved, "main").changed == ("mine.txt", "theirs.txt")
    away(spec)
    assert made.removal_loss(saved, "main").saved == ("mine.txt", "theirs.txt")
    (project / "theirs.txt").write_text("result\n")
    git(project, "add", "theirs.txt")
    git(project, "commit", "-qm", "Half of it")
    assert made.removal_loss(saved, "main").saved == ("mine.txt",)
    commit = git(project, "rev-parse", "HEAD").strip()
    assert made.removal_loss(saved, None, delivered=commit).saved == ("mine.txt",)
    made.remove(saved, spec.commit)
    assert not made.list_kept(saved)


def test_a_removal_that_was_killed_names_again_what_is_lost(
    project: Path, spec: WorktreeSpec
) -> None:
    stage(spec.path)
    spec = checkpointed(spec)
    going = spec.path.rename(spec.path.with_name(f".agentmux-removing-{spec.session}"))
    loss = worktrees(project).removal_loss(spec, "main")
    assert (loss.saved, loss.staged) == (("staged.txt",), ("staged.txt",))
    # A resume makes it again, and the next removal names what is in it.
    worktrees(project).make(replace(spec, leaves_folder=True), again=True)
    (spec.path / "later.txt").write_text("later\n")
    assert "later.txt" in worktrees(project).removal_loss(spec, "main").changed
    shutil.rmtree(spec.path)
    assert worktrees(project).removal_loss(spec, "main").saved == ("staged.txt",)
    worktrees(project).remove(spec, spec.commit)
    assert not worktrees(project).list_kept(spec)
    assert not going.exists()


@pytest.mark.parametrize("pruned", [True, False])
def test_a_branch_that_is_gone_is_made_again_at_the_last_commit_that_is_known(
    project: Path, spec: WorktreeSpec, *, pruned: bool
) -> None:
    git(spec.path, "commit", "-q", "--allow-empty", "-m", "Before the checkpoint")
    spec = checkpointed(spec)
    git(spec.path, "commit", "-q", "--allow-empty", "-m", "Later")
    tip = git(project, "rev-parse", f"{spec.branch}~1" if pruned else spec.branch).strip()
    away(spec)
    git(project, "update-ref", "-d", f"refs/heads/{spec.branch}")
    if pruned:
        git(project, "worktree", "unlock", str(spec.path))
        git(project, "worktree", "prune")
    error = worktrees(project).obstacle(replace(spec, leaves_folder=True), again=True)
    assert error is not None
    assert error.hints == (f"make it again where its work ended: git branch {spec.branch} {tip}",)
