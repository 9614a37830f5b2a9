"""Work in threads that keep neither a process nor its event loop from ending, and can be ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class WorkEndedError(Exception):
    """The work of this thread was ended; nobody waits for its result any more.

    It is no error of which a user is told, so that no one who handles those goes on with the work.
    """


def in_daemon_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Run ``work`` in a thread that keeps no process from ending; return the future of its result.

    That is for work that only reads, or may be killed at any point. The end of the event loop waits
    for threads of its own pool, but not for this one.
    """
    return _begin(work)[1]


def _begin(work: Callable[[], T]) -> tuple[Thread, asyncio.Future[T]]:
    from asyncio import get_running_loop  # noqa: PLC0415 (programs are run without it, too)

    loop = get_running_loop()
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

    thread = Thread(target=run, daemon=True)
    thread.start()
    return thread, done


class WorkGroup:
    """Pieces of work in threads, which are ended together with all programs that they run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_over = False
        self._ends: list[Callable[[], object]] = []
        self._threads: list[Thread] = []

    def run(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """As `in_daemon_thread`; a program that the work runs is ended by `end`."""

        def ours() -> T:
            _HERE.group = self
            require_going_on()
            return work()

        thread, done = _begin(ours)
        self._threads = [*(each for each in self._threads if each.is_alive()), thread]
        return done

    def end(self, wait_s: float) -> bool:
        """End the programs that run, and let none begin; wait for the threads.

        Return whether all have ended within ``wait_s`` seconds.
        """
        deadline = time.monotonic() + wait_s
        with self._lock:
            self._is_over, ends = True, tuple(self._ends)
        for each in ends:
            each()
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def require_going_on(self) -> None:
        """Raise `WorkEndedError` if the work was ended."""
        if self._is_over:
            raise WorkEndedError

    @contextmanager
    def ended_by(self, end: Callable[[], object]) -> Iterator[None]:
        """As the function `ended_by`."""
        with self._lock:
            self._ends.append(end)
            late = self._is_over
        try:
            if late:
                end()
            yield
        finally:
            with self._lock:
                self._ends.remove(end)
            self.require_going_on()


class _Here(threading.local):
    """The group to which the work of this thread belongs, if it does."""

    group: WorkGroup | None = None


_HERE = _Here()


def require_going_on() -> None:
    """Raise `WorkEndedError` if the work of this thread was ended."""
    if _HERE.group is not None:
        _HERE.group.require_going_on()


@contextmanager
def ended_by(end: Callable[[], object]) -> Iterator[None]:
    """Have ``end`` called, from any thread, if the work of this one is ended during the block.

    Raises:
        WorkEndedError: At the end of the block, if the work was ended.
    """
    if _HERE.group is None:
        yield
        return
    with _HERE.group.ended_by(end):
        yield
