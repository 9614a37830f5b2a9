"""Other processes: the lock against them, what wakes us, what tells of their end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol


class ProcessWatch(Protocol):
    """Tells when a process has gone, without asking about it again and again."""

    def watch(self, pid: int, ended: Callable[[int], object]) -> None:
        """Call ``ended(pid)`` once when the process has gone (at once if it has already)."""

    def start_time(self, pid: int) -> int:
        """When it was started, in ticks since boot (macOS: Unix time); 0 where unknown."""

    def close(self) -> None:
        """Watch nothing any more."""


class WakePipe(Protocol):
    """Where signals wake the orchestrator."""

    def fileno(self) -> int:
        """For the event loop; readable when somebody poked."""

    def drain(self) -> set[bytes]:
        """Take what was written: ``w`` lines to wake, ``s`` to stop."""

    def close(self) -> None:
        """Let nobody wake us any more."""


class Lock(Protocol):
    """The session's lock, held for an orchestrator's whole life."""

    def acquire(self, timeout_s: float, holder: Mapping[str, object]) -> None:
        """Take it, or raise `BlockedError` with the holder's name."""

    def release(self) -> None:
        """Give it back."""

    def still_mine(self) -> bool:
        """Whether the file that we hold is still the one at the path."""

    def is_deleted(self) -> bool:
        """Whether the file that we hold was deleted, and no other one is at its path."""

    def is_held(self) -> bool:
        """Whether somebody holds it; changes nothing."""

    def holder(self) -> Mapping[str, object] | None:
        """Who holds it, by their own word."""


class Handover(Protocol):
    """Where an orchestrator reports that it is ready, or why it is not."""

    @property
    def path(self) -> Path:
        """The pipe, to be named to the orchestrator."""

    def wait(self, timeout_s: float, pid: int) -> bytes | None:
        """Return the report; None when the time is up or process ``pid`` ended without one."""

    def moved(self, folder: Path) -> None:
        """Take note that the directory of the pipe has another name now."""

    def close(self) -> None:
        """Remove the pipe; again is fine."""
