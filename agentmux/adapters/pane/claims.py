"""Claims: kernel locks that say which launch on this host uses which agent's conversation.

The wrapper of a launch locks one claim file for each conversation that it uses. Only the lock
counts; its holder is looked up only for messages.
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
    """The folder with the claim files, ``$XDG_STATE_HOME/agentmux/claims``.

    There is one claim file for each conversation of an agent. While a launch uses the conversation,
    its process keeps the file locked. The folder is created at the first write. Implements
    `ports.claims.Claims`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def require_writable(self) -> None:
        """Check that claim files can be created in the folder; this creates nothing.

        Raises:
            DataError: The folder cannot be written, so no agent could be launched.
        """
        there = next(each for each in (self._folder, *self._folder.parents) if each.exists())
        with files.explain_errors(self._folder / "*.lock"):
            if not there.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            files.require_writable(there, self._folder / "*.lock")

    def path(self, program: str, home: str, conversation: str) -> Path:
        return self._folder / f"{_digest(program, home, conversation)}.lock"

    def is_held(self, path: Path) -> bool:
        """Return whether any process has locked the claim file ``path``; this creates nothing.

        False also if there is no such file, or if the file system has no locks.
        """
        return _stat_if_locked(path) is not None

    def holder(self, path: Path) -> str | None:
        """Describe the process that has locked the claim file ``path``; None if none has.

        The result is a text for messages, such as ``process 42 of session NAME``; if the process is
        not found, it is ``another process``. This creates nothing. It reads /proc/locks, which
        takes 11 ms; `is_held` does not.
        """
        facts = _stat_if_locked(path)
        return None if facts is None else _describe_process(facts)

    def latest(self, program: str, home: str, cwd: str) -> tuple[str, ...]:
        data = files.read_limited(self._latest(program, home, cwd), _NOTE_MAX)
        return () if data is None else tuple(data.decode(errors="replace").split())

    def note_latest(self, program: str, home: str, cwd: str, owners: tuple[str, ...]) -> None:
        """Record whose conversation the program may resume as the "latest" one in ``cwd``.

        Args:
            program: The base name of the agent's program.
            home: The program's config home; empty for its default.
            cwd: The directory in which the program runs.
            owners: The ids of the launches that run there now, and of their conversations; they
                replace an earlier record.

        Raises:
            DataError: The record cannot be written.
        """
        path = self._latest(program, home, cwd)
        files.make_dir(path.parent)
        files.replace(path, "".join(f"{owner}\n" for owner in owners).encode())

    def _latest(self, program: str, home: str, cwd: str) -> Path:
        return self._folder / f"{_digest(program, home, cwd)}.latest"


def _digest(*words: str) -> str:
    return sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()


def _stat_if_locked(path: Path) -> os.stat_result | None:
    """Return the file's status (``fstat``) if another process has locked the file, else None."""
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


def _describe_process(found: os.stat_result) -> str:
    """Describe the process that has locked the file with the status ``found``, for messages.

    The process is looked up in /proc/locks, by the file's device and inode.
    """
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
    """Return `` of session NAME`` if process ``pid`` is a wrapper, else an empty text.

    The name is taken from the wrapper's last argument, ``…/NAME/launches/<id>``.
    """
    try:
        last = Path("/proc", pid, "cmdline").read_bytes().rstrip(b"\0").split(b"\0")[-1]
    except OSError:
        return ""
    folder = Path(os.fsdecode(last))
    return f" of session {folder.parent.parent.name}" if folder.parent.name == "launches" else ""
