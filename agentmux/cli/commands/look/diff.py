"""``agentmux diff``: shows what a session has changed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from agentmux.app.session.workplace.changes import changes_of
from agentmux.cli import render
from agentmux.cli.ask.shared_options import SessionArg
from agentmux.cli.commands.look.sessions import one
from agentmux.cli.invocation import Invocation, absolute
from agentmux.errors import UsageError


def diff(
    ctx: typer.Context,
    session: SessionArg = None,
    stat: Annotated[
        bool, typer.Option("--stat", help="Show only the files, and how much they changed.")
    ] = False,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="PHASE|N",
            help="Only what changed since the end of this phase, or since this checkpoint.",
        ),
    ] = None,
    path: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="Show only this file or directory; may be repeated."),
    ] = None,
) -> int:
    """Show what a session has changed, committed or not.

    The pager and the settings are those of git. Words after -- are paths, too. If the session's
    worktree is gone, this shows its last checkpoint.
    """
    invocation: Invocation = ctx.obj
    site, entry = one(invocation, session, command="diff SESSION")
    world = invocation.world(site.project, read_only=True)
    changes = changes_of(world, world.files(entry.path).load().current, entry.path, since=since)
    if changes is None:
        raise UsageError(f"session {entry.name} has no commit to compare with")
    if changes.note:
        render.note(changes.note)
    tops = (changes.repository.top_level(), world.repository.top_level())
    given = tuple(_within(each, tops) for each in path or ())
    render.flush()
    return changes.repository.show_changes(changes.range, paths=given, stat=stat)


def _within(path: str, tops: Sequence[Path | None]) -> str:
    """Return a path relative to the first of these folders that contains it.

    Raises:
        UsageError: None of them contains it.
    """
    whole = Path(os.path.normpath(absolute(Path(path))))
    for top in tops:
        if top is not None and whole.is_relative_to(top):
            return str(whole.relative_to(top))
    raise UsageError(f"`{path}` is outside of the repository, {tops[-1]}")
