"""The worktrees of sessions, with real git: made whole by any number of calls, killed anywhere."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.git.program import GitProgram, GitReply
from agentmux.adapters.git.repository import Git
from agentmux.adapters.trees.worktrees import LinkedWorktrees
from agentmux.core.names.layout import COPIED
from agentmux.errors import BlockedError
from agentmux.overriding import override
from agentmux.ports.git.repository import GitError
from agentmux.ports.git.worktrees import FolderGoneError, WorktreeSpec, WorktreeTakenError
from tests.adapters.trees.test_merging import racing
from tests.app.driver import git, make_project
from tests.faults.operations import Operation, Operations

SESSION = "11111111-2222-3333-4444-555555555555"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def spec_of(project: Path, **changed: Any) -> WorktreeSpec:
    home = project / ".agentmux" / ".sessions" / "20260101-101500-x"
    home.mkdir(parents=True, exist_ok=True)
    (home.parent / ".gitignore").write_text("*\n")
    spec = WorktreeSpec(
        path=project.parent / "project-worktrees" / "x",
        branch="agentmux/x",
        commit=git(project, "rev-parse", "HEAD").strip(),
        session=SESSION,
        home=home,
        inner=Path(),
    )
    return replace(spec, **changed)


def worktrees(project: Path) -> LinkedWorktrees:
    return LinkedWorktrees(GitProgram(project, dict(os.environ)))


def check(project: Path, spec: WorktreeSpec, kept: tuple[str, ...] = ()) -> None:
    """Check that exactly one worktree, its branch and its marks are there.

    ``kept`` are the names of git directories that were set aside for earlier folders.
    """
    assert worktrees(project).is_made(spec)
    listed = git(project, "worktree", "list", "--porcelain").strip().split("\n\n")
    assert [each for each in listed[1:] if "(moved or deleted)" not in each] == [
        (
            f"worktree {spec.path}\nHEAD {spec.commit}\nbranch refs/heads/{spec.branch}\n"
            f"locked {SESSION}"
        )
    ]
    assert git(spec.path, "status", "--porcelain") == ""
    assert (spec.path / "README.md").read_text() == "# A project\n"
    assert git(project, "config", f"branch.{spec.branch}.agentmux-session").strip() == SESSION
    folders = project / ".git" / "worktrees"
    made = worktrees(project)
    assert {each.name for each in made.list_kept(spec)} == set(kept)
    assert len(list(folders.iterdir())) == 1 + len(kept)


def everything(project: Path) -> str:
    """Return what a user has in the repository, except what is a session's own."""
    return "\n".join(
        [
            git(project, "for-each-ref"),
            git(project, "config", "--local", "--list"),
            git(project, "worktree", "list"),
            git(project, "status", "--porcelain", "--branch"),
            git(project, "stash", "list"),
        ]
    )


def test_a_worktree_is_made_once_and_taken_back_without_a_trace(project: Path) -> None:
    spec = spec_of(project)
    before, made = everything(project), worktrees(project)
    for _ in range(3):
        assert made.make(spec, again=False) == ()
        check(project, spec)
    git(project, "worktree", "unlock", str(spec.path))
    made.make(spec, again=True)
    check(project, spec)
    made.undo_make(spec)
    assert everything(project) == before
    assert not spec.path.exists()


class Killed(BaseException):
    pass


class KilledGit(GitProgram):
    """Dies before or after its k-th command that may change something."""

    def __init__(self, project: Path, at: int, *, after: bool) -> None:
        super().__init__(project, dict(os.environ))
        self.left, self.after = at, after

    @override
    def run(self, *argv: str, **more: Any) -> GitReply:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise Killed
        reply = super().run(*argv, **more)
        if self.left == 0:
            raise Killed
        return reply


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_killed_around_a_command_of_git(project: Path, at: int, *, after: bool) -> None:
    spec = spec_of(project)
    before = everything(project)
    with pytest.raises(Killed):
        LinkedWorktrees(KilledGit(project, at, after=after)).make(spec, again=False)
    assert not worktrees(project).is_made(spec)
    worktrees(project).make(spec, again=False)
    check(project, spec)
    worktrees(project).undo_make(spec)
    assert everything(project) == before


