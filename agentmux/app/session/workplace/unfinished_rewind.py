"""The second half of a rewind: its effects, which a resume repeats if it was interrupted."""

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
    """Return the fact that ends a rewind."""
    values = {key: value for key, value in to_fields(begun).items() if key != "before"}
    return from_fields(Rewound, values, where="the rewind")


def checkpoint_of(state: SessionState, number: int) -> TreeCheckpoint:
    """Return the checkpoint with this number.

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
    """Save the work tree and record that; return the checkpoint's number.

    It may take ``limit_s`` seconds. ``replaced_by`` is as for `TreeCheckpoints.take`.

    Raises:
        GitError: Git refuses.
        MissingError: Git is not installed, or takes too long.
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
    """Write the files of the checkpoint, then record that; it may be called any number of times.

    Args:
        world: That of the session's worktree (`own_worktree.with_workplace`).
        session: The session.
        is_new: Whether the rewind was begun just now, and not interrupted. After an interruption
            the files are saved once more: the user may have changed them meanwhile.

    Returns:
        The files that stay as they are, as one of the checkpoints does not have them, or as they
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
    """Move the artifacts that no longer count; the next orchestrator would do it, too."""
    pending = session.state.pending_archive
    for each in pending:
        session.files.archive(each)
    if pending:
        session.record(ArtifactsArchived(moved=len(pending)))
