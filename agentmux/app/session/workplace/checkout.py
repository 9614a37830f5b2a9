"""Enforces that only one session at a time is live in a work tree."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.session.search.lookup import (
    Liveness,
    SessionEntry,
    entry_at,
    list_resumable_sessions,
    live,
    sessions_dir,
)
from agentmux.errors import BlockedError
from agentmux.ports.tmux.terminal import TerminalUnreachableError

if TYPE_CHECKING:
    from agentmux.app.world import Site, World
    from agentmux.ports.processes import TreeLock

_PURPOSE: Final = "for"
_MERGE: Final = "merge"


class TreeTakenError(BlockedError):
    """Another session is live in the work tree.

    Attributes:
        session: The name of that session; empty if only its lock is known.
    """

    def __init__(self, message: str, *, session: str, hints: tuple[str, ...] = ()) -> None:
        self.session = session
        super().__init__(message, reason="checkout_taken", hints=hints)


def trial_in_the_way(world: World) -> BlockedError | None:
    """Return the error for a checkout that shows a session for a trial; None if it shows none.

    During a trial, nobody can work on what is checked out there.
    """
    trial = world.git.trials.current()
    if trial is None:
        return None
    return BlockedError(
        f"your checkout shows the files of session {trial.session}",
        reason="trial",
        hints=("go back first: agentmux try --off",),
    )


def require_free(site: Site, entry: SessionEntry | None = None) -> None:
    """Check that no other session is live in the work tree of ``entry``; if None, in the checkout.

    Raises:
        BlockedError: Another session is live there; the error's reason is ``checkout_taken``.
        MissingError: A tmux server does not answer, so nobody can tell.
    """
    entries = list_resumable_sessions(site)
    lives = live(site, entries)
    obstacle = find_tree_obstacle(site, lives, list_possibly_live(lives, entries), entry)
    if obstacle is not None:
        raise obstacle


def list_possibly_live(
    lives: Mapping[Path, Liveness], entries: Iterable[SessionEntry]
) -> tuple[SessionEntry, ...]:
    """Return the unfinished sessions in ``entries`` that are live, or may be live.

    ``lives`` has the liveness of each session in ``entries``, by the session's directory.
    """
    return tuple(each for each in entries if _is_busy(each, lives[each.path]))


def find_tree_obstacle(
    site: Site,
    lives: Mapping[Path, Liveness],
    busy: Iterable[SessionEntry],
    entry: SessionEntry | None = None,
) -> TreeTakenError | None:
    """Return why the session ``entry`` cannot be started in its work tree; None if it can be.

    Without ``entry``, it is about a new session in the checkout. Besides ``busy``, the lock of the
    work tree is looked at, because sessions of other projects in the same repository hold it, too.

    Args:
        site: The project.
        lives: The liveness of the project's sessions, by the session's directory.
        busy: The project's sessions that are live, or may be (`list_possibly_live`).
        entry: The session to start; None for a new one.

    Raises:
        MissingError: A tmux server does not answer, so nobody can tell.
    """
    worktree, but = "", None
    if entry is not None:
        worktree, but = entry.text("worktree"), entry.path
    beside = (each for each in busy if each.path != but and each.text("worktree") == worktree)
    other = next(beside, None)
    if other is None:
        return _taken_by_others(site, worktree, but=but)
    _require_known(other, lives[other.path])
    return _refusal(other, lives[other.path])


def _taken_by_others(site: Site, worktree: str, *, but: Path | None) -> TreeTakenError | None:
    lock = site.locks.tree(Path(worktree) if worktree else site.project)
    if worktree and str(lock.top) != worktree:
        return None  # the worktree does not exist now, so nobody works there
    if lock.is_held():
        path, _ = _read_note(lock)
        ours = path is not None and but is not None and path == but.resolve()
        return None if ours else _held(lock)
    path = _worker(lock)
    if path is None or path.parent == sessions_dir(site.project).resolve():
        return None  # our own sessions were looked at already
    return _left_live(site, lock, path)


def find_tree_taken_error(site: Site, top: Path) -> TreeTakenError | None:
    """Return the error that a session works in the work tree ``top``; None if none does.

    While it works there, nobody else may change the files.

    Raises:
        MissingError: A tmux server does not answer, so nobody can tell.
    """
    lock = site.locks.tree(top)
    if lock.is_held():
        return _held(lock)
    path = _worker(lock)
    return _left_live(site, lock, path) if path is not None else None


def merge_note(home: Path) -> Mapping[str, object]:
    """Return the note for the lock of a work tree into which the session at ``home`` only merges.

    Its keys are ``path``, the session's directory, and ``for``, which is ``merge``. Writes nothing.
    If the process that holds the lock is killed, the note stays; ``for`` then tells that the
    session does not work in that work tree.
    """
    return {"path": str(home.resolve()), _PURPOSE: _MERGE}


def _read_note(lock: TreeLock) -> tuple[Path | None, bool]:
    """Return the session that the lock's note names, if any, and whether it only merges there."""
    note = lock.holder() or {}
    path = note.get("path")
    return Path(path) if isinstance(path, str) else None, note.get(_PURPOSE) == _MERGE


