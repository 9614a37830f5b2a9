"""A project with real git, and a session in it that has a worktree of its own."""

import os
from dataclasses import replace
from pathlib import Path

from agentmux.app.commands.end.tryout import begin_trial
from agentmux.app.session.search.lookup import entry_at
from agentmux.app.session.workplace.own_worktree import with_workplace, worktree_of
from agentmux.app.session.workplace.unfinished_rewind import save_tree
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.journal.events import WorktreeMade
from agentmux.core.journal.state import Base
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.ports.git.trials import Trial
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
        self.world.git.worktrees.make(spec, again=False)
        session.record(WorktreeMade())
        (self.place / "new.txt").write_text("new\n")
        return session

    def save(self, session: Session) -> None:
        inside = with_workplace(self.world, session.state)
        uuid = session.state.session_id
        save_tree(session, inside.git.checkpoints(inside.tree, self.path.resolve(), uuid), "stop")

    def begin(self) -> Trial:
        return begin_trial(self.world, entry_at(self.world, self.path))
