"""What a session has changed: between which two states of the code the difference is shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.app.session.own_worktree import placed, worktree_of
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.phase import Phase
from agentmux.ports.repository import ChangeRange

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.repository import Repository


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChanges:
    """What a session has changed, and where to look at it.

    Attributes:
        note: What the user should know of it; empty for nothing.
    """

    repository: Repository
    range: ChangeRange
    note: str = ""


def changes_of(world: World, state: SessionState, home: Path) -> SessionChanges | None:
    """Return what the session at ``home`` has changed; None where it began on no commit."""
    base = state.options.base
    if base is None:
        return None
    made = state.commit.commit if state.commit is not None else None
    if state.phase is Phase.DONE:
        note = "" if made else "nothing was committed"
        return SessionChanges(
            repository=world.repository,
            range=ChangeRange(since=base, until=made or base),
            note=note,
        )
    spec = worktree_of(world, state, home)
    if spec is not None and not world.worktrees.is_made(spec):
        note = f"the worktree {spec.path} is gone: this is what branch {spec.branch} has"
        found = ChangeRange(since=base, until=f"refs/heads/{spec.branch}")
        return SessionChanges(repository=world.repository, range=found, note=note)
    return SessionChanges(
        repository=placed(world, state).repository,
        range=ChangeRange(since=base, leave_out=state.options.dirty),
    )
