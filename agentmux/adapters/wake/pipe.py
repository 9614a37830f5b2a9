"""Waking the orchestrator: one byte line through a named pipe, never waiting.

A wake carries no news: what it means is always read again from the journal.
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
"""Read everything again."""

STOP: Final = b"s\n"
"""A stop was asked for."""

_PIPE: Final = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK: Final = 1 << 16


def poke(folder: Path, line: bytes = WAKE) -> bool:
    """Wake the orchestrator of the session in ``folder``; at once, whatever is there.

    Returns:
        Whether one is listening. A pipe that is full has a wake in it already.
    """
    try:
        fd = os.open(folder / layout.WAKE, os.O_WRONLY | _PIPE)
    except OSError:
        return False  # ENOENT: never started; ENXIO: nobody has it open
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
    """The orchestrator's end: open from construction to `close`. The pipe's file stays.

    Raises:
        DataError: Something else has the name, or the pipe cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / layout.WAKE
        with files.explained(path):
            with suppress(FileExistsError):
                os.mkfifo(path, files.FILE_MODE)
            # Also for writing: with no writer left, a pipe would be readable all the time.
            fd = os.open(path, os.O_RDWR | _PIPE)
            if not stat.S_ISFIFO(os.fstat(fd).st_mode):
                os.close(fd)
                raise DataError(f"`{path}` is not a named pipe", hints=(f"move it away: {path}",))
        self._fd = fd
        self._rest = b""

    def fileno(self) -> int:
        """Return the descriptor to wait on until it is readable."""
        return self._fd

    def drain(self) -> set[bytes]:
        """Take everything that is in the pipe, as lines with their newline; never waits."""
        data = self._rest
        with suppress(BlockingIOError):
            while piece := os.read(self._fd, _CHUNK):
                data += piece
        lines = data.splitlines(keepends=True)
        # Anybody may write here: what never ends is dropped, a short start waits for its end.
        self._rest = lines.pop()[:_CHUNK] if lines and not lines[-1].endswith(b"\n") else b""
        return set(lines)

    def close(self) -> None:
        """Stop listening; from here on `poke` says that nobody does."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
