"""Work that takes long: it runs beside the loop, at most once at a time each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Protocol

from agentmux.errors import AgentmuxError

logger = logging.getLogger(__name__)


class Loop(Protocol):
    """The loop that is served."""

    def wake(self) -> None:
        """Look again soon."""

    def say(self, message: str) -> None:
        """Tell the user."""


class Beside:
    """The work under way beside one loop, which is woken after each."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def run(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        """Begin ``work``, unless the same is under way; what goes wrong is said and logged."""
        running = self._tasks.get(key)
        if running is not None and not running.done():
            work.close()
            return
        self._tasks[key] = asyncio.create_task(self._guarded(key, work))

    def cancel(self) -> None:
        """Stop all of it."""
        for task in self._tasks.values():
            task.cancel()

    async def _guarded(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except (AgentmuxError, OSError) as error:
            self._loop.say(f"problem: {key}: {error}")
            logger.warning("%s failed: %s", key, error)
        except Exception as error:
            self._loop.say(f"problem: {key}: {error}")
            logger.exception("%s failed", key)
        finally:
            self._loop.wake()
