"""What `prune` and `remove` say of a worktree and a branch, and what they do to them."""

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.git.program import GitProgram
from agentmux.adapters.trees.worktrees import LinkedWorktrees
from agentmux.app.session.search.lookup import sessions_dir
from agentmux.cli.main import main
from agentmux.core.journal.state import Base, Commit, Options
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.core.names.words import git_commands
from agentmux.ports.git.worktrees import WorktreeSpec
from tests.app.driver import git, make_project
from tests.app.on_disk import SESSION_ID, OnDisk

NAME = "20260101-101500-add-auth"
BRANCH = "agentmux/x"

Typed = Callable[..., str]


@pytest.fixture
def project(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    folder = make_project(tmp_path / "p")
    (folder / ".gitignore").write_text(".env\nnode_modules/\n")
    git(folder, "add", ".gitignore")
    git(folder, "commit", "-qm", "Ignore")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def place(project: Path) -> Path:
    """The worktree of a session that is done, in which nothing is that is not merged."""
    path, commit = project.parent / "p-worktrees" / "x", git(project, "rev-parse", "HEAD").strip()
    home = OnDisk(
        sessions_dir(project) / NAME,
        Phase.DONE,
        options=Options(dirty=(), base=commit),
        base=Base(commit=commit, branch="main"),
        commit=Commit(status="made", commit=commit),
        worktree=str(path),
        worktree_made=True,
        branch=BRANCH,
        tmux_socket="/no/s",
        session_name="x",
    ).path
    spec = WorktreeSpec(
        path=path, branch=BRANCH, commit=commit, session=SESSION_ID, home=home, inner=Path()
    )
    LinkedWorktrees(GitProgram(project, dict(os.environ))).make(spec, again=False)
    return path


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str]) -> Typed:
    def run(*argv: str) -> str:
        status = main(argv, os.environ)
        assert status == 0 or argv == ("doctor",)  # doctor misses agents on this machine
        out, err = capsys.readouterr()
        return out + err

    return run


def fill(place: Path) -> str:
    """Leave what is no work of the session there; return the words that name it."""
    (place / ".env").write_text("KEY=by hand")
    (place / "node_modules").mkdir()
    (place / "node_modules" / "a.js").write_text("")
    return f"worktree {place} (with what no commit has: .env, node_modules/)"


@pytest.mark.long
def test_a_prune_names_what_goes_with_a_worktree(place: Path, typed: Typed) -> None:
    words = fill(place)
    assert typed("prune", "--dry-run") == f"would remove {words} and branch {BRANCH}\n"
    assert (place / ".env").read_text() == "KEY=by hand"
    # Doctor hints at prune, so it names them, too.
    short = layout.slug_of(NAME)
    assert f"{short}{words[words.index(' (') :]}" in " ".join(typed("doctor").split())
    assert typed("prune") == f"removed {words} and branch {BRANCH}\n"
    assert not place.exists()


def test_a_removal_names_it_too(place: Path, typed: Typed) -> None:
    words = fill(place)
    assert f"removed {words} and branch {BRANCH} (it was at " in typed("remove", "--yes")


def test_a_removal_after_a_prune_does_not_say_again_that_the_worktree_is_removed(
    project: Path, place: Path, typed: Typed
) -> None:
    assert typed("prune") == f"removed worktree {place} and branch {BRANCH}\n"
    said = typed("remove", "--yes")
    assert str(place) not in said
    assert BRANCH not in said
    assert f"removed {sessions_dir(project) / NAME}" in said


def test_only_what_is_there_is_named(project: Path, place: Path, typed: Typed) -> None:
    git(project, "worktree", "remove", "-f", "-f", str(place))
    assert typed("prune", "--dry-run") == f"would remove branch {BRANCH}\n"
    assert f"removed branch {BRANCH} (it was at " in typed("remove", "--yes")


def test_a_branch_that_stays_is_not_named(project: Path, place: Path, typed: Typed) -> None:
    git(place, "switch", "-q", "--detach")
    git(project, "switch", "-q", BRANCH)
    assert typed("prune", "--dry-run") == f"would remove worktree {place}\n"
    assert typed("prune") == f"removed worktree {place}\n"
    assert git(project, "branch", "--show-current").strip() == BRANCH
    assert "nothing to remove" in typed("prune")


@pytest.mark.follows("if it may go, unlock it: git worktree unlock …")
@pytest.mark.parametrize("reason", ["mine; do not touch", ""])
def test_what_the_user_has_locked_stays_until_they_unlock_it(
    project: Path,
    place: Path,
    typed: Typed,
    capsys: pytest.CaptureFixture[str],
    reason: str,
) -> None:
    git(project, "worktree", "unlock", str(place))
    git(project, "worktree", "lock", *(("--reason", reason) if reason else ()), str(place))
    message = (
        f"the worktree {place} is locked{f' ({reason})' if reason else ''}, and not by agentmux"
    )
    hint = f"hint: if it may go, unlock it: git worktree unlock {place}\n"
    for words in (("prune", "--dry-run"), ("prune",)):
        assert typed(*words) == f"kept the worktree of {layout.slug_of(NAME)}: {message}\n{hint}"
    for more in ((), ("--force",)):
        assert main(("remove", "--yes", *more), os.environ) == 3
        assert f"error: {message}\n{hint}" in capsys.readouterr().err
    assert f"{layout.slug_of(NAME)} is done: {message}" in " ".join(typed("doctor").split())
    assert place.is_dir()
    subprocess.run(hint.partition("unlock it: ")[2], shell=True, check=True)
    assert typed("prune") == f"removed worktree {place} and branch {BRANCH}\n"


