"""The extra worktree in which the required commands of the checks run on a session's base."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.app.session.workplace.workplace import inner
from agentmux.ports.git.worktrees import WorktreeSpec

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState


def base_spec(
    world: World, state: SessionState, home: Path, *, finished: bool = False
) -> WorktreeSpec | None:
    """Return the description of the worktree in which checks run on the base of the session.

    None if no checks run on the base, or if they are over.

    Args:
        world: The project.
        state: The state of the session.
        home: The session's directory.
        finished: Whether to return it even if the checks are over; files of it may be left.
    """
    base = state.base_checks
    if base is None or (base.finished and not finished) or not base.path:
        return None
    return WorktreeSpec(
        path=Path(base.path),
        branch="",
        commit=base.commit,
        session=f"{state.session_id}-base",
        home=home.resolve(),
        inner=inner(world),
    )
