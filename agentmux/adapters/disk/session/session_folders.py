"""The directories of sessions: finds them, reads their state quickly, renames and deletes them.

A quick read accepts only a valid, complete file. Otherwise it returns None or an empty mapping, and
the caller must read the session in full with `session_files`.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from agentmux.adapters.disk import files, inner_repository
from agentmux.adapters.system.polling import lock_within
from agentmux.core.journal.older_form import shown_form
from agentmux.core.journal.state import has_phase
from agentmux.core.names import layout
from agentmux.errors import BlockedError

STATE_MAX: Final = 8 << 20
"""The size limit of a state file for a quick read, in bytes; a larger one is read in full."""

RUNTIME_MAX: Final = 1 << 20
STARTING_S: Final = 180.0
"""Seconds for which a session may count as starting. A command that waits for an orchestrator stops
waiting long before: tmux has half a minute to create the session, and the orchestrator another."""

BEGIN_WAIT_S: Final = 10.0
"""Seconds that a start waits for another start in the same project, which takes at most a second.
"""

_POLL_S: Final = 0.02
BURIED: Final = ".removing-"
IGNORE: Final = ".gitignore"
IGNORED: Final = b"*\n"
"""The content of the file `IGNORE`, which hides the sessions from git."""

_OURS: Final = frozenset({IGNORE, inner_repository.NAME, layout.TREE_LOCK, layout.TREE_LOCK_HOLDER})
"""The files that AgentMux creates beside the sessions in their folder."""

_READY: Final = re.compile(r"ready-(\d+)-(\d+)-[0-9a-f]+\.fifo")
_SIGNS: Final = (layout.STATE, layout.JOURNAL, layout.STATE_BACKUP)


def names(folder: Path) -> tuple[str, ...]:
    """Return the names of the sessions in ``folder``, in no particular order.

    A session is a directory with a state or a journal whose name does not begin with a dot. A
    missing folder has no sessions.

    Raises:
        DataError: The system does not let us read the folder.
    """
    try:
        with os.scandir(folder) as entries:
            return tuple(
                entry.name
                for entry in entries
                if not entry.name.startswith(".") and is_session(entry.path)
            )
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise files.unreadable(folder, error) from error


def is_session(path: str | Path) -> bool:
    """Return whether the directory ``path`` contains a state or a journal; they are not read.

    False if it does not exist.
    """
    return any(os.path.lexists(f"{path}/{name}") for name in _SIGNS)


def leftovers(folder: Path) -> tuple[Path, ...]:
    """Return the directories in ``folder`` that `hide_for_removal` renamed and that still exist.

    ``folder`` is a sessions folder. The paths are sorted; there are none if it does not exist.
    """
    return tuple(sorted(folder.glob(f"{BURIED}*")))


def half_made(folder: Path, now_s: float) -> tuple[Path, ...]:
    """Return the directories that killed starts of sessions left in ``folder``, a sessions folder.

    Directories that were changed in the last `STARTING_S` seconds are left out: a start may still
    be using them. ``now_s`` is the current Unix time.
    """
    paths = []
    for path in sorted(folder.glob(f"{layout.MAKING_PREFIX}*")):
        with suppress(OSError):
            if path.lstat().st_mtime < now_s - STARTING_S:
                paths.append(path)
    return tuple(paths)


def read_unchecked(path: Path) -> Mapping[str, Any] | None:
    """Return the fields of the session's ``state.json``; the types of most are not checked.

    The keys are ``phase``, ``session_id``, ``pipeline`` and so on, as
    ``docs/reference/session-files.md`` lists them; only ``phase`` is always there. ``path`` is the
    session's directory. None if the file is missing, damaged, too large or from a newer AgentMux,
    or if the journal is shorter than the state says: then the session must be read in full, with
    `session_files`.
    """
    fields = _fields(f"{path}/{layout.STATE}", STATE_MAX)
    if fields is None or not has_phase(fields):
        return None
    version = fields.get("schema_version", layout.SCHEMA_VERSION)
    good = type(version) is int and 0 <= version <= layout.SCHEMA_VERSION
    return shown_form(fields) if good and _has_journal(path, fields) else None


def _has_journal(path: Path, fields: Mapping[str, Any]) -> bool:
    """Return whether the journal is at least as long as the offset in ``fields`` says.

    ``fields`` are those of ``state.json``. If they name no journal, an older version wrote them,
    and the result is True.
    """
    offset = fields.get("applied_offset", 0)
    if not fields.get("journal_id"):
        return True
    try:
        size = os.lstat(f"{path}/{layout.JOURNAL}").st_size
    except OSError:
        return False
    return isinstance(offset, int) and size >= offset


def runtime(path: Path) -> Mapping[str, Any]:
    """Return the content of ``runtime_state.json``, which the session's orchestrator writes.

    Its keys are those that describe the orchestrator (``pid``, ``host``, ``version``, ``since``,
    ``orchestrator_pid``, ``orchestrator_started``, ``path``), its tmux server (``socket``,
    ``server_pid``, ``server_started``) and tmux session (``session``); and ``panes`` and
    ``statuses``, each a mapping by seat, ``problem`` (a sentence or None) and ``left_branch``. On a
    full disk, ``panes``, ``statuses`` and ``left_branch`` are missing. The file stays when the
    orchestrator has ended.

    ``path`` is the session's directory. The result is empty if the file cannot be read. If the file
    system has become read-only, the orchestrator cannot report that, so this function adds a
    sentence about it as ``problem``.
    """
    noted = _fields(f"{path}/{layout.RUNTIME}", RUNTIME_MAX) or {}
    with suppress(OSError):
        if noted and not noted.get("problem") and files.is_read_only(path):
            return {**noted, "problem": f"`{path}` is on a file system that is mounted read-only"}
    return noted


def starters(path: Path) -> tuple[tuple[int, int], ...]:
    """Return pid and start time of each command that is starting an orchestrator for this session.

    ``path`` is the session's directory; start times are those of `processes.start_time`. A command
    that was killed meanwhile is included: check whether the process is alive. If the session's
    directory has not changed for `STARTING_S` seconds, there are none.
    """
    with suppress(OSError):
        if abs(time.time() - os.stat(path).st_mtime) < STARTING_S:  # noqa: PTH116 (quick)
            matches = map(_READY.fullmatch, os.listdir(path))
            return tuple((int(each[1]), int(each[2])) for each in matches if each)
    return ()


@contextmanager
def one_at_a_time(project: Path, *, wait_s: float = BEGIN_WAIT_S) -> Iterator[None]:
    """Lock the project's directory during the ``with`` block: one session starts at a time.

    On a file system without locks, it does nothing.

    Raises:
        OSError: The directory cannot be opened.
        BlockedError: Another process kept the directory locked for ``wait_s`` seconds.
    """
    folder = os.open(project, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            if not lock_within(folder, wait_s, every_s=_POLL_S):
                raise BlockedError(
                    f"another process has locked {project}: a start, a resume or another program",
                    reason="locked",
                    hints=(f"see which process: fuser -v {shlex.quote(str(project))}",),
                )
        yield
    finally:
        os.close(folder)


def _fields(path: str, limit: int) -> dict[str, Any] | None:
    data = files.read_limited(path, limit)
    try:
        fields = json.loads(data) if data is not None else None
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def changed_at(path: Path) -> float:
    """Return the Unix time of the last change of state, journal or directory; 0 if unknown.

    ``path`` is the session's directory.
    """
    latest = 0.0
    for name in (layout.STATE, layout.JOURNAL, ""):
        with suppress(OSError):
            latest = max(latest, (path / name).lstat().st_mtime)
    return latest


def hide_for_removal(path: Path) -> Path:
    """Rename a session's directory so that it does not count as a session; return the new path.

    Raises:
        DataError: The directory cannot be renamed; nothing was changed.
    """
    target = files.free_name(path.with_name(BURIED + path.name))
    with files.explain_errors(path):
        path.rename(target)
        files.sync_dir(target.parent)
    return target


def remove_if_unused(folder: Path) -> bool:
    """Remove the sessions folder and ``.agentmux/`` around it, as far as nothing else is in them.

    ``folder`` is ``.agentmux/.sessions``. Files that AgentMux creates beside sessions are removed;
    any other file keeps both folders. No session may be created there meanwhile (`one_at_a_time`).

    Returns:
        Whether ``.agentmux/`` was removed.
    """
    with suppress(OSError):
        items = frozenset(os.listdir(folder))
        if items <= _OURS and (IGNORE not in items or (folder / IGNORE).read_bytes() == IGNORED):
            inner_repository.remove_repository(folder)
            for name in items - {inner_repository.NAME}:
                (folder / name).unlink()
        folder.rmdir()
        folder.parent.rmdir()
        return True
    return False


def delete(buried: Path) -> None:
    """Delete a directory that `hide_for_removal` renamed; do nothing if it does not exist.

    Raises:
        DataError: Something in it cannot be deleted; another call can continue.
        ValueError: The directory does not have a name from `hide_for_removal`.
    """
    if not buried.name.startswith(BURIED):
        raise ValueError(f"{buried} was not buried")
    from agentmux.adapters.disk.removal import delete_tree

    delete_tree(buried)
