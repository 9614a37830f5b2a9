"""The directories of sessions: which there are, quick looks into one, and removing one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol


class SessionFolders(Protocol):
    """The directories of sessions, read quickly; `SessionFiles` reads and writes one session."""

    def names(self, folder: Path, /) -> tuple[str, ...]:
        """Return the names of the directories in ``folder`` that hold a state or a journal.

        They are in no order; there are none if ``folder`` does not exist.

        Raises:
            DataError: ``folder`` cannot be read.
        """

    def is_session(self, path: Path, /) -> bool:
        """Return whether the directory holds a state or a journal, whatever its name is."""

    def leftovers(self, folder: Path, /) -> tuple[Path, ...]:
        """Return the directories in ``folder`` whose removal was begun and not finished."""

    def half_made(self, folder: Path, now_s: float, /) -> tuple[Path, ...]:
        """Return the directories in ``folder`` that killed starts left; ``now_s`` is Unix time."""

    def glance(self, path: Path, /) -> Mapping[str, Any] | None:
        """Return the fields of a session's state, quickly.

        None if the state is missing or damaged; `SessionFiles.load` then tells more.
        """

    def runtime(self, path: Path, /) -> Mapping[str, Any]:
        """Return the runtime note: what the orchestrator last wrote about panes and tmux server.

        It may be out of date; it is empty if there is no readable note.
        """

    def starters(self, path: Path, /) -> tuple[tuple[int, int], ...]:
        """Return pid and start time of each command that began to start the session.

        Such a command may still wait for its orchestrator, or may have been killed since.
        """

    def one_at_a_time(self, project: Path, /) -> AbstractContextManager[None]:
        """Return a lock for a ``with`` block: other starts and resumes in ``project`` wait.

        Raises:
            BlockedError: Another process kept this lock for too long.
        """

    def changed_at(self, path: Path, /) -> float:
        """Return when a session's files last changed, in Unix time; 0 where that is unknown."""

    def bury(self, path: Path, /) -> Path:
        """Rename a session's directory so that no command finds it: the first step of removing.

        Returns:
            The new path, for `delete`.

        Raises:
            DataError: It cannot be renamed; nothing was changed.
        """

    def leave(self, folder: Path, /) -> bool:
        """Remove the sessions' directory ``folder``, and the ``.agentmux/`` that it is in.

        A directory that holds anything of the user, or a session, stays; that is no error. Call it
        with `one_at_a_time`.

        Returns:
            Whether ``.agentmux/`` is removed.
        """

    def delete(self, buried: Path, /) -> None:
        """Delete a directory that `bury` returned; one that is gone already is no error.

        Raises:
            DataError: Something in it cannot be deleted; another call goes on from there.
        """
