"""Work of the desk that is done again whenever it is asked for, and never twice at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.app import App


class Repeated:
    """Work that is done again if it is asked for while it is under way; then once for all."""

    def __init__(self, app: App[int], work: Callable[[], Awaitable[None]]) -> None:
        """Set the work, which runs as a task of ``app``; an error of it ends ``app``."""
        self._app = app
        self._work = work
        self._is_wanted = False
        self._is_under_way = False

    def again(self) -> None:
        """Do the work soon."""
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
