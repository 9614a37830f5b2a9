"""Commits the approved result on the branch from which the session began.

An approval makes one commit at most, even if the orchestrator is killed meanwhile. Files that had
uncommitted changes at the start are left out, unless the user included them.
"""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Final

from agentmux.app.delivery.steps.summary import summary_lines
from agentmux.app.session.workplace.branch_mismatch import compare_head, keep_as, ways_to_rejoin
from agentmux.app.session.workplace.own_worktree import find_remake_obstacle
from agentmux.app.world import World
from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.workplace import ways_back
from agentmux.core.documents.trailer import TRAILER
from agentmux.core.journal.state import SessionState
from agentmux.core.names.words import git_commands
from agentmux.core.names.words.counts import abbreviate_names
from agentmux.core.pipeline.delivery import approve_again
from agentmux.core.pipeline.result_text import message
from agentmux.errors import AgentmuxError, BlockedError, data_error_from
from agentmux.ports.git.repository import (
    GitError,
    Head,
    IndexBusyError,
    Repository,
    ResultChangedError,
    finish_it,
)

_NAMED: Final = 5


def left_out(world: World, state: SessionState) -> tuple[str, ...]:
    """Return the folders, ending in ``/``, that a commit leaves out because they are repositories.

    They are relative to the top of the work tree. Repositories that existed at the start belong to
    the user, and are not returned.
    """
    if not state.commits:
        return ()
    return tuple(path for path in world.repository.list_nested() if path not in state.options.dirty)


def list_put_aside(world: World, state: SessionState) -> tuple[str, ...]:
    """Return hints how to restore stashes that may have files of a session in the checkout.

    The user made them on the commit where the session began, by following hints of ours for a merge
    or a trial of another session. Empty if there are none.
    """
    if state.worktree or not state.commits or state.options.base is None:
        return ()
    whys = (git_commands.FOR_MERGE, git_commands.FOR_TRIAL)
    return world.repository.stash_hints(*whys, on=state.options.base)


def find_head_error(world: World, state: SessionState, way: str = "") -> GitError | None:
    """Return why the result cannot be delivered from the current HEAD, with hints; else None.

    If the session only reviews a branch, the error is that the branch or its files were changed.

    Args:
        world: The world of the session's workplace.
        state: The state of the session.
        way: Where the result is to go, for the hints; empty stands for the way of the delivery in
            progress, else the configured one.
    """
    error: AgentmuxError | None = _find_moved_head(world, state)
    if error is None:
        error = _find_lost_branch(world, state)
    if error is None:
        return _find_rewritten_history(world, state)
    return GitError(error.message, hints=(*error.hints, approve_again(state, way)))


def on_top(world: World, state: SessionState) -> SessionState:
    """Return the state of a session in the checkout as if it had begun at the present HEAD.

    Unchanged if HEAD is on another branch, or detached where its history does not contain the
    commit at which the session began. On a branch, the user may have amended or rebased that
    commit. In a worktree that alone counts, and only on a branch of the user's own: the session
    then begins where the histories fork. Ask the user first whose the commits are.
    """
    head = world.repository.head()
    if not _has_moved_on(world, state, head):
        return state
    base = state.options.base or ""
    began = world.repository.fork(base, since="") if state.worktree else head.commit
    return replace(state, options=replace(state.options, base=began))


def _has_moved_on(world: World, state: SessionState, head: Head) -> bool:
    base = state.options.base
    if (
        base is None
        or head.commit is None
        or (head.branch, head.in_progress) != (state.branch, None)
    ):
        return False
    if state.worktree and (not state.continued or world.repository.contains(base)):
        return False
    return head.commit != base and (head.branch is not None or world.repository.contains(base))


def _find_moved_head(world: World, state: SessionState) -> GitError | None:
    """Return the error of `find_head_error`, without the hint to approve again."""
    if state.reviewed is not None:
        return _find_review_changes(world, state)
    if not state.commits:
        return None
    began = Head(commit=state.options.base, branch=state.branch)
    head = world.repository.head()
    if state.worktree:
        return _left_branch(world, state, head)
    if head.commit != began.commit:
        began = replace(began, commit=_made_before(world, state) or began.commit)
    stayed = (head.commit, head.branch) == (began.commit, began.branch)
    if stayed and not head.in_progress:
        return None
    what = f"HEAD moved: the session began on {began.describe()}, HEAD is now {head.describe()}"
    return GitError(
        f"a {head.in_progress} is in progress in this repository" if stayed else what,
        hints=_ways_back(world, state, began, head),
    )


