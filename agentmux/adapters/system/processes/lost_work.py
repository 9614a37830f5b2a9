"""Programs that still run although their orchestrator was killed, such as a git that waits.

Each program that is run for a session has a mark in its environment: the session, and a digest of
the program's own command line. Programs that it starts inherit the mark but have another command
line. So a key agent that a signing program has started is not taken for the program.
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
"""The environment variable that contains the mark."""

_KILLED_S: Final = 1.0


def work_mark(label: str, argv: Sequence[str | bytes]) -> str:
    """Return the text by which `lost_programs` recognises a program that AgentMux runs.

    It is to be the value of `WORK` in the program's environment.

    Args:
        label: The session for which the program is run, as ``UUID:DIRECTORY`` (`work_label`).
        argv: The program's command line; the text contains a digest of it.
    """
    return f"{_digest(argv[1:])}:{len(argv) - 1}:{label}"


def lost_programs(session: str, folder: Path) -> tuple[Survivor, ...]:
    """Return the programs that AgentMux started for a session and that still run, oldest first.

    They count as lost only if the session has no running orchestrator; this is not checked.

    Args:
        session: The session's id; empty returns nothing.
        folder: The session's directory. Programs of a copied session, whose own directory exists,
            are not returned.
    """
    if not session:
        return ()
    programs = (_program(pid, session, folder) for pid in kernel.own_pids())
    return tuple(sorted(filter(None, programs), key=lambda one: (one.started, one.pid)))


def _program(pid: int, session: str, folder: Path) -> Survivor | None:
    digest, _, rest = environment(pid).get(WORK, "").partition(":")
    count, _, label = rest.partition(":")
    owner, _, home = label.partition(":")
    if owner != session or not _is_leader(pid) or not can_be_folder(home, folder):
        return None
    try:
        words = kernel.argv(pid)
    except OSError:  # it ended meanwhile
        return None
    # The argv of a script begins with its interpreter, so only the last words are compared.
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
    """End the programs that `lost_programs` returns for these arguments; return what they were.

    The result is a text for messages, such as ``git (process 42)``; empty if there were none.
    """
    lost = lost_programs(session, folder)
    end_work(lost)
    return ", ".join(f"{Path(each.argv0).name} (process {each.pid})" for each in lost)


def _digest(words: Iterable[str | bytes]) -> str:
    return sha256(b"\0".join(map(os.fsencode, words))).hexdigest()[:16]


def _is_leader(pid: int) -> bool:
    """Whether a process leads its process group, as every program run by `Child` does."""
    with suppress(ProcessLookupError):
        return os.getpgid(pid) == pid
    return False


def can_be_folder(recorded: str, folder: Path) -> bool:
    """Return whether the session directory that a process recorded can be ``folder`` now.

    It can if both are the same directory, or if ``recorded`` is gone or empty (unknown): then the
    directory may have been moved to ``folder``. It cannot if ``recorded`` may not be examined,
    because another user's directory may be there.
    """
    place = recorded or "/nowhere"
    try:
        return folder.samefile(place)
    except (FileNotFoundError, NotADirectoryError):
        return not os.path.lexists(place)
    except OSError:
        return False


def end_work(lost: Iterable[Survivor]) -> None:
    """End the process groups of these programs with TERM; kill those that remain after 2 s.

    It waits until they have ended, at most 3 s. A group that cannot be signalled is skipped.
    """
    known = tuple(lost)
    for number, wait_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, _KILLED_S)):
        for each in known:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(each.pid, number)
        left_after([(each.pid, each.started) for each in known], wait_s=wait_s)
