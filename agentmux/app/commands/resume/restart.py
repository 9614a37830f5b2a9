"""Restarts one ended seat of a live session, or skips a command of a check that could not run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agentmux.app.commands.resume.live_seat import require_orchestrator, require_seat, seat_event
from agentmux.app.world import World
from agentmux.core.journal.events import CheckSkipped, SeatRestarted
from agentmux.core.journal.state import Seat, SessionState
from agentmux.core.names.statuses import BROKEN, LAUNCHED
from agentmux.errors import BlockedError
from agentmux.ports.session.session_files import SignalFiles, Transaction


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
        files: The session's directory.
        seat: The seat, such as ``coder-2``.
        fresh: True starts a new conversation, False resumes the old one; None decides by the same
            rules as a resume.
        poke: Wakes the orchestrator; returns whether one is running.

    Raises:
        NotFoundError: No orchestrator runs, or the session has no such seat now.
        BlockedError: The seat's agent runs.
    """
    name = files.path.name
    with _lock_seat(files, seat, poke) as (held, state, known):
        if known.status == LAUNCHED:
            raise BlockedError(
                f"`{seat}` of session {name} is running",
                reason="seat_live",
                hints=(f"look at it: agentmux attach {name}",),
            )
        held.append(seat_event(world, state, seat, SeatRestarted(fresh=fresh)))
    poke()


def skip(world: World, files: SignalFiles, seat: str, *, poke: Callable[[], bool]) -> None:
    """Record that the session continues without a command of a check that could not run.

    The orchestrator is woken, and goes on.

    Args:
        world: The outside world.
        files: The session's directory.
        seat: The seat of that command.
        poke: Wakes the orchestrator; returns whether one is running.

    Raises:
        NotFoundError: No orchestrator runs, or the session has no such seat now.
        BlockedError: The seat is not that of a command that could not run.
    """
    with _lock_seat(files, seat, poke) as (held, state, known):
        if known.status != BROKEN:
            raise BlockedError(
                f"`{seat}` of session {files.path.name} is no check that could not run",
                reason="not_broken",
                hints=(f"see what waits for you: agentmux status {files.path.name}",),
            )
        held.append(seat_event(world, state, seat, CheckSkipped(name=known.topic)))
    poke()


@contextmanager
def _lock_seat(
    files: SignalFiles, seat: str, poke: Callable[[], bool]
) -> Iterator[tuple[Transaction, SessionState, Seat]]:
    """Yield the locked journal, the current state, and the seat, if an orchestrator runs.

    Raises:
        NotFoundError: No orchestrator runs, or the session has no such seat now.
    """
    name = files.path.name
    require_orchestrator(name, poke)
    with files.transact() as held:
        state = held.loaded_session.current
        yield held, state, require_seat(state, name, seat)
