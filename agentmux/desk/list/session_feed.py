"""Keeps the rows of the desk up to date: reads all sessions once, then those that change.

Sessions are read in threads, which report to the event loop with `call_soon_threadsafe`.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.system.processes.processes import PidWatch
from agentmux.adapters.wake.flat_watch import SET_UP_S, FlatWatch
from agentmux.app.session.search.lookup import sessions_dir
from agentmux.app.session.search.watched_files import (
    ENDED_S,
    WATCHED_FILES,
    changed_ns,
    folder_to_watch,
)
from agentmux.desk.list.reading import CHUNK, RowsRead, SessionReader
from agentmux.threads import in_daemon_thread

if TYPE_CHECKING:
    from agentmux.desk.list.listing import DeskRow

_BREATH_S: Final = 0.004
"""Seconds of pause after the examination of each session, so that keys are handled promptly."""

_TOGETHER: Final = 50
_FIRST_S: Final = 0.02
"""Seconds without reading at first, while the desk draws its first screen."""


class SessionFeed:
    """Reads the rows of sessions, and tells the desk when there are new or changed ones.

    Attributes:
        is_complete: Whether all sessions have been read once.
    """

    def __init__(
        self, reader: SessionReader, projects: Callable[[], tuple[Path, ...]], register: Path
    ) -> None:
        """Set what is read. Nothing is read yet.

        Args:
            reader: Reads the sessions.
            projects: Returns the folders of the projects that are known now.
            register: The file with the known projects, whose folder is watched.
        """
        self.is_complete = False
        self._register = register
        self._reader = reader
        self._projects = projects
        self._read: list[RowsRead] = []
        self._held = threading.Lock()
        self._tell: Callable[[], object] = lambda: None
        self._known: frozenset[Path] = frozenset()
        self._unexamined: dict[Path, DeskRow] = {}
        self._examining = False
        self._pending: dict[Path, set[Path]] = {}
        self._reading = False
        self._halt = threading.Event()
        self._attached = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._files = FlatWatch(self._take_changes)
        self._processes: PidWatch | None = None
        self._tasks: set[asyncio.Future[object]] = set()

    # -- everything, once ----------------------------------------------------------------------

    def begin(self) -> None:
        """Start to read all sessions, in a thread. The application need not run yet."""
        threading.Thread(target=self._everything, daemon=True).start()

    def _everything(self) -> None:
        projects = self._projects()
        self._known = frozenset(projects)
        told, rows = 0, 0
        for read, each in enumerate(self._reader.everything(projects)):
            if self._halt.is_set():
                return
            self._put(each, tells=read >= told)  # often at first, then seldom: a picture costs time
            told = 2 * read if read >= told else told
            rows += len(each.rows)
            if rows >= CHUNK:
                self._attached.wait()  # the first picture is enough for now
        self.is_complete = True
        self._put(RowsRead())

    def _put(self, read: RowsRead, *, tells: bool = True) -> None:
        with self._held:
            self._read.append(read)
            if tells:
                self._tell()

    def take(self) -> list[RowsRead]:
        """Return what was read since the last call, in the order of reading; may be empty."""
        with self._held:
            readings, self._read = self._read, []
        return readings

    # -- changes -------------------------------------------------------------------------------

    def attach(self, told: Callable[[], object]) -> None:
        """Call ``told`` in the running event loop whenever `take` has something to return."""
        loop = asyncio.get_running_loop()
        self._loop = loop
        self._processes = PidWatch(loop)

        def tell() -> None:
            with suppress(RuntimeError):  # the loop is closed: the desk ends
                loop.call_soon_threadsafe(told)

        with self._held:
            self._tell = tell
        loop.call_later(_FIRST_S, self._attached.set)

    def follow(self, rows: Mapping[Path, DeskRow]) -> None:
        """Set which sessions are followed: their files, projects and orchestrators are watched.

        Files of sessions that are done, or that are not among ``rows``, are watched no longer. Call
        it in the event loop, after `attach`.

        Args:
            rows: The sessions, by directory.
        """
        places = {folder_to_watch(project): project for project in self._known}
        folders = (path for path, row in rows.items() if not row.is_done)
        added = self._files.watch((*folders, *places, self._register.parent))
        for row in rows.values():
            if row.orchestrator is not None and self._processes is not None:
                ended = partial(self._look_after_end, row.project, row.path)
                self._processes.watch(row.orchestrator, ended)
        if added and self._loop is not None:
            # What changes while the watch is set up is not told.
            self._loop.call_later(SET_UP_S, self.check, rows)
            self._loop.call_later(SET_UP_S, self._read_new, tuple(places.values()), rows)

    def check(self, rows: Mapping[Path, DeskRow]) -> None:
        """Read each unfinished session again if its directory has changed since it was read.

        The read goes on in a thread after the call. Call it in the event loop.

        Args:
            rows: The sessions as they were read, by directory.
        """
        again: dict[Path, set[Path]] = {}
        for path, row in rows.items():
            if not row.is_done and changed_ns(path) != row.seen_ns:
                again.setdefault(row.project, set()).add(path)
        self.look_again(again)

    def _read_new(self, projects: Iterable[Path], rows: Mapping[Path, DeskRow]) -> None:
        """Read the sessions that are not among ``rows``."""
        for project in projects:
            with suppress(OSError):
                names = os.listdir(sessions_dir(project))
                paths = {sessions_dir(project) / name for name in names if name[:1] != "."}
                self.look_again({project: paths - rows.keys()} if paths - rows.keys() else {})

    def _take_changes(self, paths: frozenset[Path]) -> None:
        """Pass changed files on to the event loop; called in a thread."""
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._note, paths)

    def _note(self, paths: Iterable[Path]) -> None:
        sessions: dict[Path, set[Path]] = {}
        homes = {sessions_dir(project): project for project in self._known}
        for path in paths:
            if path.parent in homes and not path.name.startswith("."):
                sessions.setdefault(homes[path.parent], set()).add(path)
            elif path.parent.parent in homes and path.name in WATCHED_FILES:
                sessions.setdefault(homes[path.parent.parent], set()).add(path.parent)
        self.look_again(sessions)
        if self._register in paths:
            self.look_for_projects()
        self._read_projects(homes[e] for home in paths for e in homes if home in {e, e.parent})

    def _look_after_end(self, project: Path, path: Path, _: int) -> None:
        """Read a session again shortly after its orchestrator has ended, when its lock is free."""
        if self._loop is not None:
            self._loop.call_later(ENDED_S, self.look_again, {project: {path}})

    def look_again(self, paths: Mapping[Path, Iterable[Path]]) -> None:
        """Read some sessions again, in a thread; requests during a read are handled after it.

        Call it in the event loop. It returns at once; `take` later returns the rows.

        Args:
            paths: The directories of the sessions, by their project.
        """
        for project, wanted in paths.items():
            self._pending.setdefault(project, set()).update(wanted)
        if self._pending and not self._reading:
            self._reading = True
            self._start(self._look())

    async def _look(self) -> None:
        try:
            while self._pending:
                wanted, self._pending = self._pending, {}
                self._put(await in_daemon_thread(partial(self._reader.some, wanted)))
        finally:
            self._reading = False

    def look_for_projects(self) -> None:
        """Look for projects that were not known yet, and read their sessions in a thread.

        Call it in the event loop. `take` later returns the rows.
        """
        new = tuple(each for each in self._projects() if each not in self._known)
        self._known |= set(new)
        self._read_projects(new)

    def _read_projects(self, projects: Iterable[Path]) -> None:
        wanted = tuple(dict.fromkeys(projects))
        if wanted:
            self._start(self._read_whole(wanted))

    async def _read_whole(self, projects: tuple[Path, ...]) -> None:
        for each in await in_daemon_thread(lambda: tuple(self._reader.everything(projects))):
            self._put(each)

    # -- what a resume would do ------------------------------------------------------------------

    def examine(self, rows: Iterable[DeskRow]) -> None:
        """Begin to find out what a resume of these sessions would do, in this order.

        `take` later returns the rows with the results, as `RowsRead.examined`. Call it in the event
        loop. An examination under way is finished first; of several calls meanwhile, only the last
        one counts.
        """
        self._unexamined = {each.path: each for each in rows}
        if self._unexamined and not self._examining:
            self._examining = True
            self._start(self._examine())

    async def _examine(self) -> None:
        try:
            while self._unexamined:
                rows, self._unexamined = tuple(self._unexamined.values()), {}
                await in_daemon_thread(partial(self._examine_rows, rows))
        finally:
            self._examining = False

    def _examine_rows(self, rows: tuple[DeskRow, ...]) -> None:
        batch: list[DeskRow] = []
        for number, each in enumerate(self._reader.examine_rows(rows), start=1):
            batch.append(each)
            if len(batch) == _TOGETHER or number in {1, len(rows)}:
                self._put(RowsRead(examined=tuple(batch)))
                batch = []
            if self._halt.wait(_BREATH_S):
                return
        self._put(RowsRead(examined=tuple(batch)))

    def _start(self, work: Coroutine[object, object, object]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        """Stop reading and watching."""
        self._halt.set()
        self._attached.set()
        self._files.close()
        if self._processes is not None:
            self._processes.close()
