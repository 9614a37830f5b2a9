"""Saves the work tree of a session at the end of each phase, beside the loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from agentmux.app.loop.background_tasks import Loop
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.tree_checkpoints import STOP, Position, position, reason_to_save
from agentmux.core.journal.events import CheckpointTaken
from agentmux.errors import AgentmuxError, data_error_from
from agentmux.ports.git.checkpoints import SavedTree
from agentmux.threads import WorkEndedError, WorkGroup, in_daemon_thread

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 1.0
"""How long the next agent waits for a checkpoint at most, in seconds; the checkpoint continues."""

LIMIT_S: Final = 120.0
"""How long a checkpoint may take, in seconds."""

LAST_S: Final = 3.0
"""How long the last checkpoint at a stop may take, in seconds; less than `stop.ANSWER_WAIT_S`."""


class TreeSaver:
    """Takes the work-tree checkpoints of one session, one at a time.

    Takes none if the setting ``git.checkpoints`` is off.
    """

    def __init__(
        self, world: World, session: Session, loop: Loop, is_ours: Callable[[], bool]
    ) -> None:
        """Prepare to save the work tree of ``world``; save nothing yet.

        Args:
            world: The world of the session's workplace.
            session: The session.
            loop: Shows the user why a checkpoint could not be taken; is woken after each.
            is_ours: Returns False once another process has the session; nothing is recorded then.
        """
        self._session = session
        self._loop = loop
        self._is_ours = is_ours
        self._is_on = world.settings.git.checkpoints
        self._store = world.git.checkpoints(
            world.tree, session.files.path.resolve(), session.state.session_id
        )
        self._work = WorkGroup(session.work_label)
        self._seen = position(session.state)
        self._running: asyncio.Task[None] | None = None
        self._due: tuple[str, Position] | None = None
        self._began_s = 0.0
        self._problem = ""

    def save_if_due(self) -> None:
        """Start to save the work tree if a phase or a sub-plan was completed since the last call.

        Call this in the loop, after each change of the state. While a checkpoint is being taken,
        only the newest one that is due waits for its end.
        """
        before, self._seen = self._seen, position(self._session.state)
        because = reason_to_save(before, self._seen)
        if because and self._is_on:
            self._begin(because, replace(before, subplans=self._seen.subplans))

    async def before_next(self) -> None:
        """Wait for running checkpoints; call this before the next agent is started.

        Waits for each one until `PATIENCE_S` seconds after it began, not longer. Does not wait for
        a session in the checkout, because no rewind restores files there.
        """
        if not self._session.state.worktree:
            return
        now = asyncio.get_running_loop().time
        while self._is_busy() and (left_s := self._began_s + PATIENCE_S - now()) > 0:
            await self._wait(left_s)

    async def at_stop(self) -> str:
        """Save the work tree as the session stops, if that takes no longer than `LAST_S` seconds.

        If a checkpoint is being taken already, wait that long for its end instead. No checkpoint is
        taken afterwards. Return why the work tree was not saved; empty if it was, or need not be.
        """
        if not self._is_on:
            return ""
        if not self._is_busy():
            self._begin(STOP, position(self._session.state))
        await self._wait(LAST_S)
        slow = f"it takes longer than {LAST_S:g} seconds" if self._is_busy() else ""
        await self.close()
        return slow or self._problem

    async def close(self) -> None:
        """Cancel an unfinished checkpoint; take none from now on."""
        await in_daemon_thread(partial(self._work.end, PATIENCE_S))

    def _is_busy(self) -> bool:
        return self._running is not None and not self._running.done()

    def _begin(self, because: str, at: Position) -> None:
        self._due = (because, at)
        if not self._is_busy():
            self._began_s = asyncio.get_running_loop().time()
            self._running = asyncio.create_task(self._take_due())

    async def _wait(self, limit_s: float) -> None:
        if self._running is not None:
            await asyncio.wait({self._running}, timeout=limit_s)

    async def _take_due(self) -> None:
        while self._due is not None:
            (because, at), self._due = self._due, None
            await self._take(because, at)
            self._began_s = asyncio.get_running_loop().time()  # the next one, if one is due

    async def _take(self, because: str, at: Position) -> None:
        try:
            checkpoint = await self._take_checkpoint(f"agentmux: {at.phase} ({because})")
            if checkpoint is not None and self._is_ours():
                self._record(because, at, checkpoint)
        except WorkEndedError:
            return  # `close` ended the work
        except (AgentmuxError, OSError) as error:
            self._report(str(data_error_from(error) if isinstance(error, OSError) else error))
        self._loop.wake()

    def _record(self, because: str, at: Position, found: SavedTree) -> None:
        self._problem = ""
        number = len(self._session.state.tree_checkpoints) + 1
        self._session.record(
            CheckpointTaken(
                number=number,
                because=because,
                phase=at.phase,
                commit=found.commit,
                cycle=at.cycle,
                iteration=at.iteration,
                subplans=at.subplans,
                head=found.head,
                branch=found.branch,
                missing=found.missing,
            )
        )

    def _report(self, problem: str) -> None:
        logger.warning("no work-tree checkpoint: %s", problem)
        if problem != self._problem:
            self._problem = problem
            self._loop.say(f"problem: no work-tree checkpoint: {problem}")

    async def _take_checkpoint(self, message: str) -> SavedTree | None:
        """Take a checkpoint in a daemon thread, which does not keep the process from ending."""
        return await self._work.run(partial(self._store.take, message, limit_s=LIMIT_S))
