"""Reads the sessions of all projects as rows of the desk's list, without changing anything.

The functions block. Each tmux server is queried once for all sessions that are read together.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.result import SessionProblem, problem_of
from agentmux.app.session.search.lookup import SessionEntry, entry_at, live, sessions_dir
from agentmux.app.session.search.watched_files import changed_ns
from agentmux.app.views.cached_listings import CachedListings
from agentmux.app.views.cached_programs import CachedPrograms
from agentmux.app.views.rows import search_words, session_row
from agentmux.app.views.status import look
from agentmux.app.world import Site, World, as_if_trusted
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.names.status_labels import StatusGroup
from agentmux.core.names.statuses import WAITING
from agentmux.desk.list.listing import DeskRow
from agentmux.errors import AgentmuxError, data_error_from

if TYPE_CHECKING:
    from agentmux.app.views.session.session_view import SessionView
    from agentmux.core.journal.state import SessionState

CHUNK: Final = 100
"""How many sessions are read before they are handed to the list together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsRead:
    """The result of reading several sessions.

    Attributes:
        rows: The rows of the sessions that exist.
        examined: Rows that were read before, now with what a resume would do.
        gone: The directories that are no longer sessions.
        problems: Sessions, projects and tmux servers that could not be read.
    """

    rows: tuple[DeskRow, ...] = ()
    examined: tuple[DeskRow, ...] = ()
    gone: tuple[Path, ...] = ()
    problems: tuple[SessionProblem, ...] = ()


class SessionReader:
    """Reads the sessions of several projects."""

    def __init__(self, site: Callable[[Path], Site], world: Callable[[Path], World]) -> None:
        """Set how projects are read.

        Args:
            site: Returns a project's site, which reads its sessions; called once per project.
            world: Returns a project's world, which must be read-only.
        """
        self._site = functools.cache(site)
        self._world = world

    def site(self, project: Path) -> Site:
        """Return the site of a project, which reads its sessions."""
        return self._site(project)

    def world(self, project: Path) -> World:
        """Return the world of a project, with all its files trusted. It runs no agent.

        Raises:
            ConfigError: The project's configuration is invalid.
        """
        return as_if_trusted(self._world(project))

    def own_world(self, project: Path) -> World:
        """Return the world of a project, in which only the files that the user trusts have effect.

        Raises:
            ConfigError: The project's configuration is invalid.
        """
        return self._world(project)

    def place_row(self, row: DeskRow) -> tuple[World, SessionState]:
        """Return the world of a session's project, adapted to its work tree, and its state.

        Raises:
            AgentmuxError: The session or the project's configuration cannot be read.
        """
        from agentmux.app.session.workplace.own_worktree import with_workplace

        world = self.world(row.project)
        state = world.files(row.path).load().current
        return with_workplace(world, state), state

    def everything(self, projects: Sequence[Path]) -> Iterator[RowsRead]:
        """Yield the rows of all sessions of these projects in chunks, newest first per project.

        A chunk has at most 100 sessions, of one project. What cannot be read is among its
        ``problems``.

        Args:
            projects: The folders of the projects.
        """
        asked = CachedListings()
        for project in projects:
            site = self.site(project)
            try:
                names = sorted(site.folders.names(sessions_dir(project)), reverse=True)
            except AgentmuxError as error:
                yield RowsRead(problems=(problem_of("", error),))
                continue
            paths = [sessions_dir(project) / name for name in names]
            for first in range(0, len(paths), CHUNK):
                yield self._read(asked.by(site), paths[first : first + CHUNK])

    def some(self, paths: Mapping[Path, Iterable[Path]]) -> RowsRead:
        """Read some sessions.

        Args:
            paths: The directories of the sessions, by their project.

        Returns:
            The rows of the sessions that exist, and the directories of those that are gone.
        """
        asked = CachedListings()
        readings = [
            self._read(asked.by(self.site(project)), list(wanted))
            for project, wanted in paths.items()
        ]
        return RowsRead(
            rows=tuple(row for each in readings for row in each.rows),
            gone=tuple(path for each in readings for path in each.gone),
            problems=tuple(problem for each in readings for problem in each.problems),
        )

    def _read(self, site: Site, paths: Sequence[Path]) -> RowsRead:
        seen = {path: changed_ns(path) for path in paths if site.folders.is_session(path)}
        there, gone = list(seen), tuple(path for path in paths if path not in seen)
        try:
            entries = [entry_at(site, path) for path in there]
            result = look(site, entries, warns=False)
        except (AgentmuxError, OSError) as error:
            failure = data_error_from(error) if isinstance(error, OSError) else error
            return RowsRead(gone=gone, problems=(problem_of("", failure),))
        both = zip(result.data, entries, strict=True)
        rows = tuple(_row(site, view, entry, seen[entry.path]) for view, entry in both)
        return RowsRead(rows=rows, gone=gone, problems=result.problems)

    def examine_rows(self, rows: Iterable[DeskRow]) -> Iterator[DeskRow]:
        """Yield the rows with whether their session can be resumed (``safety`` and ``warned``).

        Rows are left out if the session cannot be examined, or is live by now.
        """
        worlds: dict[Path, World | None] = {}
        asked = CachedListings()
        for row in rows:
            if row.project not in worlds:
                worlds[row.project] = self._looking_world(row.project)
            world = worlds[row.project]
            examined_row = _examine_row(asked.by(world), row) if world is not None else None
            if examined_row is not None:
                yield examined_row

    def _looking_world(self, project: Path) -> World | None:
        try:
            world = self.world(project)
        except (AgentmuxError, OSError):
            return None
        return replace(
            world,
            agents=replace(world.agents, programs=CachedPrograms(world.agents.programs)),
            git=replace(world.git, head_at=functools.cache(world.git.head_at)),
        )


def _row(site: Site, view: SessionView, entry: SessionEntry, seen_ns: int) -> DeskRow:
    return DeskRow(
        path=entry.path,
        project=site.project,
        row=session_row(view),
        updated=entry.updated,
        words=search_words(entry, site.project.name),
        orchestrator=view.orchestrator,
        live=view.live,
        is_done=entry.is_done,
        decision=view.decision,
        asks=any(seat.status == WAITING for seat in view.seats),
        holds=any(seat.holds_up for seat in view.seats),
        seen_ns=seen_ns,
    )


def _examine_row(world: World, row: DeskRow) -> DeskRow | None:
    from agentmux.app.views.outlook import outlook

    try:
        entry = entry_at(world, row.path)
        lives = live(world, (entry,))[entry.path]
        resume_outlook = outlook(world, entry, lives, lambda *_: None, is_attended=False)
    except (AgentmuxError, OSError):
        return None
    if resume_outlook.is_live or row.row.group is not StatusGroup.INTERRUPTED:
        return None
    return replace(row, safety=resume_outlook.safety, warned=resume_outlook.warning)
