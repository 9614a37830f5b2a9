"""Rewinds the files of a stopped session to a work-tree checkpoint.

First the current files are saved, and the intent is recorded; then the files are written. If that
is interrupted, the next rewind or resume repeats it.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from agentmux.app.session.search.moved import require_here
from agentmux.app.session.workplace.own_worktree import (
    missing_worktree,
    with_workplace,
    worktree_of,
)
from agentmux.app.session.workplace.rewound_edits import (
    edits_words,
    list_rewound_edits,
    ways_to_keep_edits,
)
from agentmux.app.session.workplace.unfinished_rewind import (
    checkpoint_of,
    finish_rewind,
    save_tree,
)
from agentmux.app.session.writer import Session, stamp
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.decisions.tree_checkpoints import (
    REWIND,
    REWOUND,
    delivered_since,
    kept_subplans,
    named_checkpoint,
    rewound_phase,
    stale_seats,
)
from agentmux.core.journal.events import Event, RewindStarted
from agentmux.core.names.phase import Phase
from agentmux.errors import BlockedError
from agentmux.ports.processes import LOCK_WAIT_S

if TYPE_CHECKING:
    from agentmux.app.session.search.lookup import SessionEntry
    from agentmux.app.world import Site, World
    from agentmux.core.journal.state import SessionState, TreeCheckpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class RewindPlan:
    """What a rewind would do.

    Attributes:
        to: The checkpoint.
        files: The files that would be restored, relative to the worktree's top.
        missing: The files, likewise, that would stay as they are, because the checkpoint could not
            save them.
        phase: The phase in which work would go on.
        subplans: The numbers of the sub-plans that would stay handed in.
        stale: The seats that would start a new conversation.
    """

    to: TreeCheckpoint
    files: tuple[str, ...]
    missing: tuple[str, ...]
    phase: str
    subplans: tuple[int, ...]
    stale: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RewoundSession:
    """The result of a rewind.

    Attributes:
        before: The number of the checkpoint that has the files from before the rewind; after an
            interrupted rewind, from before that one.
        since: The number of the checkpoint that has the files as the interrupted rewind, and what
            changed after it, left them; None if no rewind was interrupted.
        earlier: The numbers of the checkpoints, oldest first, that have the files from before the
            other rewinds since the session last worked; empty if no rewind was interrupted.
        left: The files, relative to the worktree's top, that were left unchanged, because a
            checkpoint could not save them or because they could not be written.
        unsaved: Those of them that could not be saved just before the rewind, for example because
            there is too little space.
    """

    before: int
    left: tuple[str, ...]
    unsaved: frozenset[str]
    since: int | None = None
    earlier: tuple[int, ...] = ()


def tree_checkpoints(site: Site, entry: SessionEntry) -> tuple[TreeCheckpoint, ...]:
    """Return the work-tree checkpoints of the session, oldest first.

    Raises:
        DataError: The session cannot be read.
    """
    return site.files(entry.path).load().current.tree_checkpoints


def plan_rewind(world: World, entry: SessionEntry, name: str) -> RewindPlan:
    """Return what a rewind to the checkpoint ``name`` would do; changes nothing.

    ``name`` is the number of a checkpoint, or the name of a phase, which means the last checkpoint
    at the end of that phase.

    Raises:
        BlockedError: The session works in the checkout, was delivered, or its worktree is missing.
        NotFoundError: There is no such checkpoint.
        GitError: Git refuses, for example because the checkpoint is incomplete.
    """
    state = world.files(entry.path).load().current
    require_rewindable(world, entry, state)
    to = named_checkpoint(state.tree_checkpoints, name)
    events = _events(world, entry, to)
    inside = with_workplace(world, state)
    store = inside.git.checkpoints(inside.tree, entry.path.resolve(), state.session_id)
    phase = rewound_phase(state, to)
    return RewindPlan(
        to=to,
        files=tuple(path for path in store.changed_since(to.commit) if path not in to.missing),
        missing=to.missing,
        phase=phase,
        subplans=kept_subplans(state, to, phase),
        stale=stale_seats(events, to.number),
    )


def _events(world: World, entry: SessionEntry, to: TreeCheckpoint) -> tuple[Event, ...]:
    """Return the events of the journal.

    Raises:
        BlockedError: A result was committed after the checkpoint.
    """
    events = tuple(event for event, _ in world.files(entry.path).tail(0))
    if delivered_since(events, to.number):
        raise BlockedError(
            f"a result was committed after work-tree checkpoint {to.number}: it stays",
            reason="delivered",
            hints=(f'ask for changes: agentmux request-changes "…" --session {entry.name}',),
        )
    return events


def require_rewindable(world: World, entry: SessionEntry, state: SessionState) -> None:
    """Check that the files of the session may be restored from a checkpoint.

    Raises:
        BlockedError: The session works in the checkout, its result was approved, or its worktree is
            missing.
    """
    require_here(state, entry.name)
    spec = worktree_of(world, state, entry.path)
    if spec is None:
        raise BlockedError(
            f"session {entry.name} works in your checkout, whose files only you may take back",
            reason="no_worktree",
            hints=(f"see what it changed: agentmux diff {entry.name}",),
        )
    if state.phase == Phase.DONE or state.approval is not None:
        edits = list_rewound_edits(world, state, entry.path)
        keep = ways_to_keep_edits(world, state, entry.path, edits)
        lost = "".join(f"; {edits_words(each)}" for each in edits)
        raise BlockedError(
            f"the result of session {entry.name} was approved: there is nothing to rewind{lost}",
            reason="delivered",
            hints=(f"see it: agentmux diff {entry.name}", *keep),
        )
    if not world.git.worktrees.is_made(spec):
        raise missing_worktree(world, spec, entry.path)


def rewind(world: World, entry: SessionEntry, name: str) -> RewoundSession:
    """Take the files of a stopped session back to the checkpoint ``name``, and record that.

    Before that, the present files are saved as a checkpoint.

    Args:
        world: The project.
        entry: The session.
        name: The number of a checkpoint, such as ``3``, or the name of a phase, which means the
            last checkpoint at the end of that phase.

    Raises:
        BlockedError: By the error's reason: the session works in the checkout (``no_worktree``);
            its result was approved, or one was committed after the checkpoint (``delivered``); it
            was moved elsewhere (``moved``); it is in use (``locked``), or its worktree is
            (``checkout_taken``); or its worktree is gone (``worktree_gone``) or not linked to the
            project (``worktree_unlinked``).
        NotFoundError: There is no such checkpoint.
        GitError: Git refuses.
    """
    lock, holder = (
        world.locks.session(entry.path),
        {"command": "rewind", "since": stamp(world.now())},
    )
    lock.acquire(LOCK_WAIT_S, holder)
    try:
        session = Session(world.files(entry.path), now=world.now, new_id=world.new_id)
        session.take_over()
        require_rewindable(world, entry, session.state)
        inside = with_workplace(world, session.state)
        tree = inside.locks.tree(inside.tree)
        tree.acquire(LOCK_WAIT_S, holder)
        try:
            interrupted, saved = session.state.rewind, session.state.tree_checkpoints
            finish_rewind(inside, session)
            done = _rewind_session(inside, entry, session, name)
            if interrupted is None:
                return done
            rewinds = takewhile(lambda each: each.because in {REWIND, REWOUND}, reversed(saved))
            before = {each.number for each in rewinds if each.because == REWIND}
            earlier = tuple(sorted(before - {interrupted.before}))
            return replace(done, before=interrupted.before, since=len(saved) + 1, earlier=earlier)
        finally:
            tree.release()
    finally:
        lock.release()


def _rewind_session(
    world: World, entry: SessionEntry, session: Session, name: str
) -> RewoundSession:
    state = session.state
    to = named_checkpoint(state.tree_checkpoints, name)
    events = _events(world, entry, to)
    store = world.git.checkpoints(world.tree, entry.path.resolve(), state.session_id)
    store.differing(to.commit, to.commit)  # fails if the checkpoint is gone
    before = save_tree(session, store, REWIND, replaced_by=to.commit)
    phase = rewound_phase(state, to)
    session.record(
        RewindStarted(
            number=to.number,
            before=before,
            phase=phase,
            subplans=kept_subplans(state, to, phase),
            stale=stale_seats(events, to.number),
        )
    )
    unsaved = frozenset(checkpoint_of(session.state, before).missing) - set(to.missing)
    left = finish_rewind(world, session, is_new=True)
    return RewoundSession(before=before, left=left, unsaved=unsaved)
