"""Finds the session, and its project, to which the SESSION argument of a command refers."""

from __future__ import annotations

import re
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.session.search.further_up import hints_further_up
from agentmux.app.session.search.lookup import (
    SessionEntry,
    entry_at,
    home_of,
    is_whole,
    list_resumable_sessions,
    list_sessions,
    live,
    project_around,
    resolve,
    resolve_to_session,
    select_session,
)
from agentmux.app.session.search.lost_sessions import require_none_lost
from agentmux.app.session.search.moved import how_to_go_on, where_it_went
from agentmux.cli import render
from agentmux.cli.ask.person import agrees
from agentmux.core.names.words.located_commands import FINAL
from agentmux.errors import DeclinedError, NotFoundError
from agentmux.wiring import machine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentmux.app.world import Site, World
    from agentmux.cli.invocation import Invocation
    from agentmux.ports.tmux.terminal import Target

_CONSENTS: Final = frozenset({"-y", "--yes", "--trust", "--force", "--all"})
_OPTION: Final = " --session SESSION"
_UNCLEAR: Final = re.compile(r"SESSION|\n")


def resolve_session(
    invocation: Invocation, name: str, *, command: str
) -> tuple[Site, SessionEntry]:
    """Return the `Site` of a session's project, and the session to which ``name`` refers.

    If ``name`` is a path, the session may belong to a project other than the current one; then
    ``--project`` is added to the commands in later messages. If it is only the beginning of a name,
    and ``command`` cannot be taken back (as ``remove``), a person is asked whether the session is
    meant.

    Args:
        invocation: The global options.
        name: The session's name, the beginning of its name, or its path, as typed.
        command: The command that hints show, with ``SESSION`` in place of the name.

    Raises:
        NotFoundError: No session matches, or several do; or a person would have to be asked, and
            nobody can be.
        DeclinedError: The person said no.
    """
    command = typed_command(invocation, name, command)
    site = invocation.site(_project_in(name))
    entry = resolve(site, name, command=command)
    home = home_of(site, entry)
    if home != invocation.known_project():
        render.word_messages(
            partial(machine.locate, project=home), partial(invocation.call_sessions, project=home)
        )
    if command.partition(" ")[0] in FINAL and not is_whole(site, entry, name):
        _require_meant(invocation, entry, name, command)
    return site if home == site.project else invocation.site(home), entry


def _require_meant(invocation: Invocation, entry: SessionEntry, name: str, command: str) -> None:
    """Ask whether the session is meant of which the user typed only the beginning of the name.

    Raises:
        NotFoundError: Nobody can be asked.
        DeclinedError: The person said no.
    """
    whole = command.replace("SESSION", entry.name, 1)
    if not invocation.interactive:
        raise NotFoundError(
            f"no session is called `{name}`, which is only the beginning of a name",
            hints=(f"did you mean: agentmux {whole}",),
        )
    title = f" ({entry.title})" if entry.title else ""
    render.note(f"`{name}` is the beginning of session {entry.name}{title}")
    if not agrees("Is it meant?"):
        raise DeclinedError


def _project_in(name: str) -> Path | None:
    """Return the project of the session whose absolute path is ``name``, else None.

    With such a path, a session can be named in any directory.
    """
    if not name.startswith("/") or "\0" in name:
        return None
    return project_around(resolve_to_session(Path(name)))


def resolve_world(
    invocation: Invocation, name: str | None, *, command: str, read_only: bool = False
) -> tuple[World, SessionEntry | None]:
    """Return the `World` of a session's project, and the session to which ``name`` refers.

    Args:
        invocation: The global options.
        name: The session's name, the beginning of its name, or its path. If it is None, the current
            project's world is returned, and None for the session.
        command: The command that hints show, with ``SESSION`` in place of the name.
        read_only: Whether the world writes no files, not even a cache.

    Raises:
        NotFoundError: No session matches, or several do. Or ``name`` is only the beginning of a
            name, ``command`` cannot be taken back, and no person can be asked.
        DeclinedError: A person was asked whether the session is meant, and said no.
        ConfigError: The configuration of the project is invalid.
    """
    if name is None:
        return invocation.world(read_only=read_only), None
    site, entry = resolve_session(invocation, name, command=command)
    return invocation.world(site.project, read_only=read_only), entry


def unfinished_sessions(site: Site, *, command: str) -> tuple[SessionEntry, ...]:
    """Return the sessions, at least one, that are neither done nor moved; the last changed first.

    Args:
        site: The project.
        command: The command that needs such a session, for messages and hints.

    Raises:
        NotFoundError: There is none; the message says what happened to the session that changed
            last.
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
    """Return what happened to a session that is done or was moved, and hints what to do."""
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
    """Return ``entry``, or, if that is None, the project's only unfinished session.

    Args:
        world: The project.
        entry: The session that the command line names; None if it names none.
        command: The command that hints show, with ``SESSION`` in place of the name.

    Raises:
        NotFoundError: ``entry`` is None, and there is no unfinished session or more than one.
    """
    return entry or select_session(unfinished_sessions(world, command=command), command=command)


def session_to_reattach(
    world: World, environ: Mapping[str, str], *, command: str
) -> SessionEntry | None:
    """Return the session that still has panes but no running orchestrator; None if there is none.

    If there are several, the one in whose tmux session this process runs is returned.

    Args:
        world: The project.
        environ: Environment of this process; ``$TMUX`` tells in which tmux session it runs.
        command: The command that hints show, with ``SESSION`` in place of the name.

    Raises:
        NotFoundError: There are several, and this process runs in the tmux session of none.
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


def typed_command(invocation: Invocation, name: str | None, command: str) -> str:
    """Return the command line as typed, with ``SESSION`` where the session's name goes, for hints.

    A hint with only the command would do something else than the user asked for. Options that give
    consent are left out, so that a pasted hint does no more than that.

    Args:
        invocation: The global options, and the words that the user typed.
        name: The session's name as typed; None if no session was named.
        command: What is returned if it is unclear where the name goes: the command with its
            arguments, such as ``resume SESSION``.
    """
    kind, *words = [each for each in invocation.words if each not in _CONSENTS] or [""]
    is_option = command.endswith(_OPTION)
    begin = kind if is_option else f"{kind} SESSION"
    if not f"{command} ".startswith(f"{begin} ") or any(map(_UNCLEAR.search, words)):
        return command
    if name is not None:
        if words.count(name) != 1:
            return command
        at = words.index(name)
        del words[at - is_option : at + 1]
    end = _OPTION if is_option else ""
    return " ".join((begin, *map(shlex.quote, words))) + end
