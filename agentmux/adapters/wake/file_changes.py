"""File system events in some directories, which are only hints to look again.

The kernel's interface misses files in a directory that was just created. So code that waits for a
file must look for the file at every event.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Generator, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from agentmux.adapters.system.polling import pause
from agentmux.core.fleet import lease
from agentmux.core.names import layout
from agentmux.threads import in_daemon_thread

if TYPE_CHECKING:
    from watchfiles import Change

logger = logging.getLogger(__name__)

STEP_MS: Final = 500
"""The interval, in milliseconds, at which the thread that watches files wakes. At 100 ms the thread
used a third of an idle orchestrator's processor time (0.06 % over an hour). Agents' signals need no
shorter interval, because they come through the wake-up pipe."""

DEBOUNCE_MS: Final = 1000

_LOOK_MS: Final = 500
"""The maximum time, in milliseconds, between two looks of `follow` and `wait_until_gone`: a change
while a watch is being set up causes no event."""

_NO_TIMEOUT: Final = 0
"""The ``rust_timeout`` of watchfiles for no timeout: by default its thread would wake the event
loop every five seconds, for nothing."""

_UNWATCHABLE: Final = (OSError, RuntimeError)
"""The exceptions of watchfiles for paths that cannot be watched (RuntimeError at kernel limits)."""

_OURS: Final = frozenset({
    layout.STATE, layout.STATE_BACKUP, layout.CURSOR, layout.RUNTIME, layout.LOCK,
    layout.LOCK_HOLDER, layout.WAKE, layout.LOG, lease.NAME,
})  # fmt: skip


def follow(path: Path, timeout_s: float) -> Generator[None, None, None]:
    """Yield at every change directly in the directory ``path``, and regularly without a change.

    The time between two yields is at most ``timeout_s`` and at most half a second, even if the
    directory cannot be watched. It never ends: the caller stops iterating.
    """
    from watchfiles import watch

    wait_ms = max(1, min(_LOOK_MS, int(timeout_s * 1000)))
    with suppress(*_UNWATCHABLE):
        for _ in watch(
            path,
            watch_filter=None,
            debounce=100,
            step=20,
            rust_timeout=wait_ms,
            yield_on_timeout=True,
            recursive=False,
        ):
            yield
    while True:
        yield
        pause(wait_ms / 1000)  # changes cannot be watched


async def changes(paths: Iterable[Path], stop: asyncio.Event) -> AsyncIterator[None]:
    """Yield whenever something changes below ``paths``, until ``stop`` is set.

    Files that the orchestrator itself writes often (state, log, snapshots, temporary files) are
    left out, so that handling a change causes no other. A missing path is logged and not watched.
    If the system refuses to watch, for example at a kernel limit, that is logged, and from then on
    this only waits for ``stop``.
    """
    # Imported here, because most programs that import this module do not watch.
    from watchfiles import watch

    watched = tuple(paths)
    for path in watched:
        if not path.exists():
            logger.warning("could not watch %s: it is missing", path)
    halt = _Halt(stop)
    watching = watch(
        *watched,
        watch_filter=_is_news,
        debounce=DEBOUNCE_MS,
        step=STEP_MS,
        rust_timeout=_NO_TIMEOUT,
        stop_event=halt,
        force_polling=False,
        ignore_permission_denied=True,
    )
    try:
        async for _ in _in_thread(watching, halt):
            yield
    except _UNWATCHABLE as error:
        logger.warning("could not watch files: %s", error)
        await stop.wait()


async def wait_until_gone(path: Path) -> None:
    """Wait until nothing exists at ``path``, without a time limit."""
    while os.path.lexists(path):
        with suppress(*_UNWATCHABLE):
            await _watch_until_gone(path)
        await asyncio.sleep(_LOOK_MS / 1000)  # needed if changes cannot be watched


async def _watch_until_gone(path: Path) -> None:
    from watchfiles import watch

    halt = _Halt()
    watching = watch(
        path.parent,
        watch_filter=None,
        debounce=50,
        step=20,
        rust_timeout=_LOOK_MS,
        stop_event=halt,
        yield_on_timeout=True,
        recursive=False,
    )
    async for _ in _in_thread(watching, halt):
        if not os.path.lexists(path):
            return


async def _in_thread(watching: Iterator[object], halt: _Halt) -> AsyncIterator[None]:
    """Yield for each item of ``watching``, which runs in a thread and ends after ``halt`` is set.

    ``awatch`` of watchfiles does the same, but loads a second library for event loops, which takes
    as long as a tenth of an orchestrator's start. The end of the event loop does not wait for the
    thread, as it would for one of its own pool: the thread sees ``halt`` up to half a second later.
    """
    try:
        while await in_daemon_thread(partial(next, watching, None)) is not None:
            yield
    finally:
        halt.set()  # the thread may still be waiting


def _is_news(_change: Change, path: str) -> bool:
    pure = PurePath(path)
    return (
        pure.name not in _OURS
        and not pure.name.startswith(".tmp-")
        and layout.SNAPSHOTS not in pure.parts[-2:]
    )


class _Halt:
    """The stop event for watchfiles: set if the caller's event is set, or if `set` was called.

    `set` is called when the watching task is cancelled; the caller's event stays as it is.
    """

    def __init__(self, stop: asyncio.Event | None = None) -> None:
        self._stop = stop
        self._cancelled = False

    def is_set(self) -> bool:
        return self._cancelled or (self._stop is not None and self._stop.is_set())

    def set(self) -> None:
        self._cancelled = True
