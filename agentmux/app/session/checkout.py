"""The rule that only one session at a time is live in a work tree."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.app.session.lookup import (
    Liveness,
    SessionEntry,
    entry_at,
    list_resumable_sessions,
    live,
    sessions_dir,
)
from agentmux.errors import BlockedError
from agentmux.ports.terminal import TerminalUnreachableError

if TYPE_CHECKING:
    from agentmux.app.world import Site
    from agentmux.ports.processes import TreeLock

TAKEN = "checkout_taken"


def require_free(site: Site, *, but: Path | None = None) -> None:
    """Check that no session except ``but`` is live in the project's work tree.

    Raises:
        BlockedError: One is live; the reason is ``checkout_taken``.
        MissingError: A tmux server does not answer, so that nobody can tell.
    """
    entries = list_resumable_sessions(site)
    lives = live(site, entries)
    found = taken(site, lives, busy(lives, entries), but=but)
    if found is not None:
        raise found


def busy(
    lives: Mapping[Path, Liveness], entries: Iterable[SessionEntry]
) -> tuple[SessionEntry, ...]:
    """Return the sessions in ``entries`` that are live in the checkout, or may be.

    One that is done does not count.

    Args:
        lives: Path of each session to what runs of it, as `live` returns it.
        entries: The sessions to look at.
    """
    return tuple(each for each in entries if _is_busy(each, lives[each.path]))


def taken(
    site: Site,
    lives: Mapping[Path, Liveness],
    busy: Iterable[SessionEntry],
    *,
    but: Path | None,
) -> BlockedError | None:
    """Return why no session can start while a session in ``busy`` is live; None if none is.

    Args:
        lives: As in `busy`.
        busy: The sessions that are live, or may be.
        but: Path of a session that does not count; None for none.

    The lock of the work tree is looked at, too: it is also held by sessions of other projects in
    the same repository, whose directories are not in ``busy``.

    Raises:
        MissingError: A tmux server does not answer, so that nobody can tell.
    """
    entry = next((each for each in busy if each.path != but), None)
    if entry is None:
        return _taken_by_others(site, but=but)
    _require_known(entry, lives[entry.path])
    return _refusal(entry, lives[entry.path])


def _taken_by_others(site: Site, *, but: Path | None) -> BlockedError | None:
    lock = site.tree_lock(site.project)
    noted = (lock.holder() or {}).get("path")
    path = Path(noted) if isinstance(noted, str) else None
    if lock.is_held():
        ours = path is not None and but is not None and path == but.resolve()
        return None if ours else _held(lock, path)
    if path is None or path.parent == sessions_dir(site.project).resolve():
        return None  # our own sessions were looked at already
    return _left_live(site, lock, path)


def _left_live(site: Site, lock: TreeLock, path: Path) -> BlockedError | None:
    """Return why nobody can work here while the session that held the lock is still live."""
    if path.name not in site.folders.names(path.parent):
        return None
    entry = entry_at(site, path)
    found = live(site, (entry,))[path]
    if not _is_busy(entry, found):
        return None
    _require_known(entry, found)
    return _held(lock, path)


def _require_known(entry: SessionEntry, found: Liveness) -> None:
    if found.live is None and not found.locked:
        raise TerminalUnreachableError(
            f"cannot tell whether session {entry.name} is live in this checkout: {found.because}",
            hints=("check the tmux server, then try again",),
        )


def _is_busy(entry: SessionEntry, found: Liveness) -> bool:
    if found.copy_of is not None:
        return False  # the live original works in another checkout
    if found.locked or found.starter is not None or found.live is None:
        return not entry.is_done
    # A tmux session with its name but another uuid is not ours.
    ours = found.tmux is None or found.tmux.uuid == entry.text("session_id") != ""
    return found.live and ours and not entry.is_done


def _refusal(entry: SessionEntry, found: Liveness) -> BlockedError:
    word = "attach" if found.starter is None else "status"
    return BlockedError(
        f"session {entry.name} is live in this checkout; only one session at a time may be",
        reason=TAKEN,
        hints=(
            f"see it: agentmux {word} {entry.name}",
            f"or end it for now: agentmux stop {entry.name}",
            "or start in another clone of the repository",
        ),
    )


def _held(lock: TreeLock, path: Path | None) -> BlockedError:
    """Return the refusal for a session that may be another project's."""
    if path is None:
        return BlockedError(f"another process works in {lock.top}", reason=TAKEN)
    where = shlex.quote(str(path))
    return BlockedError(
        f"session {path.name} is live in the same work tree, {lock.top}; only one session at a"
        " time may be",
        reason=TAKEN,
        hints=(
            f"see it: agentmux status {where}",
            f"or end it for now: agentmux stop {where}",
            "or start in another clone of the repository",
        ),
    )
