"""Protects the sessions of a project from ``git clean -fdx``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.app.session.search.lookup import sessions_dir

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux.app.world import World


def protect_from_clean(world: World, session: Path) -> bool:
    """Protect the sessions folder from ``git clean``; return whether it is protected.

    This creates an empty repository in the folder, and adds a line to git's ``info/exclude``. Safe
    to repeat. ``session`` is the directory of a session. If that is outside of the project's
    sessions folder, nothing is done and False returned: the folder may not be AgentMux's own.
    """
    if session.parent != sessions_dir(world.project):
        return False
    return world.git.repository_at(world.project).protect_from_clean(session.parent)
