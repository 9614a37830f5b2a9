"""The locks of a session and of a work tree: kernel locks, which end with their holder's process.

A lock file is never removed, because a second process could then lock a new one. Beside it is a
note that names the holder. The note may be out of date: only the lock counts.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agentmux.adapters.disk import files
from agentmux.core.names import layout
from agentmux.errors import AgentmuxError, BlockedError, DataError

if TYPE_CHECKING:
    from filelock import FileLock

_POLL_S: Final = 0.02
_HOLDER_MAX: Final = 1 << 16
_OPEN: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class _NotedLock:
    """A lock file and the note beside it. A new object holds no lock.

    Use one object per process.
    """

    def __init__(
        self,
        path: Path,
        note: Path,
        blocked: Callable[[Mapping[str, Any]], BlockedError],
        about: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare the lock.

        Args:
            path: The lock file.
            note: The file of the note.
            blocked: Makes the error for a lock that another process holds; gets the content of the
                note.
            about: Fields that every note must have. A note with other values was copied here, and
                is ignored.
        """
        self._path = path
        self._about = about or {}
        self._note = note
        self._blocked_by = blocked
        self._lock: FileLock | None = None
        self._witness = -1

    @property
    def _holder(self) -> Path:
        return self._path.with_name(layout.LOCK_HOLDER)

    def acquire(self, timeout_s: float, holder: Mapping[str, Any]) -> None:
        """Take the lock, and write ``holder`` to the note, the file that says who has the lock.

        Args:
            timeout_s: Seconds to wait if another process has the lock; 0 means a single attempt.
            holder: What to write about this process, JSON-compatible. Messages use ``pid``,
                ``host`` and ``since``, and for a work tree ``path``, the session's directory.

        Raises:
            BlockedError: Another process holds the lock; the reason is ``locked``, or
                ``checkout_taken`` for a work tree.
            DataError: The file system has no locks, or the files cannot be written.
            RuntimeError: This object holds the lock already.
        """
        if self._lock is not None:
            msg = "the lock is held already"
            raise RuntimeError(msg)
        with files.explain_errors(self._path):
            self._take(timeout_s)
            try:
                self._check_path()
                files.replace(self._note, files.json_bytes({**holder, **self._about}))
            except BaseException:
                self._let_go()
                raise

    def release(self, *, keep_note: bool = False) -> None:
        """Release the lock and remove the note; do nothing if this object does not hold the lock.

        The lock file stays; with ``keep_note``, the note stays, too. It is not an error if the note
        cannot be removed, because the caller is ending and has more to release.
        """
        if self._lock is None:
            return
        try:
            if self.still_mine() and not keep_note:
                with suppress(AgentmuxError, OSError):
                    files.remove(self._note)
        finally:
            self._let_go()

    def still_mine(self) -> bool:
        """Return whether this object holds the lock, and the locked file is still at its path.

        If the file was deleted or replaced, another process can lock a new file at the path.
        """
        if self._lock is None or not self._lock.is_locked:
            return False
        try:
            return os.path.samestat(os.fstat(self._witness), os.lstat(self._path))
        except OSError:
            return False

    def is_deleted(self) -> bool:
        if self._witness < 0 or os.path.lexists(self._path):
            return False
        return os.fstat(self._witness).st_nlink == 0

    def holder(self) -> dict[str, Any] | None:
        """Return the content of the note about the last holder; None if there is no valid note.

        It is the mapping that `acquire` was given (``pid``, ``host``, ``since``, …). That there is
        a note does not mean that the lock is held: see `is_held`.
        """
        data = files.read_limited(self._note, _HOLDER_MAX)
        try:
            note = files.json_fields(data) if data is not None else None
        except ValueError:
            return None
        if note is None or any(note.get(key) != text for key, text in self._about.items()):
            return None
        return note

    def is_held(self) -> bool:
        """Return whether any process holds the lock now; this creates no file.

        The check takes the lock for a moment, so an `acquire` at the same time may fail at its
        first attempt: give `acquire` a timeout of a second.

        Raises:
            DataError: The lock file exists but cannot be opened.
        """
        try:
            fd = os.open(self._path, os.O_RDONLY | _OPEN)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise files.unreadable(self._path, error) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError as error:
            raise files.unreadable(self._path, error) from error
        finally:
            os.close(fd)
        return False

    def _take(self, timeout_s: float) -> None:
        from filelock import FileLock, Timeout

        # Opened before the lock: if it is still at the path afterwards, this file was locked.
        self._witness = self._open_witness()
        # thread_local: the lock may be released in another thread.
        # fallback_to_soft: a lock by a file's existence would outlive its holder.
        self._lock = FileLock(
            self._path, mode=files.FILE_MODE, thread_local=False, fallback_to_soft=False
        )
        try:
            self._lock.acquire(timeout=timeout_s, poll_interval=_POLL_S)
        except Timeout:
            self._let_go()
            raise self._make_error() from None
        except BaseException:
            self._let_go()
            raise

    def _open_witness(self) -> int:
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | _OPEN, files.FILE_MODE)
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
        raise DataError(f"the lock file `{self._path}` is not a regular file")

    def _check_path(self) -> None:
        if not self.still_mine():
            raise self._make_error()

    def _let_go(self) -> None:
        lock, self._lock = self._lock, None
        witness, self._witness = self._witness, -1
        if witness >= 0:
            os.close(witness)
        if lock is not None:
            lock.release(force=True)

    def _make_error(self) -> BlockedError:
        return self._blocked_by(self.holder() or {})


