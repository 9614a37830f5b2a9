"""Long-running work in the background of the loop; never two pieces with one key at a time."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from agentmux.errors import AgentmuxError
from agentmux.threads import WorkGroup, in_daemon_thread

logger = logging.getLogger(__name__)

T = TypeVar("T")

AGAIN_S: Final = 1.0
"""Seconds before failed work may run again; else the loop would repeat it without a pause."""
TRIES: Final = 3
"""How often work is tried that fails by an error for which nobody can be asked to do anything."""
CLOSE_S: Final = 4.0
"""How long programs may take to end, which are then killed, and their threads to notice it."""


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


class UnrecordedError(AgentmuxError):
    """How work ended cannot be recorded: it is not done again, as if it had not ended."""


def is_unexpected(error: Exception) -> bool:
    """Return whether an error is none that a user can act on: it will not go away by itself."""
    return not isinstance(error, AgentmuxError)


def in_words(error: Exception) -> str:
    """Return an error as people are told of it; of one that is unexpected also its kind."""
    if is_unexpected(error) and not isinstance(error, OSError):
        return f"{type(error).__name__}: {error}"
    return str(error)


class BackgroundTasks:
    """The background work of one loop; the loop is woken after each piece of work."""

    def __init__(
        self,
        loop: Loop,
        give_up: Callable[[str, Exception], object] | None = None,
        *,
        label: str = "",
    ) -> None:
        """Prepare to work.

        Args:
            loop: The loop, which is woken.
            give_up: Called with the key of work that is given up, and its last error. Without it,
                work can always begin again: a person begins it.
            label: Says whose work it is; see `WorkGroup`.
        """
        self._loop = loop
        self._give_up = give_up
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._problems: dict[str, str] = {}
        self._tried: Counter[str] = Counter()
        self._given_up: set[str] = set()
        self._threads = WorkGroup(label)

    def run(
        self,
        key: str,
        work: Coroutine[Any, Any, None],
        *,
        give_up: Callable[[Exception], object] | None = None,
    ) -> bool:
        """Start ``work``, unless work with this key runs or was given up; return whether it began.

        An error is shown and logged, but not again while work with this key fails the same way.
        Work that has failed counts as running for another `AGAIN_S`; then the loop is woken. Work
        that fails by unexpected errors `TRIES` times in a row is given up: it does not begin again.

        Args:
            key: Names the work for people.
            work: The work.
            give_up: Called with the last error in place of giving the work up: it records that
                the work failed, so that the work is not wanted any more.
        """
        running = self._tasks.get(key)
        if key in self._given_up or (running is not None and not running.done()):
            work.close()
            return False
        self._tasks[key] = asyncio.create_task(self._run_guarded(key, work, give_up))
        return True

    def allow_again(self, key: str) -> None:
        """Let work begin again that was given up."""
        self._given_up.discard(key)
        del self._tried[key]

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run ``work`` in a thread; the programs that it runs end when this work does."""
        return await self._threads.run(work)

    def cancel(self) -> None:
        """Cancel all work."""
        for task in self._tasks.values():
            task.cancel()

    async def close(self) -> None:
        """Cancel all work, and end the programs that it runs; return when they have ended."""
        self.cancel()
        if not await in_daemon_thread(partial(self._threads.end, CLOSE_S)):
            logger.warning("work in the background did not end within %s s", CLOSE_S)

    async def _run_guarded(
        self,
        key: str,
        work: Coroutine[Any, Any, None],
        give_up: Callable[[Exception], object] | None,
    ) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 (it is shown, and counted)
            self._note(key, error)
            self._give_up_after(key, error, give_up)
            await asyncio.sleep(AGAIN_S)
        else:
            self._problems.pop(key, None)
            del self._tried[key]
        finally:
            self._loop.wake()

    def _note(self, key: str, error: Exception) -> None:
        problem = in_words(error)
        if self._problems.get(key) != problem:
            self._problems[key] = problem
            self._loop.say(f"problem: {key}: {problem}")
            is_bug = is_unexpected(error) and not isinstance(error, OSError)
            logger.warning("%s failed: %s", key, problem, exc_info=is_bug)

    def _give_up_after(
        self, key: str, error: Exception, give_up: Callable[[Exception], object] | None
    ) -> None:
        """Count an error; if it was the last try, have the failure recorded, or begin no more."""
        self._tried[key] += is_unexpected(error)
        last_error = error
        if self._tried[key] >= TRIES and give_up is not None:
            try:
                give_up(error)
            except Exception as unrecorded:  # noqa: BLE001 (it is shown as any other)
                last_error = unrecorded
                self._note(key, last_error)
            else:
                del self._tried[key]
        is_last = self._tried[key] >= TRIES or isinstance(error, UnrecordedError)
        if is_last and self._give_up is not None:
            self._given_up.add(key)
            self._give_up(key, last_error)