def _find_review_changes(world: World, state: SessionState) -> GitError | None:
    """Return the error that a session changed the branch it only reviews; None if it did not."""
    place = f"git -C {shlex.quote(state.worktree or '')}"
    head = world.repository.head()
    if head.commit != state.options.base:
        return GitError(
            f"the branch under review was to stay as it is, but HEAD is {head.describe()}",
            hints=ways_back(compare_head(world, state, head)),
        )
    changed = world.repository.changed_since(state.options.dirty)
    if not changed:
        return None
    # Changes by the setup, or by a person before the start, are allowed.
    aside = world.repository.aside_hints(changed, git_commands.FOR_REVIEW)
    more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
    return GitError(
        "the branch under review was to stay as it is, but these files were changed:"
        f" {', '.join(changed[:_NAMED])}{more}",
        hints=(f"see them: {place} status", *aside),
    )


def _made_before(world: World, state: SessionState) -> str | None:
    """Return the newest commit of this session in the checkout, under any approval; else None.

    It was made, but could not be delivered; or the user has requested changes since.
    """
    approvals = state.signals
    if not approvals:
        return None
    trailer = (TRAILER, approvals[-1])
    return world.repository.find_commit(trailer, since=state.options.base, also=approvals)


def _left_branch(world: World, state: SessionState, head: Head) -> GitError | None:
    """Return why the result of a worktree is not on the session's branch; None if it is.

    Agents, or the user, may have committed there.
    """
    if head.in_progress:
        return GitError(
            f"a {head.in_progress} is in progress in {state.worktree}",
            hints=finish_it(head, state.worktree),
        )
    return _elsewhere(world, state, head) if head.branch != state.branch else None


def _find_lost_branch(world: World, state: SessionState) -> BlockedError | None:
    """Return the error that the branch of the session's worktree was deleted; else None."""
    if not state.commits or world.repository.head().commit is not None:
        return None
    return find_remake_obstacle(world, state, world.project / state.feature_dir)


def _find_rewritten_history(world: World, state: SessionState) -> GitError | None:
    """Return the error that the history of the session's branch was rewritten; else None."""
    if not state.worktree or not state.commits:
        return None
    branch, base = state.branch or "", state.options.base or ""
    if world.repository.head().commit is not None and world.repository.contains(base):
        return None
    git = f"git -C {shlex.quote(state.worktree or '')}"
    is_on_top = _has_moved_on(world, state, world.repository.head())
    on_top = (_on_top_hint(state),) if is_on_top and world.repository.is_related(base) else ()
    return GitError(
        f"the history of branch {branch} was rewritten: it does not contain {base[:12]} any more,"
        " where the session began",
        hints=(
            f"see what it contains: {git} log --oneline -n 20",
            *on_top,
            *ways_to_rejoin(world, state.worktree),
        ),
    )


def _elsewhere(world: World, state: SessionState, head: Head) -> GitError | None:
    """Return why the session's branch cannot be moved forward to HEAD; None if it can be."""
    branch, comparison = state.branch or "", compare_head(world, state, head)
    what = f"{state.worktree} is not on branch {branch}: HEAD is {head.describe()}"
    if comparison.is_gone or comparison.is_behind:
        return GitError(what, hints=ways_back(comparison))
    top = world.git.worktrees.checkout_of(branch)
    if top is None:
        return None
    free = f"git -C {shlex.quote(str(top))} switch --detach"
    return GitError(
        f"{what}; and branch {branch} cannot be moved there, as it is checked out in {top}",
        hints=(f"leave it there: {free}",),
    )


def is_elsewhere(state: SessionState, head: Head) -> bool:
    """Return whether an approval first has to move the session's branch forward to HEAD.

    ``head`` is where HEAD is now. The answer holds only if `find_head_error` returns None.
    """
    return bool(state.commits and state.worktree) and head.branch != state.branch