def _worker(lock: TreeLock) -> Path | None:
    """Return the session that last worked in a work tree whose lock is free; None if unknown.

    A session that was killed while it merged there does not count.
    """
    path, merges = _read_note(lock)
    return None if merges else path


def undecided_in(site: Site, top: Path) -> SessionEntry | None:
    """Return an unfinished session that will commit its result in the checkout ``top``; else None.

    The session works in the checkout itself. Until it is done, nobody else may move HEAD there. Of
    several such sessions, the one that changed last is returned. None also if ``top`` is not the
    top of the project's checkout.
    """
    if site.locks.tree(site.project).top != top:
        return None
    here = (each for each in list_resumable_sessions(site) if not each.text("worktree"))
    return next((each for each in here if _commits(each)), None)


def _commits(entry: SessionEntry) -> bool:
    options = entry.fields.get("options")
    return isinstance(options, dict) and options.get("commit") is True


def _left_live(site: Site, lock: TreeLock, path: Path) -> TreeTakenError | None:
    """Return why nobody can work here: the session that held the lock is still live; else None."""
    if path.name not in site.folders.names(path.parent):
        return None
    entry = entry_at(site, path)
    liveness = live(site, (entry,))[path]
    if not _is_busy(entry, liveness):
        return None
    _require_known(entry, liveness)
    return _live_in(lock, path)


def _require_known(entry: SessionEntry, found: Liveness) -> None:
    if found.live is None and not found.locked:
        raise TerminalUnreachableError(
            f"cannot tell whether session {entry.name} is live in this checkout: {found.because}",
            hints=("check the tmux server, then try again",),
        )


def _is_busy(entry: SessionEntry, found: Liveness) -> bool:
    if found.copy_of is not None:
        return False  # the live original works in another checkout
    if found.is_driven or found.live is None:
        return not entry.is_done
    # A tmux session with its name but another uuid is not ours.
    ours = found.tmux is None or found.tmux.uuid == entry.text("session_id") != ""
    return found.live and ours and not entry.is_done


def _refusal(entry: SessionEntry, found: Liveness) -> TreeTakenError:
    word = "attach" if found.starter is None else "status"
    return TreeTakenError(
        f"session {entry.name} is live in this checkout; only one session at a time may be",
        session=entry.name,
        hints=(
            f"see it: agentmux {word} {entry.name}",
            f"or end it for now: agentmux stop {entry.name}",
        ),
    )


def _held(lock: TreeLock) -> TreeTakenError:
    """Return the error for a lock that a process holds."""
    path, merges = _read_note(lock)
    if path is None:
        return TreeTakenError(f"another process works in {lock.top}", session="")
    if not merges:
        return _live_in(lock, path)
    return TreeTakenError(
        f"session {path.name} merges into the checkout {lock.top}; try again in a moment",
        session=path.name,
        hints=(f"see it: agentmux status {shlex.quote(str(path))}",),
    )


def _live_in(lock: TreeLock, path: Path) -> TreeTakenError:
    """Return the error for a session that may belong to another project."""
    where = shlex.quote(str(path))
    return TreeTakenError(
        f"session {path.name} is live in the same work tree, {lock.top}; only one session at a"
        " time may be",
        session=path.name,
        hints=(
            f"see it: agentmux status {where}",
            f"or end it for now: agentmux stop {where}",
        ),
    )
