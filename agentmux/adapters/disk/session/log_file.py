"""Reads a log that another process writes: its last lines, then the lines added since."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files

_CHUNK: Final = 1 << 16
_MOST: Final = 64 << 20
"""The maximum number of bytes, at the file's end, in which `LogFile.last` looks for lines."""

_LOOK: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class LogFile:
    """Reads the log at ``path``: `last` returns its last lines, `more` those added since.

    The file may be missing, and may be created or truncated between two calls.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def last(self, count: int) -> list[str]:
        """Return the last ``count`` complete lines; `more` continues after them.

        The lines have no newline. There are fewer if the log has fewer; none if there is no file.

        Raises:
            DataError: The system does not let us read the file.
        """
        fd = self._open()
        if fd < 0:
            return []
        try:
            end = files.end_of_lines(fd, os.fstat(fd).st_size)
            self._offset = end
            return _split(_last_lines(fd, end, count))
        finally:
            os.close(fd)

    def more(self) -> list[str]:
        """Return the complete lines added since the last call of `last` or `more`.

        If neither was called before, all lines are returned. The list is empty if there are none,
        or no file. If the file has become shorter, it was truncated: all of its lines are returned.

        Raises:
            DataError: The system does not let us read the file.
        """
        fd = self._open()
        if fd < 0:
            return []
        try:
            size = os.fstat(fd).st_size
            begin = self._offset if self._offset <= size else 0
            end = max(begin, files.end_of_lines(fd, size))
            self._offset = end
            return _split(os.pread(fd, end - begin, begin))
        finally:
            os.close(fd)

    def _open(self) -> int:
        """Return a descriptor for reading; -1 if there is no regular file at the path."""
        try:
            fd = os.open(self._path, _LOOK)
        except FileNotFoundError:
            return -1
        except OSError as error:
            raise files.unreadable(self._path, error) from error
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
        return -1


def _last_lines(fd: int, end: int, count: int) -> bytes:
    """Return the last ``count`` lines before the offset ``end``, which is the end of a line."""
    start, data = end, b""
    while start and data.count(b"\n") <= count and len(data) < _MOST:
        begin = max(0, start - _CHUNK)
        data = os.pread(fd, start - begin, begin) + data
        start = begin
    lines = data.splitlines(keepends=True)
    return b"".join(lines[-count:]) if count else b""


def _split(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").splitlines()
