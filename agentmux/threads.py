"""Work in threads that keep neither a process nor its event loop from ending."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def in_daemon_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Run ``work`` in a thread that keeps no process from ending; return the future of its result.

    That is for work that only reads, or may be killed at any point. The end of the event loop waits
    for threads of its own pool, but not for this one.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(told: Callable[[], None]) -> None:
        if not done.done():  # nobody has stopped waiting
            told()

    def run() -> None:
        try:
            told = partial(done.set_result, work())
        except BaseException as error:  # noqa: BLE001 (it is raised where the future is awaited)
            told = partial(done.set_exception, error)
        with suppress(RuntimeError):  # the loop is closed, as the process ends
            loop.call_soon_threadsafe(settle, told)

    Thread(target=run, daemon=True).start()
    return done
