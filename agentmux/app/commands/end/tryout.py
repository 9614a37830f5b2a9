"""Show a session's state in the user's own checkout, and take it away again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.app.session.workplace.checkout import require_free, trial_in_the_way
from agentmux.app.session.workplace.own_worktree import placed, worktree_of
from agentmux.core.names.phase import Phase
from agentmux.core.names.words import git_commands
from agentmux.errors import BlockedError, NotFoundError, UsageError
from agentmux.ports.git.repository import finish_it
from agentmux.ports.git.trials import Trial

if TYPE_CHECKING:
    from agentmux.app.session.search.lookup import SessionEntry
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState

_OFF = "agentmux try --off"


def begin_trial(world: World, entry: SessionEntry) -> Trial:
    """Check out the files of a session, as they are now, in the checkout of the project.

    Raises:
        UsageError: The session works in this checkout.
        BlockedError: A trial is on, a session is live in the checkout, or the checkout has changes.
        GitError: Git refuses.
    """
    state = world.files(entry.path).load().current
    if not state.worktree:
        raise UsageError(f"session {entry.name} works in your checkout: its files are there")
    error = trial_in_the_way(world)
    if error is not None:
        raise error
    require_free(world)
    _require_clean(world)
    head = world.repository.head()
    if head.commit is None:
        raise UsageError("your checkout has no commit to come back to")
    trial = Trial(
        session=entry.name,
        commit=_commit_of(world, state, entry),
        branch=head.branch,
        head=head.commit,
    )
    world.git.trials.begin(trial)
    return trial


def _back(trial: Trial) -> str:
    """Return the command that checks out what was checked out before a trial."""
    if trial.branch is not None:
        return git_commands.switch(trial.branch)
    return git_commands.switch(trial.head, option="--detach")


def _require_clean(world: World) -> None:
    head, dirty = world.repository.head(), world.repository.dirty()
    if head.in_progress:
        raise BlockedError(
            f"a {head.in_progress} is in progress in your checkout",
            reason="checkout_dirty",
            hints=(finish_it(head),),
        )
    if dirty:
        more = f" and {len(dirty) - 1} more" if len(dirty) > 1 else ""
        raise BlockedError(
            f"your checkout has changes: {dirty[0]}{more}",
            reason="checkout_dirty",
            hints=("commit them, or put them aside: git stash --include-untracked",),
        )


def _commit_of(world: World, state: SessionState, entry: SessionEntry) -> str:
    """Return a commit in the repository with the session's files as they are now.

    They are those in its worktree; without it, those of its last checkpoint, else of its branch.
    """
    made = state.commit.commit if state.commit is not None else None
    if state.phase == Phase.DONE and made is not None:
        return made
    spec, home = worktree_of(world, state, entry.path), entry.path.resolve()
    if spec is not None and world.git.worktrees.is_made(spec):
        inside = placed(world, state)
        return inside.git.checkpoints(inside.tree, home, state.session_id).hand_over(None)
    store = world.git.checkpoints(world.project, home, state.session_id)
    if spec is not None and spec.checkpoint is not None:
        return store.hand_over(spec.checkpoint.commit)
    base = world.git.worktrees.base(f"refs/heads/{state.branch}")
    if base is None:
        raise NotFoundError(f"session {entry.name} has neither a worktree nor a branch")
    return base.commit


def end_trial(world: World) -> str:
    """Go back to what was checked out before; return what is there now, in words.

    Raises:
        NotFoundError: The checkout shows no session.
        BlockedError: It has changes, or commits that are on no branch.
        GitError: Git refuses.
    """
    trial = world.git.trials.current()
    if trial is None:
        raise NotFoundError(
            "your checkout shows no session", hints=("show one: agentmux try SESSION",)
        )
    head = world.repository.head()
    if head.commit == trial.commit and head.branch is None:
        _require_clean(world)
    elif head.branch is None and world.repository.contains(trial.commit):
        raise BlockedError(
            f"you have committed on the files of session {trial.session}, on no branch",
            reason="trial_commits",
            hints=(
                f"keep the commits: git branch kept-{(head.commit or '')[:12]}",
                f"then go back: {_back(trial)} && {_OFF}",
            ),
        )
    world.git.trials.end(trial)
    where = world.repository.head().describe()
    if world.repository.contains(trial.commit):
        # Such as a branch that the user has made in the trial: it is theirs to leave it.
        history = f"its history has the files of {trial.session}, with commit {trial.commit[:12]}"
        return f"the trial is over; your checkout is at {where}: {history}"
    return f"your checkout is back at {where}, without the files of {trial.session}"
