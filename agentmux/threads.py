"""Work in threads that keep neither a process nor its event loop from ending, and can be ended."""

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
"""How long a program may take to clean up when it is ended, such as git its lock files."""


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
    from asyncio import get_running_loop

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


class _End(NamedTuple):
    """How a program is ended: first it is asked to, then it is killed."""

    ask: Callable[[], object]
    kill: Callable[[], object]


class WorkGroup:
    """Pieces of work in threads, which are ended together with all programs that they run."""

    def __init__(self, label: str = "") -> None:
        """Make a group; ``label`` says whose work it is, empty for nobody's in particular."""
        self.label = label
        self._lock = threading.Lock()
        self._is_over = False
        self._ends: list[_End] = []
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

        All programs are asked to end at once. Those that still run after `GRACE_S` are killed.
        Return whether all threads have ended within ``wait_s`` seconds.
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
        """Raise `WorkEndedError` if the work was ended."""
        if self._is_over:
            raise WorkEndedError

    @contextmanager
    def ended_by(self, ask: Callable[[], object], kill: Callable[[], object]) -> Iterator[None]:
        """As the function `ended_by`."""
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
    """Return the label of the work for a session: its id, and its directory."""
    return f"{session}:{folder}"


class _Here(threading.local):
    """The group to which the work of this thread belongs, if it does."""

    group: WorkGroup | None = None


_HERE = _Here()


def work_label_here() -> str:
    """Return the label of the group to which the work of this thread belongs; empty for none."""
    return _HERE.group.label if _HERE.group is not None else ""


def require_going_on() -> None:
    """Raise `WorkEndedError` if the work of this thread was ended."""
    if _HERE.group is not None:
        _HERE.group.require_going_on()


@contextmanager
def ended_by(ask: Callable[[], object], kill: Callable[[], object]) -> Iterator[None]:
    """Have a program ended, from any thread, if the work of this one is ended during the block.

    Args:
        ask: Asks the program to end.
        kill: Ends it; called if the block still goes on after `GRACE_S`.

    Raises:
        WorkEndedError: At the end of the block, if the work was ended; before the block, if it was
            ended already.
    """
    if _HERE.group is None:
        yield
        return
    with _HERE.group.ended_by(ask, kill):
        yield
