"""Finishes interrupted removals; every list does so, so this file imports nothing else."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.errors import AgentmuxError, DataError

if TYPE_CHECKING:
    from agentmux.app.world import Site


def finish_removals(site: Site) -> None:
    """Delete the directories that interrupted removals left.

    A directory that cannot be deleted stays for the next call; that is not an error.
    """
    left = site.folders.leftovers(sessions_dir(site.project))
    for buried in left:
        with suppress(DataError):
            site.folders.delete(buried)
    if left:
        leave_if_empty(site)


def leave_if_empty(site: Site) -> bool:
    """Remove ``.agentmux/`` if no session and no file of the user is in it; return whether it did.

    If it cannot be removed now, for example because a start has locked it, return False.
    """
    with (
        suppress(AgentmuxError, OSError),  # a start has locked it, or it cannot be read
        site.folders.one_at_a_time(site.locks.tree(site.project).top),
    ):
        return site.folders.remove_if_unused(sessions_dir(site.project))
    return False
