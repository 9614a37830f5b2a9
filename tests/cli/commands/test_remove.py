"""What `remove` says of a session in the user's own checkout, and does to that of a copy."""

import json
import os
import shlex
import shutil
from pathlib import Path

import pytest

from agentmux.adapters.git.program import GitProgram
from agentmux.adapters.trees.worktrees import LinkedWorktrees
from agentmux.app.session.search.lookup import sessions_dir
from agentmux.cli.main import main
from agentmux.core.journal.state import Base, Commit, Options
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.errors import ExitCode
from agentmux.ports.git.worktrees import WorktreeSpec
from tests.app.driver import git, make_project
from tests.app.on_disk import SESSION_ID, OnDisk

NAME = "20260101-101500-add-auth"
BRANCH = "agentmux/x"


@pytest.fixture
def project(tmp_path: Path, short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMUX_TMPDIR", str(short_dir))
    folder = make_project(tmp_path / "p")
    (folder / "mine.txt").write_text("mine")
    monkeypatch.chdir(folder)
    return folder


def make(project: Path, phase: Phase) -> Path:
    values = {"options": Options(dirty=("mine.txt",)), "tmux_socket": "/no/s", "session_name": "x"}
    return OnDisk(sessions_dir(project) / NAME, phase, **values).path


@pytest.mark.parametrize("phase", [Phase.IMPLEMENTING, Phase.COMPLETING, Phase.FAILED])
def test_what_an_undecided_session_leaves_in_the_checkout_is_named(
    project: Path, phase: Phase, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make(project, phase)
    (project / "README.md").write_text("changed")
    for number in range(6):
        (project / f"new_{number}.py").write_text("")
    assert main(("remove", "--yes"), os.environ) == 0
    said = capsys.readouterr().err
    assert not path.exists()
    assert (
        "it leaves 7 files that were changed since it began: README.md, new_0.py, new_1.py, "
        f"new_2.py, new_3.py, and 2 more, in {project}\n" in said
    )
    assert "mine.txt" not in said
    assert (project / "new_5.py").is_file()


@pytest.mark.parametrize(
    "case", ["done", "nothing changed", "no repository", "wrong configuration"]
)
def test_where_nothing_is_left_or_nobody_can_look_nothing_is_said(
    project: Path, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make(project, Phase.DONE if case == "done" else Phase.IMPLEMENTING)
    if case != "nothing changed":
        (project / "README.md").write_text("changed")
    if case == "no repository":
        (project / ".git").rename(project.parent / "away")
    if case == "wrong configuration":
        (project / ".agentmux/config.yaml").write_text("nonsense: [")
    assert main(("remove", "--yes"), os.environ) == 0
    assert "it leaves" not in capsys.readouterr().err


def test_a_commit_on_no_branch_is_kept_until_it_has_one(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused() -> str:
        assert main(("remove", "--yes"), os.environ) == ExitCode.BLOCKED
        return capsys.readouterr().err

    git(project, "switch", "-q", "--detach")
    (project / "a.py").write_text("")
    git(project, "add", "a.py")
    git(project, "commit", "-qm", "Add a")
    made = git(project, "rev-parse", "HEAD").strip()
    git(project, "update-ref", "refs/agentmux/x", made)  # as that of a session's checkpoints
    git(project, "switch", "-q", "main")
    session = OnDisk(
        sessions_dir(project) / NAME,
        Phase.DONE,
        options=Options(commit=True, base="a" * 40),
        commit=Commit(status="made", commit=made),
        feature_dir=NAME,
    )
    git(project, "branch", "-q", "agentmux/add-auth")  # the name is taken
    error, keep, force = refused().splitlines()
    assert error.endswith(f"nowhere else: 1 commit on no branch ({made[:7]} Add a)")
    assert force == f"hint: or lose all of it: agentmux remove --force {NAME}"
    git(project, *shlex.split(keep.removeprefix("hint: keep it on a branch: git ")))
    assert made in git(project, "rev-parse", "agentmux/add-auth-2")
    git(project, "branch", "-qD", "agentmux/add-auth-2")
    assert refused()
    git(project, "switch", "-q", "--detach", made)  # git itself names it at the next switch
    assert main(("remove", "--yes"), os.environ) == ExitCode.OK
    assert not session.path.exists()


def test_the_question_names_it_too(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make(project, Phase.IMPLEMENTING)
    (project / "a.py").write_text("")
    assert main(("remove",), os.environ) == 2  # nobody can be asked
    assert path.is_dir()
    git(project, "add", "a.py")
    assert main(("remove", "--yes"), os.environ) == 0
    assert "it leaves 1 file that was changed since it began: a.py, in" in capsys.readouterr().err


# -- a copy of a session's directory -------------------------------------------------------------


def in_worktree(home: Path, phase: Phase, place: Path, commit: str) -> Path:
    """Write the session `NAME`, or a copy of it, that works in ``place`` since ``commit``."""
    return OnDisk(
        home,
        phase,
        options=Options(dirty=(), base=commit),
        base=Base(commit=commit, branch="main"),
        feature_dir=f"{layout.SESSIONS_DIR}/{NAME}",
        worktree=str(place),
        worktree_made=True,
        branch=BRANCH,
        tmux_socket="/no/s",
        session_name="x",
    ).path


@pytest.fixture
def worker(project: Path) -> Path:
    """The directory of a stopped session, whose worktree has a change, a file and a commit."""
    place, commit = project.parent / "p-worktrees" / "x", git(project, "rev-parse", "HEAD").strip()
    (project / "mine.txt").unlink()
    home = in_worktree(sessions_dir(project) / NAME, Phase.IMPLEMENTING, place, commit)
    (home / layout.RUNTIME).write_text(json.dumps({"path": str(home)}))
    spec = WorktreeSpec(
        path=place, branch=BRANCH, commit=commit, session=SESSION_ID, home=home, inner=Path()
    )
    LinkedWorktrees(GitProgram(project, dict(os.environ))).make(spec, again=False)
    (place / "committed.py").write_text("")
    git(place, "add", "committed.py")
    git(place, "commit", "-qm", "Commit")
    (place / "open.py").write_text("")
    return home


def copied(worker: Path, target: Path) -> Path:
    """Copy a session's directory; ``target`` is the directory of the copy."""
    shutil.copytree(worker, target, symlinks=True)
    return target


def snapshot(project: Path) -> tuple[str, ...]:
    """Return everything of worktree and branch that a removal may take away."""
    place = project.parent / "p-worktrees" / "x"
    refs = git(project, "for-each-ref")
    owner = git(project, "config", "--get-regexp", "agentmux-session")
    there = sorted(map(str, place.rglob("*")))
    return (refs, owner, git(project, "worktree", "list"), *there)


@pytest.mark.parametrize("words", [("--force",), ()], ids=["force", "plain"])
def test_of_a_copy_beside_the_original_only_the_directory_is_removed(
    project: Path, worker: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    copy = copied(worker, worker.with_name("20300101-000000-copy"))
    before = snapshot(project)
    assert main(("remove", *words, copy.name, "--yes"), os.environ) == 0
    said = capsys.readouterr().err
    place = project.parent / "p-worktrees" / "x"
    stays = f"; the worktree {place} is that of session add-auth: it stays\n"
    assert said == f"removed {copy}{stays}"
    assert not copy.exists()
    assert snapshot(project) == before
    assert main(("remove", "--yes"), os.environ) == ExitCode.BLOCKED
    assert "open.py" in capsys.readouterr().err


def test_the_worktree_of_an_unfinished_session_is_not_pruned_for_a_copy_that_is_done(
    project: Path, worker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = project.parent / "p-worktrees" / "x"
    (place / "open.py").unlink()
    git(project, "merge", "-q", BRANCH)
    commit = git(project, "rev-parse", f"{BRANCH}~1").strip()
    copy = in_worktree(worker.with_name("20300101-000000-copy"), Phase.DONE, place, commit)
    before = snapshot(project)
    assert main(("prune",), os.environ) == 0
    assert "nothing to remove" in capsys.readouterr().err
    assert snapshot(project) == before
    assert main(("remove", copy.name, "--yes"), os.environ) == 0
    assert snapshot(project) == before


def test_a_copy_whose_original_is_gone_has_the_worktree(
    project: Path, worker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = copied(worker, worker.with_name("20300101-000000-copy"))
    shutil.rmtree(worker)
    assert main(("remove", copy.name, "--yes"), os.environ) == ExitCode.BLOCKED
    assert "open.py" in capsys.readouterr().err
    assert main(("remove", copy.name, "--yes", "--force"), os.environ) == 0
    assert "it stays" not in capsys.readouterr().err
    assert not (project.parent / "p-worktrees").exists()
    assert BRANCH not in git(project, "for-each-ref")


@pytest.mark.parametrize(
    ("name", "interrupted"),
    [
        ((), False),
        ((NAME,), False),
        (("add-auth",), False),
        ((f"{layout.SESSIONS_DIR}/{NAME}/.",), False),
        ((), True),
    ],
)
def test_of_a_linked_directory_the_link_is_removed_and_its_files_stay(
    project: Path,
    worker: Path,
    name: tuple[str, ...],
    interrupted: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    moved = worker.rename(project.parent / "other disk")
    worker.symlink_to(moved)
    inside = sorted(map(str, moved.rglob("*")))
    words = ("remove", *name, "--yes")
    if interrupted:
        worker.rename(worker.with_name(f".removing-{NAME}"))
        assert main(("list",), os.environ) == 0
    else:
        assert main(words, os.environ) == ExitCode.BLOCKED
        assert "open.py" in capsys.readouterr().err
        assert main((*words, "--force"), os.environ) == 0
        said = capsys.readouterr().err
        assert f"removed {worker}" in said
        assert f"; the files in {moved}, to which it links, stay" in said.splitlines()[-1]
        assert not (project.parent / "p-worktrees").exists()
        assert BRANCH not in git(project, "for-each-ref")
    assert not list(sessions_dir(project).glob("*add-auth"))
    assert [each for each in inside if not os.path.lexists(each)] == []


def test_a_link_beside_the_session_is_another_name_of_it(
    project: Path, worker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = worker.with_name("20300101-000000-link")
    link.symlink_to(worker.name)
    before = snapshot(project)
    assert main(("remove", "--yes", "--force", link.name), os.environ) == 0
    assert "is that of session add-auth: it stays" in capsys.readouterr().err
    assert not link.is_symlink()
    assert snapshot(project) == before
    assert worker.is_dir()


def test_a_copy_in_another_project_of_the_repository_leaves_the_worktree(
    project: Path,
    worker: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    inner = project / "inner"
    copy = copied(worker, sessions_dir(inner) / NAME)
    monkeypatch.chdir(inner)
    before = snapshot(project)
    assert main(("remove", "--yes", "--force"), os.environ) == 0
    assert f"is that of session in {worker}: it stays" in capsys.readouterr().err
    assert not copy.exists()
    assert snapshot(project) == before


def test_a_copy_of_the_project_loses_what_was_copied_and_nothing_else(
    project: Path,
    worker: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    copy = project.with_name("copy")
    shutil.copytree(project, copy, symlinks=True)
    monkeypatch.chdir(copy)
    before = snapshot(project)
    assert main(("remove", "--yes"), os.environ) == ExitCode.BLOCKED
    said = capsys.readouterr().err
    assert f"1 commit on branch {BRANCH} not merged" in said
    assert "open.py" not in said
    assert main(("remove", "--yes", "--force"), os.environ) == 0
    said = capsys.readouterr().err
    assert f"removed branch {BRANCH} (it was at " in said
    assert f"is that of session in {worker}: it stays" in said
    assert snapshot(project) == before
    assert BRANCH not in git(copy, "for-each-ref")
    assert worker.is_dir()


@pytest.mark.parametrize("case", ["beside", "project"])
def test_with_a_copy_nothing_is_done_that_needs_the_worktree(
    project: Path,
    worker: Path,
    case: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if case == "beside":
        name = copied(worker, worker.with_name("20300101-000000-copy")).name
        whose = "is a copy of session add-auth"
    else:
        name, copy = NAME, project.with_name("copy")
        shutil.copytree(project, copy, symlinks=True)
        monkeypatch.chdir(copy)
        whose = f"is that of the session in {worker}"
    before = snapshot(project)
    for words in (
        ("resume", name, "--yes", "--detach"),
        ("rewind", name, "--to", "1", "--yes"),
        ("export", name, str(project.parent / "s.agentmux"), "--copy"),
        ("approve", name, "--yes"),
        ("request-changes", "more", "--session", name),
        ("tell", name, "--role", "coder", "hello"),
    ):
        assert main(words, os.environ) == ExitCode.BLOCKED, words
        said = capsys.readouterr().err
        assert whose in said, words
        assert "is gone" not in said
    assert main(("diff", name), os.environ) == 0
    assert whose in capsys.readouterr().err
    assert main(("status", name), os.environ) == 0
    said = capsys.readouterr().out
    assert whose in said
    assert f"next: agentmux status {worker}\n" in said
    assert snapshot(project) == before
