"""Watches the sessions of all projects: their files, and the processes of their orchestrators."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.system.processes.processes import PidWatch
from agentmux.adapters.wake.flat_watch import SET_UP_S, FlatWatch
from agentmux.app.session.search.lookup import entry_at, live, sessions_dir
from agentmux.app.session.search.watched_files import (
    ENDED_S,
    WATCHED_FILES,
    changed_ns,
    folder_to_watch,
)
from agentmux.app.views.cached_listings import CachedListings
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names import layout
from agentmux.errors import AgentmuxError
from agentmux.threads import in_daemon_thread

if TYPE_CHECKING:
    from agentmux.web.pages.reading import ProjectSessions

STEP_MS: Final = 50
"""For how many milliseconds changes of files are collected before they are reported together."""

LIST: Final = ""
"""The name that stands for the list of sessions: sessions may have appeared or disappeared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watched:
    """The folders and processes that are watched.

    Attributes:
        sessions: The directories of all sessions that are not done.
        homes: The folders in which new sessions and projects appear.
        orchestrators: The pids of the orchestrators, by the name of their session.
        seen_ns: The time of the last change of each folder, in nanoseconds, before it was read.
    """

    sessions: frozenset[Path]
    homes: frozenset[Path]
    orchestrators: Mapping[str, int]
    seen_ns: Mapping[Path, int]


class SessionWatch:
    """Watches all sessions from its creation on, and reports which ones have changed.

    For that, it calls the function ``told`` that is given to the constructor, in the event loop and
    with the names of these sessions.
    """

    def __init__(
        self,
        sessions: ProjectSessions,
        homes: Callable[[], Iterable[Path]],
        told: Callable[[frozenset[str]], object],
    ) -> None:
        """Start to watch. Call this in the event loop only.

        Args:
            sessions: The sessions.
            homes: Returns further folders in which a change may affect the list of sessions.
            told: A function that is called in the event loop with the names of the sessions that
                have changed; `LIST` among them stands for the list of sessions.
        """
        self._loop = asyncio.get_running_loop()
        self._sessions, self._homes, self._told = sessions, homes, told
        self._watched = _Watched(
            sessions=frozenset(), homes=frozenset(), orchestrators={}, seen_ns={}
        )
        self._files = FlatWatch(self._take_changes, step_ms=STEP_MS)
        self._processes = PidWatch(self._loop)
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self._start(self._again())

    def close(self) -> None:
        """Stop watching, for good."""
        self._closed = True
        self._files.close()
        self._processes.close()
        for task in self._tasks:
            task.cancel()

    def _take_changes(self, paths: frozenset[Path]) -> None:
        """Pass changed files on to the event loop; called in a thread."""
        with suppress(RuntimeError):  # the loop is closed: the server ends
            self._loop.call_soon_threadsafe(self._take, paths)

    def _take(self, paths: frozenset[Path]) -> None:
        held = self._watched
        names = {
            e.parent.name for e in paths if e.name in WATCHED_FILES and e.parent in held.sessions
        }
        if any(each.parent not in held.sessions for each in paths):
            names.add(LIST)
        if any(each.name == layout.LOCK_HOLDER for each in paths) or LIST in names:
            self._start(self._again())
        if names:
            self._told(frozenset(names))

    async def _again(self) -> None:
        """Find out what has to be watched now, and watch it."""
        targets = await in_daemon_thread(self._to_watch)
        self._watched = targets
        added = self._files.watch(targets.sessions | targets.homes)
        seen_ns = {each: targets.seen_ns[each] for each in added}
        self._loop.call_later(SET_UP_S, self._look_back, seen_ns)
        for name, pid in targets.orchestrators.items():
            self._processes.watch(pid, partial(self._schedule_look, name))

    def _look_back(self, seen_ns: Mapping[Path, int]) -> None:
        """Report changes in these folders that happened while the watch was being set up."""
        late = (path for path, seen in seen_ns.items() if changed_ns(path) != seen)
        held = self._watched.sessions
        paths = frozenset(path / layout.STATE if path in held else path for path in late)
        if paths and not self._closed:
            self._take(paths)

    def _schedule_look(self, name: str, _pid: int) -> None:
        self._loop.call_later(ENDED_S, self._told, frozenset({name}))

    def _to_watch(self) -> _Watched:
        sessions: set[Path] = set()
        homes = {each for each in self._homes() if each.is_dir()}
        pids: dict[str, int] = {}
        seen_ns = {each: changed_ns(each) for each in homes}
        asked = CachedListings()
        for site in self._sessions.sites():
            home, place = sessions_dir(site.project), folder_to_watch(site.project)
            homes.add(place)
            seen_ns[place] = changed_ns(place)
            with suppress(AgentmuxError):
                paths = [home / name for name in site.folders.names(home)]
                seen_ns |= {each: changed_ns(each) for each in paths}
                entries = [entry_at(site, each) for each in paths]
                going = [each for each in entries if not each.is_done]
                sessions |= {each.path for each in going}
                lives = live(asked.by(site), going) if going else {}
                pids |= {e.name: p for e in going if (p := lives[e.path].orchestrator) is not None}
        return _Watched(
            sessions=frozenset(sessions),
            homes=frozenset(homes),
            orchestrators=pids,
            seen_ns=seen_ns,
        )

    def _start(self, work: Coroutine[object, object, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