def _ways_back(world: World, state: SessionState, began: Head, head: Head) -> tuple[str, ...]:
    if head.in_progress:
        return finish_it(head)
    if head.branch != began.branch:
        return ways_back(compare_head(world, state, head))
    # Only the user knows whose commits these are: an agent's, or those of a `git pull`.
    base = (began.commit or "")[:12]
    undo = f"git reset --soft {base}" if base else "git update-ref -d HEAD"
    kept = keep_as(world, head.commit)
    if kept:  # keep them: their messages will not be in the session's commit
        undo = f"git branch {kept} HEAD && {undo}"
    subjects = world.repository.subjects(base) if base and head.commit is not None else ()
    named = f" ({abbreviate_names(subjects)})" if subjects else ""
    since = f"git log --oneline {base}.." if base else "git log --oneline"
    if base and not world.repository.contains(base):  # amended or rebased: show both sides
        since = f"git log --oneline --left-right {base}..."
    return (
        f"see the commits since then: {since}",
        *((_on_top_hint(state),) if _has_moved_on(world, state, head) else ()),
        f"if this session made all of them{named}, have them in its commit: {undo}",
    )


def _on_top_hint(state: SessionState) -> str:
    name = shlex.quote(PurePosixPath(state.feature_dir).name)
    return f"if they are yours, commit on top of them: agentmux approve {name} --on-top"


def describe_failure(error: AgentmuxError | OSError) -> str:
    """Return the message and the hints of an error, such as why a commit failed, as one line."""
    failure = data_error_from(error) if isinstance(error, OSError) else error
    return "; ".join((failure.message, *failure.hints))


def commit(world: World, state: SessionState, approval: str) -> tuple[str | None, bool]:
    """Make the commit for the approval with the id ``approval``.

    If an earlier process has already made that commit, no other one is made.

    Returns:
        The id of the commit that has the result (None if nothing has changed), and whether that
        commit existed before this call.

    Raises:
        IndexBusyError: Another git process has locked the user's index; try again when it is free.
        ResultChangedError: The files are not those that were approved.
        GitError: The commit was not made, because of a hook, a missing identity or a moved HEAD.
        MissingError: Git is not installed, or git or a hook took too long.
        OSError: The disk is full, or git's folder cannot be written.
    """
    repository, trailer = world.repository, (TRAILER, approval)
    known_commit = _adopt_commit(repository, state, trailer)
    if known_commit is not None:
        return known_commit, True
    began = repository.head()
    error = find_head_error(world, state)
    if error is not None:
        raise error
    paths, tree = repository.changed_since(state.options.dirty), state.approved_tree
    began = _on_its_branch(repository, state, began, paths)
    if not paths:
        # A commit of ours in the checkout, or any in a worktree, is the result.
        return (None, False) if began.commit == state.options.base else (began.commit, True)
    try:
        files = world.files(world.project / state.feature_dir)
        text = message(state, summary_lines(files, state))
        commit_id = repository.commit(text, paths, trailer=trailer, onto=began, tree=tree)
    except IndexBusyError:
        raise
    except (AgentmuxError, OSError):
        # The commit may exist all the same, for example if git's last hook took too long.
        with suppress(AgentmuxError, OSError):
            known_commit = repository.find_commit(trailer, since=state.options.base)
        if known_commit is None:
            raise
        repository.settle_index(known_commit)
        return known_commit, False
    return commit_id, False


def _on_its_branch(
    repository: Repository, state: SessionState, head: Head, paths: tuple[str, ...]
) -> Head:
    """Move the session's branch forward to HEAD if HEAD is elsewhere; return the HEAD to use.

    Raises:
        ResultChangedError: The files are not those that were approved, and nothing was moved. If
            there are ``paths``, this is checked only for a HEAD elsewhere.
    """
    elsewhere, tree = is_elsewhere(state, head), state.approved_tree
    if (elsewhere or not paths) and tree not in {"", repository.result_tree(paths)}:
        raise ResultChangedError
    return repository.take_branch(state.branch or "", head) if elsewhere else head


def _adopt_commit(
    repository: Repository, state: SessionState, trailer: tuple[str, str]
) -> str | None:
    """Return the id of the commit with this trailer, and update the user's index to it.

    None if there is no such commit.
    """
    commit_id = repository.find_commit(trailer, since=state.options.base)
    if commit_id is not None:
        repository.settle_index(commit_id)
    return commit_id
