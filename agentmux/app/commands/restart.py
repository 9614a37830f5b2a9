"""Restart one stopped seat of a live session."""

from __future__ import annotations

from collections.abc import Callable

from agentmux.app.session.writer import stamp
from agentmux.app.world import World
from agentmux.core.fold.apply import fold
from agentmux.core.journal.events import Event, SeatRestarted
from agentmux.core.names.nearest import meant
from agentmux.core.names.statuses import LAUNCHED
from agentmux.errors import BlockedError, NotFoundError
from agentmux.ports.session_files import SignalFiles


def restart(
    world: World,
    files: SignalFiles,
    seat: str,
    *,
    fresh: bool | None,
    poke: Callable[[], bool],
) -> None:
    """Record that the seat is to be launched again; the orchestrator launches it.

    Args:
        world: The outside world.
        files: The session.
        seat: Such as ``coder-2``.
        fresh: True starts a new conversation, False resumes the old one; None decides by the same
            checks as a resume.
        poke: Wakes the orchestrator; returns whether one is running.

    Raises:
        NotFoundError: No orchestrator runs, or the session has no such seat now.
        BlockedError: The seat's agent runs.
    """
    name = files.path.name
    if not poke():
        raise NotFoundError(
            f"no orchestrator runs for session {name}", hints=(f"agentmux resume {name}",)
        )
    with files.transact() as held:
        state = fold(held.loaded.state, held.loaded.tail)
        known = state.seats.get(seat)
        if known is None:
            seats = ", ".join(state.seats) or "none"
            raise NotFoundError(
                f"session {name} has no seat `{seat}` now",
                hints=(*meant(seat, state.seats), f"seats: {seats}"),
            )
        if known.status == LAUNCHED:
            raise BlockedError(
                f"`{seat}` of session {name} is running",
                reason="seat_live",
                hints=(f"look at it: agentmux attach {name}",),
            )
        held.append(
            Event(
                id=world.new_id(),
                at=stamp(world.now()),
                seat=seat,
                launch=known.launch,
                cycle=state.cycle,
                fact=SeatRestarted(fresh=fresh),
            )
        )
    poke()
