"""Wakes the orchestrator through a named pipe; no call ever blocks.

A wake-up says only that something happened; the orchestrator reads the journal to see what.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.core.names import layout
from agentmux.errors import DataError

WAKE: Final = b"w\n"
"""The line that asks the orchestrator to read everything again."""

STOP: Final = b"s\n"
"""The line that asks the orchestrator to stop."""

_PIPE: Final = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK: Final = 1 << 16


def poke(folder: Path, line: bytes = WAKE) -> bool:
    """Write ``line`` to the wake-up pipe of the session in ``folder``; never block and never raise.

    ``line`` is `WAKE` or `STOP`, ``folder`` the session's directory.

    Returns:
        True if an orchestrator has the pipe open. If the pipe is full, ``line`` is dropped, but the
        lines that are already in the pipe still wake the orchestrator. False if no orchestrator
        runs for the session.
    """
    try:
        fd = os.open(folder / layout.WAKE, os.O_WRONLY | _PIPE)
    except OSError:
        return False  # ENOENT: never started; ENXIO: nobody has opened it for reading
    try:
        if not stat.S_ISFIFO(os.fstat(fd).st_mode):
            return False
        os.write(fd, line)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


class WakeFifo:
    """The orchestrator's end of the wake-up pipe in ``folder``; creates the pipe if it is missing.

    Nothing here waits: an event loop watches `fileno`, and `drain` reads when it is readable.
    ``folder`` is the session's directory. `close` leaves the pipe's file in place.

    Raises:
        DataError: The path is not a pipe, or the pipe cannot be created.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / layout.WAKE
        with files.explain_errors(path):
            with suppress(FileExistsError):
                os.mkfifo(path, files.FILE_MODE)
            # Also for writing: a pipe without a writer would be readable all the time.
            fd = os.open(path, os.O_RDWR | _PIPE)
            if not stat.S_ISFIFO(os.fstat(fd).st_mode):
                os.close(fd)
                raise DataError(
                    f"`{path}` is not a named pipe", hints=(files.move_away_hint(path),)
                )
        self._fd = fd
        self._rest = b""

    def fileno(self) -> int:
        return self._fd

    def drain(self) -> set[bytes]:
        """Empty the pipe; return its complete lines with their newlines, without repetitions.

        They are usually `WAKE` and `STOP`, but anybody may write to the pipe. Never blocks; the set
        is empty if there is nothing.
        """
        data = self._rest
        with suppress(BlockingIOError):
            while piece := os.read(self._fd, _CHUNK):
                data += piece
        lines = data.splitlines(keepends=True)
        # Anybody may write here: an unfinished line is kept for the next call, up to a limit.
        self._rest = lines.pop()[:_CHUNK] if lines and not lines[-1].endswith(b"\n") else b""
        return set(lines)

    def close(self) -> None:
        """Close this end; from then on `poke` returns False."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
