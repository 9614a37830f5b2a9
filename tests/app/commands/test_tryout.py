"""What a trial shows of a session, and when it is refused, with real git."""

import shutil
import subprocess
from pathlib import Path

import pytest

from agentmux.app.commands.end.tryout import end_trial
from agentmux.core.journal.state import Commit
from agentmux.core.names.phase import Phase
from agentmux.core.names.words.git_commands import FOR_TRIAL
from agentmux.errors import BlockedError, NotFoundError, UsageError
from agentmux.ports.git.repository import GitRefusedError
from tests.adapters.trees.test_trials import kill_next_checkout, unlock
from tests.app.driver import git
from tests.app.scene import BRANCH, Scene
from tests.fakes.bench import Bench as TmuxTerminal


@pytest.fixture
def scene(tmp_path: Path, isolated: str, tmux: TmuxTerminal) -> Scene:
    return Scene(tmp_path, tmux)


def test_of_a_session_that_is_done_its_result_is_shown(scene: Scene) -> None:
    git(scene.project, "switch", "-qc", BRANCH)
    git(scene.project, "commit", "-qm", "Result", "--allow-empty")
    made = git(scene.project, "rev-parse", "HEAD").strip()
    git(scene.project, "commit", "-qm", "Later", "--allow-empty")
    git(scene.project, "switch", "-q", "main")
    scene.session(Phase.DONE, commit=Commit(status="made", commit=made))
    trial = scene.begin()
    assert (trial.commit, trial.branch, trial.head) == (made, "main", scene.base)
    assert git(scene.project, "rev-parse", "HEAD").strip() == made


def test_without_the_worktree_its_last_checkpoint_is_shown(scene: Scene) -> None:
    scene.session()
    scene.save(scene.make())
    shutil.rmtree(scene.place)
    scene.begin()
    assert (scene.project / "new.txt").read_text() == "new\n"


def test_without_a_checkpoint_its_branch_is_shown(scene: Scene) -> None:
    scene.session()
    with pytest.raises(NotFoundError, match="has neither a worktree nor a branch"):
        scene.begin()
    git(scene.project, "branch", BRANCH)
    assert scene.begin().commit == scene.base


def test_a_checkout_that_is_not_clean_is_left_alone(scene: Scene) -> None:
    scene.session()
    git(scene.project, "branch", BRANCH)
    (scene.project / "one").touch()
    (scene.project / "two").touch()
    with pytest.raises(BlockedError, match="has changes: one and 1 more"):
        scene.begin()
    (scene.project / "two").unlink()
    with pytest.raises(BlockedError, match=r"has changes: one$"):
        scene.begin()
    (scene.project / "one").unlink()
    git(scene.project, "commit", "-qm", "Ours", "--allow-empty")
    git(scene.project, "switch", "-qc", "theirs", "HEAD^")
    git(scene.project, "commit", "-qm", "Theirs", "--allow-empty")
    git(scene.project, "merge", "-q", "--no-commit", "--no-ff", "main")
    with pytest.raises(BlockedError, match="a merge is in progress in your checkout") as caught:
        scene.begin()
    assert caught.value.hints == (
        "see what is left to resolve: git status",
        "finish it: git merge --continue",
    )
    assert not (scene.project / ".git" / "agentmux-try").exists()


def test_changes_like_the_sessions_are_the_users(scene: Scene) -> None:
    scene.session()
    scene.make()
    (scene.project / "new.txt").write_text((scene.place / "new.txt").read_text())
    with pytest.raises(BlockedError, match=r"has changes: new\.txt$"):
        scene.begin()
    git(scene.project, "add", "new.txt")
    with pytest.raises(BlockedError, match=r"has changes: new\.txt$"):
        scene.begin()


def test_where_there_is_no_commit_there_is_no_way_back(scene: Scene) -> None:
    scene.session()
    git(scene.project, "branch", BRANCH)
    git(scene.project, "switch", "-q", "--orphan", "unborn")
    with pytest.raises(UsageError, match="no commit to come back to"):
        scene.begin()


