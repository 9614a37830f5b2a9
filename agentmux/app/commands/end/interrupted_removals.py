"""Finish removals that were interrupted; every list does that, so it loads nothing else."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.errors import AgentmuxError, DataError

if TYPE_CHECKING:
    from agentmux.app.world import Site


def finish_removals(site: Site) -> None:
    """Delete the directories that interrupted removals left.

    What cannot be deleted stays for the next call; that is no error.
    """
    left = site.folders.leftovers(sessions_dir(site.project))
    for buried in left:
        with suppress(DataError):
            site.folders.delete(buried)
    if left:
        leave_if_empty(site)


def leave_if_empty(site: Site) -> bool:
    """Remove ``.agentmux/`` if it holds nothing any more; return whether it is removed."""
    with (
        suppress(AgentmuxError, OSError),  # a start holds it, or nobody may look
        site.folders.one_at_a_time(site.locks.tree(site.project).top),
    ):
        return site.folders.leave(sessions_dir(site.project))
    return False