@pytest.mark.follows("move it back: rm … && mv … …")
def test_a_link_to_a_worktree_that_was_moved_is_not_taken_for_it(
    place: Path, typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = place.rename(place.with_name("moved disk"))
    place.symlink_to(moved)
    before = git(place.parent.parent / "p", "worktree", "list")
    message = f"the worktree {place} is a link to {moved}"
    hint = f"hint: move it back: rm {place} && mv '{moved}' {place}\n"
    for words in (("prune", "--dry-run"), ("prune",)):
        assert typed(*words) == f"kept the worktree of {layout.slug_of(NAME)}: {message}\n{hint}"
    assert main(("remove", "--yes", "--force"), os.environ) == 3
    assert f"error: {message}\n{hint}" in capsys.readouterr().err
    assert git(place.parent.parent / "p", "worktree", "list") == before
    subprocess.run(hint.partition("back: ")[2], shell=True, check=True)
    assert typed("prune") == f"removed worktree {place} and branch {BRANCH}\n"
    assert not moved.exists()


def test_a_removal_that_once_took_a_link_apart_ends(
    project: Path, place: Path, typed: Typed
) -> None:
    moved = place.rename(place.with_name("moved"))
    left = place.with_name(f".agentmux-removing-{SESSION_ID}")
    left.symlink_to(moved)
    git(project, "worktree", "remove", "-f", "-f", str(place))
    assert f"removed branch {BRANCH}" in typed("remove", "--yes")
    assert not left.is_symlink()
    assert moved.is_dir()


def other_on(project: Path, phase: Phase, **more: Any) -> None:
    """Leave another session, which began on the branch of the first one."""
    commit = git(project, "rev-parse", BRANCH).strip()
    OnDisk(
        sessions_dir(project) / "20260101-111500-add-more",
        phase,
        session_id="22222222-2222-3333-4444-555555555555",
        base=Base(commit=commit, branch=BRANCH),
        options=Options(dirty=(), base=commit),
        worktree=str(project.parent / "p-worktrees" / "more"),
        tmux_socket="/no/s",
        session_name="more",
        **more,
    )


@pytest.mark.parametrize("words", ["prune", f"remove --yes {NAME}"])
def test_a_branch_on_which_an_open_session_began_stays(
    project: Path, place: Path, typed: Typed, words: str
) -> None:
    other_on(project, Phase.IMPLEMENTING)
    stays = f"kept branch {BRANCH}, on which unfinished sessions began: add-more\n"
    if words == "prune":
        going = f"worktree {place}\n"
        assert typed("prune", "--dry-run") == f"would remove {going}{stays}"
    said = typed(*words.split())
    assert stays in said
    assert f"removed worktree {place}\n" in said
    assert git(project, "branch", "--list", BRANCH).split() == [BRANCH]
    assert BRANCH not in typed("prune")


def test_a_branch_on_which_a_session_began_that_is_done_goes(
    project: Path, place: Path, typed: Typed
) -> None:
    other_on(project, Phase.DONE)
    assert f"removed worktree {place} and branch {BRANCH}\n" in typed("prune")


def work_beside(place: Path) -> Path:
    """Leave a staged file and a commit on no branch there; move the folder, and return where to."""
    (place / "later.txt").write_text("staged\n")
    git(place, "add", "later.txt")
    git(place, "switch", "-q", "--detach")
    git(place, "commit", "-qm", "Beside")
    (place / "more.txt").write_text("more\n")
    git(place, "add", "more.txt")
    return place.rename(place.with_name("saved"))


def test_what_git_keeps_for_a_worktree_that_was_moved_is_not_pruned(
    project: Path, place: Path, typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = work_beside(place)
    before, commit = git(saved, "status", "--porcelain"), git(saved, "rev-parse", "HEAD").strip()
    git(project, "branch", "-q", f"kept-{commit[:12]}")  # taken, by another commit
    for words in (("prune", "--dry-run"), ("prune",)):
        said = typed(*words)
        assert said.startswith(f"kept branch {BRANCH}: 1 commit of a worktree that is not at its")
        assert "on no branch" in said
        assert "1 staged file of a worktree that is not at its place (more.txt)" in said
    assert main(("remove", "--yes"), os.environ) == 3
    said = capsys.readouterr().err
    assert "hint: if you have moved it, tell git where it is: git worktree repair NEW_PATH" in said
    assert (
        f"hint: keep what was left on no branch: git branch kept-{commit[:12]}-2 {commit[:12]}"
        in said
    )
    kept = project / ".git" / "worktrees" / "x"
    look = f"git -C {kept} diff --cached"
    assert f"hint: see what is staged: {look}" in said
    assert "+more" in git(project, *look.split()[1:])
    assert git(saved, "status", "--porcelain") == before
    said = typed("remove", "--yes", "--force")
    assert f"removed what git keeps for a worktree that is not at its place ({kept}; " in said
    assert "a folder that was moved is no work tree" in said


def result(place: Path, subject: str = "Result") -> None:
    """Commit a new file there."""
    (place / f"{subject}.txt").write_text("made\n")
    git(place, "add", "-A")
    git(place, "commit", "-qm", subject)


def beside(place: Path) -> str:
    """Leave one commit on the session's branch there, and one on no branch; return that one."""
    for words in ((), ("--detach",)):
        git(place, "switch", "-q", *(words or (BRANCH,)))
        result(place, "Beside" if words else "Result")
    return git(place, "rev-parse", "HEAD").strip()


def test_each_commit_is_named_where_it_is(place: Path, typed: Typed) -> None:
    beside(place)
    said = typed("prune")
    assert f"1 commit on branch {BRANCH} not merged (" in said
    assert f"1 commit in {place} on no branch (" in said


def test_what_is_lost_by_force_is_named(place: Path, typed: Typed) -> None:
    commit = beside(place)
    (place / "new.txt").write_text("new\n")
    said = typed("remove", "--yes", "--force")
    assert f"lost: 1 file in {place} not committed (new.txt), and 1 commit on branch" in said
    assert commit[:7] in said


@pytest.mark.follows("see what git does not show of …: git -C … diff … …")
def test_a_change_that_git_does_not_show_is_shown_by_its_hint(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "a file's name.txt"
    (place / name).write_text("before\n")
    git(place, "add", "--", name)
    git(place, "commit", "-qm", "Add")
    git(place, "update-index", "--skip-worktree", "--", name)
    (place / name).write_text("only here\n")
    assert main(("remove", "--yes"), os.environ) == 3
    said = capsys.readouterr().err
    (hint,) = (each for each in said.splitlines() if "git does not show" in each)
    words = shlex.split(hint.partition(f"hint: see what git does not show of {name}: ")[2])
    assert "+only here" in git(place, *words[1:])
    assert " status" not in said


def test_what_is_not_committed_is_shown_by_its_hint_whatever_git_is_told_to_leave_out(
    project: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(project, "config", "status.showUntrackedFiles", "no")
    (place / "only here.txt").write_text("new\n")
    assert main(("remove", "--yes"), os.environ) == 3
    words = shlex.split(command(capsys.readouterr().err, "see what is not committed: "))
    assert "only here.txt" in git(project, *words[1:])


def test_a_hint_to_merge_names_what_was_taken_off_the_base(
    project: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result(place)
    git(project, "reset", "-q", "--hard", "HEAD~1")
    assert main(("remove", "--yes"), os.environ) == 3
    hints = [each.removeprefix("hint: ") for each in capsys.readouterr().err.splitlines()]
    back = next(each for each in hints if each.startswith("the merge brings back 1 commit that"))
    named, _, without = back.partition("; to go without them, first: ")
    assert named.endswith(" Ignore")
    subprocess.run(without, shell=True, check=True, capture_output=True)
    said = f"merge the branch first: {git_commands.merge(BRANCH)}"
    assert f"{said} (with main checked out)" in hints
    hook = project / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    subprocess.run(said.partition(": ")[2], shell=True, check=True, capture_output=True)
    assert "Ignore" not in git(project, "log", "--format=%s")
    assert "Result" in git(project, "log", "--format=%s")


@pytest.mark.parametrize("words", ["status", "approve --yes"])
def test_how_to_get_a_kept_result_names_what_was_taken_off_the_base(
    project: Path, place: Path, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    result(place)
    git(project, "reset", "-q", "--hard", "HEAD~1")
    main((*words.split(), NAME), os.environ)
    said = "".join(capsys.readouterr())
    assert command(said, "the merge brings back 1 commit that main had ").endswith(" Ignore")
    subprocess.run(command(said, "to go without them, first: "), shell=True, check=True)
    get = next(each for each in ("get it with   ", f"on branch {BRANCH}: ") if each in said)
    subprocess.run(command(said, get).partition(" (with")[0], shell=True, check=True)
    assert "Ignore" not in git(project, "log", "--format=%s")
    assert "Result" in git(project, "log", "--format=%s")
    git(project, "branch", "-m", "main", "trunk")
    assert main(("status", NAME), os.environ) == 0
    assert f"get it with   {git_commands.merge(BRANCH)}" in capsys.readouterr().out


def command(said: str, after: str) -> str:
    return said.partition(after)[2].partition("\n")[0]
