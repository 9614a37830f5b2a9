"""The thread of the monitor, which answers keys while a step of the loop is still busy.

A step may wait hundreds of milliseconds for the disk and for tmux. Only this thread draws the
monitor and keeps what the user has begun there. It never changes the session: what a key asks of
the session is handed over to the loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any, Final

logger = logging.getLogger(__name__)

# How long to wait for the thread's end; a tmux call that goes to a pane may take this long.
_END_S: Final = 6.0


class MonitorThread:
    """Runs small pieces of work one after another, in a thread and an event loop of its own.

    Without a keyboard there are no keys to answer; then each piece of work runs at once, in the
    caller's thread.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def begin(self, keyboard: int | None, answer: Callable[[], None]) -> None:
        """Start the thread, which calls ``answer`` whenever ``keyboard`` has input.

        ``keyboard`` is a file descriptor; None starts no thread.
        """
        if keyboard is None:
            return
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_log)
        self._loop.add_reader(keyboard, answer)
        self._thread = Thread(target=self._run, args=(self._loop,), name="monitor", daemon=True)
        self._thread.start()

    def unplug(self, keyboard: int) -> None:
        """Stop waiting for keys, because the terminal is gone.

        The descriptor ``keyboard`` would otherwise always seem to have input.
        """
        if self._loop is not None:
            self._loop.remove_reader(keyboard)

    def do(self, work: Callable[[], object]) -> None:
        """Run ``work`` in the thread soon, after all earlier work; without a thread, run it now.

        May be called from any thread. After the thread has ended, ``work`` does not run.
        """
        if self._loop is None:
            work()
        else:
            with suppress(RuntimeError):  # the thread has ended
                self._loop.call_soon_threadsafe(work)

    def end(self) -> None:
        """Run the work given so far, cancel unfinished tasks, and end the thread.

        It waits for the thread, but only a few seconds.
        """
        if self._loop is None or self._thread is None:
            return
        self.do(self._loop.stop)
        self._thread.join(_END_S)

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        loop.run_forever()
        loop.run_until_complete(asyncio.sleep(0))  # lets the work start that was just given
        begun = asyncio.all_tasks(loop)
        for task in begun:
            task.cancel()
        if begun:
            loop.run_until_complete(asyncio.wait(begun))
        loop.close()


def _log(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an error in a callback: asyncio itself would print it over the monitor's picture."""
    logger.error("the monitor: %s", context["message"], exc_info=context.get("exception"))