def test_a_branch_that_was_made_in_a_trial_is_said_to_have_its_files(scene: Scene) -> None:
    scene.session()
    scene.make()
    scene.begin()
    (said,) = end_trial(scene.world)
    assert said.endswith(f" on main, without the files of {scene.path.name}")
    shown = scene.begin().commit
    git(scene.project, "switch", "-qc", "my-fix")
    git(scene.project, "commit", "-qm", "Mine", "--allow-empty")
    (said,) = end_trial(scene.world)
    assert (
        f" on my-fix: its history has the files of {scene.path.name}, with commit {shown[:12]}"
        in said
    )


def test_what_is_in_progress_in_a_trial_is_finished_before_its_commits_are_kept(
    scene: Scene,
) -> None:
    scene.session()
    scene.make()
    git(scene.project, "switch", "-qc", "theirs")
    git(scene.project, "commit", "-qm", "Theirs", "--allow-empty")
    git(scene.project, "switch", "-q", "main")
    scene.begin()
    git(scene.project, "commit", "-qm", "Mine", "--allow-empty")
    git(scene.project, "merge", "-q", "--no-commit", "--no-ff", "theirs")
    with pytest.raises(BlockedError, match="a merge is in progress in your checkout") as caught:
        end_trial(scene.world)
    assert caught.value.hints == (
        "see what is left to resolve: git status",
        "finish it: git merge --continue",
    )
    git(scene.project, "commit", "-qm", "Merged")
    made = git(scene.project, "rev-parse", "HEAD").strip()
    with pytest.raises(BlockedError, match="you have committed on the files of") as caught:
        end_trial(scene.world)
    assert f": git branch kept-{made[:12]} {made[:12]} && git switch " in caught.value.hints[0]


def test_after_a_killed_way_back_only_what_the_user_changed_is_stashed(scene: Scene) -> None:
    (scene.project / "m.py").write_text("before\n")
    git(scene.project, "add", "m.py")
    git(scene.project, "commit", "-qm", "Code")
    scene.base = git(scene.project, "rev-parse", "HEAD").strip()
    scene.session()
    scene.make()
    (scene.place / "m.py").write_text("of the session\n")
    scene.begin()
    kill_next_checkout(scene.project)
    with pytest.raises(GitRefusedError, match="killed by signal 9"):
        end_trial(scene.world)
    unlock(scene.project)
    assert not (scene.project / "new.txt").exists()
    (scene.project / "README.md").write_text("mine\n")
    with pytest.raises(BlockedError, match=r"has changes: README\.md$") as caught:
        end_trial(scene.world)
    (hint,) = caught.value.hints
    assert hint.endswith(f" '{FOR_TRIAL}' -- README.md")
    subprocess.run(hint.partition(": ")[2], shell=True, check=True)
    _, back, _ = end_trial(scene.world)
    subprocess.run(back.partition(": ")[2], shell=True, check=True)
    assert git(scene.project, "status", "--porcelain") == " M README.md\n"


def test_what_the_user_changed_in_a_trial_fits_where_the_files_are(scene: Scene) -> None:
    scene.session()
    session = scene.make()
    scene.begin()
    (scene.project / "new.txt").write_text("new and better\n")
    with pytest.raises(BlockedError, match=r"has changes: new\.txt$") as caught:
        end_trial(scene.world)
    subprocess.run(caught.value.hints[0].partition(": ")[2], shell=True, check=True)
    _, forth, look = end_trial(scene.world)
    assert "stash show" in look
    subprocess.run(forth.partition(": ")[2], shell=True, check=True)
    assert (scene.place / "new.txt").read_text() == "new and better\n"
    scene.save(session)
    scene.begin()
    shutil.rmtree(scene.place)
    assert end_trial(scene.world)[1:] == (look,)
    scene.begin()
    git(scene.project, "switch", "-qc", "mine")
    git(scene.project, "commit", "-qm", "Mine", "--allow-empty")
    _, back, _ = end_trial(scene.world)
    assert back.startswith("put back what was put aside on (no branch): ")
