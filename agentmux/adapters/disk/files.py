"""Durable writes, moves that are safe to repeat, and guarded reads.

Durable means: written to a temporary file in the same directory, flushed to the disk, renamed, and
the directory flushed too. A reader sees either the old or the new content, even after a kill at any
moment or a power loss. A write that fails raises `DataError` and leaves the old file.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import shlex
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

from agentmux.errors import DataError, reason_of

if sys.platform == "darwin":
    import fcntl

FILE_MODE: Final = 0o600
DIR_MODE: Final = 0o700
SWEEP_AGE_S: Final = 60.0
"""A temporary file of this age was left by a killed writer: a write takes milliseconds."""

_CHUNK: Final = 1 << 18
_TEMPORARY = re.compile(r"\.tmp-[0-9a-f]{16}")
_CREATE: Final = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOK: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_NO_LOCKS: Final = frozenset({errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP})
_DENIED: Final = frozenset({errno.EACCES, errno.EPERM})


def replace(path: Path, data: bytes, mode: int = FILE_MODE) -> None:
    """Write ``data`` to the file ``path`` durably and atomically; create it if it is missing.

    Its folder must exist. A link at ``path`` is replaced, not followed. ``mode`` is the permissions
    of the new file.

    Raises:
        DataError: The write failed. The old file is unchanged, unless only the flush of the
            directory failed.
    """
    with explain_errors(path):
        try:
            _replace(path, data, mode)
        except OSError as error:
            # After EIO the kernel may take unwritten pages for written: retry once, in a new file.
            if error.errno != errno.EIO:
                raise
            _replace(path, data, mode)


def write_over(path: Path, data: bytes) -> None:
    """Overwrite an existing file in place, padding ``data`` with blanks to the file's old size.

    It needs no free disk space, but is not durable, and a reader may see a half-written file. Use
    it only for files whose loss does no harm.

    Raises:
        DataError: The file does not exist, is not regular, or is smaller than ``data``.
    """
    with explain_errors(path):
        fd = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            facts = os.fstat(fd)
            if not stat.S_ISREG(facts.st_mode) or len(data) > facts.st_size:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.pwrite(fd, data.ljust(facts.st_size), 0)
        finally:
            os.close(fd)


def put(path: Path, data: bytes, *, keep: bool = False) -> bool:
    """Make sure that ``path`` durably contains ``data``; create missing directories.

    It is safe to repeat.

    Args:
        path: The file.
        data: Its content.
        keep: Whether to keep a file with other content: it is first renamed to a free name (``-2``,
            ``-3``, …). If false, it is replaced.

    Returns:
        True if the file was written; False if it had this content already.

    Raises:
        DataError: The system refuses to write the file.
    """
    if read_limited(path, len(data)) == data:
        sync_dir(path.parent)
        return False
    make_dir(path.parent)
    if keep and os.path.lexists(path):
        with explain_errors(path):
            os.rename(path, free_name(path))
    replace(path, data)
    return True


def move(source: Path, target: Path) -> Path | None:
    """Rename ``source`` to ``target``, never over another file; safe to repeat.

    If the source is missing, it counts as already moved. A directory is merged into an existing
    one. If another file has the target's name, the moved one gets ``-2``, ``-3``, … before its
    extension; if that file has the same content, the source is only removed.

    Returns:
        The path at which the content is now: ``target``, or the numbered name; None if the source
        was missing.

    Raises:
        DataError: The system refuses; the message names ``target``.
    """
    with explain_errors(target):
        if not os.path.lexists(source):
            return None
        make_dir(target.parent)
        if _is_dir(source) and _is_dir(target):
            return _merge(source, target)
        if _equal(source, target):
            os.unlink(source)
        else:
            target = free_name(target)
            os.rename(source, target)
        sync_dir(target.parent)
        sync_dir(source.parent)
        return target


def remove(path: Path) -> bool:
    """Remove a file, link or empty directory durably; return True, or False if nothing was there.

    Raises:
        DataError: It cannot be removed, for example because the directory is not empty.
    """
    with explain_errors(path):
        if not os.path.lexists(path):
            return False
        if _is_dir(path):
            os.rmdir(path)
        else:
            os.unlink(path)
        sync_dir(path.parent)
        return True


def is_folder(path: Path) -> bool:
    """Return whether ``path`` is a directory, or a link to one; False if it does not exist.

    Raises:
        OSError: The system does not let us look. (``Path.is_dir`` returns False then in Python
            3.14.)
    """
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def make_dir(path: Path) -> None:
    """Make a directory and its missing parents with mode 0700; do not change existing ones.

    Raises:
        DataError: The system refuses, or something else has the name of one of them.
    """
    if path.is_dir():
        return
    make_dir(path.parent)
    with explain_errors(path):
        try:
            os.mkdir(path, DIR_MODE)
        except FileExistsError:
            if not path.is_dir():
                raise
        sync_dir(path.parent)


def path_without_links(root: Path, path: str, *, whole: bool = False) -> Path:
    """Check that no folder of ``path``, which is below ``root``, is a link; return ``root / path``.

    Call it before writing there. The last part of ``path`` may be a link, because a write replaces
    the link by renaming. Nothing needs to exist at the path.

    Args:
        root: A directory; whether it or one of its parents is a link is not checked.
        path: A path relative to ``root``.
        whole: Whether the last part must not be a link, either.

    Raises:
        DataError: A part is a link; the message names it.
    """
    target = root / path
    parts = Path(path).parts
    for count in range(1, len(parts) + (1 if whole else 0)):
        if (place := root.joinpath(*parts[:count])).is_symlink():
            raise link_error(place)
    return target


def link_error(place: Path) -> DataError:
    """Return the error for the link at ``place`` in a session's directory, where none is allowed.

    It does not check whether a link is there, and does not raise.
    """
    return DataError(
        f"`{place}` is a link, which is not allowed in a session's directory",
        hints=(f"replace it with what it points to: ls -l {shlex.quote(str(place))}",),
    )


def move_away_hint(path: Path) -> str:
    """Return a hint with a shell command that renames the file at ``path`` to `old_name`."""
    return f"move it away: mv {shlex.quote(str(path))} {shlex.quote(old_name(path))}"


def old_name(path: Path) -> str:
    """Return a path beside ``path`` at which nothing is; the same one until something is there."""
    names = (f"{path}.old{number}" for number in ("", *range(2, 1000)))
    return next((name for name in names if not os.path.lexists(name)), f"{path}.older")


def append_only(path: Path) -> int:
    """Open a file for appending, and create it if it is missing; return the descriptor.

    The caller must close it.

    Raises:
        DataError: The path is a link or not a regular file, or cannot be written.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    if path.is_symlink():
        raise link_error(path)
    with explain_errors(path):
        fd = os.open(path, flags, FILE_MODE)
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise DataError(f"`{path}` is not a regular file", hints=(move_away_hint(path),))


