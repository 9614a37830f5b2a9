"""The functions of `proc` for systems without ``/proc`` (macOS), by means of psutil.

psutil is imported by the first call that needs it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import psutil

_LETTERS: Final = {"zombie": "Z", "dead": "X"}
_TMUX: Final = "tmux"


@contextmanager
def _process(pid: int) -> Iterator[psutil.Process]:
    """Yield a process; turn psutil's errors in the ``with`` block into an `OSError`."""
    import psutil

    try:
        yield psutil.Process(pid)
    except psutil.Error as error:
        raise ProcessLookupError(str(error)) from None


def own_pids() -> Iterator[int]:
    """Yield the pid of each process of this user."""
    import psutil

    uid = os.getuid()
    for each in psutil.process_iter(["uids"]):
        if each.info["uids"] is not None and each.info["uids"].real == uid:
            yield each.pid


def state_and_start(pid: int) -> tuple[str, int]:
    """Return the state letter of a process and its start time in seconds of Unix time.

    The letter is as in ps(1) for a zombie, otherwise ``R``. The result is ``("", 0)`` if there is
    no such process.
    """
    try:
        with _process(pid) as process:
            return _LETTERS.get(process.status(), "R"), int(process.create_time())
    except OSError:
        return "", 0


def parent(pid: int) -> int:
    """Return the pid of a process's parent; 0 if there is no such process."""
    try:
        with _process(pid) as process:
            return process.ppid()
    except OSError:
        return 0


def environment(pid: int) -> Mapping[str, str]:
    """Return the environment with which a process was started; empty for programs of macOS itself.

    Raises:
        OSError: The process belongs to another user, or has ended.
    """
    with _process(pid) as process:
        return process.environ()


def argv(pid: int) -> tuple[str, ...]:
    """Return the words of a process's command line.

    Raises:
        OSError: The process belongs to another user, or has ended.
    """
    with _process(pid) as process:
        return tuple(process.cmdline())


def is_tmux_server(pid: int) -> bool:
    """Return whether a process is tmux, server or client.

    Raises:
        OSError: The process belongs to another user, or has ended.
    """
    with _process(pid) as process:
        return process.name().startswith(_TMUX)


def mounts() -> Iterator[tuple[Path, str]]:
    """Yield mount point and type of each file system, in the order of mounting."""
    import psutil

    for each in psutil.disk_partitions(all=True):
        yield Path(each.mountpoint), each.fstype
