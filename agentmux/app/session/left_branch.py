"""Whether another branch is checked out than the one on which a session works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.core.decisions.workplace import left_branch

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState


def branch_left(world: World, state: SessionState) -> str:
    """Say that another branch is checked out, and how to go back; empty where it is the session's.

    ``world`` is that of the session's workplace.

    Raises:
        AgentmuxError: Git cannot be asked.
    """
    head = world.head_at(world.tree)
    if head is None:
        return ""
    gone = head.branch != state.branch and is_gone(world, state.branch)
    return left_branch(state, head.commit, head.branch, is_gone=gone)


def is_gone(world: World, branch: str | None) -> bool:
    """Return whether a branch does not exist any more in the repository of a workplace."""
    return branch is not None and not world.repository.has_branch(branch)
