"""Finds the sessions of a project, all or by name, and tells which ones are live.

Listing reads one file per session and asks each tmux server once, however many sessions there are.
"""

from __future__ import annotations

import functools
import os
import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from heapq import nlargest
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.result import SessionProblem, problem_of
from agentmux.app.session.search.further_up import hints_further_up
from agentmux.app.session.search.lost_sessions import require_not_lost
from agentmux.app.session.search.orchestrator_version import other_version
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.codec.times import time_of
from agentmux.core.journal.state import encode
from agentmux.core.names import layout
from agentmux.core.names.layout import short_names
from agentmux.core.names.statuses import DONE
from agentmux.core.names.words.nearest import nearest_of
from agentmux.errors import (
    NAME_TAKEN,
    AgentmuxError,
    BlockedError,
    DataError,
    MissingError,
    NotFoundError,
)
from agentmux.ports.tmux.terminal import (
    Server,
    ServerListing,
    Target,
    Terminal,
    TerminalError,
    TerminalGoneError,
    TmuxSession,
    quote_target,
    way_back,
)

if TYPE_CHECKING:
    from agentmux.app.world import Site
    from agentmux.core.codec.records import Json

_MEANT_MAX: Final = 3
_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEntry:
    """A session directory, as far as it can be read.

    Attributes:
        name: The name of the directory.
        path: The absolute path of the directory.
        fields: The fields of the last saved state, as in ``state.json``; empty if none can be read.
        source: Where they were read: ``state.json``, ``backup``, ``journal`` or ``none``.
        updated: When the session last changed: by its state, else by the files' times, else by the
            time in its name.
        problem: Why the session cannot be read; None if it can.
        warnings: What was wrong with the files, one sentence each.
    """

    name: str
    path: Path
    fields: Json
    source: str
    updated: datetime
    problem: SessionProblem | None = None
    warnings: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """The part of the name that describes the feature."""
        return layout.slug_of(self.name)

    @property
    def phase(self) -> str | None:
        """The phase of the saved state; None if no state can be read."""
        return self.text("phase") or None

    @property
    def title(self) -> str:
        """The first line of the request, as the user typed it; empty if no state can be read."""
        return " ".join(self.text("feature").strip().partition("\n")[0].split())

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to resume here: the session is done, or was moved elsewhere."""
        return self.phase == DONE or self.is_moved

    @property
    def is_moved(self) -> bool:
        """Whether the session was exported, and continues where that file is imported."""
        return isinstance(self.fields.get("moved"), dict)

    def text(self, name: str) -> str:
        """Return the field ``name`` of the state; empty if it is missing or is not text."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Liveness:
    """Whether a session's tmux session and its orchestrator run.

    Attributes:
        live: Whether there is a ``tmux`` session, or the session's tmux server runs without its
            socket; None if the server does not answer. ``target`` says whether the tmux session is
            the session's own.
        because: The reason for ``live``, in words.
        tmux: The tmux session that has the session's uuid, else the one that has its name, else
            None.
        target: The tmux session that has the session's uuid; None if there is none, or if it
            belongs to the directory ``copy_of``.
        socket: The socket of the tmux server that was asked.
        copy_of: The directory of the live session of which this directory is a copy; else None.
        original: The directory of the session, live or not, of which this unfinished one is a copy
            that cannot go on by itself (`find_twin`); else None.
        moved_from: The directory of the session when its tmux session was created, if it was
            another one; else None.
        users: The names of tmux sessions that went on with the user's own panes when this session
            ended.
        way_back: The commands that restore the server's socket if it is missing.
        locked: Whether an orchestrator holds the session's lock.
        orchestrator: The pid of that orchestrator; None if nobody holds the lock, or if the pid is
            unknown.
        other_version: The version of that orchestrator if it differs from this program's; see the
            function `other_version`.
        starter: The pid of the command that starts or resumes the session and waits for its
            orchestrator; None if there is none, or if the orchestrator already runs.
        error: Why the server or the lock could not be asked; None if both could.
    """

    live: bool | None
    because: str
    tmux: TmuxSession | None = None
    target: Target | None = None
    socket: str = ""
    copy_of: Path | None = None
    original: Path | None = None
    moved_from: Path | None = None
    users: tuple[str, ...] = ()
    way_back: tuple[str, ...] = ()
    locked: bool = False
    orchestrator: int | None = None
    other_version: str | None = None
    starter: int | None = None
    error: AgentmuxError | None = None

    @property
    def is_driven(self) -> bool:
        """Whether an orchestrator runs the session, or is being started."""
        return self.locked or self.starter is not None

    @property
    def is_stranger(self) -> bool:
        """Whether the session does not run, and ``tmux`` only has its name, and is not its own."""
        is_other = self.tmux is not None and self.target is None and self.copy_of is None
        return is_other and not self.is_driven

    @property
    def is_left_alone(self) -> bool:
        """Whether the session still has panes, but no orchestrator."""
        return self.target is not None and not self.is_driven