class SessionLock(_NotedLock):
    """The lock on one session's directory, which the session's orchestrator holds.

    ``folder`` is that directory. A new object holds no lock: `acquire` takes it, `release` frees
    it, and `is_held` tells whether any process has it. Implements `ports.processes.Lock`.
    """

    def __init__(self, folder: Path) -> None:
        def make_error(note: Mapping[str, Any]) -> BlockedError:
            return BlockedError(
                f"session `{folder.name}` is in use by {_describe_holder(note)}",
                reason="locked",
                hints=(f"see it: agentmux status {folder.name}",),
            )

        super().__init__(folder / layout.LOCK, folder / layout.LOCK_HOLDER, make_error)


class WorkTreeLock(_NotedLock):
    """The lock on one work tree, in which only one session at a time may work.

    A new object holds no lock: `acquire` takes it, `release` frees it, and `is_held` tells whether
    any process has it. Implements `ports.processes.TreeLock`.

    Attributes:
        top: The top of the work tree.
    """

    def __init__(self, top: Path, folder: Path) -> None:
        """Prepare the lock of the work tree at ``top``; this takes no lock and creates no file.

        ``folder`` is the existing directory in which the lock file and the note are.
        """

        def make_error(note: Mapping[str, Any]) -> BlockedError:
            path = note.get("path")
            known = isinstance(path, str)
            who = f"session {Path(str(path)).name}" if known else _describe_holder(note)
            return BlockedError(
                f"{who} works in {top}; only one session at a time may",
                reason="checkout_taken",
                hints=(f"see it: agentmux status {shlex.quote(str(path))}",) if known else (),
            )

        paths = (folder / layout.TREE_LOCK, folder / layout.TREE_LOCK_HOLDER)
        super().__init__(*paths, make_error, {"top": str(top)})
        self.top = top

    def note(self, holder: Mapping[str, Any]) -> None:
        """Write ``holder`` to the note, the file that says who works here, but take no lock.

        ``holder`` says who it is, JSON-compatible: ``pid``, ``host``, ``since``, and ``path``, the
        session's directory.

        Raises:
            DataError: The note cannot be written.
        """
        with files.explain_errors(self._note):
            files.replace(self._note, files.json_bytes({**holder, **self._about}))

    def forget(self, path: str) -> None:
        """Remove the note if its field ``path`` is ``path``, a session's directory.

        Otherwise it does nothing; errors are ignored.
        """
        if (self.holder() or {}).get("path") == path:
            with suppress(AgentmuxError, OSError):
                files.remove(self._note)


def _describe_holder(note: Mapping[str, Any]) -> str:
    words = (("process", "pid"), ("on", "host"), ("since", "since"))
    named = [f"{word} {note[key]}" for word, key in words if key in note]
    return " ".join(named) or "another process"
