"""Programs that go on although the orchestrator that ran them was killed, such as a git that waits.

Each program that is run for a session has a mark in its environment: the session, and a digest of
the program's own command line. What such a program starts inherits the mark, but has another
command line; so a key agent that a signer has started is not taken for the program.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from agentmux.adapters.system.processes import kernel
from agentmux.adapters.system.processes.processes import (
    Survivor,
    environment,
    left_after,
    start_time,
)
from agentmux.core.codec.digests import sha256
from agentmux.core.journal.events import ORCHESTRATOR
from agentmux.threads import GRACE_S

WORK: Final = "AGENTMUX_WORK"
"""The environment variable with the mark."""

_KILLED_S: Final = 1.0


def work_mark(label: str, argv: Sequence[str | bytes]) -> str:
    """Return the mark of a program that is run by the work with this `work_label`."""
    return f"{_digest(argv[1:])}:{len(argv) - 1}:{label}"


def lost_work(session: str, folder: Path) -> tuple[Survivor, ...]:
    """Return the programs that still run for a session, oldest first.

    They are lost only if no orchestrator drives the session.

    Args:
        session: The session's id.
        folder: Its directory. A program of a copy, whose own directory exists, is not returned.
    """
    if not session:
        return ()
    programs = (_program(pid, session, folder) for pid in kernel.own_pids())
    return tuple(sorted(filter(None, programs), key=lambda one: (one.started, one.pid)))


def _program(pid: int, session: str, folder: Path) -> Survivor | None:
    digest, _, rest = environment(pid).get(WORK, "").partition(":")
    count, _, label = rest.partition(":")
    owner, _, home = label.partition(":")
    if owner != session or not _is_leader(pid) or not _is_same(home, folder):
        return None
    try:
        words = kernel.argv(pid)
    except OSError:  # it ended meanwhile
        return None
    # A script begins with its interpreter, so only the last words are those that we have given.
    if not count.isdecimal() or _digest(words[max(0, len(words) - int(count)) :]) != digest:
        return None
    return Survivor(
        session=session,
        pid=pid,
        started=start_time(pid),
        launch="",
        seat=ORCHESTRATOR,
        argv0=words[0],
        folder=home,
    )


def end_lost_work(session: str, folder: Path) -> str:
    """End the programs of `lost_work`; return which they were, in words, empty for none."""
    lost = lost_work(session, folder)
    end_work(lost)
    return ", ".join(f"{Path(each.argv0).name} (process {each.pid})" for each in lost)


def _digest(words: Iterable[str | bytes]) -> str:
    return sha256(b"\0".join(map(os.fsencode, words))).hexdigest()[:16]


def _is_leader(pid: int) -> bool:
    """Whether a process leads its group, as each program does that `Child` runs."""
    with suppress(ProcessLookupError):
        return os.getpgid(pid) == pid
    return False


def _is_same(home: str, folder: Path) -> bool:
    """Whether both are the same directory; a home that is gone may have been moved here."""
    try:
        return not Path(home).is_dir() or folder.samefile(home)
    except OSError:
        return False


def end_work(lost: Iterable[Survivor]) -> None:
    """Ask programs, and what they have started in their groups, to end; then kill what is left."""
    known = tuple(lost)
    for number, wait_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, _KILLED_S)):
        for each in known:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(each.pid, number)
        left_after([(each.pid, each.started) for each in known], wait_s=wait_s)
