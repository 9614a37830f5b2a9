"""What a command and the orchestrator that it starts exchange: an environment, and a report."""

from __future__ import annotations

import fcntl
import json
import os
import select
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.adapters.system.processes import open_descriptor, start_time
from agentmux.errors import BlockedError

_REPORT_MAX: Final = 1 << 16
_STEP_S: Final = 0.5
"""The interval between checks of the process where the system has no pidfd (macOS)."""


class ReadyPipe:
    """The named pipe in a session's directory on which a command waits for the report.

    Its name contains the command's pid: while that process lives, the session counts as starting
    (`session_folders.starters`). The command holds a kernel lock on the directory, so that only one
    command at a time starts an orchestrator; other pipes there belong to killed commands.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        """Make the pipe, and a private file with ``environ`` for the orchestrator.

        The environment may contain keys, so it goes into a file that is removed once read, and
        not into a program's arguments.

        Raises:
            BlockedError: Another command is starting an orchestrator (reason ``locked``).
            DataError: The directory cannot be written; nothing is left there.
        """
        own = os.getpid()
        self._path = folder / f"ready-{own}-{start_time(own)}-{os.urandom(8).hex()}.fifo"
        with files.explained(self._path), ExitStack() as made:
            self._turn = _take_turn(folder)
            made.callback(os.close, self._turn)
            _sweep(folder)
            made.callback(self._remove)
            os.mkfifo(self._path, 0o600)
            kept = os.open(_beside(self._path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(kept, "w", encoding="ascii") as file:
                json.dump(dict(environ), file)
            self._fd = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            made.pop_all()

    @property
    def path(self) -> Path:
        """The path of the pipe, for the orchestrator."""
        return self._path

    def wait(self, timeout_s: float, pid: int) -> bytes | None:
        """Return the report; None after ``timeout_s``, or if process ``pid`` ended without one."""
        deadline = time.monotonic() + timeout_s
        try:
            gone = open_descriptor(pid)
        except ProcessLookupError:
            return self._read() or None
        try:
            while (left := deadline - time.monotonic()) > 0:
                watched = [self._fd] if gone is None else [self._fd, gone]
                ready, _, _ = select.select(watched, [], [], min(left, _STEP_S))
                report = self._read() if self._fd in ready else b""
                if report:
                    return report
                if gone in ready:
                    return None
        finally:
            if gone is not None:
                os.close(gone)
        return None

    def moved(self, folder: Path) -> None:
        """Note that the directory of the pipe was renamed to ``folder``."""
        self._path = folder / self._path.name

    def close(self) -> None:
        """Remove the pipe; safe to repeat."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            self._remove()
            os.close(self._turn)

    def _remove(self) -> None:
        _beside(self._path).unlink(missing_ok=True)
        self._path.unlink(missing_ok=True)

    def _read(self) -> bytes:
        try:
            return os.read(self._fd, _REPORT_MAX)
        except BlockingIOError:
            return b""


def _take_turn(folder: Path) -> int:
    """Lock the directory for this command; return a descriptor that keeps the lock until closed."""
    turn = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(turn)
        raise BlockedError(
            f"another command is starting the orchestrator of session `{folder.name}`",
            reason="locked",
            hints=(f"see its status: agentmux status {folder.name}",),
        ) from None
    except OSError:
        pass  # directories cannot be locked here: only the session's lock counts
    return turn


def discard_pipes(folder: Path) -> None:
    """Remove the pipes of killed commands, unless a command is starting an orchestrator now."""
    with suppress(BlockedError, OSError):
        turn = _take_turn(folder)
        try:
            _sweep(folder)
        finally:
            os.close(turn)


def _sweep(folder: Path) -> None:
    for left in folder.glob("ready-*.fifo"):
        with suppress(OSError):
            left.unlink()


def take_environment(path: Path) -> dict[str, str] | None:
    """Return the environment from the command that waits at ``path``, and remove its file.

    None where there is no such file.
    """
    try:
        text = _beside(path).read_text("ascii")
        _beside(path).unlink()
    except OSError:
        return None
    found: dict[str, str] = json.loads(text)
    return found


def _beside(path: Path) -> Path:
    """Return the path of the environment's file; `files.sweep` knows it as a temporary one."""
    return path.with_name(f".tmp-{path.stem.rpartition('-')[2]}")


def report(path: Path, data: bytes) -> None:
    """Send the report; does nothing if nobody waits for it any more."""
    with suppress(OSError):
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.write(fd, data[:_REPORT_MAX])
        finally:
            os.close(fd)
