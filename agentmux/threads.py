"""Runs work in daemon threads, which delay neither the end of the process nor of the event loop.

The work of a `WorkGroup` can be ended, together with the programs that it runs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

T = TypeVar("T")

GRACE_S: Final = 2.0
"""How many seconds a program gets to clean up (for git: to remove its lock files) before a kill."""


class WorkEndedError(Exception):
    """The work of this thread was ended, and its result is no longer needed.

    It is not an `AgentmuxError`, so that code which handles those does not go on with the work.
    """


def in_daemon_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Run ``work`` in a daemon thread, and return a future for its result or exception.

    Use it for work that only reads, or that may be killed at any point: the process may end before
    the work does. Call it in a running event loop. Unlike the threads of the loop's own pool, this
    thread does not delay the end of the loop.
    """
    return _begin(work)[1]


def _begin(work: Callable[[], T]) -> tuple[Thread, asyncio.Future[T]]:
    from asyncio import get_running_loop

    loop = get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(told: Callable[[], None]) -> None:
        if not done.done():  # the caller has not cancelled the future
            told()

    def run() -> None:
        try:
            told = partial(done.set_result, work())
        except BaseException as error:  # noqa: BLE001 (it is raised where the future is awaited)
            told = partial(done.set_exception, error)
        with suppress(RuntimeError):  # the loop is closed, as the process ends
            loop.call_soon_threadsafe(settle, told)

    thread = Thread(target=run, daemon=True)
    thread.start()
    return thread, done


class _End(NamedTuple):
    """The two calls that end a program: the first asks it to end, the second kills it."""

    ask: Callable[[], object]
    kill: Callable[[], object]


class WorkGroup:
    """Runs work in daemon threads, and can end all of it together with the programs it runs."""

    def __init__(self, label: str = "") -> None:
        """Create a group without work.

        Args:
            label: Says for which session the group works, as `work_label` returns it; empty if it
                works for no session in particular.
        """
        self.label = label
        self._lock = threading.Lock()
        self._is_over = False
        self._ends: list[_End] = []
        self._threads: list[Thread] = []

    def run(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Run ``work`` in a daemon thread of this group, and return a future for its result.

        Call it in a running event loop. If the group was ended before, ``work`` is not called, and
        the future raises `WorkEndedError`. If `end` ends the programs that the work runs, the work
        gets that error from `ended_by`, and the future raises it, too.
        """

        def ours() -> T:
            _HERE.group = self
            require_going_on()
            return work()

        thread, done = _begin(ours)
        self._threads = [*(each for each in self._threads if each.is_alive()), thread]
        return done

    def end(self, wait_s: float) -> bool:
        """End the programs of the group, refuse further work, and wait for the group's threads.

        All programs are asked to end at the same time; those that still run after `GRACE_S` are
        killed.

        Args:
            wait_s: How many seconds to wait for the threads.

        Returns:
            Whether all threads have ended.
        """
        begun = time.monotonic()
        with self._lock:
            self._is_over, ends = True, tuple(self._ends)
        for each in ends:
            each.ask()
        self._join(begun + min(GRACE_S, wait_s))
        with self._lock:
            ends = tuple(self._ends)
        for each in ends:
            each.kill()
        return self._join(begun + wait_s)

    def _join(self, deadline: float) -> bool:
        """Wait for the threads until ``deadline``; return whether all have ended."""
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def require_going_on(self) -> None:
        """Check that the group was not ended.

        Raises:
            WorkEndedError: The group was ended.
        """
        if self._is_over:
            raise WorkEndedError

    @contextmanager
    def ended_by(self, ask: Callable[[], object], kill: Callable[[], object]) -> Iterator[None]:
        """Register how to end a program that this group runs during the ``with`` block.

        The group's `end` calls ``ask``, which asks the program to end, and later ``kill``, if the
        block has not ended. Both calls come from another thread.

        Raises:
            WorkEndedError: The group was ended before the block (which then does not run) or
                during it.
        """
        end = _End(ask, kill)
        with self._lock:
            self.require_going_on()
            self._ends.append(end)
        try:
            yield
        finally:
            with self._lock:
                self._ends.remove(end)
            self.require_going_on()


def work_label(session: str, folder: Path) -> str:
    """Return the label of a `WorkGroup` that works for a session: ``UUID:DIRECTORY``.

    By the label, programs that outlive their orchestrator are recognised as the session's.

    Args:
        session: The session's uuid.
        folder: The session's directory.
    """
    return f"{session}:{folder}"


class _Here(threading.local):
    """The group to which the work of the current thread belongs; None if it belongs to none."""

    group: WorkGroup | None = None


_HERE = _Here()


def work_label_here() -> str:
    """Return the label of the group that runs the current thread; empty if no group runs it."""
    return _HERE.group.label if _HERE.group is not None else ""


def require_going_on() -> None:
    """Check that the work of the current thread was not ended; passes outside of a `WorkGroup`.

    Raises:
        WorkEndedError: The work was ended.
    """
    if _HERE.group is not None:
        _HERE.group.require_going_on()


@contextmanager
def ended_by(ask: Callable[[], object], kill: Callable[[], object]) -> Iterator[None]:
    """Register how to end a program that runs during the ``with`` block.

    If the `WorkGroup` of the current thread is ended meanwhile, the program is ended, too. Both
    functions may be called from another thread; outside of a group, neither is called.

    Args:
        ask: Asks the program to end.
        kill: Kills the program; called if the block has not ended after `GRACE_S`.

    Raises:
        WorkEndedError: The work was ended before the block (which then does not run) or during it.
    """
    if _HERE.group is None:
        yield
        return
    with _HERE.group.ended_by(ask, kill):
        yield
