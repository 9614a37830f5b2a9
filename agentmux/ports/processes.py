"""What operations need from other processes: locks, pipes, and notice when a process ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol


class ProcessWatch(Protocol):
    """Reports when processes end, without polling."""

    def watch(self, pid: int, ended: Callable[[int], object]) -> None:
        """Have ``ended(pid)`` called once, in the event loop, when the process ends; do not wait.

        If it has ended already, the call comes with the loop's next turn. If the pid is watched
        already, its first function stays, and ``ended`` is not called.
        """

    def start_time(self, pid: int) -> int:
        """Return when a process started, in ticks since boot (macOS: Unix time); 0 if unknown."""

    def close(self) -> None:
        """Stop the watch, so that no ``ended`` function is called after this."""


class WakePipe(Protocol):
    """The orchestrator's end of the pipe through which other processes wake or stop it."""

    def fileno(self) -> int:
        """Return the pipe's file descriptor, which is readable once a process has written."""

    def drain(self) -> set[bytes]:
        """Empty the pipe, and return the distinct lines that were in it, with their newlines.

        The line ``w`` asks the orchestrator to read everything again, ``s`` asks it to stop. Other
        lines have no meaning. The call does not wait: the set is empty if no line was written.
        """

    def close(self) -> None:
        """Close the pipe; other processes can no longer wake the orchestrator."""


LOCK_WAIT_S: Final = 1.0
"""How many seconds a command that a person runs waits for the session's lock."""


class Lock(Protocol):
    """A file lock. An orchestrator holds the lock of its session for its whole life."""

    def acquire(self, timeout_s: float, holder: Mapping[str, object]) -> None:
        """Take the lock, and store a note about its holder in a file beside the locked file.

        Args:
            timeout_s: How many seconds to wait for another process to release the lock; 0 tries
                once.
            holder: The content of the note: a description of this process, for other commands. An
                orchestrator writes ``pid``, ``version``, ``host``, ``since``, ``path``, ``socket``
                and more; a command may write only ``command``, such as ``remove``. The values must
                be such that ``json`` can write them.

        Raises:
            BlockedError: Another process still holds the lock after ``timeout_s`` seconds; the
                reason is ``locked``, for a `TreeLock` ``checkout_taken``.
            DataError: The file system has no locks, or the files cannot be written.
        """

    def release(self, *, keep_note: bool = False) -> None:
        """Release the lock; remove the note about its holder, unless ``keep_note`` is true.

        If this process does not hold the lock, nothing happens.
        """

    def still_mine(self) -> bool:
        """Return whether this process holds the lock, and the locked file is still at its path.

        False if the file was deleted, or was replaced by another one.
        """

    def is_deleted(self) -> bool:
        """Return whether the file that this process locked was deleted and not replaced."""

    def is_held(self) -> bool:
        """Return whether any process holds the lock; changes nothing.

        The check takes the lock for a moment, so an `acquire` with a timeout of 0 may fail then.

        Raises:
            DataError: The lock file exists but cannot be opened.
        """

    def holder(self) -> Mapping[str, object] | None:
        """Return the note that the last holder passed to `acquire`; None if there is no note.

        The note alone does not show that the lock is held now; see `is_held`.
        """


class TreeLock(Lock, Protocol):
    """The lock of a work tree, held by the orchestrator of the session that works there.

    Its note names, as ``path``, the last session that worked there, even while nobody holds it.
    """

    @property
    def top(self) -> Path:
        """The top of the work tree; outside of git, the project's directory."""

    def note(self, holder: Mapping[str, object]) -> None:
        """Write ``holder`` as the note, without taking the lock; replaces the existing note.

        ``holder`` has the key ``path``: the directory of the session that will work there.

        Raises:
            DataError: The note cannot be written.
        """

    def forget(self, path: str) -> None:
        """Remove the note if it names the session with the directory ``path``; else do nothing."""


class StartReportPipe(Protocol):
    """The pipe through which a new orchestrator reports to the command that started it.

    The report says that the orchestrator is ready, or why it could not start.
    """

    @property
    def path(self) -> Path:
        """Path of the pipe, to be passed to the new orchestrator."""

    def wait(self, timeout_s: float, pid: int) -> bytes | None:
        """Wait for the orchestrator's report, and return it.

        Args:
            timeout_s: How many seconds to wait.
            pid: The pid of the orchestrator.

        Returns:
            The report as JSON, which `decode_report` decodes; None if the time has passed, or the
            orchestrator has ended without a report.
        """

    def set_folder(self, folder: Path) -> None:
        """Make `path` name the pipe in ``folder``, to which its directory was renamed."""

    def close(self) -> None:
        """Remove the pipe; safe to repeat."""
