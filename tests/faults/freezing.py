"""Holding a process still for as long as a test wants, as a host does that is out of processors.

A signal does not: tmux continues the programs of its panes that are stopped. So this process traces
the other one, and then nobody else can continue it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

# From linux/ptrace.h and linux/wait.h.
_DETACH: Final = 17
_SEIZE: Final = 0x4206
_INTERRUPT: Final = 0x4207
_WALL: Final = 0x40000000


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    """Hold a process with all its threads during the ``with`` block; then let it go on.

    The test is skipped where the system lets nobody trace a process that is not a child.
    """
    if sys.platform != "linux":
        pytest.skip("only on Linux a process can be held")
    held: list[int] = []
    try:
        while new := [each for each in _threads(pid) if each not in held]:
            for thread in new:
                _hold(thread)
                held.append(thread)
        yield
    finally:
        for thread in held:
            _trace(_DETACH, thread)


def is_held(pid: int) -> bool:
    """Return whether each thread of a process is held."""
    stats = (Path(f"/proc/{pid}/task/{each}/stat").read_text() for each in _threads(pid))
    return all(each[each.rindex(")") + 2] == "t" for each in stats)


def _threads(pid: int) -> list[int]:
    return [int(each.name) for each in Path(f"/proc/{pid}/task").iterdir()]


def _hold(thread: int) -> None:
    try:
        _trace(_SEIZE, thread)
    except PermissionError:
        pytest.skip("this system lets nobody trace a process that is not a child")
    _trace(_INTERRUPT, thread)
    os.waitpid(thread, _WALL)


def _trace(request: int, thread: int) -> None:
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    ptrace.restype = ctypes.c_long
    if ptrace(request, thread, None, None) == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
