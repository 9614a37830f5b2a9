"""How events change which seats are parked at a usage limit; used by `apply`."""

from __future__ import annotations

from typing import Final

from agentmux.core.codec.frozen import replace
from agentmux.core.journal.events import AgentParked, AgentWoken, Event, LimitsLifted
from agentmux.core.journal.state import Parked, SessionState
from agentmux.core.names.statuses import LAUNCHED
from agentmux.core.pipeline.registry import working_phase
from agentmux.core.pipeline.work import agents_work

BUSY: Final = "busy"
ANSWERED: Final = "answered"
TOLD: Final = "told"
LAUNCH: Final = "launch"
"""Values of `AgentWoken.how`."""

_STOPPED: Final = "stopped"
"""How the cause of an interruption begins if the user stopped the session."""


def park(state: SessionState, event: Event, fact: AgentParked) -> SessionState:
    """Return the state in which the event's seat is parked: its agent waits for a usage limit.

    The seat no longer counts as stalled. An event of another launch than the seat's current one
    changes nothing.
    """
    seat = state.seats.get(event.seat)
    if seat is None or seat.launch != event.launch:
        return state
    parked = Parked(
        launch=event.launch, agent=fact.agent, home=fact.home, until=fact.until, said=fact.said
    )
    going = {**state.seats, event.seat: replace(seat, stalled=False)}
    return replace(state, seats=going, parked={**state.parked, event.seat: parked})


def wake(state: SessionState, event: Event, fact: AgentWoken) -> SessionState:
    """Return the state that records that the event's seat has been woken; wakes nobody itself.

    If the agent was found at work (``fact.how`` is ``busy`` or ``answered``), its seat is no longer
    parked. Any other seat stays in ``parked`` with its time of waking, and may be reminded again;
    it becomes ``settled`` when a later event says that it is ``busy``. An event about a seat that
    is not parked, or about another launch than the parked one, changes nothing.
    """
    parked = state.parked.get(event.seat)
    if parked is None or parked.launch != event.launch:
        return state
    if parked.woken:
        settled = replace(parked, settled=parked.settled or fact.how == BUSY)
        return _with(state, event.seat, settled)
    if fact.how in {BUSY, ANSWERED}:
        return unpark(state, event.seat)
    woken = _with(state, event.seat, replace(parked, woken=event.at))
    seat = state.seats.get(event.seat)
    if seat is None:
        return woken
    return replace(woken, seats={**state.seats, event.seat: replace(seat, nudged=False)})


def lift(state: SessionState, event: Event, _fact: LimitsLifted) -> SessionState:
    """Return the state in which every seat that waits for a usage limit is to be woken now.

    Its `Parked.until`, the time to wake it, becomes the time of the event.
    Seats that were woken already stay as they are.
    """
    now = {
        name: parked if parked.woken else replace(parked, until=event.at)
        for name, parked in state.parked.items()
    }
    return replace(state, parked=now) if now != state.parked else state


def note_launch(state: SessionState, event: Event) -> SessionState:
    """Return the state after a new launch of the event's seat, as far as it concerns ``parked``.

    ``parked`` has the seats that wait for the end of a usage limit, and those woken after it. If
    the event's seat was woken, its entry is now about the new launch. If it still waited, the user
    has asked for the launch, and its entry is removed. A seat without an entry changes nothing.
    """
    parked = state.parked.get(event.seat)
    if parked is None:
        return state
    if not parked.woken:
        return unpark(state, event.seat)
    return _with(state, event.seat, replace(parked, launch=event.launch))


def unpark_on_signal(state: SessionState, event: Event) -> SessionState:
    """Return the state in which the seat of an accepted signal waits for no usage limit any more.

    The signal proves that its agent can work, so the usage limit is over.
    """
    return unpark(state, event.seat)


def unpark_on_stop(state: SessionState, cause: str) -> SessionState:
    """Return the state without parked seats if the user stopped the session.

    A parked seat waits for the end of a usage limit, or was woken after that.

    Args:
        state: The state before.
        cause: Why the session was interrupted. It begins with ``stopped`` if the user stopped it;
            any other interruption returns ``state`` itself.
    """
    if not state.parked or not cause.startswith(_STOPPED):
        return state
    return replace(state, parked={})


def prune_parked(state: SessionState) -> SessionState:
    """Return the state without parked seats that the session no longer needs.

    A parked seat waits for the end of a usage limit, or was woken after that.
    The session needs a seat whose agent is launched. It also needs a seat whose work is still to be
    done in the current phase, or in a failed session in the phase that failed.
    """
    if not state.parked:
        return state
    needed = {work.seat for work in agents_work(replace(state, phase=working_phase(state)))}
    needed |= {name for name, seat in state.seats.items() if seat.status == LAUNCHED}
    left = {name: parked for name, parked in state.parked.items() if name in needed}
    return replace(state, parked=left) if left != state.parked else state


def unpark(state: SessionState, name: str) -> SessionState:
    """Return the state in which the seat called ``name`` waits for no usage limit any more.

    The seat is removed from ``parked``, which also has the seats that were woken after a limit. If
    it is not there, ``state`` itself is returned.
    """
    if name not in state.parked:
        return state
    left = {key: parked for key, parked in state.parked.items() if key != name}
    return replace(state, parked=left)


def _with(state: SessionState, name: str, parked: Parked) -> SessionState:
    return replace(state, parked={**state.parked, name: parked})
