"""The second half of a rewind: its effects, which a resume repeats after an interruption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.core.codec.records import from_fields, to_fields
from agentmux.core.decisions.tree_checkpoints import REWIND, REWOUND
from agentmux.core.journal.events import ArtifactsArchived, CheckpointTaken, Rewound
from agentmux.core.pipeline.registry import working_phase
from agentmux.errors import DataError

if TYPE_CHECKING:
    from agentmux.app.session.writer import Session
    from agentmux.app.world import World
    from agentmux.core.journal.state import Rewind, SessionState, TreeCheckpoint
    from agentmux.ports.git.checkpoints import TreeCheckpoints

_LIMIT_S: Final = 300.0


def rewound_fact(begun: Rewind) -> Rewound:
    """Return the fact that ends the rewind ``begun``."""
    values = {key: value for key, value in to_fields(begun).items() if key != "before"}
    return from_fields(Rewound, values, where="the rewind")


def checkpoint_of(state: SessionState, number: int) -> TreeCheckpoint:
    """Return the work-tree checkpoint with this number.

    Raises:
        DataError: There is none.
    """
    for each in state.tree_checkpoints:
        if each.number == number:
            return each
    raise DataError(f"the journal has no work-tree checkpoint {number}")


def save_tree(
    session: Session,
    store: TreeCheckpoints,
    because: str,
    *,
    limit_s: float = _LIMIT_S,
    replaced_by: str | None = None,
) -> int:
    """Save the work tree as a checkpoint, record that, and return the checkpoint's number.

    Args:
        session: The session.
        store: Saves the work tree.
        because: Why the checkpoint is taken: ``stop``, ``export``, ``rewind`` (before a rewind) or
            ``rewound`` (after it).
        limit_s: How long saving may take, in seconds.
        replaced_by: The commit of the checkpoint that is about to be written over the work tree:
            files that it would replace are saved even if git ignores them. None if none is.

    Raises:
        GitError: Git refuses.
        MissingError: Git is not installed, or takes too long.
        DataError: The session does not work in a git repository.
    """
    state = session.state
    phase = working_phase(state)
    saved = store.take(f"agentmux: {phase} ({because})", limit_s=limit_s, replaced_by=replaced_by)
    if saved is None:
        raise DataError("the session does not work in a git repository")
    fact = CheckpointTaken(
        number=len(state.tree_checkpoints) + 1,
        because=because,
        phase=phase,
        commit=saved.commit,
        cycle=state.cycle,
        iteration=state.iteration,
        subplans=state.completed_subplans,
        head=saved.head,
        branch=saved.branch,
        missing=saved.missing,
    )
    session.record(fact)
    return fact.number


def finish_rewind(world: World, session: Session, *, is_new: bool = False) -> tuple[str, ...]:
    """Take the work tree to the checkpoint of the rewind that has begun, then record that.

    Safe to repeat. Does nothing if no rewind has begun. At the end, artifacts that no longer count
    are archived.

    Args:
        world: The world of the session's worktree (`own_worktree.with_workplace`).
        session: The session.
        is_new: Whether the rewind began just now. If instead it was interrupted, the work tree is
            saved once more first, because the user may have changed files meanwhile.

    Returns:
        The paths of the files that were left unchanged. First come those that could not be saved
        in this checkpoint, or in one that was taken of the files before the rewind; then those that
        could not be written.

    Raises:
        GitError: Git refuses, for example because a checkpoint is incomplete.
    """
    begun = session.state.rewind
    if begun is None:
        return ()
    store = world.git.checkpoints(
        world.tree, session.files.path.resolve(), session.state.session_id
    )
    to = checkpoint_of(session.state, begun.number)
    before = checkpoint_of(session.state, begun.before)
    missing = {*to.missing, *before.missing}
    if not is_new:
        now = save_tree(session, store, REWIND, replaced_by=to.commit)
        missing |= set(checkpoint_of(session.state, now).missing)
    leave = tuple(sorted(missing))
    failed = store.write_files(before.commit, to.commit, leave=leave)
    save_tree(session, store, REWOUND)
    session.record(rewound_fact(begun))
    archive_pending(session)
    return (*leave, *failed)


def archive_pending(session: Session) -> None:
    """Move the artifacts that no longer count to the archive, and record that.

    An orchestrator does the same if this was not done. Does nothing if no artifacts are pending.
    """
    pending = session.state.pending_archive
    for each in pending:
        session.files.archive(each)
    if pending:
        session.record(ArtifactsArchived(moved=len(pending)))
