"""A session's state in the user's checkout, with real git: nothing is left of it in the end."""

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.git.program import GitProgram, GitReply
from agentmux.adapters.trees.trials import NOTE, GitTrials
from agentmux.overriding import override
from agentmux.ports.git.merging import CheckoutDirtyError
from agentmux.ports.git.repository import GitRefusedError
from agentmux.ports.git.trials import Trial
from tests.adapters.trees.test_checkpoints import checkpoints, taken
from tests.adapters.trees.test_merging import refusing
from tests.adapters.trees.test_odd_repositories import with_submodule
from tests.adapters.trees.test_restoration import made_with_work
from tests.adapters.trees.test_worktrees import Killed
from tests.app.driver import git, make_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = make_project(tmp_path / "project")
    git(project, "switch", "-q", "-c", "other")
    git(project, "switch", "-q", "main")
    return project


def trials(project: Path) -> GitTrials:
    return GitTrials(GitProgram(project, dict(os.environ)), project)


def everything(project: Path) -> tuple[str, ...]:
    """Return all that the user has in the repository."""
    return (
        git(project, "for-each-ref"),
        git(project, "config", "--local", "--list"),
        git(project, "status", "--porcelain", "--branch"),
        git(project, "ls-files", "--stage"),
        git(project, "stash", "list"),
        git(project, "log", "-g", "--format=%H %gs", "HEAD"),
        git(project, "rev-parse", "@{-1}"),
        "\n".join(sorted(path.name for path in (project / ".git").iterdir())),
    )


def trial_of(project: Path, **more: Any) -> Trial:
    """Return a trial of a session in a worktree with uncommitted work."""
    spec = made_with_work(project)
    commit = checkpoints(spec.path, spec.home).hand_over(None)
    assert not (spec.home / "work-tree").exists()
    made = Trial(session="x", commit=commit, branch="main", head=spec.commit)
    return replace(made, **more)


def test_it_shows_the_files_and_leaves_no_trace(project: Path) -> None:
    trial = trial_of(project)
    before = everything(project)
    trials(project).begin(trial)
    assert trials(project).current() == replace(trial, is_shown=True)
    assert (project / "both.txt").read_text() == "and changed\n"
    assert os.access(project / "run.sh", os.X_OK)
    assert not (project / "gone.txt").exists()
    assert git(project, "status", "--porcelain") == ""
    assert git(project, "rev-parse", "--abbrev-ref", "HEAD").strip() == "HEAD"
    trials(project).end(trial)
    assert trials(project).current() is None
    assert everything(project) == before
    git(project, "gc", "-q", "--prune=now")
    with pytest.raises(AssertionError):
        git(project, "cat-file", "-e", trial.commit)


def test_a_checkout_that_a_hook_refuses_changes_nothing(project: Path) -> None:
    trial = trial_of(project, branch=None)
    git(project, "checkout", "-q", "--detach")
    before = git(project, "status", "--porcelain", "--branch")
    hook = refusing(project, "HEAD")
    with pytest.raises(GitRefusedError, match="not today"):
        trials(project).begin(trial)
    assert git(project, "status", "--porcelain", "--branch") == before
    assert trials(project).current() is None
    hook.unlink()
    trials(project).begin(trial)
    shown = git(project, "status", "--porcelain", "--branch")
    hook = refusing(project, "HEAD")
    with pytest.raises(GitRefusedError, match="not today"):
        trials(project).end(trial)
    assert git(project, "status", "--porcelain", "--branch") == shown
    hook.unlink()
    trials(project).end(trial)
    assert git(project, "status", "--porcelain", "--branch") == before


def test_from_a_detached_head(project: Path) -> None:
    git(project, "switch", "-q", "--detach")
    trial = trial_of(project, branch=None)
    before = everything(project)
    trials(project).begin(trial)
    trials(project).end(trial)
    assert everything(project) == before


def test_the_last_checkpoint_is_shown_without_the_worktree(project: Path) -> None:
    spec = made_with_work(project)
    saved = taken(spec.path, spec.home)
    shutil.rmtree(spec.path)
    assert checkpoints(project, spec.home).hand_over(saved.commit) == saved.commit
    trials(project).begin(Trial(session="x", commit=saved.commit, branch="main", head=spec.commit))
    assert (project / "staged.txt").read_text() == "staged now\n"


