"""The file of an exported session: a tar file, written atomically and read as untrusted input."""

from __future__ import annotations

import errno
import fcntl
import glob
import io
import os
import stat
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from agentmux.adapters.disk import files
from agentmux.adapters.disk.session.journal import encode_line, parse_line
from agentmux.core.codec.digests import sha256
from agentmux.core.journal.events import VERSION, Event, encode, parse
from agentmux.core.moving import manifest as form
from agentmux.core.moving.manifest import BUNDLE, INSIDE, MANIFEST, Manifest, Member
from agentmux.core.names import layout
from agentmux.errors import DataError, NotFoundError, UsageError
from agentmux.ports.session.moving import Packed

_PIECE: Final = 1 << 20
_PART: Final = ".part"
_CREATE: Final = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
_BROKEN: Final = (tarfile.TarError, ValueError, OverflowError, EOFError, RecursionError)


# -- writing -------------------------------------------------------------------------------------


def members(home: Path) -> tuple[tuple[Member, ...], tuple[str, ...]]:
    """Return the manifest's entries of the files to export, and the paths of files left behind.

    ``home`` is the session's directory; paths are relative to it. A file is left behind if it is a
    link, is too large, cannot be read, or has a name that an import would refuse. Neither result
    has the journal, which is exported from its events, the other files directly in ``home`` except
    ``requirements.md``, temporary files, and the folders in `manifest.NOT_EXPORTED`.
    """
    packed_files: list[Member] = []
    left: list[str] = []
    for path in _list_files(home):
        if path == layout.JOURNAL:
            continue
        data = (
            files.read_limited(home / path, form.FILE_MAX) if form.is_exported_path(path) else None
        )
        if data is None:
            left.append(path)
        else:
            packed_files.append(make_member(path, data))
    return tuple(packed_files), tuple(left)


def _list_files(home: Path) -> Iterator[str]:
    """Yield the paths of the session's files that an export considers, relative to ``home``."""
    for top in sorted(home.iterdir()):
        name = top.name
        if not top.is_dir() or top.is_symlink():
            if name in form.FILES:
                yield name
            continue
        if name.startswith(".") or name in form.NOT_EXPORTED:
            continue
        for folder, folders, names in os.walk(top):
            folders.sort()
            links = [each for each in folders if Path(folder, each).is_symlink()]
            for each in sorted((*names, *links)):
                if not each.startswith(".tmp-"):
                    yield str(Path(folder, each).relative_to(home))


def make_member(path: str, data: bytes) -> Member:
    """Return the entry of the manifest for a file: its path, size and SHA-256.

    ``path`` is relative to the session's directory; ``data`` is the file's content.
    """
    return Member(path=path, size=len(data), sha256=sha256(data).hexdigest())


def bundle_digest(bundle: Path) -> tuple[str, int]:
    """Return the SHA-256 of the git bundle in the file ``bundle``, in hex, and its size in bytes.

    Raises:
        OSError: The file cannot be read.
    """
    digest, size = sha256(), 0
    with bundle.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    return digest.hexdigest(), size


def journal(events: Iterable[Event]) -> bytes:
    """Return the content of a journal file with these events, one line for each; writes nothing."""
    return b"".join(encode_line(encode(each, VERSION)) for each in events)


def require_free(target: Path, *, force: bool) -> None:
    """Check that the file ``target`` may be written; with ``force``, it may replace a file.

    Raises:
        UsageError: A file exists and ``force`` is false, or the target is a directory, or its
            parent directory does not exist.
    """
    if not target.parent.is_dir():
        raise UsageError(f"there is no directory {target.parent}")
    if target.is_dir() or (os.path.lexists(target) and not force):
        raise _make_taken_error(target)


