"""The journal of a session: append-only lines, one JSON object each, read from an offset.

A line counts once its newline is there. What stands behind the last newline was never
acknowledged: readers leave it alone, the next writer cuts it off and keeps it aside. Offsets are
bytes from the start of the file and always fall between two lines.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from agentmux.adapters.disk import files
from agentmux.core.codec.frozen import dataclass
from agentmux.errors import BlockedError, DataError

LINE_MAX: Final = 8 << 20
"""Bytes of one line, newline included. A request has up to 1 MB, each of which may take six."""

LOCK_WAIT_S: Final = 10.0
"""The lock is held for milliseconds: who waits this long waits for a process that was stopped."""

_POLL_S: Final = 0.002
_CHUNK: Final = 1 << 18
_SHARED: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class JournalLine:
    """One whole line.

    Attributes:
        start: Offset of its first byte.
        end: Offset behind its newline.
        raw: Without the newline. Of a line over `LINE_MAX` only the beginning, just long enough
            for `parse_line` to turn it down.
    """

    start: int
    end: int
    raw: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """What stands behind an offset.

    Attributes:
        end: Offset behind the last whole line.
        torn: What follows there without a newline; at most `LINE_MAX` bytes of it.
    """

    lines: tuple[JournalLine, ...]
    end: int
    torn: bytes


def parse_line(raw: bytes) -> dict[str, Any] | None:
    """Decode one line; None when it is not one strict JSON object of bearable size."""
    if len(raw) >= LINE_MAX:
        return None
    try:
        return files.json_fields(raw)
    except ValueError:
        return None


class FileJournal:
    """The journal at one path. Holds no file open between calls."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        """Whether anything is at the path."""
        return os.path.lexists(self.path)

    def create(self, *lines: Mapping[str, Any]) -> int:
        """Make the journal whole with its first lines, in one step.

        Returns:
            The offset behind them.

        Raises:
            DataError: There is one already, or it cannot be written.
        """
        if self.exists():
            raise DataError(f"there is a journal already: `{self.path}`")
        data = b"".join(encode_line(fields) for fields in lines)
        files.replace(self.path, data)
        return len(data)

    def read(self, offset: int = 0) -> Tail:
        """Return what stands behind ``offset``, without a lock; a missing journal is empty at 0.

        A line read here may not be on the disk yet: apply only what `exclusive` reads.

        Raises:
            DataError: Shorter than ``offset``, not cut between lines there, or not readable.
        """
        try:
            fd = self._open(os.O_RDONLY)
        except FileNotFoundError:
            if offset:
                raise _missing(self.path) from None
            return Tail(lines=(), end=0, torn=b"")
        try:
            return _read(self.path, fd, offset)
        finally:
            os.close(fd)

    def first(self) -> JournalLine | None:
        """Return the first line alone, which says whose journal this is; None without one."""
        try:
            fd = self._open(os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            head = b""
            while b"\n" not in head and len(head) <= LINE_MAX:
                piece = _pread(self.path, fd, _CHUNK, len(head))
                if not piece:
                    return None
                head += piece
        finally:
            os.close(fd)
        raw, newline, _ = head.partition(b"\n")
        return JournalLine(0, len(raw) + 1, raw) if newline else None

    @contextmanager
    def exclusive(self, *, wait_s: float = LOCK_WAIT_S) -> Iterator[HeldJournal]:
        """Keep every other writer out; for milliseconds only, and never inside itself.

        Raises:
            DataError: There is no journal, or it cannot be opened for writing.
            BlockedError: Another process held it for ``wait_s`` seconds.
        """
        fd = self._open_locked(wait_s)
        try:
            yield HeldJournal(self.path, fd)
        finally:
            os.close(fd)  # frees the lock

    def append(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Append one line, durably.

        Returns:
            Its first offset and the one behind it.
        """
        with self.exclusive() as held:
            return held.append(fields)

    def _open_locked(self, wait_s: float) -> int:
        deadline = time.monotonic() + wait_s
        while True:
            try:
                fd = self._open(os.O_RDWR | os.O_APPEND)
            except FileNotFoundError:
                raise _missing(self.path) from None
            try:
                _lock(self.path, fd, deadline)
                if self._is_current(fd):
                    return fd
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)  # the path was given another file while we waited

    def _open(self, flags: int) -> int:
        try:
            fd = os.open(self.path, flags | _SHARED)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _unusable(self.path, error) from error
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
        raise DataError(f"the journal `{self.path}` is not a regular file")

    def _is_current(self, fd: int) -> bool:
        try:
            return os.path.samestat(os.fstat(fd), os.lstat(self.path))
        except FileNotFoundError:
            return False


