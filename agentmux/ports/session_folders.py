"""The directories of sessions, seen from outside: quick looks, and their removal."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol


class SessionFolders(Protocol):
    """The directories of sessions, seen from outside; `SessionFiles` is what is inside one."""

    def names(self, folder: Path, /) -> tuple[str, ...]:
        """Return the names of the directories that hold a state or a journal, in no order.

        Raises:
            DataError: ``folder`` cannot be read; one that does not exist holds none.
        """

    def leftovers(self, folder: Path, /) -> tuple[Path, ...]:
        """Return the directories in ``folder`` whose removal was begun and not finished."""

    def glance(self, path: Path, /) -> Mapping[str, Any] | None:
        """Return the fields of a session's state, quickly.

        None where the state is missing or not good, and `SessionFiles` has to look closely.
        """

    def runtime(self, path: Path, /) -> Mapping[str, Any]:
        """Return what the orchestrator last noted about panes and server.

        Only advice: it may be out of date, and is empty where there is no readable note.
        """

    def starters(self, path: Path, /) -> tuple[tuple[int, int], ...]:
        """Return pid and start time of each command that began to start the session.

        Such a command may still wait for its orchestrator, or may have been killed since.
        """

    def one_at_a_time(self, project: Path, /) -> AbstractContextManager[None]:
        """Keep other starts and resumes in ``project`` waiting while the block runs.

        Raises:
            BlockedError: Another process did not let go of the project in time.
        """

    def changed_at(self, path: Path, /) -> float:
        """Return when a session's files last changed, in Unix time; 0 where that is unknown."""

    def bury(self, path: Path, /) -> Path:
        """Rename a session's directory out of sight, the first step of removing it.

        Returns its new path.

        Raises:
            DataError: It cannot be renamed; nothing was changed.
        """

    def delete(self, buried: Path, /) -> None:
        """Delete a directory that `bury` returned; one that is gone already is no error.

        Raises:
            DataError: Something in it cannot be deleted; another call goes on from there.
        """
