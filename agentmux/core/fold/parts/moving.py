"""How events change the state when a session or its worktree is moved; used by `apply`."""

from __future__ import annotations

from pathlib import PurePath

from agentmux.core.codec.frozen import replace
from agentmux.core.journal.events import (
    Event,
    SessionArrived,
    SessionMoved,
    SessionReturned,
    WorktreeMoved,
)
from agentmux.core.journal.state import Arrived, Moved, SessionState, decode


def apply_move(state: SessionState, event: Event, fact: SessionMoved) -> SessionState:
    """Return the state with ``moved`` set: the session was exported, and continues elsewhere."""
    return replace(state, moved=Moved(to=fact.to, digest=fact.digest, at=event.at))


def apply_return(state: SessionState, _event: Event, _fact: SessionReturned) -> SessionState:
    """Return the state with ``moved`` set to None: an exported session continues here after all."""
    return replace(state, moved=None)


def apply_arrival(state: SessionState, event: Event, fact: SessionArrived) -> SessionState:
    """Return the state of a session that was imported here, as the event gives it.

    Args:
        state: The state so far; only its ``journal_id`` is kept.
        event: The event; only its time is read.
        fact: The fact of that event: the new state, and where the session comes from.

    Returns:
        The state in ``fact.state``, with this ``journal_id``. Its field ``arrived`` has the host,
        the uuid there and the time of the import; its field ``moved`` is None.

    Raises:
        FieldError: The state in the event is not valid.
    """
    given = decode(fact.state, where=f"`{fact.kind}` event")
    come = Arrived(host=fact.host, session=fact.session, at=event.at)
    return replace(given, journal_id=state.journal_id, moved=None, arrived=come)


def worktree_moved(state: SessionState, _event: Event, fact: WorktreeMoved) -> SessionState:
    """Return the state with the new path of the session's worktree.

    If the worktree in which check commands run on the base (the commit that the session began on)
    lies beside it, that path changes, too: it then lies beside the new path.
    """
    base, there = state.base_checks, PurePath(fact.path)
    if base is not None and base.path and state.worktree:
        beside = PurePath(base.path)
        if beside.parent == PurePath(state.worktree).parent:
            base = replace(base, path=str(there.with_name(beside.name)))
    return replace(state, worktree=fact.path, base_checks=base)
