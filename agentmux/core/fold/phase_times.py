"""How long a session has spent in each phase; pure."""

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
    """The time spent in each phase.

    Attributes:
        spent: The time in each phase, without the present stay.
        phase: The present phase; empty while nothing drives the session, or it has ended.
        since: When the present stay began; None while there is none.
        until: When the session was last seen at work.
    """

    spent: Mapping[str, timedelta] = field(default_factory=dict)
    phase: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def at(self, phase: str, now: datetime) -> PhaseTimes:
        """Return the times of a session that is in ``phase`` at ``now``; empty: not at work."""
        phase = "" if phase in ENDS else phase
        if phase == self.phase:
            return replace(self, until=now)
        return PhaseTimes(
            spent=self._with_stay(now), phase=phase, since=now if phase else None, until=now
        )

    def with_stop(self) -> PhaseTimes:
        """Return the times of a session that stopped when it was last seen at work."""
        return self if self.until is None else self.at("", self.until)

    def seconds(self, now: datetime) -> dict[str, float]:
        """Return the seconds in each phase so far."""
        return {name: each.total_seconds() for name, each in self._with_stay(now).items()}

    def _with_stay(self, now: datetime) -> dict[str, timedelta]:
        times = dict(self.spent)
        if self.since is not None:
            stay = max(now - self.since, _NONE)
            times[self.phase] = times.get(self.phase, _NONE) + stay
        return times


def blank_before(state: SessionState) -> SessionState:
    """Return the state before the first event of the journal of a session in ``state``."""
    return SessionState(phase=Phase.FAILED, pipeline=state.pipeline)


def phase_times(state: SessionState, events: Iterable[Event]) -> PhaseTimes:
    """Return the times that a journal shows, up to its last event.

    Time in which nothing drove the session does not count.

    Args:
        state: The state before the first of the events.
        events: The events of the journal.
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
