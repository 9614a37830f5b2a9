"""Ends the waiting for usage limits: all parked agents of a session continue now."""

from __future__ import annotations

from collections.abc import Callable

from agentmux.app.session.writer import stamp
from agentmux.app.world import World
from agentmux.core.codec.frozen import dataclass
from agentmux.core.decisions.limits import is_parked
from agentmux.core.journal.events import USER, Event, LimitsLifted
from agentmux.errors import NotFoundError
from agentmux.ports.session.session_files import SignalFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Unparked:
    """The result of `unpark`.

    Attributes:
        seats: The seats that were parked; those of one account are woken one after the other.
        live: Whether an orchestrator runs; if not, the seats are launched at the next resume.
    """

    seats: tuple[str, ...]
    live: bool


def unpark(world: World, files: SignalFiles, *, poke: Callable[[], bool]) -> Unparked:
    """Record that no agent of the session waits any longer; the orchestrator wakes them.

    Args:
        world: The outside world.
        files: The session's directory.
        poke: Wakes the orchestrator; returns whether one is running.

    Raises:
        NotFoundError: No agent of the session is parked.
    """
    with files.transact() as held:
        state = held.loaded_session.current
        seats = tuple(name for name in state.parked if is_parked(state, name))
        if not seats:
            name = files.path.name
            raise NotFoundError(
                f"no agent of session {name} waits for the end of a usage limit",
                hints=(f"agentmux status {name}",),
            )
        held.append(
            Event(
                id=world.new_id(),
                at=stamp(world.now()),
                seat=USER,
                launch="",
                cycle=state.cycle,
                fact=LimitsLifted(),
            )
        )
    return Unparked(seats=seats, live=poke())
