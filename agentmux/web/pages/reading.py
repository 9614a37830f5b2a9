"""Reads what the pages show of sessions; changes nothing. Its functions run in threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from agentmux.adapters.disk.files import read_limited
from agentmux.app.result import SessionProblem, locate_problem, problem_of
from agentmux.app.session.search.lookup import SessionEntry, entry_at, list_sessions, sessions_dir
from agentmux.app.session.workplace.own_worktree import with_workplace
from agentmux.app.views.cached_listings import CachedListings
from agentmux.app.views.rows import SessionRow, search_words, session_row
from agentmux.app.views.session.last_screens import LastScreen, readable_screens
from agentmux.app.views.status import look
from agentmux.app.world import Site, World, as_if_trusted
from agentmux.core.codec.digests import sha256
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.status_labels import StatusGroup, status_colour
from agentmux.core.terminal.text.search import matches
from agentmux.errors import AgentmuxError, NotFoundError
from agentmux.wiring import machine

if TYPE_CHECKING:
    from agentmux.app.views.session.session_view import SessionView
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.session.session_files import SessionFiles

SHOWN: Final = 100
"""How many sessions of a group the list shows, unless all are wanted."""

DONE_SHOWN: Final = 20
"""How many of those that are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRef:
    """A session, and the project that it belongs to.

    Attributes:
        key: Names the project in addresses; empty where the session's name is enough.
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
        """The directory of the project."""
        return self.site.project

    def href(self, part: str = "", **query: str) -> str:
        """Return the address of a page of this session."""
        more = {**query, **({"in": self.key} if self.key else {})}
        asked = "&".join(f"{name}={quote(text, safe='')}" for name, text in more.items())
        return f"/sessions/{quote(self.name, safe='')}{part}" + (f"?{asked}" if asked else "")

    def entry(self) -> SessionEntry:
        """Read the session as it is now."""
        return entry_at(self.site, self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession:
    """A session in the list."""

    place: SessionRef
    row: SessionRow
    view: SessionView

    @property
    def colour(self) -> str:
        """The class for the colour of its status."""
        return status_colour(self.row.status).value


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGroup:
    """A group of sessions.

    Attributes:
        shown: The newest ones.
        older: How many more there are.
    """

    group: StatusGroup
    shown: tuple[ListedSession, ...]
    older: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSessions:
    """The sessions of all projects, by group, in the order of urgency.

    Attributes:
        needs: How many need their user.
        of_several: Whether they can be of several projects.
    """

    groups: tuple[ListedGroup, ...]
    problems: tuple[SessionProblem, ...]
    needs: int
    of_several: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedSession:
    """A session with its state and the world of its project, `with_workplace` in its work tree."""

    place: SessionRef
    world: World
    files: SessionFiles
    state: SessionState


class ProjectSessions:
    """The sessions of some projects."""

    def __init__(
        self,
        projects: Callable[[], Sequence[Path]],
        site: Callable[[Path], Site],
        world: Callable[[Path], World],
    ) -> None:
        """Take what names the projects, and what builds the site and the world of one.

        The world should write nothing.
        """
        self._projects, self._site, self._world = projects, site, world

    def sites(self) -> Iterator[Site]:
        """Yield what looks at each project."""
        yield from map(self._site, self._projects())

    def projects(self) -> dict[str, Path]:
        """Return the projects that are there, by the keys that name them in addresses."""
        return {project_key(each): each for each in self._projects() if each.is_dir()}

    def place(self, project: Path, name: str) -> SessionRef:
        """Return a session of a project, whether or not it is there."""
        site = self._site(project)
        return SessionRef(site=site, path=sessions_dir(project) / name, key=project_key(project))

    def find(self, name: str, key: str = "") -> SessionRef:
        """Return the session of this name.

        Args:
            name: The name of its directory.
            key: Names the project, if several have such a session; else empty.

        Raises:
            NotFoundError: There is none, or several.
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
        """Return the sessions, newest first in each group.

        Args:
            sought: Only those in which a search for these words finds something.
            everything: Also the older ones of each group.
        """
        asked, sites = CachedListings(), tuple(self.sites())
        sessions: list[ListedSession] = []
        problems: list[SessionProblem] = []
        for site in sites:
            locate = partial(machine.locate, project=site.project)
            try:
                entries = [
                    each
                    for each in list_sessions(site)
                    if not sought or matches(sought, search_words(each, site.project.name))
                ]
            except AgentmuxError as error:
                problems.append(locate_problem(problem_of("", error), locate))
                continue
            result = look(asked.by(site), entries, warns=False)
            problems += (locate_problem(each, locate) for each in result.problems)
            sessions += (_to_listed(site, view) for view in result.data)
        groups = tuple(_group_sessions(_told_apart(sessions), everything=everything))
        return ListedSessions(
            groups=groups,
            problems=tuple(problems),
            needs=sum(each.row.group is StatusGroup.NEEDS_YOU for each in sessions),
            of_several=len(sites) > 1,
        )

    def view(self, place: SessionRef) -> tuple[SessionEntry, SessionView]:
        """Return what is known about a session; what a decision leaves out is shown with it."""
        entry = place.entry()
        (view,) = look(place.site, (entry,), warns=False).data
        return entry, view

    def world(self, project: Path) -> World:
        """Return the world of a project as if its user trusted all of it; runs no agent.

        Raises:
            ConfigError: The configuration of the project is wrong.
        """
        return as_if_trusted(self._world(project))

    def state(self, place: SessionRef) -> SessionState:
        """Return the state of a session; this needs no world.

        Raises:
            AgentmuxError: It cannot be read.
        """
        return place.site.files(place.path).load().current

    def load_session(self, place: SessionRef) -> PlacedSession:
        """Return a session with its state.

        Raises:
            AgentmuxError: It cannot be read.
        """
        world = self.world(place.project)
        files = world.files(place.path)
        state = files.load().current
        return PlacedSession(
            place=place, world=with_workplace(world, state), files=files, state=state
        )


