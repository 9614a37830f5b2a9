"""Work that takes long: it runs beside the loop, at most once at a time each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final, Protocol

from agentmux.errors import AgentmuxError

logger = logging.getLogger(__name__)

AGAIN_S: Final = 1.0
"""How long what has failed is not begun again: the loop would do so at once, and for ever."""


class Loop(Protocol):
    """The loop that is served."""

    def wake(self) -> None:
        """Look again soon."""

    def say(self, message: str) -> None:
        """Tell the user."""


class BackgroundTasks:
    """The work under way beside one loop, which is woken after each."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._problems: dict[str, str] = {}

    def run(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        """Begin ``work``, unless the same is under way; what goes wrong is said once and logged."""
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
