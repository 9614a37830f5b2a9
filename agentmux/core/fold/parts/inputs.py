"""How events change the inputs that are to be typed into agents' panes; used by `apply`."""

from __future__ import annotations

from agentmux.core.codec.frozen import replace
from agentmux.core.journal.events import (
    Event,
    InputEnded,
    InputStarted,
    SeatAnswered,
    SeatTold,
)
from agentmux.core.journal.state import Input, SessionState


def add_input(state: SessionState, event: Event, fact: SeatTold | SeatAnswered) -> SessionState:
    """Return the state with the event's message or keys added to ``inputs``, as the last one.

    Sending them is left to the orchestrator.
    """
    new_input = Input(id=event.id, seat=event.seat, launch=event.launch)
    if isinstance(fact, SeatTold):
        new_input = replace(new_input, text=fact.text)
    else:
        new_input = replace(new_input, keys=fact.keys, screen=fact.screen)
    return replace(state, inputs=(*state.inputs, new_input))


def start_input(state: SessionState, _event: Event, fact: InputStarted) -> SessionState:
    """Return the state with the input ``fact.input`` marked as ``started``.

    From then on, a part of it may have been typed. An unknown id changes nothing.
    """
    noted = tuple(
        replace(each, started=True) if each.id == fact.input else each for each in state.inputs
    )
    return replace(state, inputs=noted)


def remove_input(state: SessionState, _event: Event, fact: InputEnded) -> SessionState:
    """Return the state without the input ``fact.input``, which was typed or could not be typed."""
    left = tuple(each for each in state.inputs if each.id != fact.input)
    return replace(state, inputs=left)