def last_screens_of(place: SessionRef, seats: Sequence[str]) -> Mapping[str, LastScreen]:
    """Return the last screens of these seats, without those that are missing or damaged."""
    return {each.seat: each for each in readable_screens(place.path, seats, read_limited)}


def project_key(project: Path) -> str:
    """Return the short text that names a project in addresses."""
    return sha256(os.fsencode(project)).hexdigest()[:8]


def _is_name(name: str) -> bool:
    return bool(name) and "/" not in name and "\0" not in name and not name.startswith(".")


def _to_listed(site: Site, view: SessionView) -> ListedSession:
    place = SessionRef(site=site, path=sessions_dir(site.project) / view.session)
    return ListedSession(place=place, row=session_row(view), view=view)


def _told_apart(found: Sequence[ListedSession]) -> Iterator[ListedSession]:
    """Yield the sessions, those with the same name with the keys of their projects."""
    names: dict[str, int] = {}
    for each in found:
        names[each.place.name] = names.get(each.place.name, 0) + 1
    for each in found:
        if names[each.place.name] == 1:
            yield each
        else:
            key = project_key(each.place.project)
            place = SessionRef(site=each.place.site, path=each.place.path, key=key)
            yield ListedSession(place=place, row=each.row, view=each.view)


def _group_sessions(found: Iterator[ListedSession], *, everything: bool) -> Iterator[ListedGroup]:
    newest = sorted(found, key=lambda each: each.view.updated_at, reverse=True)
    for group in StatusGroup:
        listed = tuple(each for each in newest if each.row.group is group)
        most = DONE_SHOWN if group is StatusGroup.DONE else SHOWN
        shown = listed if everything else listed[:most]
        if shown:
            yield ListedGroup(group=group, shown=shown, older=len(listed) - len(shown))