@functools.cache
def sessions_dir(project: Path) -> Path:
    """Return the directory that contains the sessions of a project."""
    return project / layout.SESSIONS_DIR


def list_sessions(site: Site) -> tuple[SessionEntry, ...]:
    """Return every session of the project, the one that changed last first.

    Sessions that cannot be read have a ``problem``.
    """
    return tuple(sorted(_entries(site, _names(site)), key=_newest, reverse=True))


def newest_sessions(site: Site, most: int) -> tuple[tuple[SessionEntry, ...], int]:
    """Return the ``most`` sessions that changed last, and the number of all sessions.

    The one that changed last comes first. Only the returned ones are held in memory: holding a
    thousand takes as long as reading them.
    """
    names = _names(site)
    return tuple(nlargest(most, _entries(site, names), key=_newest)), len(names)


def _names(site: Site) -> tuple[str, ...]:
    return site.folders.names(sessions_dir(site.project))


def _entries(site: Site, names: Iterable[str]) -> Iterator[SessionEntry]:
    folder = sessions_dir(site.project)
    return (entry_at(site, folder / name) for name in names)


def _newest(entry: SessionEntry) -> tuple[datetime, str]:
    return entry.updated, entry.name


def list_resumable_sessions(site: Site) -> tuple[SessionEntry, ...]:
    """Return every session that is neither done nor moved elsewhere, the last changed one first.

    Sessions that cannot be read are included.
    """
    return tuple(entry for entry in list_sessions(site) if not entry.is_done)


def entry_at(site: Site, path: Path) -> SessionEntry:
    """Return the entry of the session directory ``path``; whatever is in it, this raises nothing.

    If the session cannot be read, the entry has a ``problem``.
    """
    fields = site.folders.read_unchecked(path)
    if fields is not None:
        return _entry(site, path, fields, "state.json")
    try:
        loaded = site.files(path).load()
    except DataError as error:
        return _entry(site, path, {}, "none", problem=problem_of(path.name, error))
    state_fields: Json = encode(loaded.state) if loaded.known else {}
    return _entry(site, path, state_fields, loaded.source, warnings=loaded.warnings)


def _entry(
    site: Site,
    path: Path,
    fields: Json,
    source: str,
    *,
    problem: SessionProblem | None = None,
    warnings: tuple[str, ...] = (),
) -> SessionEntry:
    return SessionEntry(
        name=path.name,
        path=path,
        fields=fields,
        source=source,
        updated=_read_updated_at(site, path, fields),
        problem=problem,
        warnings=warnings,
    )


def _read_updated_at(site: Site, path: Path, fields: Json) -> datetime:
    updated_at = time_of(fields.get("updated_at"))
    if updated_at is not None:
        return updated_at
    seconds = site.folders.changed_at(path)
    with suppress(ValueError, OverflowError):  # a time outside of the range of dates
        if seconds:
            return datetime.fromtimestamp(seconds, UTC)
    stamp = layout.stamp_of(path.name)
    return stamp.astimezone(UTC) if stamp else _BEGINNING


# -- by name -----------------------------------------------------------------------------------

STATUS: Final = "status SESSION"
"""The command that hints suggest, unless the caller passes the one that the user typed."""


