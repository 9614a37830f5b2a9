"""Shows a session's files in the user's own checkout for a trial, and ends the trial."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from agentmux.app.session.search.lookup import resolve
from agentmux.app.session.workplace.branch_mismatch import keep_as
from agentmux.app.session.workplace.checkout import require_free, trial_in_the_way, undecided_in
from agentmux.app.session.workplace.own_worktree import with_workplace, worktree_of
from agentmux.core.names.phase import Phase
from agentmux.core.names.words import git_commands
from agentmux.errors import BlockedError, NotFoundError, UsageError
from agentmux.ports.git.merging import CheckoutDirtyError
from agentmux.ports.git.repository import Head, finish_it
from agentmux.ports.git.trials import Trial

if TYPE_CHECKING:
    from agentmux.app.session.search.lookup import SessionEntry
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState

_OFF: Final = "agentmux try --off"
_DIRTY: Final = "checkout_dirty"


def begin_trial(world: World, entry: SessionEntry) -> Trial:
    """Check out the current files of a session in the project's checkout; return how to go back.

    HEAD is then detached at a commit with these files. The trial lasts until `end_trial`.

    Raises:
        UsageError: The session works in this checkout, or there is no checkout or no commit in it.
        BlockedError: A trial is on, a session is live in the checkout, or the checkout has changes.
        GitError: Git refuses.
    """
    state = world.files(entry.path).load().current
    if not state.worktree:
        raise UsageError(f"session {entry.name} works in your checkout: its files are there")
    if world.repository.top_level() is None:
        raise UsageError(
            f"{world.project} has no checkout, in which the files could be shown",
            hints=(f"see them where the session works: cd {shlex.quote(state.worktree)}",),
        )
    error = trial_in_the_way(world)
    if error is not None:
        raise error
    require_free(world)
    head = world.repository.head()
    _require_idle(head)
    _require_clean(world)
    if head.commit is None:
        raise UsageError("your checkout has no commit to come back to")
    trial = Trial(
        session=entry.name,
        commit=_commit_of(world, state, entry),
        branch=head.branch,
        head=head.commit,
    )
    with _explain_dirt():
        world.git.trials.begin(trial)
    return trial


@contextmanager
def _explain_dirt() -> Iterator[None]:
    try:
        yield
    except CheckoutDirtyError as error:
        raise BlockedError(error.message, reason=_DIRTY, hints=error.hints) from error


def _back(world: World, trial: Trial) -> str:
    """Return the commands that end a trial by hand, for cases in which `Trials.end` cannot."""
    if trial.branch is None or _why_not(world, trial.branch):
        return f"{git_commands.switch(trial.head, option='--detach')} && {_OFF}"
    return f"{git_commands.switch(trial.branch)} && {_OFF}"


def _why_not(world: World, branch: str) -> str:
    """Return why the branch that was checked out before cannot be checked out; empty if it can.

    HEAD must be on no branch.
    """
    if world.git.worktrees.base(f"refs/heads/{branch}") is None:
        return f"branch {branch}, which was checked out before, is gone"
    top = world.git.worktrees.checkout_of(branch)
    return f"branch {branch} is checked out in {top} now" if top is not None else ""


def _require_way_back(world: World, trial: Trial) -> None:
    why = _why_not(world, trial.branch) if trial.branch is not None else ""
    if why:
        renamed = f"{git_commands.switch('BRANCH')} && {_OFF}"
        raise BlockedError(
            why,
            reason="trial_branch",
            hints=(
                f"go to the commit that was checked out: {_back(world, trial)}",
                f"or to another branch: {renamed}",
            ),
        )


def _require_idle(head: Head) -> None:
    if head.in_progress:
        raise BlockedError(
            f"a {head.in_progress} is in progress in your checkout",
            reason=_DIRTY,
            hints=finish_it(head),
        )


def _require_clean(world: World, trial: Trial | None = None) -> None:
    """Check that the checkout has no changes, except by a killed checkout back from ``trial``."""
    dirty, why, is_all = world.repository.dirty(), git_commands.FOR_TRIAL, True
    if dirty and trial is None:
        _require_decided(world)
    elif trial is not None and trial.is_returning:  # and was killed: the rest is git's own
        returned, is_all = world.git.trials.list_returned(trial), False
        dirty = tuple(path for path in dirty if path not in returned)
    elif trial is not None:
        why = git_commands.IN_TRIAL
    if dirty:
        more = f" and {len(dirty) - 1} more" if len(dirty) > 1 else ""
        raise BlockedError(
            f"your checkout has changes: {dirty[0]}{more}",
            reason=_DIRTY,
            hints=world.repository.aside_hints(dirty, why, is_all=is_all),
        )


def _require_decided(world: World) -> None:
    """Check that what is changed in the checkout is not the work of a session that is not done."""
    top = world.repository.top_level()
    other = undecided_in(world, top) if top is not None else None
    if other is not None:
        raise BlockedError(
            f"session {other.name} works in your checkout and is not done: its files would be put"
            " aside",
            reason="checkout_taken",
            hints=(f"decide on that one first: agentmux approve {other.name}",),
        )


def _commit_of(world: World, state: SessionState, entry: SessionEntry) -> str:
    """Return a commit in the repository with the session's files as they are now.

    They are the files of its worktree; if that is missing, of its last checkpoint; if there is
    none, of its branch.
    """
    commit_id = state.commit.commit if state.commit is not None else None
    if state.phase == Phase.DONE and commit_id is not None:
        return commit_id
    spec, home = worktree_of(world, state, entry.path), entry.path.resolve()
    if spec is not None and world.git.worktrees.is_made(spec):
        inside = with_workplace(world, state)
        return inside.git.checkpoints(inside.tree, home, state.session_id).hand_over(None)
    store = world.git.checkpoints(world.project, home, state.session_id)
    if spec is not None and spec.checkpoint is not None:
        return store.hand_over(spec.checkpoint.commit)
    base = world.git.worktrees.base(f"refs/heads/{state.branch}")
    if base is None:
        raise NotFoundError(f"session {entry.name} has neither a worktree nor a branch")
    return base.commit


def end_trial(world: World) -> tuple[str, ...]:
    """Check out what was checked out before the trial; return lines that say what is there now.

    Raises:
        NotFoundError: The checkout shows no session.
        BlockedError: The checkout has changes, even hidden ones, or commits that are on no branch;
            or the earlier branch is gone.
        GitError: Git refuses.
    """
    trial = world.git.trials.current()
    if trial is None:
        raise NotFoundError(
            "your checkout shows no session", hints=("show one: agentmux try SESSION",)
        )
    head = world.repository.head()
    if head.commit == trial.commit and (head.branch is None or head.branch != trial.branch):
        _require_idle(head)
        _require_way_back(world, trial)
        _require_clean(world, trial)
    elif head.branch is None and world.repository.contains(trial.commit):
        _require_idle(head)
        kept = keep_as(world, head.commit)
        commit = (head.commit or "")[:12]
        keep = f"git branch {kept} {commit} && " if kept else ""
        raise BlockedError(
            f"you have committed on the files of session {trial.session}, on no branch",
            reason="trial_commits",
            hints=(f"keep the commits, and go back: {keep}{_back(world, trial)}",),
        )
    with _explain_dirt():
        world.git.trials.end(trial)
    where = world.repository.head().describe()
    if world.repository.contains(trial.commit):
        # For example a branch that the user made during the trial: only the user may leave it.
        history = f"its history has the files of {trial.session}, with commit {trial.commit[:12]}"
        over = f"the trial is over; your checkout is at {where}: {history}"
    else:
        over = f"your checkout is back at {where}, without the files of {trial.session}"
    return (
        over,
        *world.repository.stash_hints(git_commands.FOR_TRIAL),
        *_changed_meanwhile(world, trial),
    )


def _changed_meanwhile(world: World, trial: Trial) -> tuple[str, ...]:
    """Return hints for stashes of what the user changed during the trial.

    These are changes of the session's files: they fit where these are.
    """
    if world.repository.contains(trial.commit):
        return world.repository.stash_hints(git_commands.IN_TRIAL)
    place = None
    with suppress(NotFoundError):
        entry = resolve(world, trial.session)
        spec = worktree_of(world, world.files(entry.path).load().current, entry.path)
        place = spec.path if spec is not None and world.git.worktrees.is_made(spec) else None
    return world.repository.transfer_hints(trial.commit, place)
