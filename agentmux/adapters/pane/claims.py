"""Claims: which launch on this host uses which conversation.

The wrapper of a launch locks one file for each conversation. Only the lock counts; the name of its
holder is for messages.
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.core.codec.digests import sha256

_LOOK: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NOTE_MAX: Final = 1 << 16
_LOCKS: Final = Path("/proc/locks")


class ClaimFolder:
    """The folder ``$XDG_STATE_HOME/agentmux/claims``; made when it is first written to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def require_writable(self) -> None:
        """Check that claims can be made here, without making anything.

        Raises:
            DataError: The folder cannot be written, so no agent could be launched.
        """
        there = next(each for each in (self._folder, *self._folder.parents) if each.exists())
        with files.explained(self._folder / "*.lock"):
            if not there.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            if not os.access(there, os.W_OK | os.X_OK):
                read_only = os.statvfs(there).f_flag & os.ST_RDONLY
                number = errno.EROFS if read_only else errno.EACCES
                raise OSError(number, os.strerror(number))

    def path(self, program: str, home: str, conversation: str) -> Path:
        """Return the path of a conversation's claim file; makes nothing."""
        return self._folder / f"{_digest(program, home, conversation)}.lock"

    def is_held(self, path: Path) -> bool:
        """Whether any process has locked the claim file; makes nothing."""
        return _locked(path) is not None

    def holder(self, path: Path) -> str | None:
        """Return who has locked the claim file, in words; None for nobody. Makes nothing.

        It reads /proc/locks, which takes 11 ms; `is_held` does not.
        """
        found = _locked(path)
        return None if found is None else _described(found)

    def latest(self, program: str, home: str, cwd: str) -> tuple[str, ...]:
        """Return what may own "the latest conversation" in ``cwd``; empty if unknown.

        These are launches, and the ids of their conversations where they have one.
        """
        data = files.read_limited(self._latest(program, home, cwd), _NOTE_MAX)
        return () if data is None else tuple(data.decode(errors="replace").split())

    def note_latest(self, program: str, home: str, cwd: str, owners: tuple[str, ...]) -> None:
        """Record what runs in ``cwd`` at the same time from now on: each may be the latest."""
        path = self._latest(program, home, cwd)
        files.make_dir(path.parent)
        files.replace(path, "".join(f"{owner}\n" for owner in owners).encode())

    def _latest(self, program: str, home: str, cwd: str) -> Path:
        return self._folder / f"{_digest(program, home, cwd)}.latest"


def _digest(*words: str) -> str:
    return sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()


def _locked(path: Path) -> os.stat_result | None:
    """Return the status of the file if another process has locked it, else None."""
    try:
        fd = os.open(path, _LOOK)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.fstat(fd)
    except OSError:
        return None  # no locks on this file system
    finally:
        os.close(fd)
    return None


def _described(found: os.stat_result) -> str:
    """Describe the process that has locked the file, by device and inode in /proc/locks."""
    device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    try:
        rows = [line.split() for line in _LOCKS.read_text("ascii").splitlines()]
    except OSError:
        rows = []
    # proc_locks(5): number, type, mode, access, pid, device and inode, range
    pids = (row[4] for row in rows if len(row) > 5 and row[5] == device and row[4].isdecimal())
    pid = next(pids, None)
    return "another process" if pid is None else f"process {pid}{_session_of(pid)}"


def _session_of(pid: str) -> str:
    """Return the words for the session of a wrapper, from its argument ``…/launches/<id>``."""
    try:
        last = Path("/proc", pid, "cmdline").read_bytes().rstrip(b"\0").split(b"\0")[-1]
    except OSError:
        return ""
    folder = Path(os.fsdecode(last))
    return f" of session {folder.parent.parent.name}" if folder.parent.name == "launches" else ""
