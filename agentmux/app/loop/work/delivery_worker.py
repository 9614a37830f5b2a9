"""What `Committer` and `Deliverer` have in common."""

from __future__ import annotations

import asyncio
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux.app.loop.background_tasks import BackgroundTasks, DeliveryLoop
    from agentmux.app.loop.dependencies import LoopDependencies
    from agentmux.app.loop.work.approvers import Approvers
    from agentmux.app.session.writer import Session
    from agentmux.app.world import World


class DeliveryWorker:
    """Base class for work on the deliveries of one session, in the background."""

    def __init__(
        self,
        world: World,
        session: Session,
        tools: LoopDependencies,
        approvers: Approvers,
        background: BackgroundTasks,
        loop: DeliveryLoop,
    ) -> None:
        self._world = world
        self._session = session
        self._tools = tools
        self._approvers = approvers
        self._background = background
        self._loop = loop

    async def _is_gone_soon(self, lock: Path | None, what: str) -> bool:
        """Wait a limited time until another git process removes its lock; return whether it did.

        Meanwhile the user sees that ``what``, such as ``commit``, waits for it.
        """
        if lock is None:
            return False
        remove = f"if no git is running: rm {shlex.quote(str(lock))}"
        why = f"another git is running, or one that crashed left it; {remove}"
        self._loop.hold_up(what, f"the {what} waits until {lock} is gone: {why}")
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._tools.gone(lock), self._tools.index_wait_s)
                return True
            return False
        finally:
            self._loop.hold_up(what, "")