class HeldJournal:
    """The journal while its lock is held."""

    def __init__(self, path: Path, fd: int) -> None:
        self._path = path
        self._fd = fd

    def read(self, offset: int = 0) -> Tail:
        """Return what stands behind ``offset``; all of it has reached the disk.

        Raises:
            DataError: Shorter than ``offset``, not cut between lines there, or not readable.
        """
        with files.explained(self._path):
            files.sync(self._fd)  # a writer may have been killed between its write and its flush
        return _read(self._path, self._fd, offset)

    def append(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Append one line; when this returns, it is on the disk.

        Returns:
            Its first offset and the one behind it.

        Raises:
            DataError: The line is too long, or nothing was written for lack of space or right.
        """
        data = encode_line(fields)
        self.cut_torn()
        with files.explained(self._path):
            start = os.fstat(self._fd).st_size
            try:
                _write_whole(self._fd, data)
                files.sync(self._fd)
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(self._fd, start)
                raise
        return start, start + len(data)

    def cut_torn(self) -> Path | None:
        """Cut off what stands behind the last newline.

        Returns:
            The file that keeps it (``tool_events.torn-<UTC time>``); None if nothing was torn.
        """
        with files.explained(self._path):
            size = os.fstat(self._fd).st_size
            end = files.end_of_lines(self._fd, size)
            if end == size:
                return None
            kept = self._keep(end, size)
            os.ftruncate(self._fd, end)
            files.sync(self._fd)
            return kept

    def _keep(self, start: int, end: int) -> Path:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        kept = files.free_name(self._path.with_name(f"{self._path.stem}.torn-{stamp}"))
        fd = os.open(kept, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _SHARED, files.FILE_MODE)
        try:
            while start < end and (piece := os.pread(self._fd, min(_CHUNK, end - start), start)):
                files.write_all(fd, piece)
                start += len(piece)
            files.sync(fd)
        finally:
            os.close(fd)
        files.sync_dir(kept.parent)
        return kept


def encode_line(fields: Mapping[str, Any]) -> bytes:
    """Encode one line, keys in the order given, ASCII only, with its newline.

    Raises:
        DataError: Longer than `LINE_MAX`.
    """
    text = json.dumps(dict(fields), allow_nan=False, separators=(",", ":"))
    data = text.encode("ascii") + b"\n"
    if len(data) > LINE_MAX:
        raise DataError(f"an event of {len(data)} bytes is too long: the limit is {LINE_MAX}")
    return data


def _write_whole(fd: int, data: bytes) -> None:
    """Write in one call: only then do other writers' lines never come between."""
    if os.write(fd, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _lock(path: Path, fd: int, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                message = f"another process holds the journal `{path}`"
                hint = f"see which: fuser -v {path}"
                raise BlockedError(message, reason="locked", hints=(hint,)) from None
            time.sleep(_POLL_S)  # noqa: TID251 (flock has no wait with a limit)
        except OSError as error:
            raise _unusable(path, error) from error
        else:
            return


def _read(path: Path, fd: int, offset: int) -> Tail:
    size = os.fstat(fd).st_size
    if offset > size:
        raise DataError(
            f"the journal `{path}` has {size} bytes, but {offset} were applied: "
            "it was replaced or cut"
        )
    if offset < 0 or (offset and _pread(path, fd, 1, offset - 1) != b"\n"):
        raise DataError(f"the journal `{path}` has no end of a line at {offset}: it was replaced")
    return _scan(path, fd, offset)


def _scan(path: Path, fd: int, offset: int) -> Tail:
    """Split at newlines, in pieces: a line without end takes no more memory than a long one."""
    lines: list[JournalLine] = []
    start = at = offset
    head = b""
    while piece := _pread(path, fd, _CHUNK, at):
        begin = 0
        while (newline := piece.find(b"\n", begin)) >= 0:
            end = at + newline + 1
            lines.append(JournalLine(start, end, (head + piece[begin:newline])[:LINE_MAX]))
            start, begin, head = end, newline + 1, b""
        if len(head) < LINE_MAX:
            head = (head + piece[begin:])[:LINE_MAX]
        at += len(piece)
    return Tail(lines=tuple(lines), end=start, torn=head)


def _pread(path: Path, fd: int, count: int, offset: int) -> bytes:
    try:
        return os.pread(fd, count, offset)
    except OSError as error:
        raise _unusable(path, error) from error


def _missing(path: Path) -> DataError:
    return DataError(f"the journal `{path}` is missing")


def _unusable(path: Path, error: OSError) -> DataError:
    reason = (error.strerror or str(error)).lower()
    return DataError(
        f"cannot open the journal `{path}`: {reason}", hints=(f"see who owns it: ls -l {path}",)
    )
