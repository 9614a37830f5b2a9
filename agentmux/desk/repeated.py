"""Work of the desk that is done again whenever it is asked for, and never twice at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.app import App


class Repeated:
    """Runs some work on request, in a task of the application, never twice at a time.

    All requests that come during a run cause one more run after it.
    """

    def __init__(self, app: App[int], work: Callable[[], Awaitable[None]]) -> None:
        """Set the work, which runs as a task of ``app``; an error of it ends ``app``."""
        self._app = app
        self._work = work
        self._is_wanted = False
        self._is_under_way = False

    def again(self) -> None:
        """Request a run of the work, and return at once.

        It begins now; if a run is under way, another one follows that.
        """
        self._is_wanted = True
        if not self._is_under_way:
            self._is_under_way = True
            self._app.run_worker(self._run(), exit_on_error=True)

    async def _run(self) -> None:
        try:
            while self._is_wanted:
                self._is_wanted = False
                await self._work()
        finally:
            self._is_under_way = False
