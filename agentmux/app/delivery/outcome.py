"""What was delivered, in a sentence that people read last."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from agentmux.app.delivery.kept_remote import kept_remote
from agentmux.app.delivery.merge import brought_back, merge_base
from agentmux.app.delivery.steps import TAKEN_BY
from agentmux.core.names import git_commands
from agentmux.core.names.phase import Phase
from agentmux.core.names.status_labels import brought_back_label
from agentmux.core.names.statuses import DONE
from agentmux.core.pipeline.delivery import command_to_keep, is_on_no_branch, kept_commands

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState

LOST: Final = "its directory was deleted"
"""The cause of the end of a session whose directory somebody deleted while it ran."""


def delivered_lines(world: World, state: SessionState) -> tuple[str, ...]:
    """Return what was delivered, and how to get it where it is only kept.

    Args:
        world: The world of the session, `placed` in its work tree.
        state: Its state.
    """
    made = state.commit.commit if state.commit is not None else None
    if made is None:
        return ("nothing was committed",) if state.commits else ()
    committed = f"committed {made[:12]}"
    if is_on_no_branch(state):
        keep = command_to_keep(state, world.settings.git.branch_prefix, made[:12])
        return (f"{committed}, on no branch", f"keep it: {keep}")
    if is_kept(state):
        return (committed, *_without(world, state), f"get it with: {how_to_get(world, state)}")
    return (committed, *_taken(state), *_put_aside(world, state))


def _put_aside(world: World, state: SessionState) -> tuple[str, ...]:
    """Name what the user put aside for a merge of this result, or of another one."""
    base = state.base.branch if state.base is not None and state.worktree else None
    return world.git.merging(world.environment).ways_to_put_back(base) if base is not None else ()


def _without(world: World, state: SessionState) -> tuple[str, ...]:
    """Say what a merge of the branch would bring back, and how to go without it; () for nothing."""
    back = brought_back(world, state)
    if not back:
        return ()
    base, git = merge_base(state), f"git -C {shlex.quote(state.worktree or '')}"
    onto = git_commands.rebase(base, since=(state.options.base or "")[:12], git=git)
    return (brought_back_label(back, base), f"to go without them, first: {onto}")


def last_words(state: SessionState, name: str, cause: str | None) -> str:
    """Return one line about the end of a session, for somebody who was looking at it.

    Args:
        state: Of the session.
        name: Of the session, as commands take it.
        cause: Why it ended, in words, unless it is done.
    """
    if cause == LOST:
        return f"session {name} ended: {cause}; see what is left: agentmux status {name}"
    if state.phase != Phase.DONE:
        # The command comes first: tmux cuts its messages at the width of the terminal.
        return f"to go on: agentmux resume {name} (it ended: {cause or 'unknown'})"
    made = state.commit.commit if state.commit is not None else None
    what = [f"commit {made[:12]}" if made else "nothing was committed", *_taken(state)]
    return f"session {name} is done: {', '.join(what)}"


def is_kept(state: SessionState) -> bool:
    """Return whether the commit is on the session's own branch, and was taken nowhere else."""
    made = state.commit is not None and state.commit.commit is not None
    return made and bool(state.worktree) and not _taken(state)


def _taken(state: SessionState) -> tuple[str, ...]:
    steps = state.delivery.steps if state.delivery is not None else {}
    return tuple(
        TAKEN_BY[name].said(step.record)
        for name, step in steps.items()
        if name in TAKEN_BY and step.status == DONE
    )


def how_to_get(world: World, state: SessionState) -> str:
    """Return the git commands that take further what was kept on the branch of a worktree."""
    base = state.base.branch if state.base is not None else None
    made = commit_without_branch(world, state)
    if made:
        return kept_commands(made, base, None)
    branch = state.branch or ""
    return kept_commands(branch, base, kept_remote(world, branch, world.environment))


def commit_without_branch(world: World, state: SessionState) -> str:
    """Return the commit of a result whose branch does not exist any more; empty if it does."""
    made = state.commit.commit if state.commit is not None else None
    gone = made is not None and world.repositories.is_branch_gone(world.project, state.branch or "")
    return (made or "")[:12] if gone else ""