def sweep_named(folder: Path, pattern: str, *, older_than_s: float) -> None:
    """Remove the files in ``folder`` that match ``pattern`` and are old enough.

    ``pattern`` is a glob relative to ``folder``, such as ``*/*.tmp``. ``older_than_s`` is the
    minimum age in seconds. Files that cannot be removed stay.
    """
    newest = time.time() - older_than_s
    for path in folder.glob(pattern):
        with suppress(OSError):
            if path.lstat().st_mtime < newest:
                path.unlink()


def sweep(folder: Path, *, older_than_s: float = SWEEP_AGE_S) -> int:
    """Remove the temporary files that killed writers left anywhere below ``folder``.

    Call it under the session's lock. Only files with a name from `temporary` that are at least
    ``older_than_s`` old are removed. Links are not followed; a file that cannot be removed stays.

    Returns:
        The number of removed files.
    """
    newest = time.time() - older_than_s
    count = 0
    for parent, _, names in os.walk(folder):
        for name in filter(_TEMPORARY.fullmatch, names):
            path = Path(parent, name)
            with suppress(OSError):
                facts = os.lstat(path)
                if stat.S_ISREG(facts.st_mode) and facts.st_mtime <= newest:
                    os.unlink(path)
                    count += 1
    return count


def read_limited(path: Path | str, limit: int) -> bytes | None:
    """Return the content of a regular file; None if it cannot be read or has over ``limit`` bytes.

    Links are not followed. Pipes, devices and sockets are not read, and cannot block this call.
    """
    try:
        return read_strict(path, limit)
    except (DataError, ValueError):
        return None


