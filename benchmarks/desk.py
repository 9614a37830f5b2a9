"""Measure the terminal desk: its first picture, its list of many sessions, and its rest."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.commands import FEW, MANY, killed_sessions
from benchmarks.idle import cpu_s
from benchmarks.rows import Row, ratio
from benchmarks.sandbox import AGENTMUX, DEADLINE_S, PASS, Sandbox, side_by_side

PROJECTS: Final = 20
_COLS, _ROWS = 120, 36
_PARTS: Final = re.compile(rb"\x1b\[[0-9;:?<>]*[a-zA-Z]")


def desk(*, quick: bool) -> Iterator[Row]:
    """Measure the desk with few sessions, and with many in many projects."""
    rounds = 5 if quick else 15
    with killed_sessions(FEW) as few, killed_sessions(MANY // PROJECTS) as many:
        spread(many)
        first, full, base = side_by_side(
            rounds,
            partial(_until, few, b"> add-a-greeting"),
            partial(_until, many, f"{MANY} interrupted".encode()),
            lambda: few.time(PASS),
        )
        paint, other = side_by_side(rounds, partial(_until, many, b"> "), lambda: many.time(PASS))
        used = _at_rest(few, 30.0 if quick else 60.0)
    yield ratio(f"desk of {FEW}: the first picture, against `python -c pass`", first, base, 60)
    yield ratio(f"desk of {MANY}: the first picture, against `python -c pass`", paint, other, 45)
    yield ratio(f"desk of {MANY}: the whole list, against `python -c pass`", full, base, 85)
    yield Row(name=f"desk of {FEW} at rest: processor", value=used * 100, unit="%", limit=0.5)


def spread(sandbox: Sandbox) -> None:
    """Copy the project, so that there are many, and register all of them."""
    projects = [sandbox.project]
    for number in range(1, PROJECTS):
        made = sandbox.root / f"project-{number:02}"
        shutil.copytree(sandbox.project, made, ignore=shutil.ignore_patterns("*.fifo"))
        projects.append(made)
    register = Path(sandbox.env["XDG_STATE_HOME"]) / "agentmux" / "projects"
    register.write_text("".join(f"{each}\n" for each in projects))


@contextmanager
def _opened(sandbox: Sandbox) -> Iterator[tuple[int, int]]:
    """Open the desk; yield its pid and its terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLS, 0, 0))
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
        for number in (0, 1, 2):
            os.dup2(theirs, number)
        os.chdir(sandbox.project)
        os.execve(AGENTMUX, ["agentmux"], dict(sandbox.env))
    os.close(theirs)
    try:
        yield pid, ours
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(ours)


def _until(sandbox: Sandbox, wanted: bytes) -> float:
    """Return the seconds until a text is on the screen."""
    begun, said = time.perf_counter(), b""
    with _opened(sandbox) as (_, terminal):
        while wanted not in _PARTS.sub(b"", said):
            left = begun + DEADLINE_S - time.perf_counter()
            if not select.select([terminal], [], [], max(left, 0))[0]:
                msg = f"{wanted!r} was not shown"
                raise TimeoutError(msg)
            said += os.read(terminal, 1 << 16)
        return time.perf_counter() - begun


def _at_rest(sandbox: Sandbox, wait_s: float) -> float:
    """Return which part of a processor the desk needs while nothing happens."""
    if sys.platform != "linux":
        return 0.0
    with _opened(sandbox) as (pid, terminal):
        _read_for(terminal, 10.0)
        before = cpu_s(pid)
        _read_for(terminal, wait_s)
        return (cpu_s(pid) - before) / wait_s


def _read_for(terminal: int, wait_s: float) -> None:
    end = time.monotonic() + wait_s
    while (left := end - time.monotonic()) > 0:
        with suppress(OSError):
            if select.select([terminal], [], [], left)[0]:
                os.read(terminal, 1 << 16)
