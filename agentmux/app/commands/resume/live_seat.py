"""Finds seats of a live session, and makes the events by which a user gives them commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentmux.app.session.writer import stamp
from agentmux.core.fold.acceptance import takes_decision
from agentmux.core.journal.events import CheckSkipped, Event, SeatAnswered, SeatRestarted, SeatTold
from agentmux.core.journal.state import AGENT_MODES, Seat, SessionState
from agentmux.core.names.statuses import LAUNCHED
from agentmux.core.names.words.nearest import suggest_name
from agentmux.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.ports.session.session_files import SessionFiles


def require_orchestrator(name: str, poke: Callable[[], bool]) -> None:
    """Wake the orchestrator of the session ``name``, and check that there is one.

    ``poke`` wakes it, and returns whether one is running.

    Raises:
        NotFoundError: No orchestrator runs.
    """
    if not poke():
        raise NotFoundError(
            f"no orchestrator runs for session {name}", hints=(f"agentmux resume {name}",)
        )


def require_seat(state: SessionState, name: str, seat: str) -> Seat:
    """Return the seat ``seat``, such as ``coder-2``, of the session ``name``.

    Raises:
        NotFoundError: The session has no such seat now. The hints name the seats that it has; if it
            has none, they suggest the next command.
    """
    known = state.seats.get(seat)
    if known is not None:
        return known
    if state.seats:
        hints = (*suggest_name(seat, state.seats), f"seats: {', '.join(state.seats)}")
        raise NotFoundError(f"session {name} has no seat `{seat}` now", hints=hints)
    none = f"session {name} has no seat `{seat}` now: none runs"
    if takes_decision(state):
        hints = (f"agentmux approve {name}", f'agentmux request-changes "…" --session {name}')
        raise NotFoundError(f"{none}, since it waits for your decision", hints=hints)
    raise NotFoundError(none, hints=(f"agentmux status {name}",))


def only_seat(files: SessionFiles, name: str) -> str:
    """Return the name of the only seat in which an agent runs, for commands that name no seat.

    ``files`` is the directory of the session ``name``.

    Raises:
        UsageError: Several agents run.
        NotFoundError: No agent runs.
    """
    running = [
        seat
        for seat, known in files.load().current.seats.items()
        if known.status == LAUNCHED and known.mode in AGENT_MODES
    ]
    if not running:
        raise NotFoundError(f"no agent runs in session {name}", hints=(f"agentmux status {name}",))
    if len(running) > 1:
        raise UsageError(
            f"several agents run in session {name}: which one? --role SEAT",
            hints=(f"seats: {', '.join(running)}",),
        )
    return running[0]


def seat_event(
    world: World,
    state: SessionState,
    seat: str,
    fact: SeatRestarted | CheckSkipped | SeatTold | SeatAnswered,
) -> Event:
    """Return a new event that says what the user wants of a seat; the caller records it.

    ``fact`` says what the user wants. The event is about the launch that the seat named ``seat``
    has in ``state``, which must have the seat.
    """
    return Event(
        id=world.new_id(),
        at=stamp(world.now()),
        seat=seat,
        launch=state.seats[seat].launch,
        cycle=state.cycle,
        fact=fact,
    )
