"""Where a session works: in the project's checkout, or in a worktree of its own."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.core.codec.frozen import replace
from agentmux.core.journal.events import WorktreeMade
from agentmux.ports.worktrees import WorktreeSpec

if TYPE_CHECKING:
    from agentmux.app.world import Site, World
    from agentmux.core.codec.records import Json
    from agentmux.core.journal.state import SessionState

logger = logging.getLogger(__name__)


def inner(site: Site) -> Path:
    """Return where the project is in its repository, relative to the top; ``.`` is the top."""
    top = site.tree_lock(site.project).top
    return site.project.relative_to(top)


def workplace(site: Site, fields: Json) -> Path:
    """Return the directory in which the agents of a session work.

    Args:
        fields: Those of the session's state.
    """
    worktree = fields.get("worktree")
    if not isinstance(worktree, str) or not worktree:
        return site.project
    return Path(worktree) / inner(site)


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


def make_worktree(world: World, state: SessionState, home: Path) -> WorktreeMade | None:
    """Make the worktree of the session at ``home``, if it has one and it is not there.

    It may be called any number of times. Return the fact to record: the worktree was made, or the
    journal does not know yet that it was.

    Raises:
        WorktreeTakenError: Something else is in its place.
        GitError: Git refuses.
    """
    spec = worktree_of(world, state, home)
    if spec is None:
        return None
    was_there = world.worktrees.is_made(spec)
    warning = world.worktrees.make(spec, again=state.worktree_made)
    if warning:
        logger.warning("%s", warning)
    if was_there and state.worktree_made:
        return None
    return WorktreeMade(again=state.worktree_made)
