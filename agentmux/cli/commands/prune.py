"""``agentmux prune``: takes away the worktrees that nobody needs any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.app.commands.remove import (
    loss_of,
    lost_words,
    require_removable,
    worktree_to_remove,
)
from agentmux.app.session.lookup import list_sessions
from agentmux.cli import render
from agentmux.cli.ask.person import require_person
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from agentmux.app.session.lookup import SessionEntry
    from agentmux.app.world import World
    from agentmux.cli.face import Face


def prune(
    ctx: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be removed; change nothing.")
    ] = False,
) -> int:
    """Remove the worktrees and branches of sessions that are done and merged.

    The sessions stay. What is not committed, or neither merged nor pushed, stays too, and is named.
    """
    face: Face = ctx.obj
    require_person(face, "prune")
    world = face.world(read_only=dry_run)
    done = [each for each in list_sessions(world) if each.is_done and each.text("worktree")]
    for entry in done:
        try:
            _prune(world, entry, dry_run=dry_run)
        except AgentmuxError as error:
            render.note(f"kept the worktree of {entry.name}: {error.message}")
    return 0


def _prune(world: World, entry: SessionEntry, *, dry_run: bool) -> None:
    spec = worktree_to_remove(world, entry)
    if spec is None:
        return
    found = loss_of(world, entry, spec)
    if (found.tip is None or spec.is_continued) and not world.worktrees.is_made(spec):
        return  # taken away before
    if found:
        render.note(f"kept {spec.path}: {lost_words(found, spec)}")
        return
    require_removable(world, entry)
    if not dry_run:
        world.worktrees.take_away(spec, found.tip)
    word = "would remove" if dry_run else "removed"
    branch = "" if spec.is_continued or not spec.branch else f" and branch {spec.branch}"
    render.out(f"{word} {spec.path}{branch}")
