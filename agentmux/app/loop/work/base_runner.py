"""Makes the worktree for checks on the base, records what the commands show, and removes it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from agentmux.app.session.check_record import base_fact
from agentmux.app.session.workplace.base_worktree import base_spec
from agentmux.core.checks.report import check_words
from agentmux.core.decisions.check_actions import EndBase, MakeBase, RecordBase
from agentmux.core.journal.events import BaseDone, BaseMade
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from agentmux.app.loop.background_tasks import BackgroundTasks, Loop
    from agentmux.app.loop.panes.watcher import Watcher
    from agentmux.app.session.writer import Session
    from agentmux.app.world import World


class BaseRunner:
    """Performs the actions of the checks on the base, except launches; no failure stops a session.

    The base is the commit from which the session began; these checks show what failed there
    already. Git may take long in a large repository, so it runs in the background.
    """

    def __init__(
        self,
        world: World,
        session: Session,
        watcher: Watcher,
        background: BackgroundTasks,
        loop: Loop,
    ) -> None:
        self._world = world
        self._session = session
        self._watcher = watcher
        self._background = background
        self._loop = loop

    async def make(self, _: MakeBase) -> None:
        """Start to make the worktree for the base, unless it is being made or removed.

        The journal then records that it was made or, if git fails, that the checks on the base are
        over, and why.
        """
        self._background.run("base", self._make_base())

    async def end(self, action: EndBase) -> None:
        """Start to remove the worktree for the base, unless it is being made or removed.

        The journal then records that the checks on the base are over, and ``action.because``: why
        they could not run there.
        """
        self._background.run("base", self._finish_base(action.because))

    async def record(self, action: RecordBase) -> None:
        """Write to the journal how a command on the base ended: passed, failed or could not run."""
        self._watcher.look_at((action.launch,))
        self._session.record(base_fact(action), seat=action.seat, launch=action.launch)
        base = self._session.state.base_checks
        if base is not None and action.name in base.checks:
            self._loop.say(f"on the base, {check_words(action.name, base.checks[action.name])}")

    async def _make_base(self) -> None:
        spec = base_spec(self._world, self._session.state, self._session.files.path)
        if spec is None:
            return
        try:
            await self._background.in_thread(
                partial(self._world.git.worktrees.make, spec, again=False)
            )
        except (AgentmuxError, OSError) as error:
            await self._finish_base(str(error))
        else:
            self._session.record(BaseMade())

    async def _finish_base(self, because: str) -> None:
        spec = base_spec(self._world, self._session.state, self._session.files.path)
        if spec is not None:
            try:
                await self._background.in_thread(
                    partial(self._world.git.worktrees.remove, spec, None)
                )
            except (AgentmuxError, OSError) as error:
                self._loop.say(f"problem: {spec.path} stays: {error}")
        self._session.record(BaseDone(because=because))
        if because:
            self._loop.say(f"nothing was checked on the base: {because}")
