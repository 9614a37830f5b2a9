"""Polling, for facts that no event reports."""

from __future__ import annotations

import fcntl
import time


def pause(duration_s: float) -> None:
    """Sleep between two polls, ``duration_s`` seconds.

    Only adapters may call it, with a comment that says why there is no event to wait for. Code that
    can wait for an event, a file change or the end of a process must do that instead.
    """
    time.sleep(duration_s)  # noqa: TID251 (all pauses of the adapters are this one)


def lock_within(file: int, wait_s: float, *, every_s: float) -> bool:
    """Lock an open file exclusively within ``wait_s`` seconds; return whether that succeeded.

    False means that another process kept it locked all that time. The lock ends when ``file``, a
    descriptor, is closed. It tries every ``every_s`` seconds: ``flock`` itself waits either not at
    all or without a limit.

    Raises:
        OSError: The file system has no locks.
    """
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            pause(every_s)
        else:
            return True
