"""``export`` and ``import``: move a session to another machine, or to another clone."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.app.commands.move.export import ExportedSession, export
from agentmux.app.commands.move.import_session import (
    ImportedSession,
    import_effect,
    import_session,
    pipeline_in,
)
from agentmux.app.commands.resume.resume import find_obstacle
from agentmux.app.result import envelope
from agentmux.app.session.search.lookup import SessionEntry, live, shown_path
from agentmux.cli import render
from agentmux.cli.ask.person import TrustOpt, require_person, trusted_world
from agentmux.cli.ask.session_argument import resolve_session
from agentmux.cli.ask.shared_options import JsonOpt
from agentmux.cli.invocation import Invocation, absolute
from agentmux.core.names.words.counts import abbreviate_names
from agentmux.errors import BlockedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux.app.world import World


def export_session(
    ctx: typer.Context,
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="As for `status`.", show_default=False)
    ],
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)
    ],
    copy: Annotated[
        bool,
        typer.Option("--copy", help="Leave the session resumable here; the file begins another."),
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace FILE; export a session again that was moved."),
    ] = False,
    json: JsonOpt = False,
) -> int:
    """Move a stopped session to a file, to go on with it on another machine.

    The file holds all that no remote has: the session's documents and journal, its branch, and its
    files as they are now, committed or not. It holds no conversations, no credentials and no files
    of agents. Then the session cannot go on here until you import the file here again.
    """
    invocation: Invocation = ctx.obj
    require_person(invocation, "export")
    site, entry = resolve_session(
        invocation, session, command=f"export SESSION {shlex.quote(str(file))}"
    )
    world = invocation.world(site.project)
    block = find_obstacle(world, entry, live(world, (entry,))[entry.path])
    if block is not None:
        raise _busy(entry, block)
    exported_session = export(world, entry, absolute(file), copy=copy, force=force)
    for each in _left_words(exported_session):
        render.note(f"warning: {each}")
    if json:
        render.as_json(envelope([_exported_fields(exported_session)], ()))
    else:
        render.out(_exported_words(exported_session))
    return 0


def _busy(entry: SessionEntry, block: BlockedError) -> BlockedError:
    if block.reason != "session_live":
        return block
    return BlockedError(
        f"session {entry.name} is live: its agents would work on here",
        reason=block.reason,
        hints=(f"stop it first: agentmux stop {entry.name}",),
    )


def _left_words(made: ExportedSession) -> Iterator[str]:
    for each in made.left:
        yield f"{each} does not come along"
    if made.staged:
        yield f"what is staged does not come along, only the files: {abbreviate_names(made.staged)}"
    if made.ignored:
        yield f"what git ignores does not come along: {abbreviate_names(made.ignored)}"


def _exported_fields(made: ExportedSession) -> dict[str, object]:
    return {
        "session": made.name,
        "file": str(made.file),
        "copy": made.is_copy,
        "bytes": made.bytes,
        "left": list(made.left),
        "ignored": list(made.ignored),
        "staged": list(made.staged),
        "again": made.again,
    }


def _exported_words(made: ExportedSession) -> str:
    file = shlex.quote(str(made.file))
    word = "copied" if made.is_copy else "moved"
    before = " (the file was written before)" if made.again else ""
    return (
        f"{word} session {made.name} to {made.file}{before}\n"
        f"to go on with it, in another clone of the repository: agentmux import {file}"
    )


def import_(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="What `export` has written.", show_default=False)
    ],
    copy: Annotated[
        bool,
        typer.Option("--copy", help="Make another session of it, with a branch of its own."),
    ] = False,
    trust: TrustOpt = False,
    json: JsonOpt = False,
) -> int:
    """Import a session from the file of an export, to go on with it here; nothing is started.

    The session gets a worktree of its own, with its branch and its files. The configuration here
    decides which agents, pipeline, setup and checks run. All agents start new conversations, and
    are told what was handed in, what is open, the diff so far and the last screens.
    """
    invocation: Invocation = ctx.obj
    require_person(invocation, "import")
    world = invocation.world()
    place = absolute(file)
    pipeline = pipeline_in(world, place, copy=copy, say=render.note)
    world = trusted_world(
        invocation,
        world,
        lambda given: import_effect(given, pipeline),
        trust=trust and bool(pipeline),
    )
    imported_session = import_session(world, place, copy=copy)
    for warning in imported_session.warnings:
        render.note(f"warning: {warning}")
    if json:
        render.as_json(envelope([_imported_fields(world, imported_session)], ()))
    else:
        render.out(_imported_words(imported_session))
    return 0


def _imported_fields(world: World, made: ImportedSession) -> dict[str, object]:
    return {
        "session": made.name,
        "path": shown_path(made.path, world.project),
        "host": made.host,
        "phase": made.phase,
        "worktree": made.worktree,
        "branch": made.branch,
        "returned": made.returned,
        "warnings": list(made.warnings),
    }


def _imported_words(made: ImportedSession) -> str:
    go_on = f"go on with it: agentmux resume {made.name}"
    if made.returned:
        return f"session {made.name} goes on here, in {made.phase}\n{go_on}"
    branch = f", on branch {made.branch}" if made.branch else ""
    return (
        f"imported session {made.name} from {made.host}: it is in {made.phase}\n"
        f"its first resume makes the worktree {made.worktree}{branch}\n{go_on}"
    )
