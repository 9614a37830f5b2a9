"""Facts about the system and the terminal for ``agentmux doctor``; changes nothing."""

from __future__ import annotations

import codecs
import getpass
import locale
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from agentmux.adapters.system.processes import kernel
from agentmux.adapters.system.processes.mounts import network_type
from agentmux.ports.health import DiskFacts, SystemFacts, TerminalFacts

_INOTIFY: Final = Path("/proc/sys/fs/inotify")
_LOGIND: Final = (
    "usr/lib/systemd/logind.conf",
    "usr/lib/systemd/logind.conf.d",
    "etc/systemd/logind.conf",
    "etc/systemd/logind.conf.d",
    "run/systemd/logind.conf.d",
)
_KEY: Final = "KillUserProcesses"


def terminal_facts(environ: Mapping[str, str]) -> TerminalFacts:
    """Return the facts about the terminal at stdout, or at stderr if stdout is no terminal.

    ``environ`` is the environment of this process.
    """
    size = None
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            size = size or os.get_terminal_size(stream.fileno())
    return TerminalFacts(
        term=environ.get("TERM", ""),
        colour_term=environ.get("COLORTERM", ""),
        is_utf8=codecs.lookup(locale.getpreferredencoding(do_setlocale=False)).name == "utf-8",
        size=(size.columns, size.lines) if size else None,
    )


def host_facts(root: Path = Path("/")) -> SystemFacts:
    """Return the facts about this host and its user; read the host's settings below ``root``."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        user = str(os.getuid())
    booted = (root / "run/systemd/system").is_dir()
    return SystemFacts(
        user=user,
        kills_at_logout=booted and _kills_at_logout(root),
        lingers=(root / "var/lib/systemd/linger" / user).exists(),
        watches=_watches(),
    )


def _kills_at_logout(root: Path) -> bool:
    """Whether logind ends a user's processes at logout, by the last setting in its files.

    The default is no.
    """
    setting = "no"
    for file in _logind_files(root):
        with suppress(OSError):
            for line in file.read_text(errors="replace").splitlines():
                key, _, value = line.partition("=")
                setting = value.strip().lower() if key.strip() == _KEY else setting
    return setting in {"yes", "true", "1", "on"}


def _logind_files(root: Path) -> Iterator[Path]:
    for name in _LOGIND:
        place = root / name
        yield from sorted(place.glob("*.conf")) if place.is_dir() else (place,)


def _watches() -> tuple[int, int, int] | None:
    try:
        instances = int((_INOTIFY / "max_user_instances").read_text())
        watches = int((_INOTIFY / "max_user_watches").read_text())
    except (OSError, ValueError):
        return None
    return sum(map(_instances, kernel.own_pids())), instances, watches


def _instances(pid: int) -> int:
    """Return how many inotify instances a process has open; 0 if that cannot be read."""
    count = 0
    with suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                count += str(Path(entry.path).readlink()) == "anon_inode:inotify"
    return count


def disk_facts(path: Path) -> DiskFacts:
    """Return the facts about the file system that contains ``path``, which need not exist."""
    there = next(each for each in (path, *path.parents) if each.is_dir())
    space = os.statvfs(there)
    return DiskFacts(
        path=str(there),
        network=network_type(there.resolve()),
        is_writable=os.access(there, os.W_OK | os.X_OK) and not space.f_flag & os.ST_RDONLY,
        free_bytes=space.f_bavail * space.f_frsize,
        free_files=space.f_favail if space.f_files else None,
    )