def resolve(site: Site, name: str, *, command: str = STATUS) -> SessionEntry:
    """Return the session that ``name`` stands for.

    The name is tried in this order: as an absolute path; as the name of a session directory; as a
    path relative to the project; as a slug; as the beginning of a name or slug; as the first line
    of the request, or its beginning.

    Args:
        site: The project.
        name: What the user typed.
        command: The command that hints show, with ``SESSION`` where the name goes.

    Raises:
        NotFoundError: No session matches, or several do.
    """
    path = _path_of(site, name)
    if path is not None:
        return entry_at(site, path)
    names = site.folders.names(sessions_dir(site.project)) if name else ()
    matches = _matching(name, names)
    entries = [entry_at(site, sessions_dir(site.project) / each) for each in matches]
    entries = entries or _about(name, _entries(site, names))
    if len(entries) == 1:
        return entries[0]
    if entries:
        entries.sort(key=lambda entry: entry.name, reverse=True)
        raise _several(f"several sessions match `{name}`", entries, command)
    require_not_lost(site, name)
    typed = command.replace("SESSION", shlex.quote(name), 1)
    above = hints_further_up(site, typed, lambda _, names: bool(name and _matching(name, names)))
    hints = (*above, *_suggest_names(name, names, command), "agentmux list")
    raise NotFoundError(f"no session matches `{name}`", hints=hints)


def _matching(name: str, names: Sequence[str]) -> list[str]:
    """Return those of ``names`` with the slug ``name``, else those that begin with ``name``."""
    slugs = {each: layout.slug_of(each) for each in names}
    exact = [each for each in names if slugs[each] == name]
    begun = [each for each in names if each.startswith(name)]
    return exact or begun + [
        each for each in names if slugs[each].startswith(name) and each not in begun
    ]


def _about(text: str, entries: Iterable[SessionEntry]) -> list[SessionEntry]:
    """Return the sessions whose title is the first line of ``text``, else those it begins."""
    words = _comparable(text.strip().partition("\n")[0])
    titles = [(_comparable(each.title), each) for each in entries if words]
    same = [each for title, each in titles if title == words]
    return same or [each for title, each in titles if title.startswith(words)]


