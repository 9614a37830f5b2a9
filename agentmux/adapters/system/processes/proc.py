"""Reads facts about processes from ``/proc`` (proc(5)), on Linux.

`psutil_processes` has the same functions for other systems. It is not used on Linux, because
importing psutil takes longer than most commands may (docs/decisions/0025-psutil.md).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


def own_pids() -> Iterator[int]:
    """Yield the pid of each process of this user."""
    uid = os.getuid()
    for name in os.listdir(_PROC):
        with suppress(OSError):  # it ended meanwhile
            if name.isdecimal() and (_PROC / name).stat().st_uid == uid:
                yield int(name)


def state_and_start(pid: int) -> tuple[str, int]:
    """Return the state letter of a process and its start time in ticks since boot.

    The letter is as in ps(1), such as ``Z`` for a zombie; a process of which only the first thread
    has ended has ``R``. The result is ``("", 0)`` if there is no such process.
    """
    try:
        fields = _stat(pid)
    except OSError:
        return "", 0
    state, threads = fields[0].decode(), int(fields[17])
    # If only the first thread has ended, the process runs on and keeps its locks.
    return "R" if state == "Z" and threads > 1 else state, int(fields[19])


def parent(pid: int) -> int:
    """Return the pid of a process's parent; 0 if there is no such process."""
    try:
        return int(_stat(pid)[1])
    except OSError:
        return 0


def _stat(pid: int) -> list[bytes]:
    stat = (_PROC / str(pid) / "stat").read_bytes()
    return stat[stat.rindex(b")") + 2 :].split()  # the name may hold anything


def environment(pid: int) -> Mapping[str, str]:
    """Return the environment with which a process was started, by name of the variable.

    Raises:
        OSError: The process belongs to another user, or has ended.
    """
    words = map(os.fsdecode, _words(pid, "environ"))
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def argv(pid: int) -> tuple[str, ...]:
    """Return the words of a process's command line; one empty word for a zombie.

    Raises:
        OSError: The process belongs to another user, or has ended.
    """
    return tuple(map(os.fsdecode, _words(pid, "cmdline")))


def _words(pid: int, name: str) -> list[bytes]:
    return (_PROC / str(pid) / name).read_bytes().removesuffix(b"\0").split(b"\0")


def is_tmux_server(pid: int) -> bool:
    """Return whether a process is a tmux server.

    Raises:
        OSError: The process has ended.
    """
    return (_PROC / str(pid) / "comm").read_bytes().startswith(b"tmux: server")


def mounts(table: Path = _PROC / "self/mounts") -> Iterator[tuple[Path, str]]:
    """Yield mount point and type of each file system, in the order of mounting.

    ``table`` is the kernel's list of them.
    """
    for line in table.read_text(errors="surrogateescape").splitlines():
        _, place, kind, *_ = line.split(" ")
        yield Path(_OCTAL.sub(lambda match: chr(int(match[1], 8)), place)), kind
