"""``agentmux rewind``: takes the files of a stopped session back to a work-tree checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.app.commands.resume.resume import find_obstacle
from agentmux.app.commands.resume.rewind import RewindPlan, plan_rewind, rewind, tree_checkpoints
from agentmux.app.session.search.lookup import live
from agentmux.cli import render
from agentmux.cli.ask.person import YesOpt, person_at, require_person
from agentmux.cli.ask.shared_options import SessionArg
from agentmux.cli.commands.look.sessions import one
from agentmux.core.decisions.tree_checkpoints import checkpoint_words, checkpoints_label
from agentmux.core.names.words.counts import format_count
from agentmux.errors import BlockedError, UsageError

if TYPE_CHECKING:
    from agentmux.cli.invocation import Invocation

_NAMED: Final = 20
_UNSAVED: Final = ": it could not be saved, so that another rewind could not bring it back"


def rewind_session(
    ctx: typer.Context,
    session: SessionArg = None,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="PHASE|N",
            help="Go back to the end of this phase, or to this work-tree checkpoint.",
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would go; change nothing.")
    ] = False,
    yes: YesOpt = False,
) -> int:
    """Take the files of a stopped session back to a work-tree checkpoint.

    The session must have a worktree of its own. Its files are saved first, so that another rewind
    can bring them back. No branch moves. Work goes on after the phase at whose end the checkpoint
    was made.
    """
    invocation: Invocation = ctx.obj
    require_person(invocation, "rewind")
    site, entry = one(invocation, session, command="rewind SESSION --to PHASE|N")
    if not to:
        points = checkpoints_label(tree_checkpoints(site, entry))
        hints = (f"agentmux rewind {entry.name} --to PHASE|N", points)
        raise UsageError("`--to` is missing", hints=hints)
    world = invocation.world(site.project, read_only=dry_run)
    block = find_obstacle(world, entry, live(world, (entry,))[entry.path])
    if block is not None and block.reason == "session_live":
        raise BlockedError(
            f"session {entry.name} is live: its agents would work on while the files go back",
            reason=block.reason,
            hints=(f"stop it first: agentmux stop {entry.name}",),
        )
    if block is not None:
        raise block
    plan = plan_rewind(world, entry, to)
    render.out("\n".join(_describe_plan(plan)))
    if dry_run:
        return 0
    person_at(invocation, yes=yes).agree(
        f"Rewind session {entry.name} to work-tree checkpoint {plan.to.number}?"
    )
    done = rewind(world, entry, str(plan.to.number))
    for path in done.left:
        why = _UNSAVED if path in done.unsaved else ""
        render.note(f"{path} stays as it is{why}")
    back = f"agentmux rewind {entry.name} --to {done.before}"
    render.note(f"rewound; to get the files back as they were: {back}")
    if done.since is not None:
        back = f"agentmux rewind {entry.name} --to {done.since}"
        render.note(f"as the interrupted rewind, and your changes after it, left them: {back}")
    for number in done.earlier:
        back = f"agentmux rewind {entry.name} --to {number}"
        render.note(f"the files before an earlier one: {back}")
    render.note(f"(only the files: work goes on in {plan.phase} then, too)")
    render.note(f"go on: agentmux resume {entry.name}")
    return 0


def _describe_plan(plan: RewindPlan) -> list[str]:
    """Return the lines that say what a rewind does."""
    files = format_count(len(plan.files), "file goes", "files go")
    lines = [f"to            work-tree checkpoint {checkpoint_words(plan.to)} ({plan.to.at})"]
    lines.append(f"files         {files} back")
    lines += [f"              {path}" for path in plan.files[:_NAMED]]
    if len(plan.files) > _NAMED:
        lines.append(f"              and {len(plan.files) - _NAMED} more")
    lines += [
        f"              {path} stays: the checkpoint does not have it" for path in plan.missing
    ]
    kept = f", with sub-plan {', '.join(map(str, plan.subplans))} done" if plan.subplans else ""
    lines.append(f"goes on in    {plan.phase}{kept}; later artifacts are moved to history")
    if plan.stale:
        lines.append(
            f"new start     {', '.join(plan.stale)}: their conversations went on since then"
        )
    return lines