def was_killed(
    work: Callable[[], object], count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> bool:
    """Do ``work``, killed before its change ``count`` of the disk; tell whether it came to that."""
    left = count

    def kill(operation: Operation) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Killed

    with monkeypatch.context() as context:
        Operations(tmp_path, kill).install(context.setattr)
        try:
            work()
        except Killed:
            return True
    return False


def test_killed_before_any_change_of_the_disk(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 0
    while True:
        count += 1
        spec = spec_of(project)
        make = partial(worktrees(project).make, spec, again=False)
        if not was_killed(make, count, tmp_path, monkeypatch):
            break
        worktrees(project).make(spec, again=False)
        check(project, spec)
        worktrees(project).undo_make(spec)
        assert "agentmux" not in git(project, "for-each-ref")
    assert count > 3


@pytest.mark.parametrize("left", ["gitdir only", "no head", "half checked out"])
def test_git_itself_was_killed(project: Path, left: str) -> None:
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    admin = project / ".git" / "worktrees" / "x"
    (admin / "agentmux-session").unlink()
    (admin / "index").unlink()
    if left == "half checked out":
        (spec.path / "README.md").write_text("# A pro")
    else:
        (spec.path / "README.md").unlink()
        (admin / "HEAD").unlink()
    if left == "gitdir only":
        shutil.rmtree(spec.path)
    worktrees(project).make(spec, again=False)
    check(project, spec)


def half_made(project: Path, spec: WorktreeSpec, *more: str) -> Path:
    """Leave what a git that was killed while it made the worktree leaves; return the folder."""
    (project / "b.txt").write_text("b\n")
    (project / ".gitignore").write_text(".env\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "More", *more)
    worktrees(project).make(spec_of(project), again=False)
    admin = project / ".git" / "worktrees" / "x"
    (admin / "agentmux-session").unlink()
    (admin / "index").unlink()
    (spec.path / "README.md").write_text("")
    (spec.path / "b.txt").unlink()
    return spec.path


def test_what_is_written_into_a_half_made_worktree_is_kept(project: Path) -> None:
    place = half_made(project, spec_of(project))
    spec = spec_of(project)
    (place / "README.md").write_text("# A project\nmy edit\n")
    (place / "mine.txt").write_text("my fix\n")
    aside = place.with_name("x.half-made-11111111")
    aside.mkdir()
    (aside / "from a call that was killed").write_text("mine, too\n")
    (warning, other) = worktrees(project).make(spec, again=True)
    assert worktrees(project).is_made(spec)
    assert (place / "README.md").read_text() == "# A project\n"
    second = place.with_name("x.half-made-11111111-2")
    assert warning.endswith(f"(from a call that was killed) is kept in {aside}")
    assert other == (
        f"2 files that somebody wrote while the worktree was only half made (README.md, mine.txt)"
        f" are kept in {second}"
    )
    assert (second / "mine.txt").read_text() == "my fix\n"
    assert (second / "README.md").read_text() == "# A project\nmy edit\n"
    assert not (second / ".git").exists()


def test_what_is_cut_committed_or_staged_in_a_half_made_worktree_is_kept(project: Path) -> None:
    place = half_made(project, spec_of(project))
    spec = spec_of(project)
    git(place, "reset", "-q", "--hard")
    git(place, "checkout", "-q", "--detach")
    (place / "fix.txt").write_text("fixed\n")
    git(place, "add", "fix.txt")
    git(place, "commit", "-qm", "My fix")
    made = git(place, "rev-parse", "HEAD").strip()
    git(place, "switch", "-q", "-")
    loss = worktrees(project).removal_loss(spec, "main")
    assert [each.partition(" ")[2] for each in loss.commits_off_branch] == ["My fix"]
    (place / "README.md").write_text("# A pro")
    (place / "staged.txt").write_text("only staged\n")
    git(place, "add", "staged.txt")
    (place / "staged.txt").unlink()
    commits, files = worktrees(project).make(spec, again=True)
    assert commits == f"keep what was left on no branch: git branch kept-{made[:12]} {made[:12]}"
    assert "1 file that somebody wrote while" in files
    assert worktrees(project).is_made(spec)
    (kept,) = worktrees(project).list_kept(spec)
    assert git(kept, "ls-files", "staged.txt") == "staged.txt\n"
    git(project, "gc", "-q", "--prune=now")
    subprocess.run(commits.partition(": ")[2], shell=True, check=True, cwd=project)
    assert git(project, "rev-parse", f"kept-{made[:12]}").strip() == made


def test_what_git_wrote_of_a_half_made_worktree_goes(project: Path) -> None:
    place = half_made(project, spec_of(project))
    spec = spec_of(project)
    assert worktrees(project).make(spec, again=True) == ()
    assert [each.name for each in place.parent.iterdir()] == ["x"]


def test_a_removal_names_what_is_written_into_a_half_made_worktree(project: Path) -> None:
    place = half_made(project, spec_of(project))
    (place / "README.md").write_text("# A project\nmy edit\n")
    (place / "mine.txt").write_text("my fix\n")
    (place / ".env").write_text("ignored\n")
    loss = worktrees(project).removal_loss(spec_of(project), "main")
    assert loss.changed == ("README.md", "mine.txt")
    (place / "mine.txt").unlink()
    (place / "README.md").unlink()
    assert not worktrees(project).removal_loss(spec_of(project), "main")


@pytest.mark.parametrize("how", ["deleted", "unlocked and deleted", "pruned"])
def test_a_worktree_that_was_deleted_comes_back_on_its_branch(project: Path, how: str) -> None:
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    (spec.path / "more.txt").write_text("more\n")
    git(spec.path, "add", "-A")
    git(spec.path, "commit", "-qm", "More")
    head = git(spec.path, "rev-parse", "HEAD").strip()
    if how != "deleted":
        git(project, "worktree", "unlock", str(spec.path))
    shutil.rmtree(spec.path)
    if how == "pruned":
        git(project, "worktree", "prune")
    assert not worktrees(project).is_made(spec)
    worktrees(project).make(spec, again=True)
    check(project, replace(spec, commit=head), kept=() if how == "pruned" else ("x",))
    assert (spec.path / "more.txt").exists()


@pytest.mark.follows("make it again where its work ended: git branch … …")
def test_a_branch_that_is_gone_is_not_made_again(project: Path) -> None:
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    shutil.rmtree(spec.path)
    git(project, "worktree", "unlock", str(spec.path))
    git(project, "worktree", "prune")
    git(project, "branch", "-D", spec.branch)
    with pytest.raises(BlockedError, match="does not exist any more") as caught:
        worktrees(project).make(spec, again=True)
    (hint,) = caught.value.hints
    way = hint.partition(": ")[2]
    assert spec.commit in way
    subprocess.run(way, shell=True, check=True, cwd=project, capture_output=True)
    assert worktrees(project).make(spec, again=True) == ()


def test_what_belongs_to_somebody_else_is_never_touched(project: Path) -> None:
    spec = spec_of(project)
    spec.path.mkdir(parents=True)
    (spec.path / "mine.txt").write_text("mine")
    with pytest.raises(WorktreeTakenError, match="something else is at"):
        worktrees(project).make(spec, again=False)
    assert (spec.path / "mine.txt").read_text() == "mine"
    (spec.path / "mine.txt").unlink()
    git(project, "branch", spec.branch)
    with pytest.raises(WorktreeTakenError, match="not this session's"):
        worktrees(project).make(spec, again=False)
    git(project, "config", f"branch.{spec.branch}.agentmux-session", "another")
    with pytest.raises(WorktreeTakenError, match="not this session's"):
        worktrees(project).make(spec, again=False)
    worktrees(project).undo_make(spec)
    assert git(project, "rev-parse", spec.branch).strip() == spec.commit


@pytest.mark.follows("move it back: git worktree move -f -f …")
def test_a_worktree_that_was_moved_is_named(project: Path, tmp_path: Path) -> None:
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    git(project, "worktree", "move", "-f", "-f", str(spec.path), str(tmp_path / "there"))
    with pytest.raises(WorktreeTakenError, match="was moved to") as caught:
        worktrees(project).make(spec, again=True)
    (hint,) = caught.value.hints
    assert str(tmp_path / "there") in hint
    subprocess.run(
        hint.removeprefix("move it back: "),
        shell=True,
        check=True,
        cwd=project,
        capture_output=True,
    )
    assert worktrees(project).make(spec, again=True) == ()
    check(project, spec)


@pytest.mark.follows("then move it back: git worktree move -f -f …")
@pytest.mark.parametrize("left", ["empty", "files"])
def test_a_worktree_is_moved_back_though_something_is_at_its_place(
    project: Path, tmp_path: Path, left: str
) -> None:
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    git(project, "worktree", "move", "-f", "-f", str(spec.path), str(tmp_path / "there"))
    spec.path.mkdir()
    if left == "files":
        (spec.path / "by hand.txt").write_text("mine\n")
    with pytest.raises(WorktreeTakenError, match="and something else is at its place") as caught:
        worktrees(project).make(spec, again=True)
    for hint in caught.value.hints:
        command = hint.partition(": ")[2]
        subprocess.run(command, shell=True, check=True, cwd=project, capture_output=True)
    assert worktrees(project).make(spec, again=True) == ()
    check(project, spec)
    saved = spec.path.with_name("x.old") / "by hand.txt"
    assert saved.exists() == (left == "files")


def test_the_worktree_of_another_session_is_not_moved_away(project: Path, tmp_path: Path) -> None:
    mine = spec_of(project)
    worktrees(project).make(mine, again=False)
    git(project, "worktree", "move", "-f", "-f", str(mine.path), str(tmp_path / "there"))
    other = replace(
        mine, branch="agentmux/y", session="other", home=mine.home.with_name("the other")
    )
    other.home.mkdir()
    worktrees(project).make(other, again=False)
    with pytest.raises(WorktreeTakenError) as caught:
        worktrees(project).make(mine, again=True)
    assert caught.value.hints[0] == f"see that one: agentmux status {shlex.quote(str(other.home))}"
    assert not [each for each in caught.value.hints if "mv " in each]


# -- a repository that was moved -----------------------------------------------------------------


def moved(old: Path, new: Path, spec: WorktreeSpec) -> WorktreeSpec:
    """Return the worktree as a session knows it whose repository was moved."""
    return replace(spec, home=new / spec.home.relative_to(old))


def edited(spec: WorktreeSpec) -> None:
    """Leave a commit, a staged file and one that git does not know in the worktree."""
    for name in ("committed.txt", "staged.txt", "new.txt"):
        (spec.path / name).write_text(f"{name}\n")
    git(spec.path, "add", "committed.txt")
    git(spec.path, "commit", "-qm", "Committed")
    git(spec.path, "add", "staged.txt")


def check_edits(path: Path) -> None:
    assert git(path, "log", "--format=%s", "-1") == "Committed\n"
    assert git(path, "status", "--porcelain") == "A  staged.txt\n?? new.txt\n"


def found(project: Path, spec: WorktreeSpec) -> WorktreeSpec:
    return replace(spec, path=worktrees(project).place(spec))


@pytest.mark.parametrize("how", ["both", "repository only", "both, repaired by its owner"])
def test_a_worktree_whose_repository_was_moved_is_found_and_linked(
    tmp_path: Path, how: str
) -> None:
    old, new = tmp_path / "code", tmp_path / "src"
    project = make_project(old / "project")
    spec = spec_of(project)
    if how == "repository only":
        spec = replace(spec, path=tmp_path / "elsewhere" / "x")
    worktrees(project).make(spec, again=False)
    edited(spec)
    old.rename(new)
    project = new / "project"
    known = moved(old, new, spec)
    place = spec.path if how == "repository only" else new / "project-worktrees" / "x"
    if how == "both, repaired by its owner":
        git(project, "worktree", "repair", str(place))

    now = found(project, known)
    assert now.path == place
    assert worktrees(project).is_there(now)
    assert not worktrees(project).is_made(now)
    assert worktrees(project).obstacle(now, again=True) is None
    for _ in range(2):
        assert worktrees(project).make(now, again=True) == ()
        assert worktrees(project).is_made(now)
        check_edits(place)
        listed = git(project, "worktree", "list", "--porcelain")
        assert f"worktree {place}\n" in listed
    assert not old.exists()


def test_a_worktree_that_was_moved_along_is_not_removed_before_git_can_tell_what_it_has(
    tmp_path: Path,
) -> None:
    old, new = tmp_path / "code", tmp_path / "src"
    project = make_project(old / "project")
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    edited(spec)
    old.rename(new)
    project = new / "project"
    now = found(project, moved(old, new, spec))
    tip = git(project, "rev-parse", spec.branch).strip()
    with pytest.raises(BlockedError, match="is not linked to it yet"):
        worktrees(project).remove(now, tip)
    with pytest.raises(BlockedError, match="is not linked to it yet") as caught:
        worktrees(project).removal_loss(now, "main")
    assert (now.path / "new.txt").exists()
    (hint,) = caught.value.hints
    subprocess.run(
        hint.removeprefix("link it: "), shell=True, check=True, cwd=project, capture_output=True
    )
    assert found(project, moved(old, new, spec)).path == now.path
    loss = worktrees(project).removal_loss(now, "main")
    assert loss.changed == ("new.txt", "staged.txt")
    assert len(loss.commits) == 1
    worktrees(project).remove(now, tip)
    assert not now.path.exists()


def test_a_copy_of_a_repository_never_takes_the_worktree_of_the_original(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    edited(spec)
    copy = tmp_path / "copy"
    shutil.copytree(project, copy, symlinks=True)
    shutil.copytree(spec.path.parent, tmp_path / "copy-worktrees", symlinks=True)
    known = moved(project, copy, spec)
    assert found(copy, known).path == spec.path
    with pytest.raises(WorktreeTakenError, match="this one is a copy of it") as caught:
        worktrees(copy).make(known, again=True)
    assert caught.value.hints == (f"go on with that one: agentmux resume {spec.home}",)
    # To remove the copy takes nothing of the original.
    assert worktrees(copy).removal_loss(known, "main").changed == ()
    worktrees(copy).remove(known, None)
    assert worktrees(project).is_made(spec)
    check_edits(spec.path)


@pytest.mark.parametrize("link", [True, False])
def test_what_is_at_the_place_of_a_worktree_is_named_and_no_hint_loses_it(
    tmp_path: Path, link: bool
) -> None:
    old, new = tmp_path / "project", tmp_path / "renamed"
    project = make_project(old)
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    edited(spec)
    text = (spec.path / ".git").read_text()
    # Somebody has moved the repository twice, so that nobody can tell where it was at first.
    (spec.path / ".git").write_text(text.replace(str(old), str(tmp_path / "once")))
    old.rename(new)
    known = moved(old, new, spec)
    with pytest.raises(
        WorktreeTakenError, match=f"gone \\({tmp_path}/once/.git/worktrees/x\\)"
    ) as caught:
        worktrees(new).make(known, again=True)
    repair, away = caught.value.hints
    said = repair.partition(": ")[2] if link else away.removeprefix("else move it away: ")
    subprocess.run(said, shell=True, check=True, cwd=new, capture_output=True)
    if not link:
        with pytest.raises(FolderGoneError, match=r"1 staged file \(staged.txt\)"):
            worktrees(new).make(known, again=True)
    worktrees(new).make(replace(known, leaves_folder=not link), again=True)
    assert worktrees(new).is_made(known)
    place = spec.path if link else spec.path.with_name("x.old")
    if link:
        check_edits(place)
    assert [(place / name).read_text() for name in ("staged.txt", "new.txt")] == [
        "staged.txt\n",
        "new.txt\n",
    ]
    assert git(spec.path, "log", "--format=%s", "-1") == "Committed\n"


def test_other_worktrees_of_a_moved_repository_stay_as_they_are(tmp_path: Path) -> None:
    old, new = tmp_path / "project", tmp_path / "renamed"
    project = make_project(old)
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    theirs = tmp_path / "theirs"
    git(project, "worktree", "add", "-q", str(theirs))
    old.rename(new)
    again = make_project(old)
    (theirs / ".git").write_text(f"gitdir: {again}/.git\n")
    worktrees(new).make(moved(old, new, spec), again=True)
    assert (theirs / ".git").read_text() == f"gitdir: {again}/.git\n"


def test_a_worktree_with_relative_links_is_known(project: Path) -> None:
    """As git makes them from 2.48 on, if it is configured so."""
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    admin = project / ".git" / "worktrees" / "x"
    (admin / "gitdir").write_text(f"{os.path.relpath(spec.path, admin)}/.git\n")
    (spec.path / ".git").write_text(f"gitdir: {os.path.relpath(admin, spec.path)}\n")
    assert worktrees(project).is_made(spec)
    there = spec.path.with_name("there")
    with pytest.raises(WorktreeTakenError, match=f"was moved to {spec.path}"):
        worktrees(project).make(replace(spec, path=there), again=True)


def test_a_hook_that_fails_when_all_is_there_is_a_warning(project: Path) -> None:
    hook = project / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no luck >&2\nexit 3\n")
    hook.chmod(0o755)
    spec = spec_of(project)
    (warning,) = worktrees(project).make(spec, again=False)
    assert "no luck" in warning
    assert worktrees(project).is_made(spec)


def test_a_failed_checkout_leaves_an_error_in_the_words_of_git(project: Path) -> None:
    git(project, "config", "filter.big.smudge", "false")
    git(project, "config", "filter.big.clean", "cat")
    git(project, "config", "filter.big.required", "true")
    (project / ".gitattributes").write_text("*.md filter=big\n")
    git(project, "add", ".gitattributes")
    git(project, "commit", "-qm", "Filter")
    spec = spec_of(project)
    with pytest.raises(GitError, match="filter"):
        worktrees(project).make(spec, again=False)
    git(project, "config", "filter.big.smudge", "cat")
    worktrees(project).make(spec, again=False)
    check(project, spec)


def test_a_subdirectory_project_and_a_base_without_it(project: Path) -> None:
    spec = spec_of(project, inner=Path("services/api"))
    worktrees(project).make(spec, again=False)
    assert (spec.path / "services" / "api").is_dir()
    assert git(spec.path, "status", "--porcelain") == ""


def test_what_is_known_before_one_is_made(project: Path, tmp_path: Path) -> None:
    made = worktrees(project)
    room = made.root_facts(None)
    assert room.root == tmp_path / "project-worktrees"
    assert (room.inside, room.is_writable, room.names) == (None, True, frozenset())
    assert room.branches == {"main"}
    assert room.version >= (2, 20)
    made.make(spec_of(project), again=False)
    assert made.root_facts(None).names == {"x"}
    assert "agentmux/x" in made.root_facts(None).branches
    shutil.rmtree(tmp_path / "project-worktrees")
    assert made.root_facts(None).names == {"x"}  # registered still
    assert made.root_facts("inside").inside == project
    assert made.root_facts("../elsewhere").root == tmp_path / "elsewhere"
    assert made.root_facts(str(tmp_path / "a")).root == tmp_path / "a"


def test_the_base(project: Path) -> None:
    made, head = worktrees(project), git(project, "rev-parse", "HEAD").strip()
    found = made.base(None)
    assert found is not None
    assert (found.commit, found.branch, found.has_submodules) == (head, "main", False)
    git(project, "tag", "v1")
    (project / ".gitmodules").write_text("")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Modules")
    tagged, here = made.base("v1"), made.base("main")
    assert tagged is not None
    assert here is not None
    assert (tagged.commit, tagged.branch, tagged.has_submodules) == (head, None, False)
    assert (here.branch, here.has_submodules) == ("main", True)
    for nothing in ("nothing", "--all", "HEAD:README.md"):
        assert made.base(nothing) is None
    git(project, "checkout", "-q", "--detach")
    detached = made.base(None)
    assert detached is not None
    assert detached.branch is None


def test_without_a_commit_there_is_no_base(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert worktrees(tmp_path).base(None) is None


def test_a_bare_repository_with_worktrees(tmp_path: Path, project: Path) -> None:
    bare, main = tmp_path / "repo.git", tmp_path / "main"
    git(tmp_path, "clone", "-q", "--bare", str(project), str(bare))
    git(bare, "worktree", "add", "-q", str(main), "main")
    made = worktrees(main)
    assert made.root_facts(None).root == tmp_path / "repo-worktrees"
    spec = replace(spec_of(main), path=tmp_path / "repo-worktrees" / "x")
    made.make(spec, again=False)
    assert made.is_made(spec)
    made.undo_make(spec)
    assert "agentmux" not in git(bare, "for-each-ref")


# -- taking one away -----------------------------------------------------------------------------


def test_what_a_removal_would_lose(project: Path) -> None:
    made, spec = worktrees(project), spec_of(project)
    made.make(spec, again=False)
    assert not made.removal_loss(spec, "main")
    (spec.path / "new.txt").write_text("new\n")
    (spec.path / ".agentmux").mkdir()
    (spec.path / ".agentmux" / "x").write_text("not the result's")
    assert made.removal_loss(spec, "main").changed == ("new.txt", ".agentmux/x")
    git(spec.path, "add", "new.txt")
    (spec.path / ".agentmux" / "x").unlink()
    git(spec.path, "commit", "-qm", "New")
    found = made.removal_loss(spec, "main")
    assert found.changed == ()
    assert [each.partition(" ")[2] for each in found.commits] == ["New"]
    assert not found.is_beside
    tip = git(spec.path, "rev-parse", "HEAD").strip()
    assert found.tip == tip

    git(spec.path, "checkout", "-q", "--detach")
    git(spec.path, "commit", "-q", "--allow-empty", "-m", "On no branch")
    found = made.removal_loss(spec, "main")
    assert [each.partition(" ")[2] for each in found.commits] == ["New"]
    assert [each.partition(" ")[2] for each in found.commits_off_branch] == ["On no branch"]
    assert found.is_beside
    git(spec.path, "checkout", "-q", spec.branch)

    git(project, "tag", "kept", spec.branch)
    assert not made.removal_loss(spec, "main")
    git(project, "tag", "-d", "kept")
    git(project, "merge", "-q", "--squash", spec.branch)
    git(project, "commit", "-qm", "Squashed")
    assert not made.removal_loss(spec, "main")
    assert made.removal_loss(spec, None)  # nobody knows where to look
    git(project, "reset", "-q", "--hard", "HEAD~1")
    git(project, "merge", "-q", "--no-ff", spec.branch)
    assert not made.removal_loss(spec, None)


def test_files_that_differ_in_case_alone_are_seen(project: Path) -> None:
    if (project / "readme.MD").exists():
        pytest.skip("this disk takes both names for the same file")
    git(project, "config", "core.ignorecase", "true")  # as in a copy from another system
    (project / "src").mkdir()
    (project / "src" / "One").write_text("1\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "One")
    made, spec = worktrees(project), spec_of(project)
    made.make(spec, again=False)
    (spec.path / "readme.MD").write_text("2\n")
    (spec.path / "src" / "one").write_text("3\n")
    (spec.path / "SRC").mkdir()
    (spec.path / "SRC" / "One").write_text("4\n")
    assert made.removal_loss(spec, "main").changed == ("SRC/One", "readme.MD", "src/one")
    inside = Git(spec.path, os.environ)
    changes = inside.changes()
    tree = inside.result_tree(changes)
    inside.commit("All", changes, trailer=("Agentmux", "x"), tree=tree)
    listed = git(project, "ls-tree", "-r", "--name-only", spec.branch).split()
    assert {*listed} >= {"SRC/One", "readme.MD", "src/one", "src/One", "README.md"}
    assert inside.changes() == ()


TAKE_BACK = "git update-ref refs/heads/agentmux/x main; git reset -q --hard"


@pytest.mark.parametrize(
    ("after", "named"),
    [
        ("git reset -q --hard HEAD~", ["Work"]),
        (TAKE_BACK, ["Work"]),
        ("git reset -q --hard HEAD~; git commit -q --allow-empty -m Other", ["Work"]),
        ("git reset -q HEAD~", []),  # the files are there still
        ("git reset -q --soft HEAD~; git commit -qm Again", []),
        ("git reset -q --soft HEAD~; git mv new.txt moved.txt; git commit -qm Again", []),
        ("git reset -q HEAD~; git commit -qam Again", []),  # without `new.txt`, which is there
        ("git reset -q --hard HEAD~; echo else > README.md; git commit -qam Else", ["Work"]),
        ("git reset -q --hard HEAD~; echo else > new.txt", ["Work"]),
        ("git reset -q --hard HEAD~; echo else | tee README.md > new.txt", []),
        ("git reset -q --hard HEAD~; git cherry-pick ORIG_HEAD", []),
        ("git commit -q --amend -m Amended; git reset -q --hard HEAD~", ["Amended"]),
        ("git reset -q --hard HEAD~; git reset -q --hard ORIG_HEAD", []),
        ("git stash -q --all; git reset -q --hard", []),
    ],
)
def test_a_commit_that_a_reset_undid_counts_unless_something_replaced_it(
    project: Path, after: str, named: list[str]
) -> None:
    made, spec = worktrees(project), spec_of(project)
    made.make(spec, again=False)
    (spec.path / "new.txt").write_text("new\n")
    (spec.path / "README.md").write_text("changed\n")
    git(spec.path, "add", "-A")
    git(spec.path, "commit", "-qm", "Work")
    subprocess.run(["sh", "-c", after], cwd=spec.path, check=True, capture_output=True)
    found = made.removal_loss(spec, "main")
    assert [each.partition(" ")[2] for each in found.commits_off_branch] == named
    assert len(found.tips_off_branch) == len(named)


@pytest.mark.parametrize("mark", ["skip-worktree", "assume-unchanged"])
def test_a_change_that_git_was_told_not_to_look_at_counts(project: Path, mark: str) -> None:
    made, spec = worktrees(project), spec_of(project)
    made.make(spec, again=False)
    git(spec.path, "update-index", f"--{mark}", "README.md")
    assert made.removal_loss(spec, "main").changed == ()
    (spec.path / "README.md").write_text("only here\n")
    assert (
        made.removal_loss(spec, "main").changed
        == made.removal_loss(spec, "main").hidden
        == ("README.md",)
    )
    (spec.path / "README.md").unlink()  # as in a sparse checkout
    assert made.removal_loss(spec, "main").changed == ()


@pytest.mark.parametrize("ref", ["refs/worktree/mine", "refs/bisect/bad"])
@pytest.mark.parametrize("moved", [False, True])
def test_a_commit_that_only_a_ref_of_the_worktree_has_counts(
    project: Path, ref: str, *, moved: bool
) -> None:
    made, spec = worktrees(project), spec_of(project)
    made.make(spec, again=False)
    git(spec.path, "update-ref", ref, "HEAD")
    assert not made.removal_loss(spec, "main")
    (spec.path / "new.txt").write_text("new\n")
    git(spec.path, "add", "new.txt")
    git(spec.path, "commit", "-qm", "Mine")
    mine = git(spec.path, "rev-parse", "HEAD").strip()
    git(spec.path, "update-ref", ref, mine)
    git(spec.path, "reset", "-q", "--hard", "HEAD~1")
    if moved:
        spec.path.rename(project.parent / "elsewhere")
    found = made.removal_loss(spec, "main")
    assert [each.partition(" ")[2] for each in found.commits_off_branch] == ["Mine"]
    assert found.tips_off_branch == (mine,)
    git(project, "branch", "kept", mine)
    assert not made.removal_loss(spec, "main")


def test_a_rebase_that_waits_for_its_user_counts(project: Path) -> None:
    """Only git has what it has saved for the end of it."""
    made, spec = worktrees(project), spec_of(project)
    made.make(spec, again=False)
    git(spec.path, "commit", "-q", "--allow-empty", "-m", "Empty")
    git(project, "tag", "kept", spec.branch)
    (spec.path / "README.md").write_text("only here\n")
    editor = ("-c", "sequence.editor=sed -i s/pick/edit/")
    git(spec.path, *editor, "rebase", "-q", "-i", "--autostash", "--keep-empty", "HEAD~1")
    found = made.removal_loss(spec, "main")
    assert (found.changed, found.commits) == ((), ())
    assert found.operation == "rebase"
    assert found


def test_a_repository_that_git_does_not_tell_of_counts_if_it_has_work(project: Path) -> None:
    """It is below an ignored folder, or its files are the worktree's own, too."""
    (project / ".gitignore").write_text("vendor/\n*.git/\n")
    git(project, "add", ".gitignore")
    git(project, "commit", "-qm", "Ignore")
    made, spec = worktrees(project), spec_of(project)
    made.make(spec, again=False)
    vendor, me = spec.path / "vendor", ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    upstream = make_project(project.parent / "upstream")
    for name in ("clean", "edited", "ahead", "stashed", "tagged"):
        git(project, "clone", "-q", str(upstream), str(vendor / "deep" / name))
    git(vendor / "deep" / "tagged", "tag", "of-the-remote")
    (vendor / "half" / ".git").mkdir(parents=True)
    (vendor / "gone").mkdir()
    (vendor / "gone" / ".git").write_text("gitdir: /nowhere\n")
    git(project, "init", "-q", str(vendor / "empty"))
    assert made.removal_loss(spec, "main").changed == ()

    (vendor / "deep" / "edited" / "README.md").write_text("edited\n")
    git(vendor / "deep" / "ahead", *me, "commit", "-q", "--allow-empty", "-m", "Ahead")
    (vendor / "deep" / "stashed" / "README.md").write_text("stashed\n")
    git(vendor / "deep" / "stashed", *me, "stash", "-q")
    make_project(vendor / "own")
    git(vendor / "own", "tag", "all-of-it")
    git(project, "init", "-q", "--bare", str(spec.path / "more.git"))
    git(vendor / "own", "push", "-q", str(spec.path / "more.git"), "main")
    assert made.removal_loss(spec, "main").changed == (
        "more.git/", "vendor/deep/ahead/", "vendor/deep/edited/", "vendor/deep/stashed/",
        "vendor/own/",
    )  # fmt: skip
    shutil.rmtree(vendor)
    shutil.rmtree(spec.path / "more.git")

    (spec.path / "sub").mkdir()
    (spec.path / "sub" / "x").write_text("x\n")
    git(spec.path, "add", "sub/x")
    git(spec.path, "commit", "-qm", "Files of both")
    git(project, "branch", "kept", spec.branch)
    git(spec.path / "sub", "init", "-q")
    git(spec.path / "sub", "add", "-A")
    git(spec.path / "sub", *me, "commit", "-qm", "Of the inner one")
    assert made.removal_loss(spec, "main").changed == ("sub/",)


@pytest.mark.long
def test_a_removal_that_is_killed_is_completed(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, count = everything(project), 0
    while True:
        count += 1
        spec = spec_of(project)
        before = everything(project)
        worktrees(project).make(spec, again=False)
        (spec.path / "ignored.txt").write_text("x\n")
        remove = partial(worktrees(project).remove, spec, spec.commit)
        if not was_killed(remove, count, tmp_path, monkeypatch):
            break
        worktrees(project).remove(spec, spec.commit)
        assert everything(project) == before
        assert not spec.path.parent.exists()
    assert count > 10


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2])
def test_a_removal_killed_around_a_command_of_git(project: Path, at: int, *, after: bool) -> None:
    spec = spec_of(project)
    before = everything(project)
    worktrees(project).make(spec, again=False)
    with pytest.raises(Killed):
        LinkedWorktrees(KilledGit(project, at, after=after)).remove(spec, spec.commit)
    worktrees(project).remove(spec, spec.commit)
    assert everything(project) == before


def test_the_worktree_of_another_clone_stays(project: Path, tmp_path: Path) -> None:
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    clone = tmp_path / "clone"
    git(project, "clone", "-q", str(project), str(clone))
    worktrees(clone).remove(replace(spec, home=clone), spec.commit)
    assert (spec.path / ".git").exists()


def test_a_branch_that_moved_or_is_checked_out_stays(project: Path) -> None:
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    git(spec.path, "commit", "-q", "--allow-empty", "-m", "More")
    worktrees(project).remove(spec, spec.commit)
    assert not spec.path.exists()
    git(project, "checkout", "-q", spec.branch)
    tip = git(project, "rev-parse", "HEAD").strip()
    worktrees(project).remove(spec, tip)
    assert git(project, "rev-parse", spec.branch).strip() == tip
    assert "agentmux-session" not in git(project, "config", "--local", "--list")


# -- copies of ignored files ---------------------------------------------------------------------


def test_ignored_files_are_copied_where_no_commit_can_take_them(
    project: Path, tmp_path: Path
) -> None:
    (project / ".gitignore").write_text(".env\nkeys/\n*.log\n")
    git(project, "add", ".gitignore")
    git(project, "commit", "-qm", "Ignore")
    (project / ".gitignore").write_text(".env\nkeys/\n*.log\nlocal.txt\n")  # not committed
    (project / ".env").write_text("SECRET=1\n")
    (project / ".env").chmod(0o600)
    (project / "keys" / "deep").mkdir(parents=True)
    (project / "keys" / "deep" / "key").write_text("key\n")
    (project / "local.txt").write_text("would be committed\n")
    (project / "link.log").symlink_to(tmp_path)
    os.mkfifo(project / "pipe.log")
    (project / "no.log").write_text("not asked for\n")
    spec = spec_of(project)
    (spec.home / COPIED).write_text(".env\n/keys/\nlocal.txt\nlink.log\npipe.log\n")
    said = worktrees(project).make(spec, again=False)
    assert (spec.path / ".env").read_text() == "SECRET=1\n"
    assert (spec.path / ".env").stat().st_mode & 0o777 == 0o600
    assert (spec.path / "keys" / "deep" / "key").read_text() == "key\n"
    for name in ("local.txt", "link.log", "no.log", "pipe.log"):
        assert not os.path.lexists(spec.path / name)
    assert {each.split()[0] for each in said} == {"local.txt", "link.log"}
    assert git(spec.path, "status", "--porcelain") == ""

    (spec.path / ".env").write_text("SECRET=2\n")
    assert worktrees(project).copy(spec, ".env\nno.log\n") == ()
    assert (spec.path / "no.log").read_text() == "not asked for\n"
    assert (spec.path / ".env").read_text() == "SECRET=2\n", "it was there"

    shutil.rmtree(spec.path)
    worktrees(project).make(spec, again=True)
    assert (spec.path / ".env").exists()
    assert not worktrees(project).removal_loss(spec, "main")


def test_a_copy_that_is_killed_leaves_no_part_of_a_file(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".gitignore").write_text(".env\n")
    git(project, "add", ".gitignore")
    git(project, "commit", "-qm", "Ignore")
    spec = spec_of(project)
    worktrees(project).make(spec, again=False)
    (project / ".env").write_text("SECRET=1\n")
    with monkeypatch.context() as context:  # as on macOS
        context.delattr(os, "O_TMPFILE")
        worktrees(project).copy(spec, ".env\n")
    assert (spec.path / ".env").read_text() == "SECRET=1\n"
    (spec.path / ".env").unlink()
    try:
        os.close(os.open(spec.path, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        pytest.skip("this file system has no unnamed files")

    def killed(source: Any, target: Any) -> None:
        target.write(source.read(3))
        target.flush()
        raise Killed

    with monkeypatch.context() as context:
        context.setattr(shutil, "copyfileobj", killed)
        with pytest.raises(Killed):
            worktrees(project).copy(spec, ".env\n")
    assert {each.name for each in spec.path.iterdir()} == {".git", ".gitignore", "README.md"}
    assert worktrees(project).copy(spec, ".env\n") == ()
    assert (spec.path / ".env").read_text() == "SECRET=1\n"


def test_nothing_is_copied_through_a_link_out_of_the_worktree(
    project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / "sub").symlink_to(outside)
    (project / ".gitignore").write_text("*.env\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "A link")
    spec = spec_of(project)
    (project / "sub").unlink()
    (project / "sub").mkdir()
    (project / "sub" / "x.env").write_text("x\n")
    (spec.home / COPIED).write_text("*.env\n")
    (warning,) = worktrees(project).make(spec, again=False)
    assert "sub/x.env was not copied" in warning
    assert list(outside.iterdir()) == []


def test_a_branch_that_is_made_meanwhile_is_not_taken(project: Path, tmp_path: Path) -> None:
    git(project, "commit", "-q", "--allow-empty", "-m", "More")
    spec = spec_of(project)
    older = git(project, "rev-parse", "HEAD~").strip()
    path = racing(tmp_path, "update-ref", f"git branch {spec.branch} {older}")
    with pytest.raises(GitError, match="could not create branch"):
        LinkedWorktrees(GitProgram(project, {**os.environ, "PATH": path})).make(spec, again=False)
    assert git(project, "rev-parse", spec.branch).strip() == older
    assert not spec.path.exists()


def test_a_worktree_that_was_moved_is_not_taken_away(project: Path, tmp_path: Path) -> None:
    spec, there = spec_of(project), tmp_path / "there"
    worktrees(project).make(spec, again=False)
    git(project, "worktree", "move", "-f", "-f", str(spec.path), str(there))
    (there / "new.txt").write_text("new\n")
    with pytest.raises(WorktreeTakenError, match="was moved to"):
        worktrees(project).remove(spec, spec.commit)
    assert git(there, "status", "--porcelain") == "?? new.txt\n"
    assert git(there, "symbolic-ref", "--short", "HEAD").strip() == spec.branch


@pytest.mark.follows("or rename yours: git branch -m … OTHER")
def test_a_branch_of_an_imported_session_is_made_once_and_takes_none(project: Path) -> None:
    git(project, "commit", "-q", "--allow-empty", "-m", "More")
    spec, tip = spec_of(project), git(project, "rev-parse", "HEAD").strip()
    for _ in range(2):
        worktrees(project).adopt(spec, tip)
        assert git(project, "rev-parse", spec.branch).strip() == tip
        assert worktrees(project).find_branch(SESSION) == spec.branch
    git(project, "branch", "-f", spec.branch, "HEAD~")
    with pytest.raises(WorktreeTakenError, match="at another commit") as caught:
        worktrees(project).adopt(spec, tip)
    assert git(project, "rev-parse", spec.branch) == git(project, "rev-parse", "HEAD~")
    way = caught.value.hints[-1].partition(": ")[2].replace("OTHER", "mine")
    subprocess.run(way, shell=True, check=True, cwd=project, capture_output=True)
    worktrees(project).adopt(spec, tip)
    assert git(project, "rev-parse", "mine") == git(project, "rev-parse", "HEAD~")
    theirs = replace(spec, branch="theirs")
    git(project, "branch", "theirs")
    with pytest.raises(WorktreeTakenError, match="exists already"):
        worktrees(project).adopt(theirs, tip)
    worktrees(project).adopt(replace(theirs, is_continued=True), tip)


@pytest.mark.parametrize("inner", ["sub", "sub/deep/project"])
def test_a_project_behind_a_link_out_of_the_worktree_is_refused(
    project: Path, tmp_path: Path, inner: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / "sub").symlink_to(outside)
    git(project, "add", "sub")
    git(project, "commit", "-qm", "A link")
    spec = spec_of(project, inner=Path(inner))
    with pytest.raises(GitError, match=f"{inner} leads out of the worktree"):
        worktrees(project).make(spec, again=False)
    assert not worktrees(project).is_made(spec)
    assert list(outside.iterdir()) == []


def test_a_branch_that_was_there_before_is_neither_made_nor_deleted(project: Path) -> None:
    git(project, "branch", "fix")
    git(project, "config", "branch.fix.remote", "origin")
    spec = spec_of(project, branch="fix", is_continued=True)
    assert worktrees(project).checkout_of("fix") is None
    worktrees(project).make(spec, again=False)
    check(project, spec)
    assert worktrees(project).checkout_of("fix") == spec.path
    worktrees(project).remove(spec, spec.commit)
    assert git(project, "rev-parse", "fix").strip() == spec.commit
    assert git(project, "config", "--get-regexp", "^branch.fix") == "branch.fix.remote origin\n"
    git(project, "branch", "-D", "fix")
    with pytest.raises(BlockedError, match="does not exist any more"):
        worktrees(project).make(spec, again=False)
