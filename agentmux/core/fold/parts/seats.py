"""How an event changes its seat and the seat's resume record; used by several kinds of events."""

from __future__ import annotations

from agentmux.core.codec.frozen import replace
from agentmux.core.journal.events import Event
from agentmux.core.journal.state import AGENT_MODES, Seat, SessionState


def seat_of(state: SessionState, event: Event) -> Seat | None:
    """Return the event's seat; None if the seat is gone or has another launch than the event."""
    seat = state.seats.get(event.seat)
    return seat if seat is not None and seat.launch == event.launch else None


def with_seat(state: SessionState, name: str, seat: Seat) -> SessionState:
    """Return the state in which the seat called ``name`` is ``seat``, added or replaced."""
    return replace(state, seats={**state.seats, name: seat})


def with_reached(state: SessionState, event: Event, _fact: object = None) -> SessionState:
    """Return the state in which one of our prompts has reached the seat's conversation.

    The seat is marked as ``reached``, and its resume record counts one more prompt. A seat without
    an agent has no conversation, so only the mark is set. An event of an earlier launch changes
    nothing; nor does one for a seat that was reached before, unless the count was since reset to 0.

    ``_fact`` is ignored.
    """
    seat = seat_of(state, event)
    record = dict(state.agents.get(event.seat, {}))
    # The agent may be in another conversation than the one that our prompt had reached.
    if seat is None or (seat.reached and record.get("reached") != 0):
        return state
    if seat.mode not in AGENT_MODES:  # the user plays the role: there is no conversation
        return with_seat(state, event.seat, replace(seat, reached=True))
    before = record.get("reached", 0)
    record["reached"] = (before if isinstance(before, int) else 0) + 1
    return replace(
        with_seat(state, event.seat, replace(seat, reached=True)),
        agents={**state.agents, event.seat: record},
    )


def with_conversation(state: SessionState, event: Event, conversation: str) -> SessionState:
    """Return the state with ``conversation`` as the id in the resume record of the event's seat.

    If ``conversation`` is empty, the id is removed, and the record says that it is unsure. If the
    id replaces another one or an unsure one, and prompts had reached that conversation, their count
    is reset to 0 and the record of the conversation before it is dropped. An event of an earlier
    launch of the seat changes nothing.
    """
    record = state.agents.get(event.seat)
    if record is None or seat_of(state, event) is None:
        return state
    changed = {**record, "session_ref": conversation or None, "unsure": not conversation}
    left = record.get("unsure") or record.get("session_ref") not in {None, "", conversation}
    if conversation and left and record.get("reached"):
        # The user has left the recorded conversation, so an earlier one must not come back either.
        changed |= {"reached": 0, "previous": None}
    return replace(state, agents={**state.agents, event.seat: changed})
