"""Long-running work in the background of the loop; never two pieces with one key at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final, Protocol

from agentmux.errors import AgentmuxError

logger = logging.getLogger(__name__)

AGAIN_S: Final = 1.0
"""Seconds before failed work may run again; else the loop would repeat it without a pause."""


async def give_way() -> None:
    """Let what has happened meanwhile be handled, such as a key that was pressed."""
    await asyncio.sleep(0)  # the event loop sees it
    await asyncio.sleep(0)  # and handles it


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

    def run(self, key: str, work: Coroutine[Any, Any, None]) -> bool:
        """Start ``work``, unless work with this key runs; return whether it was started.

        An error is shown and logged, but not again while work with this key fails the same way.
        Work that has failed counts as running for another `AGAIN_S`; then the loop is woken.
        """
        running = self._tasks.get(key)
        if running is not None and not running.done():
            work.close()
            return False
        self._tasks[key] = asyncio.create_task(self._guarded(key, work))
        return True

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
