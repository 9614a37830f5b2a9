"""Remove a session: never while anything of it runs.

First the directory is renamed, so that no command finds the session any more. If the removal is
interrupted after that, the next removal or the next listing finishes it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from agentmux.app.session.lookup import Liveness, SessionEntry, live, own_tmux, sessions_dir
from agentmux.errors import AgentmuxError, BlockedError, DataError
from agentmux.ports.processes import LOCK_WAIT_S

if TYPE_CHECKING:
    from agentmux.app.world import Site


def require_removable(site: Site, entry: SessionEntry) -> None:
    """Check that nothing of the session runs, or may run.

    Raises:
        BlockedError: Its tmux session is live, an orchestrator holds its lock, its directory is a
            copy of a live session, or a tmux session that is not ours has its name.
        AgentmuxError: Nobody can tell, since its tmux server does not answer.
    """
    found = live(site, (entry,))[entry.path]
    if found.live is None:
        raise found.error or AgentmuxError(found.because)
    own_tmux(entry, found)
    if found.live:
        raise BlockedError(
            f"session {entry.name} is live: {found.because}",
            reason="session_live",
            hints=_how_to_end(entry, found),
        )
    if found.locked:
        raise BlockedError(
            f"an orchestrator is running for session {entry.name}",
            reason="locked",
            hints=(f"agentmux stop {entry.name}",),
        )


def _how_to_end(entry: SessionEntry, found: Liveness) -> tuple[str, ...]:
    if found.tmux is None:
        return found.way_back
    return (f"agentmux stop {entry.name}",)


def remove_session(site: Site, entry: SessionEntry) -> None:
    """Remove the session with everything in its directory.

    Raises:
        AgentmuxError: As in `require_removable`; nothing was changed.
        DataError: The directory cannot be renamed, or not all of it can be deleted.
    """
    require_removable(site, entry)
    lock = site.lock(entry.path)
    # Locked during the rename: whoever starts an orchestrator finds a whole session or none.
    lock.acquire(LOCK_WAIT_S, {"command": "remove"})
    try:
        buried = site.folders.bury(entry.path)
    finally:
        lock.release()
    site.folders.delete(buried)


def finish_removals(site: Site) -> None:
    """Delete the directories that interrupted removals left.

    What cannot be deleted stays for the next call; that is no error.
    """
    for buried in site.folders.leftovers(sessions_dir(site.project)):
        with suppress(DataError):
            site.folders.delete(buried)
