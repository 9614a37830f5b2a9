"""Reads sessions for the pages, without changing anything. Its functions may block."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from agentmux.adapters.disk.files import read_limited
from agentmux.app.result import SessionProblem, locate_problem, problem_of
from agentmux.app.session.search.lookup import (
    SessionEntry,
    entry_at,
    list_sessions,
    sessions_dir,
)
from agentmux.app.session.workplace.own_worktree import with_workplace
from agentmux.app.views.cached_listings import CachedListings
from agentmux.app.views.rows import SessionRow, search_words, session_row
from agentmux.app.views.session.last_screens import LastScreen, readable_screens
from agentmux.app.views.status import look
from agentmux.app.world import Site, World, as_if_trusted
from agentmux.core.codec.digests import sha256
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.names.layout import short_names
from agentmux.core.names.status_labels import StatusGroup, status_colour
from agentmux.core.terminal.text.search import matches
from agentmux.errors import AgentmuxError, NotFoundError
from agentmux.wiring import machine

if TYPE_CHECKING:
    from agentmux.app.views.session.session_view import SessionView
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session.session_files import SessionFiles

SHOWN: Final = 100
"""How many sessions of each group the list shows, unless all are requested."""

DONE_SHOWN: Final = 20
"""How many sessions the list shows of the group of done sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRef:
    """A session of a project, which may not exist, and its address on the page.

    Attributes:
        site: Reads the sessions of the project.
        path: The session's directory.
        key: The project's key in URLs; may be empty only if the session's name is unique.
    """

    site: Site
    path: Path
    key: str = ""

    @property
    def name(self) -> str:
        """The name of the session."""
        return self.path.name

    @property
    def project(self) -> Path:
        """The project's folder."""
        return self.site.project

    def href(self, part: str = "", **query: str) -> str:
        """Return the path and query of the URL of a page of this session.

        Args:
            part: The rest of the path, such as ``/diff``; empty for the overview page.
            query: The parameters of the query; the project's key is added if it is needed.
        """
        more = {**query, **({"in": self.key} if self.key else {})}
        asked = "&".join(f"{name}={quote(text, safe='')}" for name, text in more.items())
        return f"/sessions/{quote(self.name, safe='')}{part}" + (f"?{asked}" if asked else "")

    def entry(self) -> SessionEntry:
        """Read the session, and return what its files say: its entry.

        If the session is missing or damaged, nothing is raised: ``problem`` of the entry says so.
        """
        return entry_at(self.site, self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession:
    """A session in the list of sessions.

    Attributes:
        session: The session.
        row: Its row, as every list of sessions shows it.
        view: What `status` shows of it.
        beside: The session's short name, to be shown beside its title if another session of the
            list has the same title; else empty.
    """

    session: SessionRef
    row: SessionRow
    view: SessionView
    beside: str = ""

    @property
    def colour(self) -> str:
        """The CSS class for the colour of the session's status; empty for no colour."""
        return status_colour(self.row.status).value


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGroup:
    """A group of sessions in the list, such as those that need their user.

    Attributes:
        group: The group.
        shown: The sessions to show: the last changed first, of running ones the last started.
        older: How many older sessions of the group are not in ``shown``.
    """

    group: StatusGroup
    shown: tuple[ListedSession, ...]
    older: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSessions:
    """The list of the sessions of all projects.

    Attributes:
        groups: The groups that have sessions, the most urgent group first.
        problems: Sessions and projects that could not be read.
        total: How many sessions there are, whatever was searched for.
        needs: How many sessions are waiting for their user, of those that match the search.
        of_several: Whether the list covers more than one project.
    """

    groups: tuple[ListedGroup, ...]
    problems: tuple[SessionProblem, ...]
    total: int
    needs: int
    of_several: bool

    @property
    def matching(self) -> int:
        """How many sessions match the search, also if not all of them are shown."""
        return sum(len(each.shown) + each.older for each in self.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedSession:
    """A session that was read, with what it takes to look into its files and its work tree.

    Attributes:
        session: The session.
        world: The world of its project, adapted to the session's work tree by `with_workplace`.
        files: The session's files.
        state: The session's state.
    """

    session: SessionRef
    world: World
    files: SessionFiles
    state: SessionState


class ProjectSessions:
    """Finds and reads the sessions of several projects."""

    def __init__(
        self,
        projects: Callable[[], Sequence[Path]],
        site: Callable[[Path], Site],
        world: Callable[[Path], World],
    ) -> None:
        """Set how projects are found and read.

        Args:
            projects: Returns the folders of all projects, each time it is called.
            site: Returns a project's site, which reads its sessions.
            world: Returns a project's world, which must be read-only.
        """
        self._projects, self._site, self._world = projects, site, world

    def sites(self) -> Iterator[Site]:
        """Yield the `Site` of each project, through which its sessions are read."""
        yield from map(self._site, self._projects())

    def projects(self) -> dict[str, Path]:
        """Return the folders of the projects that still exist, by the projects' keys in URLs."""
        return {project_key(each): each for each in self._projects() if each.is_dir()}

    def place(self, project: Path, name: str) -> SessionRef:
        """Return a reference to a session, which need not exist; reads and creates nothing.

        ``project`` is the project's folder, ``name`` the session's whole name.
        """
        site = self._site(project)
        return SessionRef(site=site, path=sessions_dir(project) / name, key=project_key(project))

    def find(self, name: str, key: str = "") -> SessionRef:
        """Return a reference to the session with this name, which must exist; does not read it.

        Args:
            name: The session's whole name, as of its directory.
            key: The project's key; empty to search all projects.

        Raises:
            NotFoundError: No session has this name, or several projects have one.
        """
        refs = [
            SessionRef(site=site, path=path, key=key)
            for site in (self.sites() if _is_name(name) else ())
            if site.folders.is_session(path := sessions_dir(site.project) / name)
            and key in {"", project_key(site.project)}
        ]
        if len(refs) != 1:
            many = "several projects have a session" if refs else "there is no session"
            raise NotFoundError(f"{many} `{name}`")
        return refs[0]

    def read_list(self, *, sought: str = "", everything: bool = False) -> ListedSessions:
        """Return the list of sessions, newest first in each group as `ListedGroup` says.

        Args:
            sought: Words to search for; only matching sessions are listed. Empty to list all.
            everything: Whether to show all sessions of each group, not just the newest: 100, or 20
                of those that are done.
        """
        asked, sites = CachedListings(), tuple(self.sites())
        sessions: list[ListedSession] = []
        problems: list[SessionProblem] = []
        total = 0
        for site in sites:
            locate = partial(machine.locate, project=site.project)
            try:
                every = list_sessions(site)
                total += len(every)
                entries = [
                    each
                    for each in every
                    if not sought or matches(sought, search_words(each, site.project.name))
                ]
            except AgentmuxError as error:
                problems.append(locate_problem(problem_of("", error), locate))
                continue
            result = look(asked.by(site), entries, warns=False)
            problems += (locate_problem(each, locate) for each in result.problems)
            short = short_names([each.name for each in every])
            sessions += (_to_listed(site, view, short[view.session]) for view in result.data)
        groups = tuple(_group_sessions(_told_apart(sessions), everything=everything))
        return ListedSessions(
            groups=groups,
            problems=tuple(problems),
            total=total,
            needs=sum(each.row.group is StatusGroup.NEEDS_YOU for each in sessions),
            of_several=len(sites) > 1,
        )

    def view(self, place: SessionRef) -> tuple[SessionEntry, SessionView]:
        """Read a session, and return what its files say, and what `status` shows of it.

        If the session is missing or damaged, ``problem`` of the first says so.
        """
        entry = place.entry()
        (view,) = look(place.site, (entry,), warns=False).data
        return entry, view

    def world(self, project: Path) -> World:
        """Return a project's `World` as if the user trusted all of its files; it runs no agent.

        Raises:
            ConfigError: The project's configuration is invalid.
        """
        return as_if_trusted(self._world(project))

    def own_world(self, project: Path) -> World:
        """Return a project's `World`, in which only the files that the user trusts have effect.

        Raises:
            ConfigError: The project's configuration is invalid.
        """
        return self._world(project)

    def state(self, place: SessionRef) -> SessionState:
        """Return the state of a session, even if its project's configuration is invalid.

        Raises:
            AgentmuxError: The session cannot be read.
        """
        return place.site.files(place.path).load().current

    def load_session(self, place: SessionRef) -> PlacedSession:
        """Return a session with its state, its files and the world of its project.

        Raises:
            AgentmuxError: The session or the project's configuration cannot be read.
        """
        world = self.world(place.project)
        files = world.files(place.path)
        state = files.load().current
        return PlacedSession(
            session=place, world=with_workplace(world, state), files=files, state=state
        )


def last_screens_of(place: SessionRef, seats: Sequence[str]) -> Mapping[str, LastScreen]:
    """Return the last saved screens of these seats, by seat, except missing or damaged ones."""
    return {each.seat: each for each in readable_screens(place.path, seats, read_limited)}


def project_key(project: Path) -> str:
    """Return the key of a project in URLs: eight hex digits that follow from its path."""
    return sha256(os.fsencode(project)).hexdigest()[:8]


def _is_name(name: str) -> bool:
    return bool(name) and "/" not in name and "\0" not in name and not name.startswith(".")


def _to_listed(site: Site, view: SessionView, short: str) -> ListedSession:
    place = SessionRef(site=site, path=sessions_dir(site.project) / view.session)
    return ListedSession(session=place, row=session_row(view), view=view, beside=short)


def _told_apart(found: Sequence[ListedSession]) -> Iterator[ListedSession]:
    """Yield the sessions; add what tells apart those with the same name, or the same title.

    For a name that is the key of the project, for a title the short name of the session.
    """
    names = Counter(each.session.name for each in found)
    titles = Counter(each.row.title for each in found)
    for each in found:
        key = project_key(each.session.project) if names[each.session.name] > 1 else ""
        beside = each.beside if titles[each.row.title] > 1 else ""
        yield replace(each, session=replace(each.session, key=key), beside=beside)


def _group_sessions(found: Iterator[ListedSession], *, everything: bool) -> Iterator[ListedGroup]:
    newest = sorted(found, key=lambda each: each.view.updated_at, reverse=True)
    for group in StatusGroup:
        listed = tuple(each for each in newest if each.row.group is group)
        if group is StatusGroup.RUNNING:  # by start: rows must not move under a finger
            listed = tuple(sorted(listed, key=lambda each: each.session.name, reverse=True))
        most = DONE_SHOWN if group is StatusGroup.DONE else SHOWN
        shown = listed if everything else listed[:most]
        if shown:
            yield ListedGroup(group=group, shown=shown, older=len(listed) - len(shown))