@pytest.mark.parametrize("ignored", [False, True])
def test_a_file_of_the_user_is_never_written_over(project: Path, *, ignored: bool) -> None:
    trial = trial_of(project)
    (project / "run.sh").write_text("mine\n")
    if ignored:
        (project / ".git" / "info").mkdir(exist_ok=True)
        (project / ".git" / "info" / "exclude").write_text("run.sh\n")
    before = everything(project)
    with pytest.raises(CheckoutDirtyError, match=r"has something else in the way: run\.sh"):
        trials(project).begin(trial)
    assert everything(project) == before
    assert (project / "run.sh").read_text() == "mine\n"


class KilledAfter(GitProgram):
    """Dies after its first command that changes something."""

    @override
    def run(self, *argv: str, **more: Any) -> GitReply:
        super().run(*argv, **more)
        raise Killed


def test_a_trial_that_is_killed_can_be_ended(project: Path) -> None:
    trial = trial_of(project)
    before = everything(project)
    with pytest.raises(Killed):
        GitTrials(KilledAfter(project, dict(os.environ)), project).begin(trial)
    assert trials(project).current() == trial
    with pytest.raises(Killed):
        GitTrials(KilledAfter(project, dict(os.environ)), project).end(trial)
    found = trials(project).current()
    assert found == replace(trial, is_returning=True)
    trials(project).end(trial)
    assert everything(project) == before


def kill_next_checkout(project: Path) -> None:
    """Have git killed when it next writes a file that ends in ``.py``, as by a lack of memory."""
    deadly, armed = project.parent / "smudge", project.parent / "armed"
    deadly.write_text(
        f'#!/bin/sh\nif mv {armed} {armed}.used 2>/dev/null; then kill -9 "$PPID"; fi\nexec cat\n'
    )
    deadly.chmod(0o755)
    armed.touch()
    git(project, "config", "filter.deadly.smudge", str(deadly))
    (project / ".git" / "info").mkdir(exist_ok=True)
    (project / ".git" / "info" / "attributes").write_text("*.py filter=deadly\n")


