"""The step `push`: push the result to a remote, to the branch of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.app.delivery.steps.work import Record, StepWork
from agentmux.errors import AgentmuxError
from agentmux.ports.git.repository import GitError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState


def push_target(world: World, state: SessionState, environ: Mapping[str, str]) -> str:
    """Return the name of the remote to which the result would be pushed; only reads.

    ``environ`` is the environment for git.

    Raises:
        NoRemoteError: Git's configuration does not say which remote.
        GitError: The result is on no branch.
    """
    if not state.branch:
        raise GitError(
            "HEAD is detached: there is no branch to push",
            hints=("approve it as it is: agentmux approve --keep",),
        )
    return world.remotes(world.tree, environ).target(state.branch)


class PushStep:
    """Pushes the result to the remote branch with the session's branch name; never with force."""

    def prepare(self, work: StepWork) -> Record:
        """Return what to push: the names ``remote`` and ``branch``, and the id ``commit``."""
        remote = push_target(work.world, work.state, work.environ)
        return {"remote": remote, "branch": work.state.branch or "", "commit": work.result}

    def perform(self, work: StepWork, record: Record) -> Record:
        """Push the commit of ``record``; return an empty mapping.

        ``record`` is what `prepare` returned, and is only read. To push the same commit again
        changes nothing.
        """
        remotes = work.world.remotes(work.world.tree, work.environ)
        try:
            remotes.push(record["remote"], record["branch"], record["commit"])
        except GitError as error:
            raise _with_way_out(error, work) from error
        return {}

    def describe_result(self, record: Record) -> str:
        """Return a phrase that says to which remote and branch the result was pushed."""
        return f"pushed to {record['remote']}, branch {record['branch']}"


def _with_way_out(error: GitError, work: StepWork) -> AgentmuxError:
    again = f"fix that, then: agentmux approve {work.home.name} --push"
    other = f"or push nothing: agentmux approve {work.home.name} --keep"
    return GitError(error.message, hints=(*error.hints, again, other))
