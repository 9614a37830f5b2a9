"""The worktree that a session has of its own: naming it, making it, working in it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.app.session.workplace import inner, workplace
from agentmux.core.codec.frozen import replace
from agentmux.core.journal.events import WorktreeMade
from agentmux.ports.worktrees import WorktreeSpec

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.errors import BlockedError

logger = logging.getLogger(__name__)


def worktree_of(world: World, state: SessionState, home: Path) -> WorktreeSpec | None:
    """Return the worktree of the session at ``home``; None where it works in the checkout."""
    if not state.worktree or state.base is None:
        return None
    return WorktreeSpec(
        path=Path(state.worktree),
        branch=state.branch or "",
        commit=state.base.commit,
        session=state.session_id,
        home=home.resolve(),
        inner=inner(world),
    )


def placed(world: World, state: SessionState) -> World:
    """Return the same world, with the directory and the repository in which the session works."""
    if not state.worktree:
        return world
    tree = workplace(world, {"worktree": state.worktree})
    return replace(world, tree=tree, repository=world.repository_at(tree))


def obstacle(world: World, state: SessionState, home: Path) -> BlockedError | None:
    """Return why the worktree of the session at ``home`` cannot be made again; only reads."""
    spec = worktree_of(world, state, home)
    return None if spec is None else world.worktrees.obstacle(spec, again=state.worktree_made)


def lost_with_worktree(world: World, state: SessionState, home: Path) -> str:
    """Say what is lost because the worktree is gone; empty where it exists, or never did."""
    spec = worktree_of(world, state, home)
    if spec is None or not state.worktree_made or world.worktrees.is_made(spec):
        return ""
    if spec.path.exists():
        return ""
    return (
        f"the worktree {spec.path} is gone: it is made again from branch {spec.branch}; what was "
        "not committed there is lost"
    )


def make_worktree(
    world: World, state: SessionState, home: Path
) -> tuple[WorktreeMade | None, tuple[str, ...]]:
    """Make the worktree of the session at ``home``, if it has one and it is not there.

    It may be called any number of times. Return the fact to record (the worktree was made, or the
    journal does not know yet that it was), and warnings.

    Raises:
        WorktreeTakenError: Something else is in its place.
        GitError: Git refuses.
    """
    spec = worktree_of(world, state, home)
    if spec is None:
        return None, ()
    was_there = world.worktrees.is_made(spec)
    warnings = world.worktrees.make(spec, again=state.worktree_made)
    for warning in warnings:
        logger.warning("%s", warning)
    if was_there and state.worktree_made:
        return None, warnings
    dirty = placed(world, state).repository.dirty() if state.setup is not None else ()
    return WorktreeMade(again=state.worktree_made, dirty=dirty), warnings
