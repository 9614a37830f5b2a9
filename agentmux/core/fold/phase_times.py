"""Computes how long a session has spent in each phase. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.codec.times import time_of
from agentmux.core.fold.apply import advance
from agentmux.core.journal.events import (
    Event,
    Resumed,
    SessionInterrupted,
    SessionReattached,
)
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import ENDS, Phase

_NONE: Final = timedelta()


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseTimes:
    """The time that a session has spent in each phase while an orchestrator was running.

    The *current stay* is the time in the current phase since the session entered it.

    Attributes:
        spent: The time in each phase, by its name, without the current stay; phases that it
            never entered are left out.
        phase: The current phase; empty if no orchestrator runs, or if the session has ended.
        since: When the current stay began; None if ``phase`` is empty.
        until: When the session was last seen running; None if it never was.
    """

    spent: Mapping[str, timedelta] = field(default_factory=dict)
    phase: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def at(self, phase: str, now: datetime) -> PhaseTimes:
        """Return the times brought up to date: the session was seen in ``phase`` at ``now``.

        Another phase than before ends the current stay and begins a new one. If ``phase`` is empty
        or an end, such as ``done``, none begins.
        """
        phase = "" if phase in ENDS else phase
        if phase == self.phase:
            return replace(self, until=now)
        return PhaseTimes(
            spent=self._with_stay(now), phase=phase, since=now if phase else None, until=now
        )

    def with_stop(self) -> PhaseTimes:
        """Return the times of a session that stopped when it was last seen running.

        The current stay ends at that time.
        """
        return self if self.until is None else self.at("", self.until)

    def seconds(self, now: datetime) -> dict[str, float]:
        """Return the seconds in each phase by name, with the current stay counted up to ``now``."""
        return {name: each.total_seconds() for name, each in self._with_stay(now).items()}

    def _with_stay(self, now: datetime) -> dict[str, timedelta]:
        times = dict(self.spent)
        if self.since is not None:
            stay = max(now - self.since, _NONE)
            times[self.phase] = times.get(self.phase, _NONE) + stay
        return times


def blank_before(state: SessionState) -> SessionState:
    """Return an empty state, to which the events of a journal are applied from the first one on.

    It has the pipeline of ``state``, and nothing else of it. Its phase, which means nothing until
    the first events are applied, is ``failed``.
    """
    return SessionState(phase=Phase.FAILED, pipeline=state.pipeline)


def phase_times(state: SessionState, events: Iterable[Event]) -> PhaseTimes:
    """Return the times that a journal shows, up to its last event.

    Time without a running orchestrator does not count.

    Args:
        state: The state before the first of the events; for a whole journal, from `blank_before`.
        events: The events of the journal, in order; one without a readable time is only applied.
    """
    times = PhaseTimes()
    for event in events:
        at, state = time_of(event.at), advance(state, event, 0)
        if at is None:
            continue
        if isinstance(event.fact, Resumed | SessionReattached):
            times = times.with_stop()
        ends = isinstance(event.fact, SessionInterrupted)
        times = times.at("" if ends else state.phase, at)
    return times
