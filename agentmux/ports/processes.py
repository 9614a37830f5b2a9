"""Other processes: the session's lock, pipes between processes, how we learn that one has ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol


class ProcessWatch(Protocol):
    """Reports the end of processes, without polling."""

    def watch(self, pid: int, ended: Callable[[int], object]) -> None:
        """Call ``ended(pid)`` once, when the process has ended; now if it already has."""

    def start_time(self, pid: int) -> int:
        """Return when a process started, in ticks since boot (macOS: Unix time); 0 if unknown."""

    def close(self) -> None:
        """Stop watching."""


class WakePipe(Protocol):
    """The orchestrator's end of the pipe through which other processes wake or stop it."""

    def fileno(self) -> int:
        """Return the pipe's descriptor for the event loop; readable when somebody has written."""

    def drain(self) -> set[bytes]:
        """Empty the pipe; return its lines: ``w`` asks to read everything again, ``s`` to stop."""

    def close(self) -> None:
        """Close the pipe: nobody can wake us any more."""


LOCK_WAIT_S: Final = 1.0
"""How many seconds a command that a person runs waits for the session's lock."""


class Lock(Protocol):
    """A lock; an orchestrator holds that of its session for its whole life."""

    def acquire(self, timeout_s: float, holder: Mapping[str, object]) -> None:
        """Take the lock, and store ``holder``, a description of this process, beside it.

        Raises:
            BlockedError: Another process still has it after ``timeout_s`` seconds.
        """

    def release(self, *, keep_note: bool = False) -> None:
        """Release the lock, and remove the note of who held it unless ``keep_note``."""

    def still_mine(self) -> bool:
        """Return whether we hold the lock, and the locked file is still the one at its path."""

    def is_deleted(self) -> bool:
        """Return whether the file that we locked was deleted, and no other one is at its path."""

    def is_held(self) -> bool:
        """Return whether any process has the lock; changes nothing."""

    def holder(self) -> Mapping[str, object] | None:
        """Return the description that the holder gave to `acquire`; None if there is none."""


class TreeLock(Lock, Protocol):
    """The lock of a work tree; the orchestrator of the session that works there holds it.

    Its note names the last session (``path``), also while no process holds the lock.
    """

    @property
    def top(self) -> Path:
        """The top of the work tree; outside of git, the project's directory."""

    def note(self, holder: Mapping[str, object]) -> None:
        """Write the note without taking the lock."""

    def forget(self, path: str) -> None:
        """Remove the note if it names the session at ``path``."""


class Handover(Protocol):
    """The pipe in which a new orchestrator tells the command that started it: ready, or why not."""

    @property
    def path(self) -> Path:
        """Path of the pipe, to be passed to the new orchestrator."""

    def wait(self, timeout_s: float, pid: int) -> bytes | None:
        """Wait for the orchestrator's report (ready, or why not), and return it.

        None if there is no report after ``timeout_s`` seconds, or if the orchestrator, which is
        process ``pid``, ended without one.
        """

    def set_folder(self, folder: Path) -> None:
        """Correct `path`: the directory of the pipe was renamed to ``folder``."""

    def close(self) -> None:
        """Remove the pipe; safe to repeat."""
