"""Long-running work in the background of the loop; never two pieces with one key at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any, Final, Protocol, TypeVar

from agentmux.errors import AgentmuxError

logger = logging.getLogger(__name__)

AGAIN_S: Final = 1.0
"""Seconds before failed work may run again; else the loop would repeat it without a pause."""


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


class Loop(Protocol):
    """The part of the orchestrator's loop that background work calls."""

    def wake(self) -> None:
        """Make the loop look again soon."""

    def say(self, message: str) -> None:
        """Show the user a message."""


class BackgroundTasks:
    """The background work of one loop; the loop is woken after each piece of work."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._problems: dict[str, str] = {}

    def run(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        """Start ``work``, unless work with this key runs.

        An error is shown and logged, but not again while work with this key fails the same way.
        """
        running = self._tasks.get(key)
        if running is not None and not running.done():
            work.close()
            return
        self._tasks[key] = asyncio.create_task(self._guarded(key, work))

    def cancel(self) -> None:
        """Cancel all work."""
        for task in self._tasks.values():
            task.cancel()

    async def _guarded(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:
            if self._problems.get(key) != str(error):
                self._problems[key] = str(error)
                self._loop.say(f"problem: {key}: {error}")
                is_bug = not isinstance(error, AgentmuxError | OSError)
                logger.warning("%s failed: %s", key, error, exc_info=is_bug)
            await asyncio.sleep(AGAIN_S)
        else:
            self._problems.pop(key, None)
        finally:
            self._loop.wake()
