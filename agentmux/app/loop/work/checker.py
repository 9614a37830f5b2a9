"""Begins the checks of a session, and records what their commands have shown."""

from __future__ import annotations

import logging
from functools import partial

from agentmux.app.loop.background_tasks import Loop
from agentmux.app.loop.panes.watcher import Watcher
from agentmux.app.session.check_record import TREE_S, UNKNOWN_TREE, check_fact
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.checks.report import check_words
from agentmux.core.decisions.check_actions import BeginChecks, RecordCheck, is_stale
from agentmux.core.journal.events import ChecksBegan
from agentmux.core.names.statuses import BROKEN
from agentmux.errors import AgentmuxError
from agentmux.threads import in_daemon_thread

logger = logging.getLogger(__name__)


class Checker:
    """Performs the actions of one session's checks, except launches."""

    def __init__(self, world: World, session: Session, watcher: Watcher, loop: Loop) -> None:
        self._session = session
        self._watcher = watcher
        self._loop = loop
        self._new_id = world.new_id
        self._store = world.git.checkpoints(
            world.tree, session.files.path.resolve(), session.state.session_id
        )

    async def begin(self, action: BeginChecks) -> None:
        """Record that the check begins on the work tree's present files, if due; run no command.

        The check is due if it has not begun on these files, or has to begin again on them
        (`is_stale`). Their id is computed in any case.
        """
        tree = await self._tree()
        self._watcher.tree = tree
        if is_stale(self._session.state, tree):
            self._session.record(ChecksBegan(phase=action.phase, tree=tree))
        self._loop.wake()

    async def _tree(self) -> str:
        """Return the id of the files; if git cannot compute one, an id that equals no other."""
        try:
            tree = await in_daemon_thread(partial(self._store.tree, limit_s=TREE_S))
        except (AgentmuxError, OSError) as error:
            logger.warning("the files of the check have no id: %s", error)
            tree = None
        return tree or f"{UNKNOWN_TREE}{self._new_id()}"

    async def record(self, action: RecordCheck) -> None:
        """Write to the journal how a command of the check ended.

        If it did not pass, the end of its output is written, too.
        """
        now = await self._tree()
        left = "" if now.startswith(UNKNOWN_TREE) else now
        fact = check_fact(self._session.state, self._session.files, action, left)
        self._watcher.look_at((action.launch,))
        self._session.record(fact, seat=action.seat, launch=action.launch)
        state = self._session.state
        if action.seat in state.seats and action.outcome == BROKEN:
            self._watcher.set_status(action.seat, BROKEN, "exit record")
        result = state.results.get(fact.phase)
        known = None if result is None else result.checks.get(fact.name)
        self._loop.say(check_words(fact.name, known) if known is not None else fact.name)
