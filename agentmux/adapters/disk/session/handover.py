"""Passes data between a command and the orchestrator that it starts.

The command passes its environment and umask, in a private file. It gets one report, through a named
pipe: whether the orchestrator has started.
"""

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
from agentmux.adapters.system.processes.processes import open_descriptor, start_time
from agentmux.core.agents.environment import UMASK
from agentmux.errors import BlockedError

_REPORT_MAX: Final = 1 << 16
_ENVIRONMENT_MAX: Final = 1 << 24
_STEP_S: Final = 0.5
"""The interval between checks of the orchestrator on systems without pidfds (macOS)."""


class ReadyPipe:
    """The named pipe in a session's directory through which a command waits for the orchestrator.

    The command creates it, passes its `path` to the orchestrator that it starts, and gets the
    orchestrator's report (see `report`) from `wait`. The pipe's name contains the command's pid:
    while that process lives, the session counts as starting (`session_folders.starters`). The
    command holds a kernel lock on the directory, so that only one command at a time starts an
    orchestrator; any other pipe in it was left by a killed command.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        """Create the pipe in ``folder``, and a private file with ``environ`` for the orchestrator.

        The environment may contain secret keys. So it is passed in a file, which is removed when it
        is read, and not as a program's arguments, which every user can see.

        Raises:
            BlockedError: Another command is starting an orchestrator (reason ``locked``).
            DataError: The directory cannot be written; nothing is left there.
        """
        own = os.getpid()
        self._path = folder / f"ready-{own}-{start_time(own)}-{os.urandom(8).hex()}.fifo"
        with files.explain_errors(self._path), ExitStack() as undo:
            self._turn = _take_turn(folder)
            undo.callback(os.close, self._turn)
            _sweep(folder)
            undo.callback(self._remove)
            os.mkfifo(self._path, 0o600)
            _write(_beside(self._path), environ, os.O_EXCL)
            self._fd = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            undo.pop_all()

    @property
    def path(self) -> Path:
        return self._path

    def wait(self, timeout_s: float, pid: int) -> bytes | None:
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

    def set_folder(self, folder: Path) -> None:
        self._path = folder / self._path.name

    def close(self) -> None:
        """Remove the pipe and the file with the environment, and release the lock; repeatable."""
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
    """Lock the directory for this command; return a descriptor that keeps the lock until closed.

    Raises:
        BlockedError: Another command has locked it (reason ``locked``).
    """
    turn = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(turn)
        raise BlockedError(
            f"session `{folder.name}` is being resumed already, in another browser or terminal",
            reason="locked",
            hints=(f"see its status: agentmux status {folder.name}",),
        ) from None
    except OSError:
        pass  # directories cannot be locked here: only the session's lock counts
    return turn


def discard_pipes(folder: Path) -> None:
    """Remove the pipes that killed commands left in ``folder``, a session's directory.

    It does not raise. Nothing is removed while a command is starting an orchestrator there.
    """
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
    """Return the environment that a command passed to its orchestrator, and remove its file.

    ``path`` is the path of the command's pipe (`ReadyPipe.path`). None if there is no such file,
    for example because it was read before.
    """
    try:
        text = _beside(path).read_text("ascii")
        _beside(path).unlink()
    except OSError:
        return None
    environment: dict[str, str] = json.loads(text)
    return environment


def leave_environment(folder: Path, approval: str, environ: Mapping[str, str]) -> None:
    """Store the environment of the command that approved, for the orchestrator of the session.

    The file is private, and is removed when it is read. If nobody reads it, the next orchestrator
    removes it (`files.sweep`).

    Args:
        folder: The session's directory.
        approval: The id of the approval, by which `take_approval_environment` finds the
            environment.
        environ: The environment.

    Raises:
        DataError: The directory cannot be written.
    """
    path = _of_approval(folder, approval)
    with files.explain_errors(path):
        _write(path, environ, os.O_TRUNC | os.O_NOFOLLOW)


def _write(path: Path, environ: Mapping[str, str], flags: int) -> None:
    """Write ``environ``, with the umask of this process as `UMASK`, into a private file."""
    kept = os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o600)
    umask = os.umask(0o077)  # the only way to read it
    os.umask(umask)
    with os.fdopen(kept, "w", encoding="ascii") as file:
        json.dump({**environ, UMASK: f"{umask:03o}"}, file)


def take_approval_environment(folder: Path, approval: str) -> dict[str, str] | None:
    """Return the environment that `leave_environment` stored for an approval, and remove its file.

    ``folder`` is the session's directory, ``approval`` the id of the approval. None if there is no
    such file, or if it is not valid.
    """
    path = _of_approval(folder, approval)
    data = files.read_limited(path, _ENVIRONMENT_MAX)
    with suppress(OSError):
        path.unlink()
    try:
        environment: dict[str, str] = json.loads(data or b"null")
    except ValueError:
        return None
    return environment


def _of_approval(folder: Path, approval: str) -> Path:
    # A temporary name, so that `files.sweep` removes it.
    return folder / f".tmp-{approval.replace('-', '')[:16]}"


def _beside(path: Path) -> Path:
    """Return the path of the file with the environment that belongs to the pipe ``path``.

    Its name is a temporary one, so that `files.sweep` removes a file that nobody read.
    """
    return path.with_name(f".tmp-{path.stem.rpartition('-')[2]}")


def report(path: Path, data: bytes) -> None:
    """Send the report ``data`` to the command that waits on the pipe ``path``.

    There, `ReadyPipe.wait` returns ``data`` as it is, but at most 64 KiB of it. If no command is
    waiting, this does nothing. It does not raise.
    """
    with suppress(OSError):
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.write(fd, data[:_REPORT_MAX])
        finally:
            os.close(fd)
