"""Records usage limits that screens show: who is parked, who to wake, who works again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agentmux.app.loop.panes.observed_panes import ObservedPanes
from agentmux.app.session.writer import Session, stamp
from agentmux.app.world import World
from agentmux.core.agents.screens import ScreenReading, read_since
from agentmux.core.agents.spec import AgentSpec
from agentmux.core.decisions.limits import is_new_reset, is_parked, parked_until, to_wake
from agentmux.core.fold.parts.parking import ANSWERED, BUSY
from agentmux.core.journal.events import AgentParked, AgentWoken
from agentmux.core.journal.state import Parked, Seat
from agentmux.core.names.statuses import IDLE

# Seconds without a limit on the screen after which a parked agent has gone on by itself.
_ANSWERED_S: Final = 10.0


class LimitWatch:
    """Records what the screens of agents show about their usage limits."""

    def __init__(
        self, world: World, session: Session, sight: ObservedPanes, wake: Callable[[], None]
    ) -> None:
        """Take the session, and ``sight``, what was last seen of its panes.

        ``wake`` is called when something was recorded: it wakes the loop, which may have to act.
        """
        self._world = world
        self._session = session
        self._sight = sight
        self._wake = wake

    def read(self, spec: AgentSpec, name: str, seat: Seat, text: str) -> ScreenReading:
        """Return what a screen shows, except a usage limit that is above our last message there.

        Our last message is the prompt, recognised by the id of its launch, or a later wake-up
        message, recognised by the time in it.

        Args:
            spec: The description of the agent.
            name: The name of the seat.
            seat: The seat, as the session's state has it.
            text: The screen as plain text.
        """
        woken = self._woken(name, seat)
        if woken is not None:
            return read_since(spec, text, woken.woken, unmarked=woken.settled)
        return read_since(spec, text, seat.launch, unmarked=seat.reached)

    def _woken(self, name: str, seat: Seat) -> Parked | None:
        """Return how this launch was woken; None if it was not, or if it began after the waking."""
        parked = self._session.state.parked.get(name)
        if parked is None or parked.launch != seat.launch or parked.woken <= seat.since:
            return None
        return parked

    def note_limit(self, name: str, seat: Seat, said: str) -> None:
        """Record that the agent of the seat ``name`` has reached its usage limit.

        If that is recorded already, it is recorded again only for another end of the limit.
        ``said`` is the agent's own text about that end; empty if there is none.
        """
        from agentmux.core.agents.reset_times import reset_time

        state, now = self._session.state, self._world.now()
        reset = reset_time(said, now=now, zones=self._world.machine.zones)
        known = state.parked[name] if is_parked(state, name) else None
        if known is not None and not is_new_reset(known, said, reset, now=now):
            return
        until = parked_until(reset, now=now, retry_s=self._world.settings.limits.retry_s)
        record = state.agents.get(name, {})
        agent, home = str(record.get("agent", "")), str(record.get("home", ""))
        fact = AgentParked(agent=agent, home=home, until=stamp(until), said=said)
        self._session.record(fact, seat=name, launch=seat.launch)
        self._wake()

    def note_work(self, name: str, seat: Seat) -> None:
        """Record once that the woken agent of the seat ``name`` works; the next may then be woken.

        The next one is another agent of the same account. Nothing is recorded for an agent that was
        not woken.
        """
        parked = self._session.state.parked.get(name)
        if parked is not None and parked.woken and not parked.settled:
            self._record_waking(BUSY, name, seat)

    def note_rest(self, name: str, seat: Seat, quiet_s: float) -> None:
        """Record that the agent of the parked seat ``name`` is no longer parked, if it is idle.

        It must also show no limit, and have been quiet for a while; ``quiet_s`` is for how long, in
        seconds.
        """
        if self._sight.status(name) == IDLE and quiet_s >= _ANSWERED_S:
            self._record_waking(ANSWERED, name, seat)

    def _record_waking(self, how: str, name: str, seat: Seat) -> None:
        self._session.record(AgentWoken(how=how), seat=name, launch=seat.launch)
        self._wake()

    def due(self) -> tuple[str, ...]:
        """Return the names of the parked seats that are to be woken now; wakes none.

        A seat is parked while its agent waits for the end of its usage limit.
        """
        return to_wake(self._session.state.parked, now=self._world.now())
