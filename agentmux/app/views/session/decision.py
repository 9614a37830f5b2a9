"""Adds to a session's view the digest of the result that its user has to decide on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.app.delivery.approval.deliverable import digest_of
from agentmux.app.session.workplace.own_worktree import with_workplace
from agentmux.core.codec.frozen import replace
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agentmux.app.views.session.session_view import SessionView
    from agentmux.app.world import World


def with_digest(world: Callable[[], World], path: Path, view: SessionView) -> SessionView:
    """Return the view with the digest of the result that the user has to decide on.

    The digest is a short hash, by which a decision refers to the result that was shown.
    The view is returned unchanged if the session waits for no decision, or if git cannot tell now
    what would be delivered.

    Args:
        world: Returns the world of the session's project.
        path: The session's directory.
        view: The view.
    """
    if not view.decision:
        return view
    try:
        project_world = world()
        files = project_world.files(path)
        state = files.load().current
        return replace(view, digest=digest_of(with_workplace(project_world, state), files, state))
    except (AgentmuxError, OSError):
        return view
