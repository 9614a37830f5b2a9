"""The stream of server-sent events, which tells browsers which sessions have changed."""

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
"""Seconds between pings on a silent stream; without them, proxies would close it."""

_HEADERS: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}
_HELLO: Final = "retry: 1000\nevent: hello\ndata: {}\n\n"
_PING: Final = "event: ping\ndata: {}\n\n"
"""An event, not a comment, for the page's script: silence tells it that the network is gone."""

Told = frozenset[str] | None
"""The names of the sessions that have changed; None if the server is about to end."""


class Events:
    """Sends changes to all connected browsers; watches the sessions only while one is connected."""

    def __init__(self, sessions: ProjectSessions, homes: Callable[[], Iterable[Path]]) -> None:
        """Set what is watched while a browser is connected.

        Args:
            sessions: The sessions.
            homes: Returns further folders in which a change may affect the list of sessions.
        """
        self._sessions, self._homes = sessions, homes
        self._queues: set[asyncio.Queue[Told]] = set()
        self._watch: SessionWatch | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    async def stream(self, _: Request) -> Response:
        """Return a response that streams events to one browser until it or the server ends.

        The first event (SSE) is ``hello``; a silent stream has a ``ping`` every 15 seconds. Both
        have an empty JSON object. The data of all others is ``{"changed": [NAME, …]}`` with the
        names of the sessions that have changed; an empty name says that sessions may have appeared
        or disappeared.
        """
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
        """Tell all browsers which sessions have changed. Call this in the event loop only.

        Args:
            names: The names of the sessions; the empty text `session_watch.LIST` among them says
                that sessions may have appeared or disappeared. None only wakes the streams, so that
                they notice the end of the server.
        """
        for queue in self._queues:
            queue.put_nowait(names)

    def tell_from_thread(self, name: str) -> None:
        """Tell all browsers that the session ``name`` has changed. Callable from any thread."""
        self._soon(frozenset({name}))

    def close(self) -> None:
        """End all streams. Callable from a signal handler."""
        self._closed = True
        self._soon(None)

    def _soon(self, names: Told) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self.tell, names)
