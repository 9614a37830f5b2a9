"""Keeps ``git clean -fdx`` in a checkout from deleting the sessions of its project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.app.session.search.lookup import sessions_dir

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux.app.world import World


def protect_from_clean(world: World, session: Path) -> bool:
    """Protect the folder that a session is in; return whether it is protected. Safe to repeat.

    A session that lies elsewhere is not: nobody has said that its folder is ours.
    """
    if session.parent != sessions_dir(world.project):
        return False
    return world.git.repository_at(world.project).protect_from_clean(session.parent)