def trial_with_code(project: Path) -> Trial:
    """Return a trial that changes, adds and removes files, some of them before a ``.py`` file."""
    for name in ("a.txt", "b.txt", "m.py", "n.py", "z.txt"):
        (project / name).write_text(f"{name}\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "Code")
    spec = made_with_work(project)
    (spec.path / "a.txt").unlink()
    for name in ("b.txt", "m.py", "n.py", "z.txt"):
        (spec.path / name).write_text(f"{name} of the session\n")
    (spec.path / "added.txt").write_text("new\n")
    commit = checkpoints(spec.path, spec.home).hand_over(None)
    return Trial(session="x", commit=commit, branch="main", head=spec.commit)


def unlock(project: Path) -> None:
    """Do what git says about the lock that a killed git has left."""
    (project / ".git" / "index.lock").unlink()


def test_a_checkout_that_was_killed_is_taken_back_or_completed(project: Path) -> None:
    trial = trial_with_code(project)
    kill_next_checkout(project)
    before = everything(project)[:-1]
    with pytest.raises(GitRefusedError, match=r"killed by signal 9") as caught:
        trials(project).begin(trial)
    assert "what it wrote stays there, uncommitted: a.txt, b.txt, m.py" in caught.value.message
    assert caught.value.hints == ("take them back: agentmux try --off",)
    unlock(project)
    killed = trials(project).current()
    assert killed == trial
    trials(project).end(killed)
    assert everything(project)[:-1] == before
    assert trials(project).current() is None
    kill_next_checkout(project)
    with pytest.raises(GitRefusedError, match="killed by signal 9"):
        trials(project).begin(trial)
    unlock(project)
    with pytest.raises(CheckoutDirtyError, match="in the way"):
        trials(project).begin(trial)
    trials(project).end(trial)
    trials(project).begin(trial)
    assert git(project, "rev-parse", "HEAD").strip() == trial.commit
    assert git(project, "status", "--porcelain") == ""
    kill_next_checkout(project)
    with pytest.raises(GitRefusedError, match="killed by signal 9"):
        trials(project).end(trial)
    unlock(project)
    killed = trials(project).current()
    assert killed is not None
    assert killed.is_returning
    assert {"a.txt", "added.txt", "b.txt"} <= {*trials(project).list_returned(killed)}
    trials(project).end(killed)
    assert everything(project)[:-1] == before


def test_what_the_user_changed_since_a_killed_checkout_stays(project: Path) -> None:
    trial = trial_with_code(project)
    kill_next_checkout(project)
    with pytest.raises(GitRefusedError, match="killed by signal 9"):
        trials(project).begin(trial)
    unlock(project)
    (project / "b.txt").write_text("mine\n")
    with pytest.raises(CheckoutDirtyError, match=r"cannot be taken back: .*\ba\.txt") as caught:
        trials(project).end(trial)
    assert (project / "b.txt").read_text() == "mine\n"
    assert trials(project).current() == trial
    assert caught.value.hints


def test_an_ignored_file_like_the_sessions_is_not_taken_over(project: Path) -> None:
    trial = trial_with_code(project)
    (project / ".git" / "info").mkdir(exist_ok=True)
    (project / ".git" / "info" / "exclude").write_text("added.txt\n")
    (project / "added.txt").write_text("new\n")
    with pytest.raises(CheckoutDirtyError, match=r"in the way: added\.txt$"):
        trials(project).begin(trial)
    assert (project / "added.txt").read_text() == "new\n"


def test_what_the_user_did_after_cleaning_up_a_killed_checkout_stays(project: Path) -> None:
    trial = trial_with_code(project)
    kill_next_checkout(project)
    with pytest.raises(GitRefusedError, match="killed by signal 9"):
        trials(project).begin(trial)
    unlock(project)
    git(project, "checkout", "-q", ".")
    git(project, "clean", "-fdq")
    (project / "b.txt").write_text("b.t")
    (project / "z.txt").unlink()
    (project / "added.txt").touch()
    before = everything(project)[2]
    trials(project).end(trial)
    assert everything(project)[2] == before
    assert (project / "b.txt").read_text() == "b.t"
    assert trials(project).current() is None


def test_a_repository_of_the_user_gets_no_files(project: Path) -> None:
    spec = made_with_work(project)
    (spec.path / "vendor").mkdir()
    (spec.path / "vendor" / "x.txt").write_text("new\n")
    commit = checkpoints(spec.path, spec.home).hand_over(None)
    git(project, "init", "-q", "vendor")
    with pytest.raises(CheckoutDirtyError, match=r"in the way: vendor/$"):
        trials(project).begin(Trial(session="x", commit=commit, branch="main", head=spec.commit))


def test_files_that_the_user_took_from_a_trial_stay(project: Path) -> None:
    trial = trial_with_code(project)
    trials(project).begin(trial)
    git(project, "switch", "-q", "main")
    git(project, "restore", "-s", trial.commit, "b.txt")
    shown = trials(project).current()
    assert shown is not None
    trials(project).end(shown)
    assert (project / "b.txt").read_text() == "b.txt of the session\n"


def test_flags_are_given_back_after_a_trial(project: Path) -> None:
    trial = trial_with_code(project)
    git(project, "update-index", "--assume-unchanged", "a.txt", "b.txt", "m.py", "README.md")
    git(project, "update-index", "--skip-worktree", "m.py", "z.txt")
    before = git(project, "ls-files", "-v")
    assert before.count("h ") == 3
    trials(project).begin(trial)
    for name in ("b.txt", "m.py", "z.txt"):
        assert (project / name).read_text() == f"{name} of the session\n"
    shown = trials(project).current()
    assert shown is not None
    trials(project).end(shown)
    assert git(project, "ls-files", "-v") == before
    assert git(project, "status", "--porcelain") == ""
    hook = refusing(project, "HEAD")
    with pytest.raises(GitRefusedError, match="not today"):
        trials(project).begin(trial)
    hook.unlink()
    assert git(project, "ls-files", "-v") == before


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_a_hidden_edit_in_a_trial_is_never_overwritten(project: Path, flag: str) -> None:
    trial = trial_with_code(project)
    trials(project).begin(trial)
    git(project, "update-index", flag, "b.txt", "z.txt")
    (project / "b.txt").write_text("b.t")  # the beginning of both sides
    shown = trials(project).current()
    assert shown is not None
    for _ in range(2):
        with pytest.raises(CheckoutDirtyError, match=r"has something else in the way: b\.txt$"):
            trials(project).end(shown)
        assert (project / "b.txt").read_text() == "b.t"
        assert trials(project).current() == shown


def test_a_file_of_our_folder_that_was_cut_down_in_a_trial_is_named(project: Path) -> None:
    rules = project / ".agentmux" / "docs" / "rules.md"
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text("one\ntwo\n")
    git(project, "add", "-f", ".agentmux/docs/rules.md")
    git(project, "commit", "-qm", "Rules")
    before = git(project, "rev-parse", "HEAD").strip()
    rules.write_text("one\ntwo\nthree\n")
    git(project, "commit", "-qam", "More rules")
    after = git(project, "rev-parse", "HEAD").strip()
    git(project, "reset", "-q", "--hard", before)
    trials(project).begin(Trial(session="x", commit=after, branch="main", head=before))
    rules.write_text("one\n")
    shown = trials(project).current()
    assert shown is not None
    with pytest.raises(CheckoutDirtyError, match=r"in the way: \.agentmux/docs/r") as caught:
        trials(project).end(shown)
    assert rules.read_text() == "one\n"
    (aside,) = caught.value.hints
    subprocess.run(["sh", "-c", aside.partition(": ")[2]], check=True, capture_output=True)
    trials(project).end(shown)
    assert rules.read_text() == "one\ntwo\n"


def test_an_ignored_file_in_the_way_back_is_named(project: Path) -> None:
    trial = trial_with_code(project)
    trials(project).begin(trial)
    config = project / ".agentmux" / "config.yaml"
    config.write_text("{}\n")
    git(project, "add", "-f", str(config))
    (project / ".git" / "info").mkdir(exist_ok=True)
    (project / ".git" / "info" / "exclude").write_text("a.txt\n")
    (project / "a.txt").write_text("mine\n")
    shown = trials(project).current()
    assert shown is not None
    with pytest.raises(CheckoutDirtyError, match=r"in the way: a\.txt$") as caught:
        trials(project).end(shown)
    (aside,) = caught.value.hints
    subprocess.run(["sh", "-c", aside.partition(": ")[2]], check=True, capture_output=True)
    trials(project).end(shown)
    assert git(project, "status", "--porcelain").split() == ["A", ".agentmux/config.yaml"]


def test_a_note_that_cannot_be_read_is_no_trial(project: Path) -> None:
    for text in ("", "{", '{"session": 1}', "[]"):
        (project / ".git" / NOTE).write_text(text)
        assert trials(project).current() is None
    subprocess.run(["git", "fsck"], cwd=project, check=True, capture_output=True)


def test_an_ignored_file_in_a_submodule_stays(project: Path) -> None:
    part = with_submodule(project)
    git(project, "config", "submodule.recurse", "true")
    before = git(project, "rev-parse", "HEAD").strip()
    (part / "notes.txt").write_text("theirs\n")
    git(part, "add", "notes.txt")
    git(part, "commit", "-qm", "Notes")
    lib = project / "lib"
    git(lib, "fetch", "-q")
    git(lib, "checkout", "-q", "--detach", "FETCH_HEAD")
    git(project, "commit", "-qam", "Move lib on")
    trial = Trial(
        session="x", commit=git(project, "rev-parse", "HEAD").strip(), branch="main", head=before
    )
    git(project, "reset", "-q", "--hard", before)
    git(lib, "switch", "-q", "--create", "mine")
    exclude = Path(git(lib, "rev-parse", "--absolute-git-dir").strip()) / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("notes.txt\n")
    (lib / "notes.txt").write_text("mine\n")
    trials(project).begin(trial)
    trials(project).end(trial)
    assert (lib / "notes.txt").read_text() == "mine\n"
    assert git(lib, "branch", "--show-current").strip() == "mine"
