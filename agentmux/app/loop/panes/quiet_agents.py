"""Finds agents that have gone quiet: which to remind, and which to report as stalled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agentmux.app.loop.panes.observed_panes import ObservedPanes
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.agents.spec import AgentSpec, TurnEnd
from agentmux.core.decisions.stall import QuietResponse, nudge_after, patience
from agentmux.core.journal.state import AGENT_MODES, Seat
from agentmux.core.names.phase import ResearchKind
from agentmux.core.names.statuses import BUSY, IDLE, LAUNCHED, LIMIT, RESEARCHED, WAITING
from agentmux.core.names.turn import Turn
from agentmux.core.pipeline.work import is_under_way


class QuietAgents:
    """Measures the silence of agents.

    Attributes:
        to_nudge: The seats to remind, in the order in which they became quiet.
    """

    def __init__(
        self, world: World, session: Session, sight: ObservedPanes, spec: Callable[[str], AgentSpec]
    ) -> None:
        """Take the session, and ``sight``, what was last seen of its panes.

        ``spec`` takes the name of a seat; returns the description of the agent that plays it.
        """
        self._world = world
        self._session = session
        self._sight = sight
        self._spec = spec
        self.to_nudge: list[str] = []
        self._put_off: dict[str, str] = {}

    def patience(self, name: str, seat: Seat, quiet_s: float) -> QuietResponse:
        """Return what to do about the agent of the seat ``name``, quiet for ``quiet_s`` seconds.

        That is to wait, to remind it, or to report it to the user; this only decides, and does
        nothing.
        """
        stall = self._world.settings.stall
        return patience(
            quiet_s,
            nudged=seat.nudged or self._is_put_off(seat),
            stalled=seat.stalled,
            nudge_after_s=nudge_after(
                self._turn(name, seat),
                turn_ended_after_s=stall.turn_ended_after_s,
                nudge_after_s=stall.nudge_after_s,
            ),
            report_after_s=stall.report_after_s,
        )

    def quiet_s(self, name: str, seat: Seat, now: float) -> float:
        """Return for how many seconds the agent of the seat ``name`` has been quiet at ``now``.

        It is 0 if the agent has a reason to be quiet. ``now`` is in seconds of the event loop's
        clock.
        """
        pane = self._sight.panes.get(seat.launch)
        status = self._sight.status(name)
        if pane is None or pane.dead or seat.status != LAUNCHED or not status:
            return 0.0
        if seat.mode not in AGENT_MODES or self._sight.why_unsent(seat):
            return 0.0
        if status in {BUSY, WAITING, LIMIT} or self._awaits_research(name):
            return 0.0
        last_look = self._sight.last_look(seat.launch)
        return now - last_look.still_since if last_look is not None else 0.0

    def rouse(self, launch: str) -> None:
        """Count an agent's silence from now on, because its usage limit is over; sends nothing.

        ``launch`` is the id of the agent's launch.
        """
        last_look = self._sight.last_look(launch)
        if last_look is not None:
            last_look.still_since = asyncio.get_running_loop().time()

    def put_off(self, seat: str) -> None:
        """Put off the reminder of a seat, which could not be typed, until its screen changes.

        If the agent stays quiet, it is reported as stalled all the same, as if it had been
        reminded.
        """
        held = self._session.state.seats.get(seat)
        digest = None if held is None else self._sight.digest(held.launch)
        if held is not None and digest is not None:
            self._put_off[held.launch] = digest

    def is_put_off(self, seat: str) -> bool:
        """Return whether the seat's reminder was put off, and its screen is still the same."""
        held = self._session.state.seats.get(seat)
        return held is not None and self._is_put_off(held)

    def _turn(self, name: str, seat: Seat) -> Turn:
        """Return what is known about the turn of a quiet agent, from its hooks or its screen."""
        if seat.nudged or self._is_put_off(seat):
            return Turn.UNKNOWN
        spec, status = self._spec(name), self._sight.statuses.get(name)
        # If the agent's service failed, an early reminder does not help.
        if status is not None and status.trouble:
            return Turn.UNKNOWN
        if spec.turn_end is not TurnEnd.SCREEN:
            return self._session.files.turn(seat.launch)
        rests = status is not None and status.status == IDLE
        return Turn.LOOKS_ENDED if rests and seat.launch in self._sight.worked else Turn.UNKNOWN

    def _is_put_off(self, seat: Seat) -> bool:
        """Return whether the seat's reminder was put off, and its screen is still the same."""
        last_look = self._sight.last_look(seat.launch)
        return last_look is not None and self._put_off.get(seat.launch) == last_look.digest

    def _awaits_research(self, seat: str) -> bool:
        """Return whether research that the seat asked for runs, or is done but not yet reported.

        A seat that cannot be told now counts as not waiting, so it can be reported as stalled.
        """
        state = self._session.state
        asked = (
            (kind, topic, status, seat in known.told)
            for kind in ResearchKind
            for topic, status in state.tasks(kind).items()
            if (known := state.research.get(f"{kind}-{topic}")) and seat in known.owners
        )
        return any(
            is_under_way(state, kind, topic)
            or (status == RESEARCHED and not told and not self.is_put_off(seat))
            for kind, topic, status, told in asked
        )
