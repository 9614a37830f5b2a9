"""The session lock: a kernel lock, which ends with the process that holds it, and a note about it.

The lock file is never removed: otherwise a second process could make and lock a new one. The note
says which process has the lock. It is a file of its own, for messages only, and may be out of date:
only the lock counts.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Mapping
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


class SessionLock:
    """The lock of the session in one directory; not locked at first. Use one object per process."""

    def __init__(self, folder: Path) -> None:
        self._session = folder.name
        self._path = folder / layout.LOCK
        self._lock: FileLock | None = None
        self._witness = -1

    @property
    def _holder(self) -> Path:
        return self._path.with_name(layout.LOCK_HOLDER)

    def acquire(self, timeout_s: float, holder: Mapping[str, Any]) -> None:
        """Take the lock, and write ``holder`` to the note.

        Args:
            timeout_s: How long to wait if another process has the lock; 0 means a single attempt.
            holder: JSON-compatible values: ``pid``, ``host`` and ``since`` of this process.

        Raises:
            BlockedError: Another process holds the lock (reason ``locked``).
            DataError: The file system has no locks, or the files cannot be written.
        """
        if self._lock is not None:
            msg = "the lock is held already"
            raise RuntimeError(msg)
        with files.explained(self._path):
            self._take(timeout_s)
            try:
                self._check_path()
                files.replace(self._holder, files.json_bytes(holder))
            except BaseException:
                self._let_go()
                raise

    def release(self) -> None:
        """Release the lock and remove the note; do nothing if this object does not hold the lock.

        The lock file stays. A note that cannot be removed is no error, since the caller is ending
        and has more to release.
        """
        if self._lock is None:
            return
        try:
            if self.still_mine():
                with suppress(AgentmuxError, OSError):
                    files.remove(self._holder)
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
        """Return whether the locked file was deleted, and no other file is at its path."""
        if self._witness < 0 or os.path.lexists(self._path):
            return False
        return os.fstat(self._witness).st_nlink == 0

    def holder(self) -> dict[str, Any] | None:
        """Return the note of the process that took the lock last.

        The result is None if there is no readable note.
        """
        data = files.read_limited(self._holder, _HOLDER_MAX)
        try:
            return files.json_fields(data) if data is not None else None
        except ValueError:
            return None

    def is_held(self) -> bool:
        """Return whether any process holds the lock now; this creates no file.

        The check takes the lock for a moment, so that the first attempt of an `acquire` may fail:
        give that call a timeout of a second.

        Raises:
            DataError: The lock file exists but cannot be opened.
        """
        try:
            fd = os.open(self._path, os.O_RDONLY | _OPEN)
        except FileNotFoundError:
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
        from filelock import FileLock, Timeout  # noqa: PLC0415 (loads asyncio; looking at a lock needs none)

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
            raise self._blocked() from None
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
            raise self._blocked()

    def _let_go(self) -> None:
        lock, self._lock = self._lock, None
        witness, self._witness = self._witness, -1
        if witness >= 0:
            os.close(witness)
        if lock is not None:
            lock.release(force=True)

    def _blocked(self) -> BlockedError:
        note = self.holder() or {}
        named = [
            f"{word} {note[key]}"
            for word, key in (("process", "pid"), ("on", "host"), ("since", "since"))
            if key in note
        ]
        by = " ".join(named) or "another process"
        return BlockedError(
            f"session `{self._session}` is in use by {by}",
            reason="locked",
            hints=(f"see it: agentmux status {self._session}",),
        )
