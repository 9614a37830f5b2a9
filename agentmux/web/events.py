"""The stream of events: tells browsers which sessions have changed, so that they look again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from starlette.responses import Response, StreamingResponse

from agentmux.web.session_watch import SessionWatch

if TYPE_CHECKING:
    from starlette.requests import Request

    from agentmux.web.pages.reading import ProjectSessions

_PING_S: Final = 15.0
"""How often a silent stream says that it is there: proxies end those that never do."""

_HEADERS: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}
_HELLO: Final = "retry: 1000\nevent: hello\ndata: {}\n\n"
_PING: Final = ": still here\n\n"

Told = frozenset[str] | None
"""The names of the sessions that have changed; None for the end of the server."""


class Events:
    """The browsers that listen; sessions are watched only while there is one."""

    def __init__(self, sessions: ProjectSessions, homes: Callable[[], Iterable[Path]]) -> None:
        """Take the sessions, and what returns more folders in which changes concern the list."""
        self._sessions, self._homes = sessions, homes
        self._queues: set[asyncio.Queue[Told]] = set()
        self._watch: SessionWatch | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    async def stream(self, _: Request) -> Response:
        """Answer with a stream that ends when the browser leaves, or the server ends."""
        return StreamingResponse(self._events(), media_type="text/event-stream", headers=_HEADERS)

    async def _events(self) -> AsyncIterator[str]:
        queue = self._join()
        try:
            yield _HELLO
            while not self._closed:
                try:
                    changed = await asyncio.wait_for(queue.get(), _PING_S)
                except TimeoutError:
                    yield _PING
                    continue
                if changed is not None:
                    yield f"data: {json.dumps({'changed': sorted(changed)})}\n\n"
        finally:
            self._leave(queue)

    def _join(self) -> asyncio.Queue[Told]:
        queue: asyncio.Queue[Told] = asyncio.Queue()
        self._queues.add(queue)
        self._loop = asyncio.get_running_loop()
        if self._watch is None and not self._closed:
            self._watch = SessionWatch(self._sessions, self._homes, self.tell)
        return queue

    def _leave(self, queue: asyncio.Queue[Told]) -> None:
        self._queues.discard(queue)
        if not self._queues and self._watch is not None:
            self._watch.close()
            self._watch = None

    def tell(self, names: Told) -> None:
        """Tell all browsers that these sessions have changed; call this in the event loop."""
        for queue in self._queues:
            queue.put_nowait(names)

    def tell_from_thread(self, name: str) -> None:
        """Tell all browsers that this session has changed; for any thread."""
        self._soon(frozenset({name}))

    def close(self) -> None:
        """End all streams; may be called in a signal handler."""
        self._closed = True
        self._soon(None)

    def _soon(self, names: Told) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self.tell, names)
