"""The journal of a session: an append-only file with one JSON object per line.

A line counts once its newline is written. Bytes after the last newline belong to an append that
never finished: readers ignore them, and the next writer moves them to a file of their own. Offsets
count bytes from the start of the file; a valid offset is always the start or the end of a line.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from agentmux.adapters.disk import files
from agentmux.adapters.system.polling import lock_within
from agentmux.core.codec.frozen import dataclass
from agentmux.errors import BlockedError, DataError, reason_of

LINE_MAX: Final = 8 << 20
"""The size limit of a line with its newline, in bytes. A user's request of 1 MB must fit into a
line, and JSON may need six bytes for each of its bytes."""

LOCK_WAIT_S: Final = 10.0
"""Seconds to wait for the journal's lock. Writers hold it for milliseconds: after this time, its
holder was probably stopped (SIGSTOP)."""

_POLL_S: Final = 0.002
_CHUNK: Final = 1 << 18
_SHARED: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class JournalLine:
    """One complete line of a journal.

    Attributes:
        start: The offset of its first byte.
        end: The offset after its newline.
        raw: The line without its newline. If the line is longer than `LINE_MAX`, this is only
            its beginning, which `parse_line` rejects.
    """

    start: int
    end: int
    raw: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """The content of a journal after an offset.

    Attributes:
        lines: The complete lines, each with its offsets and its bytes, not parsed yet.
        end: The offset after the last complete line.
        torn: The bytes of an incomplete line after ``end``, at most `LINE_MAX`; usually empty.
    """

    lines: tuple[JournalLine, ...]
    end: int
    torn: bytes


def parse_line(raw: bytes) -> dict[str, Any] | None:
    """Return the fields of a line (without its newline).

    None if it is too long or not a strict JSON object.
    """
    if len(raw) >= LINE_MAX:
        return None
    try:
        return files.json_fields(raw)
    except ValueError:
        return None


class FileJournal:
    """The journal in the file ``path``: one JSON object per event. Each method opens the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        """Return whether anything exists at the path, including a broken link."""
        return os.path.lexists(self.path)

    def create(self, *lines: Mapping[str, Any]) -> int:
        """Create the journal with its first lines, atomically.

        Each of ``lines`` is a mapping that becomes one line of JSON.

        Returns:
            The offset after these lines.

        Raises:
            DataError: A journal exists already, or it cannot be written.
        """
        if self.exists():
            raise DataError(f"a journal exists already: `{self.path}`")
        data = b"".join(encode_line(fields) for fields in lines)
        files.replace(self.path, data)
        return len(data)

    def read(self, offset: int = 0) -> Tail:
        """Return the content after ``offset``, without a lock; a missing journal counts as empty.

        A line that is read here may not be on the disk yet, and a power loss may undo it: apply
        only lines that were read under the lock, in `exclusive`.

        Args:
            offset: A byte offset from the start of the file: 0, or the ``end`` of a line that was
                read before.

        Raises:
            DataError: The journal is shorter than ``offset``, has no line end there, or cannot be
                read.
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
        """Return the first line, which identifies the journal.

        The result is None if the journal is missing, or has no complete line.

        Raises:
            DataError: The journal cannot be read.
        """
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
        """Lock the journal against other writers for the ``with`` block; yield the locked journal.

        Keep it locked for milliseconds only. Do not call this again inside the block: the call
        would wait for itself.

        Raises:
            DataError: There is no journal, or it cannot be opened for writing.
            BlockedError: Another process kept it locked for ``wait_s`` seconds.
        """
        fd = self._open_locked(wait_s)
        try:
            yield HeldJournal(self.path, fd)
        finally:
            os.close(fd)  # frees the lock

    def append(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Lock the journal and append ``fields`` as one line of JSON, durably.

        Returns:
            The offset of the line's first byte, and the offset after its newline.

        Raises:
            DataError: The journal is missing or cannot be written, or the line is too long.
            BlockedError: Another process kept the journal locked for `LOCK_WAIT_S`.
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
            os.close(fd)  # another file was renamed to the path while we waited

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
    """A journal that this process has locked; `FileJournal.exclusive` provides it."""

    def __init__(self, path: Path, fd: int) -> None:
        self._path = path
        self._fd = fd

    def read(self, offset: int = 0) -> Tail:
        """Flush the journal to the disk, then return its content after ``offset``.

        Raises:
            DataError: The journal is shorter than ``offset``, has no line end there, or cannot be
                read.
        """
        with files.explain_errors(self._path):
            files.sync(self._fd)  # a writer may have been killed between its write and its flush
        return _read(self._path, self._fd, offset)

    def append(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Append ``fields`` as one line of JSON; when this returns, the line is on the disk.

        An incomplete line at the end of the journal is moved away first (`cut_torn`).

        Returns:
            The offset of the line's first byte, and the offset after its newline.

        Raises:
            DataError: The line is too long, or cannot be written; it is not in the journal.
        """
        data = encode_line(fields)
        self.cut_torn()
        with files.explain_errors(self._path):
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
        """Move the bytes after the last newline, if any, to a file of their own.

        Returns:
            The path of that file (``tool_events.torn-<UTC time>``); None if there were no such
            bytes.
        """
        with files.explain_errors(self._path):
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
    """Encode one line with its newline, in ASCII, with the keys in the given order.

    Raises:
        DataError: The line is longer than `LINE_MAX`.
        ValueError: A number is NaN or infinite.
    """
    text = json.dumps(dict(fields), allow_nan=False, separators=(",", ":"))
    data = text.encode("ascii") + b"\n"
    if len(data) > LINE_MAX:
        raise DataError(f"an event of {len(data)} bytes is too long: the limit is {LINE_MAX}")
    return data


def _write_whole(fd: int, data: bytes) -> None:
    """Write all bytes in a single call, so that no other writer's line comes in between.

    Raises:
        OSError: The write failed, or wrote only a part.
    """
    if os.write(fd, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _lock(path: Path, fd: int, deadline: float) -> None:
    try:
        is_ours = lock_within(fd, deadline - time.monotonic(), every_s=_POLL_S)
    except OSError as error:
        raise _unusable(path, error) from error
    if not is_ours:
        message = f"another process has locked the journal `{path}`"
        hint = f"see which: fuser -v {path}"
        raise BlockedError(message, reason="locked", hints=(hint,))


def _read(path: Path, fd: int, offset: int) -> Tail:
    size = os.fstat(fd).st_size
    if offset > size:
        raise DataError(
            f"the journal `{path}` has {size} bytes, but {offset} were applied: "
            "it was replaced or truncated"
        )
    if offset < 0 or (offset and _pread(path, fd, 1, offset - 1) != b"\n"):
        raise DataError(f"the journal `{path}` has no line end at byte {offset}: it was replaced")
    return _scan(path, fd, offset)


def _scan(path: Path, fd: int, offset: int) -> Tail:
    """Read all lines after ``offset``; of a line over `LINE_MAX` keep only the beginning."""
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
    if error.errno == errno.EROFS:
        return files.unwritable(path, error)
    reason = reason_of(error)
    return DataError(
        f"cannot open the journal `{path}`: {reason}", hints=(f"see who owns it: ls -l {path}",)
    )
