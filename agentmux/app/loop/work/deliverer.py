"""Performs the delivery steps after the commit; records each step before and after it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from agentmux.app.delivery.steps.commit import describe_failure
from agentmux.app.delivery.steps.steps import STEPS_BY_NAME
from agentmux.app.delivery.steps.work import OvertakenError, Record, Step, StepError, StepWork
from agentmux.app.loop.work.delivery_worker import DeliveryWorker
from agentmux.app.loop.work.failures import describe_unexpected, record_failure, record_hints
from agentmux.core.decisions.next_actions import TakeStep
from agentmux.core.fleet.lease import LeaseLapsedError
from agentmux.core.journal.events import StepDone, StepFailed, StepStarted
from agentmux.core.pipeline.delivery import running_record
from agentmux.errors import AgentmuxError
from agentmux.ports.git.repository import IndexBusyError

logger = logging.getLogger(__name__)

T = TypeVar("T")
_TRIES: Final = 20
"""How often a step is prepared again because others moved the base meanwhile."""


class Deliverer(DeliveryWorker):
    """Performs the steps of one session's delivery, in the background."""

    async def begin(self, action: TakeStep) -> None:
        """Start to perform a step, unless one is under way; the journal records how it ends."""
        give_up = partial(self._give_up, action)
        self._background.run("delivery", self._take(action), give_up=give_up)

    def _give_up(self, action: TakeStep, error: Exception) -> None:
        self._fail(action, describe_unexpected(error, self._session.files.path.name), {})

    async def _take(self, action: TakeStep) -> None:
        """Perform one step, or adopt its earlier result, and record how it ended."""
        step = STEPS_BY_NAME[action.step]
        try:
            done = await self._take_step(step, action)
        except LeaseLapsedError:
            raise  # not a failure: the step is performed once the lease holds again
        except (AgentmuxError, OSError) as error:
            more = error.record if isinstance(error, StepError) else {}
            self._fail(action, describe_failure(error), {**more, **record_hints(error)})
            return
        self._session.record(StepDone(approval=action.approval, step=action.step, record=done))
        self._loop.say(step.describe_result(done))

    def _fail(self, action: TakeStep, why: str, more: Record) -> None:
        fact = StepFailed(approval=action.approval, step=action.step, reason=why, record=more)
        record_failure(self._session, fact)
        self._loop.say(f"{action.step} failed: {why}")

    async def _take_step(self, step: Step, action: TakeStep) -> Record:
        record = running_record(self._session.state, action.step)
        for _ in range(_TRIES):
            if record is None:
                record = await self._run(step.prepare, action)
                self._session.record(
                    StepStarted(approval=action.approval, step=action.step, record=record)
                )
            try:
                return {**record, **await self._patiently(step, action, record)}
            except OvertakenError as error:
                logger.info("%s is prepared again: %s", action.step, error)
                record = None
        raise AgentmuxError(f"others changed the place of the {action.step} {_TRIES} times")

    async def _patiently(self, step: Step, action: TakeStep, record: Record) -> Record:
        """Perform the step; wait once, for a short time, if another git has locked the index."""
        try:
            return await self._run(lambda work: step.perform(work, record), action)
        except IndexBusyError as error:
            if not await self._is_gone_soon(error.lock, action.step):
                raise
        return await self._run(lambda work: step.perform(work, record), action)

    async def _run(self, do: Callable[[StepWork], T], action: TakeStep) -> T:
        """Run a part of a step in a thread, unless the session must not act any more."""
        self._tools.require_lease()
        work = StepWork(
            world=self._world,
            state=self._session.state,
            home=self._session.files.path,
            environ=self._approvers.environment(action.approval),
        )
        return await self._background.in_thread(partial(do, work))
