"""Probes the agents' programs for their abilities, in the background; the answers are cached."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial

from agentmux.app.loop.background_tasks import BackgroundTasks, Loop
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.agents.spec import PROBE_ANSWER_S
from agentmux.core.names.phase import PRODUCT_MANAGER, ROLES
from agentmux.core.pipeline.work import Work


class AgentProbes:
    """Asks the programs of one session's agents what they can do, each program once per process."""

    def __init__(
        self, world: World, session: Session, background: BackgroundTasks, loop: Loop
    ) -> None:
        self._world = world
        self._session = session
        self._background = background
        self._loop = loop
        self._begun: set[str] = set()
        self._waited: set[str] = set()
        self._answered: set[str] = set()

    def holds_up(self, works: Iterable[Work]) -> bool:
        """Begin to probe the programs for ``works``; return whether launches have to wait for that.

        ``works`` is the work to launch agents for. To probe is to ask a program, in the background,
        what it can do. The loop is woken when the wait is over. If there is nothing to wait for,
        the programs of all other roles are probed, too, before they are needed.
        """
        work_items = tuple(works)
        needed = {self._agent(each.role) for each in work_items}
        self._begin(needed)
        # A program that failed at once may not know its options: wait for its full answer.
        failed = {self._agent(each.role) for each in work_items if self._has_failed(each)}
        if needed - self._waited or failed - self._answered:
            return True
        product_manager = self._session.state.product_manager
        self._begin({self._agent(r) for r in ROLES if product_manager or r != PRODUCT_MANAGER})
        return False

    def _agent(self, role: str) -> str:
        options = self._session.state.options
        return self._world.settings.choose_player(role, options.agents, options.models).agent

    def _has_failed(self, work: Work) -> bool:
        seat = self._session.state.seats.get(work.seat)
        return seat is not None and seat.failed_at_once

    def _begin(self, names: set[str]) -> None:
        for name in sorted(names - self._begun):
            self._begun.add(name)
            self._background.run(f"ask {name}", self._ask(name))

    async def _ask(self, name: str) -> None:
        """Probe an agent's program; a launch waits only a moment for the answer."""
        try:
            spec, programs = self._world.agents.spec(name), self._world.agents.programs
            asked = asyncio.ensure_future(self._background.in_thread(partial(programs.ask, spec)))
            if not (await asyncio.wait({asked}, timeout=PROBE_ANSWER_S))[0]:
                answer = await self._background.in_thread(partial(programs.probe, spec))
                if answer.problem:
                    self._loop.say(f"warning: {answer.problem}")
                self._waited.add(name)
                self._loop.wake()
            await asked
        finally:
            self._waited.add(name)
            self._answered.add(name)
