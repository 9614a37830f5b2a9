"""The list of projects in which this user has used AgentMux: a file with one path per line.

Views of the sessions of all projects read it. It is only a hint: a project that was deleted stays
in it, and one whose line could not be written is added at its next start or resume.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files

_MOST: Final = 1 << 20


def known_projects(register: Path) -> tuple[Path, ...]:
    """Return the listed projects that still exist, in the order of their first use.

    ``register`` is the file with the list. The result is empty if that file is missing or cannot be
    read.
    """
    data = files.read_limited(register, _MOST) or b""
    paths = (Path(os.fsdecode(line)) for line in dict.fromkeys(data.split(b"\n")) if line)
    return tuple(path for path in paths if path.is_absolute() and path.is_dir())


def remember(register: Path, project: Path) -> None:
    """Add a project to the list in the file ``register`` unless it is there already; never raises.

    ``project`` is an absolute path; one with a newline is not added.
    """
    line = os.fsencode(project)
    held = (files.read_limited(register, _MOST) or b"").split(b"\n")
    if line in held or b"\n" in line:
        return
    with suppress(OSError):
        register.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(register, flags, files.FILE_MODE)
        try:
            # One write: lines of other processes come before it or behind it.
            os.write(fd, b"\n" * bool(held[-1]) + line + b"\n")
        finally:
            os.close(fd)