def _comparable(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def short_name(site: Site, path: Path) -> str:
    """Return the slug of the session at ``path``; its whole name if another session has the slug.

    `resolve` finds the session by the result.
    """
    return short_names(site.folders.names(path.parent)).get(path.name, path.name)


def is_whole(site: Site, entry: SessionEntry, name: str) -> bool:
    """Return whether ``name``, for which `resolve` returned ``entry``, was typed in full.

    True if it is the session's name, its slug, a path, or the whole first line of its request;
    False if it is only the beginning of one of these.
    """
    if name in {entry.name, entry.slug} or _path_of(site, name) is not None:
        return True
    return _comparable(name.strip().partition("\n")[0]) == _comparable(entry.title)


def _suggest_names(name: str, names: Sequence[str], command: str) -> Iterator[str]:
    """Yield hints with the sessions whose name, slug or a word of the slug resembles ``name``."""
    slugs = {each: layout.slug_of(each) for each in names}
    spellings = {each: (each, slug, *slug.split("-")) for each, slug in slugs.items()}
    for each in nearest_of(name, spellings)[:_MEANT_MAX]:
        yield f"did you mean: agentmux {command.replace('SESSION', each, 1)}"


def _path_of(site: Site, name: str) -> Path | None:
    if not name or "\0" in name:
        return None
    given = Path(name)
    places = (given,) if given.is_absolute() else (
        sessions_dir(site.project) / given,
        site.project / given,
    )  # fmt: skip
    for place in places:
        path = resolve_to_session(place)
        if path.name in site.folders.names(path.parent):
            return path
    return None


def resolve_to_session(place: Path) -> Path:
    """Return the path of ``place`` without links, except one beside a project's sessions.

    Such a link is a session whose directory its user has moved elsewhere, such as to another disk.
    A loop of links is resolved, too.
    """
    # Resolved first, so that `.` and a slash at the end name the directory itself.
    link = Path(os.path.realpath(place.parent), place.name)
    with suppress(OSError):  # the name is too long
        if project_around(link) is not None and link.is_symlink():
            return link
    return Path(os.path.realpath(place))


def shown_path(path: Path, project: Path) -> str:
    """Return a path as text: relative to the project if it is inside, else unchanged."""
    return str(path).removeprefix(f"{project}/")


def network_warnings(site: Site) -> tuple[str, ...]:
    """Return one warning if the sessions are on a network file system, else an empty tuple."""
    kind = site.network(sessions_dir(site.project))
    if not kind:
        return ()
    warning = (
        f"the sessions are on a network file system ({kind}), whose locks may not keep another "
        "machine out: use a local disk"
    )
    return (warning,)


def home_of(site: Site, entry: SessionEntry) -> Path:
    """Return the directory of the project (not of the session) to which a session belongs.

    The session's path tells. A session outside of any project's sessions directory belongs to the
    project of ``site``.
    """
    folder, ours = entry.path.parent, sessions_dir(site.project)
    if folder in {ours, ours.resolve()}:
        return site.project
    return project_around(entry.path) or site.project


def project_around(session: Path) -> Path | None:
    """Return the project whose sessions directory contains ``session``; None if there is none."""
    folder = session.parent
    project = Path(*folder.parts[:-2])
    return project if sessions_dir(project) == folder else None


def select_session(entries: Sequence[SessionEntry], *, command: str = STATUS) -> SessionEntry:
    """Return the only session in ``entries``; ask nobody.

    Args:
        entries: The sessions to choose from.
        command: The command that hints show, with ``SESSION`` where the name goes.

    Raises:
        NotFoundError: There are no sessions, or several.
    """
    if len(entries) == 1:
        return entries[0]
    if entries:
        raise _several("there are several sessions", entries, command)
    raise NotFoundError("there is no session", hints=('agentmux start "…"', "agentmux list"))


_SHOWN: Final = 10
_TITLE_MAX: Final = 60


def _several(message: str, entries: Sequence[SessionEntry], command: str) -> NotFoundError:
    shown = [_describe_command(entry, command) for entry in entries[:_SHOWN]]
    more = len(entries) - len(shown)
    rest = (f"and {more} more: agentmux list",) if more else ()
    return NotFoundError(f"{message}: name one", hints=(*shown, *rest))


def _describe_command(entry: SessionEntry, command: str) -> str:
    """Return the command for one session, with its phase and title as a shell comment."""
    # Replace only the first one: words of the user may follow it.
    words = command.replace("SESSION", entry.name, 1)
    about = ": ".join(filter(None, (entry.phase or "unreadable", entry.title[:_TITLE_MAX])))
    return f"agentmux {words}  # {about}"


# -- what runs ---------------------------------------------------------------------------------


def live(site: Site, entries: Iterable[SessionEntry]) -> Mapping[Path, Liveness]:
    """Return the `Liveness` of each session, by the session's directory; changes nothing.

    Each tmux server is asked once. If one does not answer, the ``live`` of its sessions is None;
    never treat that as "not live".
    """
    servers = _Servers(site)
    return {entry.path: _liveness(site, servers, entry) for entry in entries}


def own_tmux(entry: SessionEntry, liveness: Liveness) -> Target | None:
    """Return the tmux session that has the session's uuid, to attach to, take over or kill.

    None if there is no tmux session, or if it cannot be reached (`require_live` raises then).

    Raises:
        BlockedError: The directory is a copy of a live session; or a tmux session has the same
            name, but belongs to something else.
    """
    if liveness.copy_of is not None:
        raise copy_blocked(entry, liveness.copy_of)
    if liveness.target is not None or liveness.tmux is None:
        return liveness.target
    raise BlockedError(
        describe_stranger(entry, liveness.tmux),
        reason=NAME_TAKEN,
        hints=stranger_hints(liveness),
    )


def require_live(entry: SessionEntry, liveness: Liveness) -> Target:
    """Return the tmux session of a live session, with its server.

    Args:
        entry: The session.
        liveness: The liveness of the session.

    Raises:
        BlockedError: The tmux session cannot be reached, is not the session's own, or belongs to
            the session of which this directory is a copy.
        NotFoundError: There is no tmux session.
        AgentmuxError: It is unknown whether there is a tmux session; tmux may be missing.
    """
    target = own_tmux(entry, liveness)
    if target is not None:
        return target
    if liveness.live is None:
        raise liveness.error or AgentmuxError(liveness.because)
    if liveness.live:
        raise BlockedError(
            f"session {entry.name} cannot be reached: {liveness.because}",
            reason="session_live",
            hints=liveness.way_back,
        )
    if isinstance(liveness.error, MissingError):
        raise liveness.error
    then = "show" if entry.is_done else "resume"
    raise NotFoundError(
        f"session {entry.name} is not live", hints=(f"agentmux {then} {entry.name}",)
    )


def describe_stranger(entry: SessionEntry, tmux: TmuxSession) -> str:
    """Return the sentence that a tmux session has the session's name, but is not its own."""
    return f"tmux session {tmux.name} is not of session {entry.name}, but has its name"


def command_to_rename(socket: str, tmux: TmuxSession) -> str:
    """Return the command that gives a tmux session another name, so that ours can have its own.

    The name ends with the number that tmux gives to no other session, so it is free. ``socket`` is
    the path of the tmux server's socket.
    """
    target = quote_target(tmux.name)
    aside = shlex.quote(f"old-{tmux.name}-{tmux.id.removeprefix('$')}")
    return f"tmux -S {shlex.quote(socket)} rename-session -t {target} {aside}"


def stranger_hints(liveness: Liveness) -> tuple[str, ...]:
    """Return hints to rename or kill a tmux session that has the session's name but is not its own.

    AgentMux itself must not touch such a tmux session.
    """
    if liveness.tmux is None:
        return ()
    socket, target = shlex.quote(liveness.socket), quote_target(liveness.tmux.name)
    return (
        f"if it is yours, rename it: {command_to_rename(liveness.socket, liveness.tmux)}",
        f"or end what runs in it: tmux -S {socket} kill-session -t {target}",
    )


def copy_blocked(entry: SessionEntry, original: Path) -> BlockedError:
    """Return the error that the directory of ``entry`` is a copy of the one at ``original``.

    A session is live there, so nothing may be done with the copy.
    """
    return BlockedError(
        describe_copy(entry, original),
        reason="copy",
        hints=(f"go there: agentmux status {shlex.quote(str(original))}",),
    )


def describe_copy(entry: SessionEntry, original: Path) -> str:
    """Return the sentence that the directory of ``entry`` is a copy of the one at ``original``."""
    return f"{entry.path} is a copy of the live session at {original}"


def require_no_copy(site: Site, entry: SessionEntry) -> None:
    """Check that the session's directory is not a copy that cannot go on by itself.

    tmux is asked only if the runtime note, which the last orchestrator left in the directory, names
    another directory.

    Raises:
        BlockedError: The directory is a copy of a live session, or the one of `find_twin`.
    """
    if _elsewhere(entry, site.folders.runtime(entry.path).get("path")) is not None:
        liveness = live(site, (entry,))[entry.path]
        if liveness.copy_of is not None:
            raise copy_blocked(entry, liveness.copy_of)
    twin = find_twin(site, entry)
    if twin is not None:
        raise twin


def find_original(site: Site, entry: SessionEntry) -> Path | None:
    """Return the directory of the session of which that of ``entry`` is a copy; None if of none.

    The original need not be live. It is beside the copy, or in another project if the project was
    copied. If the original was deleted, the copy counts as the session itself. Reads only files.
    """
    if entry.path.is_symlink() and project_around(entry.path.resolve()) is not None:
        return entry.path.resolve()  # another name of that session
    uuid, folder = entry.text("session_id"), entry.text("feature_dir")
    noted = site.folders.runtime(entry.path).get("path")
    for each in (str(site.project / folder) if folder else None, noted):
        elsewhere = _elsewhere(entry, each)
        if uuid and elsewhere is not None and _is_session(site, elsewhere, uuid):
            return elsewhere
    return None


def find_twin(site: Site, entry: SessionEntry) -> BlockedError | None:
    """Return the error if the directory is a copy of a session with which it shares too much.

    A copy beside the original shares its conversations, and any copy shares its worktree. None for
    another directory, and for a copied session in a copied checkout, which can go on by itself.
    """
    original = _find_twin_at(site, entry)
    if original is None:
        return None
    hint = f"go on with that one: agentmux resume {shlex.quote(str(original))}"
    if original.parent == entry.path.parent:
        hint = f"resume that one: agentmux resume {original.name}"
    return BlockedError(describe_twin(entry, original), reason="twin", hints=(hint,))


def describe_twin(entry: SessionEntry, original: Path) -> str:
    """Return the sentence that ``entry`` is a copy of the session at ``original`` (`find_twin`)."""
    if original.parent == entry.path.parent:
        return f"`{entry.path}` is a copy of session {original.name}"
    place = entry.text("worktree")
    return (
        f"the worktree {place} is that of the session in {original}, and this one is a copy of it"
    )


def _find_twin_at(site: Site, entry: SessionEntry) -> Path | None:
    """Return the directory of the session to which the error of `find_twin` refers, if any."""
    original = find_original(site, entry)
    beside = original is not None and original.parent == entry.path.parent
    return original if beside or entry.text("worktree") else None


def find_owner(site: Site, entry: SessionEntry) -> Path | None:
    """Return the directory of the session that worktree, branch and checkpoints really belong to.

    None if they belong to ``entry`` itself, also if its directory was copied together with the
    repository: branch and checkpoints were copied then, too.
    """
    original = find_original(site, entry)
    project = project_around(original) if original is not None else None
    around = site.repositories.around
    beside = project is not None and around(project) not in {None, around(site.project)}
    return None if beside else original


def tmux_name(site: Site, entry: SessionEntry) -> str:
    """Return the name of the session's tmux session.

    If the state records no name (an older format), the configured name is returned; if no state can
    be read, a name derived from the session's own.
    """
    if not entry.fields:
        return layout.tmux_name(entry.name)
    return entry.text("session_name") or site.default_name()


class _Servers:
    """The listing of each tmux server, asked at most once, and which processes are alive."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.is_alive = functools.cache(site.locks.is_alive)
        self._at: dict[str, Terminal] = {}
        self._said: dict[str, ServerListing | AgentmuxError] = {}

    def listing(self, socket: str) -> tuple[str, ServerListing | AgentmuxError]:
        """Return the path of a tmux server's socket, and the server's listing or its error.

        An empty ``socket`` stands for the configured socket.
        """
        if socket not in self._at:
            self._at[socket] = self._site.terminal(socket or None)
        terminal = self._at[socket]
        if terminal.socket not in self._said:
            self._said[terminal.socket] = _try_listing(terminal)
        return terminal.socket, self._said[terminal.socket]


def _try_listing(terminal: Terminal) -> ServerListing | AgentmuxError:
    try:
        return terminal.listing()
    except MissingError as error:
        return error


def _liveness(site: Site, servers: _Servers, entry: SessionEntry) -> Liveness:
    socket, reply = servers.listing(entry.text("tmux_socket"))
    locked, note, error = _orchestrator(site, entry)
    pid = note.get("pid")
    starter = None if locked else _starter(site, servers, entry)
    known = Liveness(
        live=False, because="no tmux session", socket=socket, locked=locked,
        orchestrator=pid if isinstance(pid, int) else None, other_version=other_version(note),
        starter=starter, error=error,
        original=None if entry.is_done else _find_twin_at(site, entry),
    )  # fmt: skip
    if isinstance(reply, AgentmuxError):
        # Without tmux installed nothing can be live; a server that does not answer may be.
        silent = isinstance(reply, TerminalError)
        return replace(known, live=None if silent else False, because=reply.message, error=reply)
    users = tuple(_users_names(site, entry, reply.sessions))
    if users:
        known = replace(known, because=f"{known.because}; {describe_users(users)}", users=users)
    match = _match(site, entry, reply.sessions)
    if match is not None:
        return _judge_match(site, entry, known, reply.server, match)
    return _judge_absence(site, servers, entry, known, reply.server)


def _match(site: Site, entry: SessionEntry, sessions: Iterable[TmuxSession]) -> TmuxSession | None:
    """Return the tmux session with the session's uuid, else the one with its name, else None."""
    name, uuid = tmux_name(site, entry), entry.text("session_id")
    marked = (each for each in sessions if each.uuid == uuid and uuid)
    return next(marked, None) or next((each for each in sessions if each.name == name), None)


def _users_names(site: Site, entry: SessionEntry, sessions: Iterable[TmuxSession]) -> Iterator[str]:
    """Yield the names of tmux sessions in which only the user's panes of the session are left."""
    name = tmux_name(site, entry)
    for each in sessions:
        if not each.uuid and layout.is_users_tmux_name(each.name, name):
            yield each.name


def describe_users(names: Iterable[str]) -> str:
    """Return the words that the user's own panes are in these tmux sessions."""
    return f"your own panes stay in tmux session {' and '.join(names)}"


def users_panes(site: Site, entry: SessionEntry) -> str:
    """Return where the user's own panes stay when the session's tmux session ends, or has ended.

    Empty if the user opened none there, or if tmux does not answer.
    """
    liveness = live(site, (entry,))[entry.path]
    if liveness.target is None or liveness.tmux is None:
        return describe_users(liveness.users) if liveness.users else ""
    try:
        panes = site.terminal(liveness.socket).own(liveness.target).panes()
    except TerminalGoneError:  # it has just ended
        return users_panes(site, entry)
    except AgentmuxError:
        return ""
    if all(pane.is_ours for pane in panes):
        return ""
    name = liveness.tmux.name
    if not layout.is_users_tmux_name(name, tmux_name(site, entry)):
        names = (layout.users_tmux_name(name, number) for number in count(1))
        name = next(each for each in names if each not in liveness.users)
    return f"when its tmux session ends, {describe_users((name,))}"


def _judge_match(
    site: Site, entry: SessionEntry, known: Liveness, server: Server, match: TmuxSession
) -> Liveness:
    """Return the liveness, given that the tmux session ``match`` was found.

    Args:
        site: The project.
        entry: The session.
        known: What is known so far.
        server: The tmux server of ``match``.
        match: The result of `_match`; it becomes the ``target`` only if it has the session's uuid.
    """
    uuid = entry.text("session_id")
    liveness = replace(
        known, live=True, because=f"tmux session {match.name} at {known.socket}", tmux=match
    )
    if not uuid or match.uuid != uuid:
        return replace(liveness, because=f"{liveness.because}, which is not its own")
    elsewhere = _elsewhere(entry, match.path)
    if elsewhere is not None and _is_session(site, elsewhere, uuid):
        return replace(liveness, because=describe_copy(entry, elsewhere), copy_of=elsewhere)
    target = Target(server=server, session=match.id, uuid=uuid)
    return replace(liveness, target=target, moved_from=elsewhere)


def _judge_absence(
    site: Site, servers: _Servers, entry: SessionEntry, known: Liveness, answering: Server
) -> Liveness:
    """Return the liveness, given that the answering server has no matching tmux session.

    The server in the runtime note may still run although its socket was removed or replaced.
    """
    noted = site.folders.runtime(entry.path)
    pid, started = noted.get("server_pid"), noted.get("server_started")
    if not isinstance(pid, int) or not isinstance(started, int) or not started:
        return known
    if pid == answering.pid or not servers.is_alive(pid, started):
        return known
    elsewhere = _elsewhere(entry, noted.get("path"))
    if elsewhere is not None and _is_session(site, elsewhere, entry.text("session_id")):
        return replace(known, live=True, because=describe_copy(entry, elsewhere), copy_of=elsewhere)
    return replace(
        known,
        live=True,
        because=f"the tmux server {pid} runs without its socket",
        way_back=way_back(known.socket, pid, taken=answering.pid),
    )


def _elsewhere(entry: SessionEntry, noted: object) -> Path | None:
    """Return ``noted`` if it is the path of another directory than the session's own, else None."""
    if not isinstance(noted, str) or not noted or noted == str(entry.path):
        return None
    if noted == str(entry.path.resolve()):
        return None
    with suppress(OSError):
        if entry.path.samefile(noted):  # the same one by another name, as through a bind mount
            return None
    return Path(noted)


def _is_session(site: Site, path: Path, uuid: str) -> bool:
    """Return whether a session with the id ``uuid`` is at ``path``."""
    if path.name.startswith(".") or not site.folders.is_session(path):
        return False
    return entry_at(site, path).text("session_id") == uuid


def _starter(site: Site, servers: _Servers, entry: SessionEntry) -> int | None:
    """Return the pid of the command that waits for the session's orchestrator; None if none."""
    begun = site.folders.starters(entry.path)
    return next((pid for pid, started in begun if servers.is_alive(pid, started)), None)


def _orchestrator(
    site: Site, entry: SessionEntry
) -> tuple[bool, Mapping[str, object], AgentmuxError | None]:
    """Return whether the lock is held, the holder's note, and the error if that cannot be told."""
    lock = site.locks.session(entry.path)
    try:
        if not lock.is_held():
            return False, {}, None
    except DataError as error:
        return False, {}, error
    return True, lock.holder() or {}, None
