"""Whether another branch is checked out than the one that a session works on."""

from __future__ import annotations

import shlex
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from agentmux.core.decisions.workplace import (
    LeftBranch,
    branch_names,
    has_left,
    left_branch_message,
)
from agentmux.core.names import layout
from agentmux.ports.git.repository import Head, finish_it

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState


def branch_left(world: World, state: SessionState) -> str:
    """Return a sentence if another branch than the session's is checked out; else empty.

    The sentence says what to do. ``world`` is that of the session's workplace.

    Raises:
        AgentmuxError: Git cannot be asked.
    """
    head = world.git.head_at(world.tree)
    if head is None or not has_left(state, head.commit, head.branch):
        return ""
    if head.in_progress:
        where = state.worktree or "your checkout"
        ways = "; ".join(finish_it(head, state.worktree))
        return f"a {head.in_progress} is in progress in {where}; {ways}"
    return left_branch_message(state, compare_head(world, state, head))


def compare_head(world: World, state: SessionState, head: Head) -> LeftBranch:
    """Return how HEAD is related to the session's branch, or to its base if the branch is gone.

    Args:
        world: The world of the session's workplace.
        state: The state of the session.
        head: What is checked out there.

    Raises:
        AgentmuxError: Git cannot be asked.
    """
    branch, base = state.branch, state.options.base
    own = f"refs/heads/{branch}"
    there = own if branch and world.git.worktrees.base(own) is not None else base
    if there is None or head.commit is None:
        ahead = behind = False
    else:
        ahead = not world.repository.contains(head.commit, tip=there)
        behind = not world.repository.contains(there)
    return LeftBranch(
        branch=branch,
        base=base,
        worktree=state.worktree,
        head=head.commit,
        head_branch=head.branch,
        is_gone=branch is not None and not world.repository.has_branch(branch),
        is_ahead=ahead,
        is_behind=behind,
        keep_as=keep_as(world, head.commit) if head.branch is None else "",
        is_related=not behind or world.repository.is_related(there or ""),
        is_changed=behind and is_changed(world, state),
    )


def is_changed(world: World, state: SessionState) -> bool:
    """Return whether tracked files in the session's own worktree have uncommitted changes.

    Git may refuse to merge until these are committed. False in the checkout, and if a file that had
    changes when the session began has changes now. ``world`` is that of the session's workplace.
    """
    changed, tree = world.repository.dirty(), Path(state.worktree or "")
    tracked = world.repository.list_tracked_files([tree / each for each in changed])
    return bool(state.worktree and tracked) and not set(changed) & set(state.options.dirty)


def keep_as(world: World, commit: str | None) -> str:
    """Return a free name ``kept-…`` for a new branch at ``commit``; create nothing.

    Empty if ``commit`` is None, or if a branch of such a name contains the commit already.
    """
    for name in branch_names(f"kept-{commit[:12]}") if commit is not None else ():
        base = world.git.worktrees.base(f"refs/heads/{name}")
        if base is None or world.repository.contains(commit or "", tip=base.commit):
            return name if base is None else ""
    return ""


def ways_to_rejoin(world: World, worktree: str) -> tuple[str, ...]:
    """Return a hint how a history that began anew with a root commit joins the one before; or none.

    Its commits become one, and keep a branch of their own. ``world`` is that of the workplace, the
    folder ``worktree``.
    """
    before, head = world.repository.end_before_root(), world.repository.head().commit
    if before is None or head is None:
        return ()
    place, kept = shlex.quote(worktree), keep_as(world, head)
    keep = f"git branch {kept} {head[:12]} && " if kept else ""
    hint = (
        f"put it on top of the commits before: {keep}git -C {place} reset --soft {before[:12]} &&"
        f" git -C {place} commit --reuse-message={head[:12]}"
    )
    return (hint,)


def command_to_keep(world: World, state: SessionState, commit: str = "HEAD") -> str:
    """Return the git command that creates a branch at ``commit``; run nothing.

    The branch is named by the setting ``git.branch_prefix`` and the session's slug, with a number
    if that name is taken.
    """
    slug = layout.slug_of(PurePath(state.feature_dir).name)
    names = branch_names(f"{world.settings.git.branch_prefix}{slug}")
    free = (each for each in names if world.git.worktrees.base(f"refs/heads/{each}") is None)
    return f"git branch {shlex.quote(next(free))} {commit}"
