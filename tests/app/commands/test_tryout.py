"""What a trial shows of a session, and when it is refused, with real git."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.app.commands.tryout import begin_trial
from agentmux.app.session.lookup import entry_at
from agentmux.app.session.own_worktree import placed, worktree_of
from agentmux.app.session.unfinished_rewind import save_tree
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.journal.events import WorktreeMade
from agentmux.core.journal.state import Base, Commit
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.errors import BlockedError, NotFoundError, UsageError
from agentmux.ports.trials import Trial
from agentmux.wiring import build
from tests.app.driver import git, make_project
from tests.app.on_disk import OnDisk
from tests.fakes.bench import Bench as TmuxTerminal

BRANCH = "agentmux/x"


class Scene:
    """A project with a session that has a worktree of its own, which exists once it is made."""

    def __init__(self, root: Path, tmux: TmuxTerminal) -> None:
        self.project = make_project(root / "p")
        self.path = self.project / layout.SESSIONS_DIR / "20260101-101500-x"
        self.place = root / "p-worktrees" / "x"
        self.base = git(self.project, "rev-parse", "HEAD").strip()
        world = build.world(self.project, environ=dict(os.environ))
        self.world: World = replace(world, terminal=lambda socket: tmux)

    def session(self, phase: Phase = Phase.PLANNING, **values: object) -> OnDisk:
        base = Base(commit=self.base, branch="main")
        made = OnDisk(
            self.path, phase, worktree=str(self.place), branch=BRANCH, base=base, **values
        )
        (self.path.parent / ".gitignore").write_text("*\n")
        return made

    def make(self) -> Session:
        """Make the worktree, with a file that is not committed."""
        session = Session(self.world.files(self.path), now=self.world.now, new_id=self.world.new_id)
        spec = worktree_of(self.world, session.state, self.path)
        assert spec is not None
        self.world.worktrees.make(spec, again=False)
        session.record(WorktreeMade())
        (self.place / "new.txt").write_text("new\n")
        return session

    def save(self, session: Session) -> None:
        inside = placed(self.world, session.state)
        uuid = session.state.session_id
        save_tree(session, inside.checkpoints(inside.tree, self.path.resolve(), uuid), "stop")

    def begin(self) -> Trial:
        return begin_trial(self.world, entry_at(self.world, self.path))


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
    assert caught.value.hints == ("finish it: git merge --continue",)
    assert not (scene.project / ".git" / "agentmux-try").exists()


def test_where_there_is_no_commit_there_is_no_way_back(scene: Scene) -> None:
    scene.session()
    git(scene.project, "branch", BRANCH)
    git(scene.project, "switch", "-q", "--orphan", "unborn")
    with pytest.raises(UsageError, match="no commit to come back to"):
        scene.begin()
