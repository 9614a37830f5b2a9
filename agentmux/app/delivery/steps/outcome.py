"""What was delivered, in the last lines that people read of a session."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.app.delivery.steps.commit import list_put_aside
from agentmux.app.delivery.steps.merge import brought_back, merge_base
from agentmux.app.delivery.steps.steps import STEPS_BY_NAME
from agentmux.app.session.workplace.branch_mismatch import command_to_keep
from agentmux.app.session.workplace.workplace import is_away
from agentmux.core.names.end_causes import LOST
from agentmux.core.names.phase import Phase
from agentmux.core.names.status_labels import brought_back_label
from agentmux.core.names.statuses import DONE
from agentmux.core.names.words import git_commands
from agentmux.core.pipeline.delivery import is_on_no_branch, kept_commands
from agentmux.errors import AgentmuxError
from agentmux.ports.git.remotes import NoRemoteError

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState

_ANY: Final = "REMOTE"


def delivered_lines(world: World, state: SessionState) -> tuple[str, ...]:
    """Return lines that say what was delivered or, if it was only kept, how to get it.

    Args:
        world: The world of the session's workplace (`with_workplace`).
        state: The state of the session.
    """
    commit = state.commit.commit if state.commit is not None else None
    if commit is None:
        aside = world.repository.stash_hints(git_commands.FOR_REVIEW)
        nothing = ("nothing was committed", *list_put_aside(world, state))
        return nothing if state.commits else aside
    committed = f"committed {commit[:12]}"
    if is_on_no_branch(state):
        keep = command_to_keep(world, state, commit[:12])
        return (f"{committed}, on no branch", f"keep it: {keep}")
    committed += f" on {state.branch}" if state.branch else ""
    if is_kept(state):
        *before, way = ways_to_get(world, state)
        return (committed, *before, f"get it with: {way}")
    return (committed, *_describe_steps(state), *_put_aside(world, state))


def _put_aside(world: World, state: SessionState) -> tuple[str, ...]:
    """Return lines about what the user put aside for a merge of this result, or of another one."""
    if not state.worktree:
        return list_put_aside(world, state)
    base = state.base.branch if state.base is not None else None
    return world.git.merging(world.environment).stash_hints(base) if base is not None else ()


def _without(world: World, state: SessionState) -> tuple[str, ...]:
    """Return lines about commits that a merge of the branch would bring back; empty if none.

    They also say how to merge without these commits.
    """
    back = brought_back(world, state)
    if not back:
        return ()
    base, git = merge_base(state), f"git -C {shlex.quote(state.worktree or '')}"
    onto = git_commands.rebase(base, since=(state.options.base or "")[:12], git=git)
    there = () if is_away(Path(state.worktree or "")) else (f"to go without them, first: {onto}",)
    return (brought_back_label(back, base), *there)


def last_words(state: SessionState, name: str, cause: str | None) -> str:
    """Return one line about the end of a session, for somebody who was looking at it.

    Args:
        state: The state of the session.
        name: The name of the session that commands accept.
        cause: Why the session ended, in words; `LOST` if its directory was deleted; None if the
            cause is unknown. If the session is done, only `LOST` counts.
    """
    if cause == LOST:
        return f"session {name} ended: {cause}; see what is left: agentmux status {name}"
    if state.phase != Phase.DONE:
        # The command comes first: tmux cuts its messages at the width of the terminal.
        return f"to go on: agentmux resume {name} (it ended: {cause or 'unknown'})"
    commit = state.commit.commit if state.commit is not None else None
    what = [f"commit {commit[:12]}" if commit else "nothing was committed", *_describe_steps(state)]
    return f"session {name} is done: {', '.join(what)}"


def is_kept(state: SessionState) -> bool:
    """Return whether the result is committed on the session's own branch and went nowhere else."""
    has_commit = state.commit is not None and state.commit.commit is not None
    return has_commit and bool(state.worktree) and not _describe_steps(state)


def _describe_steps(state: SessionState) -> tuple[str, ...]:
    steps = state.delivery.steps if state.delivery is not None else {}
    return tuple(
        STEPS_BY_NAME[name].describe_result(step.record)
        for name, step in steps.items()
        if name in STEPS_BY_NAME and step.status == DONE
    )


def describe_ways_to_get(world: Callable[[], World], path: Path) -> tuple[str, ...]:
    """Return the lines of `ways_to_get` for the session whose directory is ``path``.

    If the commands cannot be found, the only line says why. ``world`` returns the session's world.
    """
    try:
        session_world = world()
        return ways_to_get(session_world, session_world.files(path).load().current)
    except AgentmuxError as error:
        return (f"(cannot be told: {error.message})",)


def ways_to_get(world: World, state: SessionState) -> tuple[str, ...]:
    """Return lines with the git commands that merge or push a result kept on a worktree's branch.

    The commands are the last line. Lines before it say which commits a merge would bring back, and
    how to merge without them. Call it only if `is_kept`: it does not check that.
    """
    base = state.base.branch if state.base is not None else None
    if base is not None and world.repositories.is_branch_gone(world.project, base):
        base = None  # it was renamed, or deleted
    branch, commit = state.branch or "", commit_without_branch(world, state)
    remote = None if commit else _remote(world, branch)
    return (*_without(world, state), kept_commands(commit or branch, base, remote))


def _remote(world: World, branch: str) -> str | None:
    """Return the remote to which a branch of the project would be pushed, for people.

    ``REMOTE`` if git's configuration does not say which of several; None if the repository has no
    remote, or git does not answer.
    """
    try:
        return world.remotes(world.project, world.environment).target(branch)
    except NoRemoteError as error:
        return _ANY if error.remotes else None
    except AgentmuxError:
        return None


def commit_without_branch(world: World, state: SessionState) -> str:
    """Return the short hash of the result's commit if its branch no longer exists, else empty."""
    sha = state.commit.commit if state.commit is not None else None
    gone = sha is not None and world.repositories.is_branch_gone(world.project, state.branch or "")
    return (sha or "")[:12] if gone else ""