def write(target: Path, packed: Packed, *, force: bool) -> str:
    """Write an exported session to ``target``: to a temporary file first, which is verified.

    Args:
        target: The file to write.
        packed: The content: the manifest, the session's directory, the journal and the bundle.
        force: Whether to replace an existing file.

    Returns:
        The SHA-256 of the manifest, in hex.

    Raises:
        UsageError: ``target`` is not free; see `require_free`.
        DataError: The file cannot be written, or a file of the session changed meanwhile.
    """
    require_free(target, force=force)
    part = target.with_name(f".{target.name}.{os.urandom(8).hex()}{_PART}")
    with files.explain_errors(target), ExitStack() as undo:
        fd = os.open(part, _CREATE, files.FILE_MODE)
        undo.callback(_drop, part)
        with os.fdopen(fd, "r+b") as file:
            fcntl.flock(fd, fcntl.LOCK_EX)  # a file that a killed export left has no lock
            _fill(file, packed)
            file.flush()
            files.sync(fd)
            with open_archive(part) as archive:
                archive.verify()
                digest = archive.digest
            _publish(part, target, force=force)
        files.sync_dir(target.parent)
    return digest


def _make_taken_error(target: Path) -> UsageError:
    if target.is_dir():
        return UsageError(f"{target} is a directory: name a file in it")
    return UsageError(
        f"{target} exists already", hints=("choose another file, or replace it: --force",)
    )


def _drop(part: Path) -> None:
    with suppress(OSError):
        os.unlink(part)


def sweep(target: Path) -> None:
    """Remove the temporary files that killed exports to ``target`` left beside it."""
    for path in target.parent.glob(f".{glob.escape(target.name)}.*{_PART}"):
        with suppress(OSError), path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)


def _publish(part: Path, target: Path, *, force: bool) -> None:
    if force:
        os.replace(part, target)
        return
    try:
        os.link(part, target)
    except FileExistsError:
        raise _make_taken_error(target) from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.replace(part, target)  # a file system without links; another export could be faster


def _fill(file: IO[bytes], packed: Packed) -> None:
    manifest = packed.manifest
    with tarfile.open(fileobj=file, mode="w:", format=tarfile.PAX_FORMAT) as tar:
        _add(tar, MANIFEST, files.json_bytes(form.encode(manifest)))
        for each in manifest.members:
            if each.path == layout.JOURNAL:
                _add(tar, f"{INSIDE}{each.path}", packed.journal)
                continue
            data = files.read_strict(packed.home / each.path, form.FILE_MAX)
            if data is None or make_member(each.path, data) != each:
                raise DataError(f"`{each.path}` changed while it was exported: try again")
            _add(tar, f"{INSIDE}{each.path}", data)
        if packed.bundle is not None:
            with packed.bundle.open("rb") as content:
                tar.addfile(_entry(BUNDLE, manifest.bundle_size), content)


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    tar.addfile(_entry(name, len(data)), io.BytesIO(data))


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, files.FILE_MODE
    return entry


def delete(path: Path) -> None:
    """Remove a file; do nothing if it does not exist.

    Raises:
        DataError: It cannot be removed.
    """
    files.remove(path)


# -- reading -------------------------------------------------------------------------------------


@contextmanager
def open_archive(path: Path) -> Iterator[OpenArchive]:
    """Open an exported session for a ``with`` block.

    Raises:
        NotFoundError: There is no such file.
        DataError: The file cannot be read, or does not begin with a valid manifest.
    """
    try:
        fd = os.open(path, _READ)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(f"there is no file {path}") from None
    except OSError as error:
        raise files.unreadable(path, error) from error
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise DataError(f"{path} is not a regular file")
        with os.fdopen(fd, "rb", closefd=False) as file:
            yield OpenArchive(path, file)
    finally:
        os.close(fd)


