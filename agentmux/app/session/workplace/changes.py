"""What a session has changed: the two states of the code to compare, and where to compare them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.app.session.workplace.own_worktree import (
    last_checkpoint,
    missing_worktree,
    with_workplace,
    worktree_of,
)
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.decisions.tree_checkpoints import checkpoint_words, named_checkpoint
from agentmux.core.names.phase import Phase
from agentmux.core.names.statuses import DONE, MERGE
from agentmux.ports.git.repository import ChangeRange, Repository

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState
    from agentmux.ports.git.worktrees import WorktreeSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChanges:
    """What a session has changed, and the repository in which to look at it.

    Attributes:
        repository: The repository that has both ends of ``range``.
        range: The two states of the code to compare.
        note: What the user should know about the comparison; empty if nothing.
    """

    repository: Repository
    range: ChangeRange
    note: str = ""


def result_base(repository: Repository, state: SessionState, head: str = "HEAD") -> str | None:
    """Return the id of the commit after which all changes are the session's own.

    That is the commit from which the session began or, if its branch has taken in later commits
    of the base branch, the last of these. None if the session began without a commit.

    Args:
        repository: The repository at the session's work tree; if ``head`` is not ``HEAD``, at any
            work tree of the project.
        state: The state of the session.
        head: The commit at which the session's work ends.
    """
    began = state.options.base
    if began is None or not state.worktree or state.base is None or not state.base.branch:
        return began
    return repository.fork(_base(state), since=began, head=head)


def held_by_base(repository: Repository, state: SessionState, base: str | None) -> str:
    """Return the sentence that the base branch has all commits of the session's branch; else empty.

    It does not say whose commits they are, because merging the base into the branch and merging
    the branch into the base can end in the same history. ``base`` is the result of `result_base`
    for HEAD.
    """
    if not state.worktree or state.base is None:
        return ""
    head = repository.head().commit
    if head is None or head == state.options.base or head != base:
        return ""
    return f"{state.base.branch} has all commits of {state.branch} already"


def _base(state: SessionState) -> str:
    """Return the base as it was before the result was merged into it; else as it is now."""
    merge = state.delivery.steps.get(MERGE) if state.delivery is not None else None
    old = merge.record.get("old") if merge is not None and merge.status == DONE else None
    return old or f"refs/heads/{state.base.branch if state.base is not None else ''}"


def changes_of(
    world: World, state: SessionState, home: Path, *, since: str | None = None
) -> SessionChanges | None:
    """Return what the session at ``home`` has changed; None if it began without a commit.

    Args:
        world: The outside world.
        state: The state of the session.
        home: The session's directory.
        since: A work-tree checkpoint (its number, or the phase at whose end it was taken): return
            only what changed since it. None returns all changes.

    Raises:
        NotFoundError: There is no such checkpoint.
    """
    began = None if since is None else named_checkpoint(state.tree_checkpoints, since)
    base = began.commit if began is not None else state.options.base
    if base is None:
        return None
    whole = ChangeRange(
        since=base, home=home.resolve(), leave_out=began.missing if began is not None else ()
    )
    changes = _until_now(world, state, home, whole)
    return changes if began is not None else _own(changes, state)


def _until_now(world: World, state: SessionState, home: Path, whole: ChangeRange) -> SessionChanges:
    if state.phase == Phase.DONE:
        return _build_delivered(world, state, whole)
    spec = worktree_of(world, state, home)
    if spec is not None and not world.git.worktrees.is_made(spec):
        why = missing_worktree(world, spec, home).message
        return _without_worktree(world, spec, whole, f"{why}: this is")
    dirty = (*whole.leave_out, *state.options.dirty)
    return SessionChanges(
        repository=with_workplace(world, state).repository, range=replace(whole, leave_out=dirty)
    )


def _own(found: SessionChanges, state: SessionState) -> SessionChanges:
    """Return the changes without those that the session's branch took in from the base branch."""
    until, began = found.range.until, found.range.since
    base = result_base(found.repository, state, _head(state, until)) or began
    if state.phase == Phase.DONE and base == until:
        base = began  # the base branch already contains the merged result
    note = found.note
    if until is None and base != began:
        note = note or held_by_base(found.repository, state, base)
    return replace(found, range=replace(found.range, since=base), note=note)


def _head(state: SessionState, until: str | None) -> str:
    """Return the commit whose history contains the changes up to ``until``."""
    if until is None:
        return "HEAD"
    saved = last_checkpoint(state) if state.phase != Phase.DONE else None
    return saved.head if saved is not None and saved.head else until


def _build_delivered(world: World, state: SessionState, whole: ChangeRange) -> SessionChanges:
    commit_id = state.commit.commit if state.commit is not None else None
    return SessionChanges(
        repository=world.repository,
        range=replace(whole, until=commit_id or state.options.base or whole.since),
        note="" if commit_id else "nothing was committed",
    )


def _without_worktree(
    world: World, spec: WorktreeSpec, whole: ChangeRange, gone: str
) -> SessionChanges:
    saved = spec.checkpoint
    if saved is None:
        until = f"refs/heads/{spec.branch}" if spec.branch else spec.commit
        note = f"{gone} what {spec.label} has"
    else:
        note = f"{gone} its work-tree checkpoint {checkpoint_words(saved)} ({saved.at})"
        until = saved.commit
    return SessionChanges(repository=world.repository, range=replace(whole, until=until), note=note)
