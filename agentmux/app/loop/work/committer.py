"""Commits an approved result, and records whether that worked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from agentmux.app.delivery.steps.commit import commit, describe_failure
from agentmux.app.loop.work.delivery_worker import DeliveryWorker
from agentmux.app.loop.work.failures import describe_unexpected, record_failure, record_hints
from agentmux.core.codec.frozen import replace
from agentmux.core.fleet.lease import LeaseLapsedError
from agentmux.core.journal.events import CommitDelayed, CommitFailed, CommitMade, CommitStarted
from agentmux.core.names.statuses import COMMITTING, DELAYED
from agentmux.errors import AgentmuxError
from agentmux.ports.git.repository import IndexBusyError

if TYPE_CHECKING:
    from agentmux.core.decisions.next_actions import MakeCommit


class Committer(DeliveryWorker):
    """Makes the commits of one session, in the background."""

    async def begin(self, action: MakeCommit) -> None:
        """Start to make the commit, unless that is under way; the journal records how it ends."""
        work = self._make(action.approval)
        self._background.run("commit", work, give_up=self._give_up)

    def _give_up(self, error: Exception) -> None:
        self._fail(describe_unexpected(error, self._session.files.path.name), {})

    async def _make(self, approval: str) -> None:
        committed = self._session.state.commit
        if committed is None or committed.status not in {COMMITTING, DELAYED}:
            self._session.record(CommitStarted(approval=approval))
        try:
            commit_id, adopted = await self._make_commit(approval)
        except LeaseLapsedError:
            raise  # not a failure: the commit is made once the lease holds again
        except (AgentmuxError, OSError) as error:
            self._fail(describe_failure(error), record_hints(error))
            return
        self._session.record(CommitMade(commit=commit_id, adopted=adopted))
        self._loop.say("nothing to commit" if commit_id is None else f"committed {commit_id[:12]}")

    def _fail(self, why: str, record: Mapping[str, str]) -> None:
        record_failure(self._session, CommitFailed(reason=why, record=record))
        self._loop.say(f"the commit was not made: {why}")

    async def _make_commit(self, approval: str) -> tuple[str | None, bool]:
        """Call `commit` as soon as git's index can be written, and return its result."""
        environ, state = self._approvers.environment(approval), self._session.state
        repository = self._world.repository.with_environment(environ)
        world = replace(self._world, repository=repository)
        while True:
            self._tools.require_lease()  # the wait below may have been long
            try:
                return await self._background.in_thread(partial(commit, world, state, approval))
            except IndexBusyError as error:
                await self._until_free(error)

    async def _until_free(self, error: IndexBusyError) -> None:
        """Wait until no other git process has locked the index; after a while tell the user."""
        committed = self._session.state.commit
        if committed is None or committed.reason != describe_failure(error):
            if await self._is_gone_soon(error.lock, "commit"):
                return
            self._session.record(CommitDelayed(reason=describe_failure(error)))
            self._loop.say(f"the commit waits: {describe_failure(error)}")
            self._loop.wake()
        if error.lock is None:
            await asyncio.Event().wait()  # only a resume tries again
        else:
            await self._tools.gone(error.lock)