class OpenArchive:
    """An exported session whose file is open.

    `verify` checks the whole file, `events` returns the events of its journal, and `unpack` writes
    its other files.

    Attributes:
        manifest: The list of its members.
        digest: The SHA-256 of the manifest, in hex.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        """Read the manifest at the beginning of ``file``; ``path`` is its name in errors.

        Raises:
            DataError: The manifest is missing, is not valid, or is from a newer version.
        """
        self._path = path
        self._file = file
        name, data = next(self._entries(lambda entry: entry.size <= form.MANIFEST_MAX), ("", b""))
        if name != MANIFEST:
            raise self._broken("it does not begin with a manifest")
        try:
            fields = files.json_fields(data)
        except ValueError as error:
            raise self._broken(str(error)) from None
        self.digest = sha256(data).hexdigest()
        try:
            self.manifest: Manifest = form.decode(fields)
        except DataError as error:
            raise self._broken(error.message, error.hints) from error

    def verify(self) -> None:
        self._walk(lambda _: None)

    def events(self) -> tuple[Event, ...]:
        kept = io.BytesIO()
        kept.close = lambda: None  # type: ignore[method-assign]  # it is read after it was closed
        self._walk(lambda name: kept if name == f"{INSIDE}{layout.JOURNAL}" else None)
        facts = []
        for line in kept.getvalue().splitlines():
            fields = parse_line(line)
            if fields is None:
                raise self._broken("its journal is damaged")
            try:
                facts.append(parse(fields))
            except DataError as error:
                raise self._broken(error.message, error.hints) from error
        return tuple(facts)

    def unpack(self, home: Path, bundle: Path) -> None:
        def place(name: str) -> IO[bytes] | None:
            if name == f"{INSIDE}{layout.JOURNAL}":
                return None
            path = bundle if name == BUNDLE else home / name.removeprefix(INSIDE)
            files.make_dir(path.parent)
            with files.explain_errors(path):
                return os.fdopen(os.open(path, _CREATE, files.FILE_MODE), "wb")

        with files.explain_errors(home):
            self._walk(place)

    def _walk(self, place: Callable[[str], IO[bytes] | None]) -> None:
        left = dict(self._list_expected())
        for count, (entry, content) in enumerate(self._each()):
            if not count:
                continue  # the first entry is the manifest
            wanted = left.pop(entry.name, None)
            if wanted is None or entry.size != wanted.size:
                raise self._broken(f"{entry.name[:80]!r} is not what the manifest lists")
            self._copy_and_check(content, wanted, place(entry.name))
        if left:
            raise self._broken(f"{min(left)!r} is missing")

    def _list_expected(self) -> Mapping[str, Member]:
        entries = {f"{INSIDE}{each.path}": each for each in self.manifest.members}
        if self.manifest.bundle:
            bundle = self.manifest
            entries[BUNDLE] = Member(path=BUNDLE, size=bundle.bundle_size, sha256=bundle.bundle)
        return entries

    def _copy_and_check(self, content: IO[bytes], wanted: Member, target: IO[bytes] | None) -> None:
        digest, left = sha256(), wanted.size
        with target or io.BytesIO() as sink:
            while left and (piece := self._read(content, min(left, _PIECE))):
                digest.update(piece)
                left -= len(piece)
                if target is not None:
                    sink.write(piece)
        if left or digest.hexdigest() != wanted.sha256:
            raise self._broken(f"{wanted.path!r} is damaged")

    def _entries(self, accepts: Callable[[tarfile.TarInfo], bool]) -> Iterator[tuple[str, bytes]]:
        for entry, content in self._each():
            if not accepts(entry):
                raise self._broken(f"{entry.name[:80]!r} is too large")
            yield entry.name, self._read(content, entry.size)

    def _each(self) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
        """Yield each entry with its content; only regular files are accepted.

        Raises:
            DataError: The file is not a tar file, is cut off, or has too many entries, links or
                devices.
        """
        try:
            self._file.seek(0)
            with tarfile.open(fileobj=self._file, mode="r:") as tar:
                for count, entry in enumerate(iter(tar.next, None)):
                    plain = entry.type in {tarfile.REGTYPE, tarfile.AREGTYPE}
                    if not plain or entry.issparse() or count > form.MEMBERS_MAX + 1:
                        raise self._broken(f"{entry.name[:80]!r} is no plain file")
                    # Not kept in memory: there may be many.
                    tar.members = []  # type: ignore[attr-defined]  # typeshed lacks it
                    content = tar.extractfile(entry)
                    if content is not None:
                        yield entry, content
        except _BROKEN as error:
            raise self._unreadable(error) from None
        except OSError as error:
            raise files.unreadable(self._path, error) from error

    def _read(self, content: IO[bytes], size: int) -> bytes:
        try:
            return content.read(size)
        except _BROKEN as error:
            raise self._unreadable(error) from None
        except OSError as error:
            raise files.unreadable(self._path, error) from error

    def _unreadable(self, error: Exception) -> DataError:
        return self._broken(str(error)[:200] or type(error).__name__)

    def _broken(self, why: str, hints: tuple[str, ...] = ()) -> DataError:
        return DataError(f"{self._path} is not a whole exported session: {why}", hints=hints)
