"""Finds the session and the project that the SESSION argument of a command means."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.app.session.search.further_up import hints_further_up
from agentmux.app.session.search.lookup import (
    SessionEntry,
    entry_at,
    home_of,
    list_resumable_sessions,
    list_sessions,
    live,
    project_around,
    resolve,
    select_session,
)
from agentmux.app.session.search.lost_sessions import require_none_lost
from agentmux.app.session.search.moved import how_to_go_on, where_it_went
from agentmux.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentmux.app.world import Site, World
    from agentmux.cli.face import Face
    from agentmux.ports.tmux.terminal import Target


def resolve_session(face: Face, name: str, *, command: str) -> tuple[Site, SessionEntry]:
    """Return the `Site` of the session's project, and the session that ``name`` means.

    The session may belong to another project than the current one, if ``name`` is a path.

    Args:
        face: The global options.
        name: A name, a path, or the beginning of a name, as typed.
        command: The command that hints show, with ``SESSION`` in place of the name.

    Raises:
        NotFoundError: No session matches, or several do.
    """
    site = face.site(_project_in(name))
    entry = resolve(site, name, command=command)
    home = home_of(site, entry)
    return site if home == site.project else face.site(home), entry


def _project_in(name: str) -> Path | None:
    """Return the project that a session's path names; None if ``name`` is no such path.

    So a session can be named from anywhere.
    """
    if not name.startswith("/") or "\0" in name:
        return None
    return project_around(Path(os.path.realpath(name)))


def resolve_world(
    face: Face, name: str | None, *, command: str, read_only: bool = False
) -> tuple[World, SessionEntry | None]:
    """Return the `World` of the session's project, and the session that ``name`` means.

    Args:
        face: The global options.
        name: A name, a path, or the beginning of a name; None: return the current project's world,
            and None in place of a session.
        command: The command that hints show, with ``SESSION`` in place of the name.
        read_only: Write no file through this world, not even a cache.

    Raises:
        NotFoundError: No session matches, or several do.
        ConfigError: The configuration of the project is wrong.
    """
    if name is None:
        return face.world(read_only=read_only), None
    site, entry = resolve_session(face, name, command=command)
    return face.world(site.project, read_only=read_only), entry


def unfinished_sessions(site: Site, *, command: str) -> tuple[SessionEntry, ...]:
    """Return every session that is not done, newest first.

    Args:
        site: The project.
        command: The command, which needs such a session.

    Raises:
        NotFoundError: There is none; it says what has become of the newest session.
    """
    entries = list_sessions(site)
    unfinished = tuple(entry for entry in entries if not entry.is_done)
    if unfinished:
        return unfinished
    require_none_lost(site)
    word = command.partition(" ")[0]
    above = hints_further_up(site, word, lambda folder, names: _is_open(site, folder, names))
    resumes, start = word == "resume", 'agentmux start "FEATURE"'
    if not entries:
        message = "nothing to resume" if resumes else "there is no session"
        raise NotFoundError(message, hints=(*above, start, "agentmux list"))
    message = "nothing to resume" if resumes else "there is no unfinished session"
    became, hints = _became(entries[0])
    raise NotFoundError(f"{message}: {became}", hints=(*hints, *above, start))


def _became(entry: SessionEntry) -> tuple[str, tuple[str, ...]]:
    """Say what has become of a session that does not go on here, and what to do about it."""
    moved = entry.fields.get("moved")
    if isinstance(moved, dict):
        to = str(moved.get("to"))
        words = where_it_went(entry.name, to, str(moved.get("at")))
        return words, how_to_go_on(entry.name, to)
    return f"session {entry.name} is done", (f"see it: agentmux status {entry.name}",)


def _is_open(site: Site, folder: Path, names: Iterable[str]) -> bool:
    """Return whether one of the sessions in ``folder`` is not done."""
    return any(not entry_at(site, folder / name).is_done for name in names)


def chosen_session(world: World, entry: SessionEntry | None, *, command: str) -> SessionEntry:
    """Return the session that the command names, else the only one that is not done.

    Raises:
        NotFoundError: The command names none, and there is none or more than one.
    """
    return entry or select_session(unfinished_sessions(world, command=command), command=command)


def session_to_reattach(
    world: World, environ: Mapping[str, str], *, command: str
) -> SessionEntry | None:
    """Return the session that has panes but no orchestrator; None if there is none.

    If there are several, it is the one in whose tmux session this process runs.

    Args:
        world: The project.
        environ: Environment of this process; ``$TMUX`` tells in which tmux session it runs.
        command: The command that hints show, with ``SESSION`` in place of the name.

    Raises:
        NotFoundError: There are several, and this process runs in none of them.
    """
    entries = list_resumable_sessions(world)
    lives = live(world, entries)
    lost = [each for each in entries if lives[each.path].is_left_alone]
    here = [each for each in lost if _is_inside(lives[each.path].target, environ)]
    return select_session(here or lost, command=command) if lost else None


def _is_inside(target: Target | None, environ: Mapping[str, str]) -> bool:
    """Return whether this process runs in the tmux session ``target``."""
    _, pid, session = ("", *environ.get("TMUX", ",,").rsplit(",", 2)[-2:])
    return target is not None and (f"{target.server.pid}", target.session) == (pid, f"${session}")


def as_typed(
    command: str, switches: Mapping[str, bool], values: Mapping[str, Sequence[str] | str | None]
) -> str:
    """Return the command to show in hints: the user's own options, but none that gives consent.

    A pasted hint then does no more than the user asked for.

    Args:
        command: The command with its argument, such as ``resume SESSION``.
        switches: Whether each option without a value was given.
        values: The values of each other option; None or empty: the option was not given.
    """
    words = [name for name, given in switches.items() if given]
    for name, given in values.items():
        each = [given] if isinstance(given, str) else given or ()
        words += [f"{name} {shlex.quote(value)}" for value in each]
    return " ".join((command, *words))
