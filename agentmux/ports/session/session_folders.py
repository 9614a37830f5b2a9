"""The directories of sessions: listing them, reading a few fields quickly, and removing them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol


class SessionFolders(Protocol):
    """Lists, examines and removes the directories of sessions.

    In the methods, ``path`` is the directory of one session, and ``folder`` the directory that has
    the sessions of a project. `SessionFiles` reads and writes the content of one session.
    """

    def names(self, folder: Path, /) -> tuple[str, ...]:
        """Return the names of the directories in ``folder`` that contain a state or a journal.

        They are in no particular order, without those that begin with a dot. Empty if ``folder``
        does not exist.

        Raises:
            DataError: ``folder`` cannot be read.
        """

    def is_session(self, path: Path, /) -> bool:
        """Return whether the directory contains a state or a journal, whatever its name is."""

    def leftovers(self, folder: Path, /) -> tuple[Path, ...]:
        """Return the directories in ``folder`` whose removal was begun but not completed.

        `delete` completes it. Empty if there are none, or ``folder`` does not exist.
        """

    def half_made(self, folder: Path, now_s: float, /) -> tuple[Path, ...]:
        """Return the incomplete directories in ``folder`` that killed `start` commands left.

        Directories that were changed in the three minutes before ``now_s`` are left out, because
        their command may still run. ``now_s`` is the current Unix time. Empty if there are none.
        """

    def read_unchecked(self, path: Path, /) -> Mapping[str, Any] | None:
        """Return the fields of a session's ``state.json``, without checking their values.

        The keys are those of the file, such as ``phase``; a file of an older version is converted.
        None if the file is missing, damaged, very large or of a newer version, or says more than
        the journal; `SessionFiles.load` then says why, or finds the state in the journal.
        """

    def runtime(self, path: Path, /) -> Mapping[str, Any]:
        """Return what the orchestrator last recorded about the session's panes and tmux server.

        These are the fields of ``runtime_state.json``: among others ``path`` (the session's
        directory), ``socket``, ``server_pid``, ``server_started``, ``panes`` and ``statuses`` (both
        by seat) and ``problem``. A key may be missing, and the record may be out of date; but
        ``problem`` says if the file system is read-only now. Empty if no record can be read.
        """

    def starters(self, path: Path, /) -> tuple[tuple[int, int], ...]:
        """Return pid and start time of each command that began to start the session.

        The start time is that of `ProcessWatch.start_time`. Such a command may be waiting for its
        orchestrator, or may have ended since. Empty if there are none, or if they began long ago.
        """

    def one_at_a_time(self, project: Path, /) -> AbstractContextManager[None]:
        """Return a lock for a ``with`` block; other starts and resumes in ``project`` wait for it.

        On a file system without locks, nobody waits.

        Raises:
            BlockedError: Another process kept this lock for too long.
        """

    def changed_at(self, path: Path, /) -> float:
        """Return when a session last changed, in seconds of Unix time; 0 if that is unknown.

        Only its state, its journal and the directory ``path`` itself are looked at.
        """

    def hide_for_removal(self, path: Path, /) -> Path:
        """Rename a session's directory so that no command finds it, as the first step of removal.

        Returns:
            The new path, for `delete`.

        Raises:
            DataError: The directory cannot be renamed; nothing was changed.
        """

    def remove_if_unused(self, folder: Path, /) -> bool:
        """Remove the sessions' directory ``folder`` and its parent ``.agentmux/``, if unused.

        A directory that contains a session or a file of the user is kept; that is no error. The
        caller must hold the lock of `one_at_a_time`.

        Returns:
            Whether ``.agentmux/`` was removed.
        """

    def delete(self, buried: Path, /) -> None:
        """Delete a directory that `hide_for_removal` returned; it is no error if it does not exist.

        Raises:
            DataError: A file in it cannot be deleted; another call continues the removal.
        """