def read_strict(path: Path | str, limit: int) -> bytes | None:
    """Return the content of a regular file.

    The result is None if nothing exists at ``path``. No link is followed.

    Raises:
        ValueError: It is not a regular file, or larger than ``limit`` bytes.
        DataError: The system does not let us read it.
    """
    try:
        fd = os.open(path, _LOOK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO, errno.EMLINK}:
            raise ValueError(_NOT_REGULAR) from error
        raise unreadable(path, error) from error
    try:
        return _read_regular(fd, limit)
    except OSError as error:
        raise unreadable(path, error) from error
    finally:
        os.close(fd)


@contextmanager
def opened_regular(path: Path) -> Iterator[IO[bytes]]:
    """Open a regular file of any size for a ``with`` block; a link is not followed.

    Use it to read a file in parts.

    Raises:
        OSError: The file cannot be opened, or is not regular. Pipes and devices do not block the
            call.
    """
    with os.fdopen(os.open(path, _LOOK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise FileNotFoundError(path)
        yield file


def end_of_lines(fd: int, size: int) -> int:
    """Return the offset after the last newline in the first ``size`` bytes of the open file ``fd``.

    The result is 0 if there is no newline.
    """
    end = size
    while end:
        start = max(0, end - _CHUNK)
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def json_bytes(fields: Mapping[str, Any], *, indent: int | None = 2) -> bytes:
    r"""Encode ``fields`` as JSON in ASCII with sorted keys and a final ``\n``.

    Equal fields give equal bytes. If ``indent`` is None, the result is a single line.

    Raises:
        ValueError: A number is NaN or infinite.
    """
    separators = None if indent else (",", ":")
    text = json.dumps(
        dict(fields), allow_nan=False, indent=indent, separators=separators, sort_keys=True
    )
    return text.encode("ascii") + b"\n"


def json_fields(data: bytes) -> dict[str, Any]:
    """Decode one JSON object strictly: UTF-8, no duplicate keys, no NaN, no number out of range.

    Raises:
        ValueError: The data is not such an object, or is nested too deeply; the message says why.
    """
    try:
        fields = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except RecursionError:
        msg = "nested too deeply"
        raise ValueError(msg) from None
    if not isinstance(fields, dict):
        msg = "not a JSON object"
        raise ValueError(msg)  # noqa: TRY004 (callers handle one kind of error)
    return fields


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turn an `OSError` in the ``with`` block into a `DataError` that says why.

    ``path`` is what the block writes; the error names it.
    """
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error


def unreadable(path: Path | str, error: OSError) -> DataError:
    """Return the `DataError` for a file that the system does not let us read, with a hint.

    It checks nothing and does not raise; ``error`` is what the failed call raised.
    """
    reason = reason_of(error)
    return DataError(
        f"cannot read `{path}`: {reason}",
        hints=(f"see who owns it: ls -l {shlex.quote(str(path))}",),
    )


def sync(fd: int) -> None:
    """Flush a file to the disk and, where the system allows it, out of the drive's own cache.

    Raises:
        OSError: The flush failed.
    """
    if sys.platform == "darwin":
        # On macOS fsync leaves the data in the drive's cache: man 2 fsync.
        with suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            return
    os.fsync(fd)


def sync_dir(folder: Path) -> None:
    """Flush a directory to the disk, so that renames and new files in it survive a power loss.

    Raises:
        DataError: The flush failed.
    """
    with explain_errors(folder):
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes to ``fd``; a single call of ``os.write`` may write fewer."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def temporary(folder: Path) -> Path:
    """Return a path with a new random name for a temporary file in ``folder``; create nothing.

    A file with such a name is one that `sweep` removes.
    """
    return folder / f".tmp-{os.urandom(8).hex()}"


def free_name(path: Path) -> Path:
    """Return ``path`` if nothing is there, else the first free name (``-2``, ``-3``, …).

    The number is put before the extension.
    """
    count, free = 1, path
    # The last dot of ``state.json.corrupt-20260101T101500Z`` does not begin an extension.
    stem, suffix = (path.name, "") if "-" in path.suffix else (path.stem, path.suffix)
    while os.path.lexists(free):
        count += 1
        free = path.with_name(f"{stem}-{count}{suffix}")
    return free


_NOT_REGULAR: Final = "not a regular file"


def _replace(path: Path, data: bytes, mode: int) -> None:
    temp = temporary(path.parent)
    try:
        _write_new(temp, data, mode)
        os.replace(temp, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temp)
        raise
    sync_dir(path.parent)


def _write_new(path: Path, data: bytes, mode: int) -> None:
    fd = os.open(path, _CREATE, mode)
    try:
        write_all(fd, data)
        sync(fd)
    except BaseException:
        with suppress(OSError):
            os.close(fd)
        raise
    os.close(fd)  # may report a late error of a network drive


def _read_regular(fd: int, limit: int) -> bytes:
    facts = os.fstat(fd)
    if not stat.S_ISREG(facts.st_mode):
        raise ValueError(_NOT_REGULAR)
    pieces: list[bytes] = []
    left = limit + 1 if facts.st_size <= limit else 0
    most = min(_CHUNK, facts.st_size + 1)  # a whole chunk is slow to allocate
    while left and (piece := os.read(fd, min(left, most))):
        pieces.append(piece)
        left -= len(piece)
        if len(piece) == facts.st_size < most:  # the buffer had room for more, so this is the end
            break
    if not left:
        msg = f"larger than {limit} bytes"
        raise ValueError(msg)
    return b"".join(pieces)


def _merge(source: Path, target: Path) -> Path:
    for child in sorted(source.iterdir()):
        move(child, target / child.name)
    remove(source)
    return target


def _equal(source: Path, target: Path) -> bool:
    """Return whether both are names of one file, or regular files with the same content."""
    if not _is_regular(source) or not _is_regular(target):
        return False
    first, second = os.lstat(source), os.lstat(target)
    if os.path.samestat(first, second):
        return True
    size = first.st_size
    return size == second.st_size and read_limited(source, size) == read_limited(target, size)


def _is_dir(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        msg = "a key appears twice"
        raise ValueError(msg)
    return fields


def _no_constant(name: str) -> float:
    msg = f"{name} is not a JSON number"
    raise ValueError(msg)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        msg = "a number is out of range"
        raise ValueError(msg)
    return number


def _volume(path: Path) -> Path:
    """Return the mount point of the file system that contains ``path``.

    If the system does not let us find it, return a folder on the way to it, or ``path`` itself.
    """
    folder = path.absolute()
    with suppress(OSError):
        while not folder.is_dir():
            folder = folder.parent
        while is_read_only(folder) and is_read_only(folder.parent) and folder != folder.parent:
            folder = folder.parent  # a part of a volume may be mounted read-only
        if is_read_only(folder):
            return folder
        device = folder.stat().st_dev
        while folder != folder.parent and folder.parent.stat().st_dev == device:
            folder = folder.parent
    return folder


def is_read_only(folder: Path) -> bool:
    """Return whether the file system that contains ``folder`` is mounted read-only.

    Raises:
        OSError: ``folder`` does not exist, or the system does not let us look.
    """
    return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def require_writable(folder: Path, path: Path) -> None:
    """Check that files can be created in and deleted from ``folder``; this changes nothing.

    Args:
        folder: An existing folder.
        path: What is to be written, for the message.

    Raises:
        DataError: The system does not let us; the hint suits the cause.
    """
    if not os.access(folder, os.W_OK | os.X_OK):
        reason = errno.EROFS if is_read_only(folder) else errno.EACCES
        raise unwritable(path, OSError(reason, os.strerror(reason)))


def unwritable(path: Path, error: OSError) -> DataError:
    """Return the `DataError` for a file that cannot be written; its hint suits the cause.

    It does not raise; ``error`` is what the failed call raised. A cause that is not known gets no
    hint.
    """
    reason = reason_of(error)
    volume = _volume(path)
    message = f"cannot write `{path}` on the volume `{volume}`: {reason}"
    place, folder = shlex.quote(str(volume)), shlex.quote(str(path.parent))
    if error.errno in _FULL:
        return DataError(message, hints=(f"free some space there, then try again: df -h {place}",))
    if error.errno in _DENIED:
        return DataError(message, hints=(f"see who owns it: ls -ld {folder}",))
    if error.errno == errno.EROFS:
        return DataError(message, hints=(f"mount it writable: mount -o remount,rw {place}",))
    if error.errno in _NO_LOCKS:
        return DataError(message, hints=("keep the project on a local disk, not a network drive",))
    if error.errno == errno.EFBIG:
        return DataError(message, hints=("raise the limit on file sizes: ulimit -f",))
    return DataError(message)
