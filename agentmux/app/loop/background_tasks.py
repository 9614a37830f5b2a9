"""Runs long work in the background of the loop, and never two pieces with one key at a time."""

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
"""Seconds before failed work may run again; without a pause, the loop would retry it at once."""
TRIES: Final = 3
"""How often work is tried that fails with unexpected errors, which no user can fix."""
CLOSE_S: Final = 4.0
"""How long programs may take to end at the close before they are killed, in seconds."""


async def give_way() -> None:
    """Let the event loop handle what has happened meanwhile, such as a pressed key; then return."""
    await asyncio.sleep(0)  # the event loop sees it
    await asyncio.sleep(0)  # and handles it


class Loop(Protocol):
    """The part of the orchestrator's loop that background work calls."""

    def wake(self) -> None:
        """Make the loop look at the session again soon."""

    def say(self, message: str) -> None:
        """Show the user a message."""


class DeliveryLoop(Loop, Protocol):
    """The part of the orchestrator's loop that a delivery calls."""

    def hold_up(self, what: str, why: str) -> None:
        """Show what holds up the work named ``what``, until a call with an empty ``why``."""


class UnrecordedError(AgentmuxError):
    """The end of a piece of work cannot be recorded, so the work must not be done again.

    Background work raises this error. `BackgroundTasks` that have a ``give_up`` then do not start
    that work again.
    """


def is_unexpected(error: Exception) -> bool:
    """Return whether an error is unexpected, so that trying again hardly helps.

    Every error counts as unexpected, also an `OSError`, except `AgentmuxError`: that one has a
    message for the user, or goes away.
    """
    return not isinstance(error, AgentmuxError)


def in_words(error: Exception) -> str:
    """Return an error as text for people, without its hints.

    An unexpected error other than an `OSError` begins with the name of its class.
    """
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
        """Start with no work.

        Args:
            loop: The loop to wake.
            give_up: Called with the key and the last error of work that is not to be started again
                after it failed (see `run`). None lets failed work always be started again, because
                only a person starts it.
            label: Says for which session the programs of the work run, as `work_label` returns it;
                empty if for none in particular.
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
        """Start ``work`` unless work with this key runs or was given up; return whether it started.

        Returns at once; call it in a running event loop. Work is given up, i.e. cannot be started
        again before `allow_again`, if it fails with unexpected errors `TRIES` times without a
        success, or once with an `UnrecordedError`. If the constructor got no ``give_up``, no work
        is given up. Failed work counts as running for another `AGAIN_S` seconds; then the loop is
        woken. An error is shown and logged, but only once while work with this key fails in the
        same way.

        Args:
            key: Names the work, also for people.
            work: The work; it is closed if it is not started.
            give_up: Called with the last error after `TRIES` failures, instead of giving the work
                up. It must record that the work failed, so that nobody starts the work again. If it
                raises, or is None, the work is given up.
        """
        running = self._tasks.get(key)
        if key in self._given_up or (running is not None and not running.done()):
            work.close()
            return False
        self._tasks[key] = task = asyncio.create_task(self._run_guarded(key, work, give_up))
        # A task that is cancelled before its first step never begins the work.
        task.add_done_callback(lambda _: work.close())
        return True

    def allow_again(self, key: str) -> None:
        """Allow work with this key to start again after it was given up."""
        self._given_up.discard(key)
        del self._tried[key]

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run ``work`` in a daemon thread; wait for its result, and return that.

        An error that ``work`` raises is raised here. `close` ends the programs that it started.
        """
        return await self._threads.run(work)

    def cancel(self) -> None:
        """Cancel all work; do not wait for its end."""
        for task in self._tasks.values():
            task.cancel()

    async def close(self) -> None:
        """Cancel all work, end the programs that it started, and wait until they have ended."""
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
        """Count an error; after the last try, have the failure recorded, or give the work up."""
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
