"""The step `merge`: merge the result into the branch from which the session began."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from agentmux.app.delivery.steps.work import OvertakenError, Record, StepError, StepWork
from agentmux.app.session.workplace.checkout import find_tree_taken_error, merge_note, undecided_in
from agentmux.core.decisions.workplace import in_the_way_of
from agentmux.core.documents.trailer import TRAILER
from agentmux.core.names.status_labels import brought_back_label
from agentmux.core.names.statuses import MERGE
from agentmux.core.pipeline.delivery import approve_again
from agentmux.errors import AgentmuxError, BlockedError, MissingError
from agentmux.ports.git.merging import (
    BaseMovedError,
    CheckoutBusyError,
    CheckoutDirtyError,
    MergeConflictError,
    MergePlan,
)
from agentmux.ports.git.repository import GitError, IndexBusyError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.journal.state import SessionState

_LOCK_WAIT_S: Final = 1.0


def merge_base(state: SessionState) -> str:
    """Return the name of the target branch, into which a merge of the result would go.

    It is the branch on which the session began, not the common ancestor that git calls merge base.

    Raises:
        GitError: The session began on no branch, or works in the checkout, where nothing is merged.
    """
    if state.worktree and state.base is not None and state.base.branch:
        return state.base.branch
    name = PurePath(state.feature_dir).name
    if state.worktree:
        raise GitError(
            "the session began on no branch, so that there is none to merge into",
            hints=(f"keep the result on its branch: agentmux approve {name} --keep",),
        )
    raise GitError(
        "the session works in the checkout: its result is committed there, and nothing is to be"
        " merged",
        hints=(f"approve it as it is: agentmux approve {name} --keep",),
    )


def require_base(world: World, state: SessionState) -> str:
    """Return the `merge_base`, which exists.

    Raises:
        GitError: Somebody has deleted or renamed it since the session began, or there is none.
    """
    base = merge_base(state)
    if world.repositories.is_branch_gone(world.project, base):
        began = (state.base.commit if state.base is not None else "")[:12]
        name = shlex.quote(PurePath(state.feature_dir).name)
        again = f"make it again where the session began: git branch {shlex.quote(base)} {began}"
        ways = (again, approve_again(state, MERGE))
        is_free = in_the_way_of(base, world.git.worktrees.root_facts(None).branches) is None
        raise GitError(
            f"branch `{base}`, on which the session began, does not exist any more",
            hints=(
                *(ways if is_free else ()),
                f"if it has another name now, keep the result: agentmux approve {name} --keep",
            ),
        )
    return base


def brought_back(world: World, state: SessionState) -> tuple[str, ...]:
    """Return the commits that a merge would bring back to the base branch, oldest first.

    Each is given as one text with its abbreviated hash and its subject. The base branch had them
    when the session began, and somebody has removed them since, so they are not the session's work.
    """
    base, began = state.base, state.options.base
    if not state.worktree or state.continued or began is None or base is None or not base.branch:
        return ()
    return world.repository.list_dropped_commits(began, base.branch)


def require_agreed(
    state: SessionState, back: Collection[str], agreed: Collection[str] = ()
) -> None:
    """Check that a merge brings back no commits other than those the user has agreed to.

    Args:
        state: The state of the session.
        back: The commits that a merge would bring back (`brought_back`).
        agreed: The commits that the user has agreed to bring back.

    Raises:
        BlockedError: It would bring back others; the error's reason is ``base_rewritten``.
    """
    others = [each for each in back if not any(_is_same(each, other) for other in agreed)]
    if others:
        name = shlex.quote(PurePath(state.feature_dir).name)
        raise BlockedError(
            brought_back_label(others, merge_base(state)),
            reason="base_rewritten",
            hints=(
                f"keep the result on its branch: agentmux approve {name} --keep",
                f"or bring them back: agentmux approve {name} --merge --bring-back",
            ),
        )


def _is_same(one: str, other: str) -> bool:
    """Return whether two lines that begin with short hashes name the same commit."""
    hashes = one.partition(" ")[0], other.partition(" ")[0]
    return max(hashes, key=len).startswith(min(hashes, key=len))


class MergeStep:
    """Merges the result into the branch from which the session began.

    If that branch is checked out somewhere, the checkout is fast-forwarded; else only the branch is
    moved.
    """

    def prepare(self, work: StepWork) -> Record:
        """Compute the merge of ``work``, and move no branch; return ``base``, ``old`` and ``new``.

        ``base`` is the branch to merge into; ``old`` and ``new`` are the ids of its last commit
        before and after the merge.

        Raises:
            StepError: There are conflicts; the error's record has ``base``, and ``conflicts`` as
                text.
            AgentmuxError: The merge cannot be made, or would bring back commits without consent.
        """
        state, base = work.state, require_base(work.world, work.state)
        require_agreed(state, brought_back(work.world, state), state.approved_back)
        merging = work.world.git.merging(work.environ)
        try:
            plan = merging.plan(
                base,
                work.result,
                branch=state.branch or "",
                trailer=(TRAILER, state.approval or ""),
            )
        except MergeConflictError as error:
            raise _conflict(error, work) from error
        except CheckoutBusyError as error:
            raise _again(error, state) from error
        return {"base": plan.base, "old": plan.old, "new": plan.new}

    def perform(self, work: StepWork, record: Record) -> Record:
        """Move the base branch to the commit ``new`` of ``record``; return an empty mapping.

        ``record`` is what `prepare` returned, and is only read. If the branch contains that commit
        already, nothing is changed.

        Raises:
            OvertakenError: The base branch has moved since `prepare`.
            AgentmuxError: The checkout of the base branch prevents it.
        """
        plan = MergePlan(base=record["base"], old=record["old"], new=record["new"])
        merging = work.world.git.merging(work.environ)
        if merging.is_merged(plan):
            return {}
        top = merging.checkout_of(plan.base)
        try:
            if top is None:
                merging.move(plan)
            else:
                merging.fast_forward(plan, top, keep=_held(work.world, top, work.home))
        except BaseMovedError as error:
            raise OvertakenError(error.message) from error
        except (CheckoutBusyError, CheckoutDirtyError, IndexBusyError) as error:
            raise _again(error, work.state) from error
        return {}

    def describe_result(self, record: Record) -> str:
        """Return a phrase that says into which branch the result was merged."""
        return f"merged into {record['base']} ({record['new'][:12]})"


def merge_obstacle(world: World, state: SessionState, home: Path) -> AgentmuxError | None:
    """Return why the work tree, once committed, could not be merged now; None if it could be.

    Changes nothing. The hints say what to do before an approval. ``home`` is the session's
    directory.

    Raises:
        GitError: The session began on no branch, or works in the checkout, where nothing is merged.
        MissingError: Git or a tmux server does not answer, so nobody can tell.
        OSError: There is no disk space for what git computes.
    """
    base, merging = merge_base(state), world.git.merging(world.environment)
    try:
        # First, because what is changed there may be the work of that session.
        top = merging.checkout_of(base)
        taken = _find_merge_obstacle(world, top, home) if top is not None else None
        if taken is None:
            tree, dirty = Path(state.worktree or ""), state.options.dirty
            merging.check_mergeable(base, tree, home, state.session_id, leave_out=dirty)
    except MergeConflictError as error:
        request = shlex.quote(f"Merge {base} into this branch, and resolve the conflicts.")
        again = f"agentmux request-changes --from fixing --session {home.name} {request}"
        return GitError(error.message, hints=(f"have a coder resolve it: {again}",))
    except (CheckoutBusyError, CheckoutDirtyError, IndexBusyError) as error:
        return _again(error, state)
    except MissingError:
        raise
    except AgentmuxError as error:
        return error
    return taken


def _again(error: GitError, state: SessionState) -> GitError:
    """Return the error about the checkout of the base branch, with the hint to approve again."""
    if isinstance(error, IndexBusyError):
        return IndexBusyError(error.lock, then=approve_again(state, MERGE))
    return GitError(error.message, hints=(*error.hints, approve_again(state, MERGE)))


def _conflict(error: MergeConflictError, work: StepWork) -> StepError:
    """Return the error for a merge conflict, with the command that has a coder resolve it."""
    again = f"agentmux request-changes --from fixing --session {work.home.name}"
    hint = f"have a coder resolve it: {again}"
    record = {"base": merge_base(work.state), "conflicts": error.said}
    return StepError(error.message, record=record, hints=(hint,))


@contextmanager
def _held(world: World, top: Path, home: Path) -> Iterator[None]:
    """Return a context manager that keeps sessions from working at ``top``.

    Raises:
        BlockedError: A session works there, or still has to commit there.
    """
    taken = _find_merge_obstacle(world, top, home)
    if taken is not None:
        raise taken
    lock = world.locks.tree(top)
    lock.acquire(_LOCK_WAIT_S, merge_note(home))
    try:
        yield
    finally:
        lock.release()


def _find_merge_obstacle(world: World, top: Path, home: Path) -> AgentmuxError | None:
    """Return why no merge may change the files at ``top``: a session needs them; else None."""
    other = undecided_in(world, top)
    if other is None:
        return find_tree_taken_error(world, top)
    return BlockedError(
        f"session {other.name} began in {top} and is not done: a merge would move the HEAD that"
        " its result needs",
        reason="checkout_taken",
        hints=(
            f"decide on that one first: agentmux approve {other.name}",
            f"or keep this result on its branch: agentmux approve {home.name} --keep",
        ),
    )
