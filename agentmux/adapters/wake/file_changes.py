"""Changes below some directories: hints for the orchestrator, and looks for who waits.

Events are hints only. Files made in a directory that was itself just made are missed by design of
the kernel's interface, so whoever waits for a file looks for it at every hint.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from agentmux.core.names import layout

if TYPE_CHECKING:
    from watchfiles import Change

logger = logging.getLogger(__name__)

STEP_MS: Final = 500
"""How often the watching thread wakes, idle or not: at 100 ms it took a third of an orchestrator's
idle processor time (0.06 % over an hour). It is the reserve: signals come through the pipe."""

DEBOUNCE_MS: Final = 1000

_LOOK_MS: Final = 500
"""What changes while a watch is being set up is seen so much later."""

_NO_TIMEOUT: Final = 0
"""By default the thread comes back to the loop every five seconds, for nothing."""

_UNWATCHABLE: Final = (OSError, RuntimeError)
"""The library's own error for the limits of the kernel is a RuntimeError."""

_OURS: Final = frozenset({
    layout.STATE, layout.STATE_BACKUP, layout.CURSOR, layout.RUNTIME, layout.LOCK,
    layout.LOCK_HOLDER, layout.WAKE, layout.LOG,
})  # fmt: skip


def follow(path: Path, timeout_s: float) -> Iterator[None]:
    """Yield at every change directly in a directory, and now and then without one.

    The time between two yields is at most ``timeout_s``, and never more than half a second. What
    cannot be watched is looked at as often.
    """
    from watchfiles import watch  # noqa: PLC0415 (only waiting needs it)

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
        time.sleep(wait_ms / 1000)  # noqa: TID251 (nothing tells us of changes)


async def changes(paths: Iterable[Path], stop: asyncio.Event) -> AsyncIterator[None]:
    """Yield whenever something changed below ``paths``, until ``stop`` is set.

    What the orchestrator itself writes all the time (state, log, snapshots, temporary files) gives
    no hint, so that answering a hint causes none. What cannot be watched, because a path is missing
    or the kernel's limit is reached, is logged and gives no hint.
    """
    # Imported here, where it is needed: not every program that can watch does.
    from watchfiles import awatch  # noqa: PLC0415

    watched = tuple(paths)
    for path in watched:
        if not path.exists():
            logger.warning("could not watch %s: it is missing", path)
    halt = _Halt(stop)
    try:
        async for _ in awatch(
            *watched,
            watch_filter=_is_news,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            rust_timeout=_NO_TIMEOUT,
            stop_event=halt,
            force_polling=False,
            ignore_permission_denied=True,
        ):
            yield
    except _UNWATCHABLE as error:
        logger.warning("could not watch files: %s", error)
        await stop.wait()


async def gone(path: Path) -> None:
    """Return once there is nothing at ``path``; told by the directory that it lies in."""
    while os.path.lexists(path):
        with suppress(*_UNWATCHABLE):
            await _gone(path)
        await asyncio.sleep(_LOOK_MS / 1000)  # where nothing tells us of changes


async def _gone(path: Path) -> None:
    from watchfiles import awatch  # noqa: PLC0415

    async for _ in awatch(
        path.parent,
        watch_filter=None,
        debounce=50,
        step=20,
        rust_timeout=_LOOK_MS,
        yield_on_timeout=True,
        recursive=False,
    ):
        if not os.path.lexists(path):
            return


def _is_news(_change: Change, path: str) -> bool:
    pure = PurePath(path)
    return (
        pure.name not in _OURS
        and not pure.name.startswith(".tmp-")
        and layout.SNAPSHOTS not in pure.parts[-2:]
    )


class _Halt:
    """Says stop to the watching thread; unlike the caller's event it is also set on a cancel."""

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop = stop
        self._cancelled = False

    def is_set(self) -> bool:
        return self._cancelled or self._stop.is_set()

    def set(self) -> None:
        self._cancelled = True
