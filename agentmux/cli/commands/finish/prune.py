"""``agentmux prune``: removes the worktrees of sessions that are done and merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.app.commands.end.remove import (
    going_words,
    lost_words,
    removable_worktree,
    require_removable,
    staying_words,
)
from agentmux.app.session.search.lookup import SessionEntry, list_sessions
from agentmux.cli import render
from agentmux.cli.ask.person import require_person
from agentmux.cli.commands.look import orphan_agents
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.cli.invocation import Invocation


def prune(
    ctx: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be removed; change nothing.")
    ] = False,
) -> int:
    """Remove the worktrees and branches of sessions that are done and merged.

    The sessions stay. A worktree with work that is not committed, or neither merged nor pushed,
    stays too, and is named. Files that git ignores, such as .env, are removed with the worktree,
    and are named.
    """
    invocation: Invocation = ctx.obj
    require_person(invocation, "prune")
    world = invocation.world(read_only=dry_run)
    done = [each for each in list_sessions(world) if each.is_done and each.text("worktree")]
    if not [entry for entry in done if _judge(world, entry, dry_run=dry_run)]:
        render.note("nothing to remove: no session that is done has a worktree still")
    return 0


def _judge(world: World, entry: SessionEntry, *, dry_run: bool) -> bool:
    """Remove the worktree of a session, or print why it stays; return whether there was one."""
    try:
        return _prune(world, entry, dry_run=dry_run)
    except AgentmuxError as error:
        render.note(f"kept the worktree of {entry.name}: {error.message}")
        for hint in error.hints:
            render.hint(hint)
        return True


def _prune(world: World, entry: SessionEntry, *, dry_run: bool) -> bool:
    there = removable_worktree(world, entry)
    if there is None:
        return False
    spec, loss = there
    if loss:
        place = spec.path if loss.is_there else spec.label
        render.note(f"kept {place}: {lost_words(loss, spec)}")
        return True
    require_removable(world, entry)
    alive = orphan_agents.left_behind(entry)
    if alive:
        render.note(f"{entry.name}: {orphan_agents.left_words(alive)}")
        render.note(f"to end them: {orphan_agents.how_to_end(alive)}")
    stays = staying_words(loss, spec)
    if stays:
        render.note(stays)
    if not dry_run:
        world.git.worktrees.remove(spec, loss.tip)
    word = "would remove" if dry_run else "removed"
    render.out(f"{word} {going_words(loss, spec)}")
    return True
