"""How long a session was in each phase, from its journal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from agentmux.core.fold.phase_times import PhaseTimes, blank_before, phase_times
from agentmux.core.journal.events import Event, Fact, Resumed, SessionInterrupted
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase

BEGAN = datetime(2026, 1, 1, 10, 0, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return BEGAN + timedelta(minutes=minutes)


def resumed(minutes: float, phase: str) -> Event:
    return event(minutes, Resumed(phase=phase, cycle=1, found={}))


def event(minutes: float, fact: Fact) -> Event:
    when = at(minutes).isoformat()
    return Event(id=str(minutes), at=when, seat="orchestrator", launch="", cycle=1, fact=fact)


def test_each_stay_counts_for_its_phase() -> None:
    times = PhaseTimes().at("planning", at(0)).at("planning", at(3)).at("reviewing", at(5))
    times = times.at("fixing", at(6)).at("reviewing", at(8))
    assert times.seconds(at(9)) == {"planning": 300.0, "reviewing": 120.0, "fixing": 120.0}


def test_the_end_has_no_time() -> None:
    for end in (Phase.DONE, Phase.FAILED):
        times = PhaseTimes().at("planning", at(0)).at(end, at(5))
        assert times.seconds(at(60)) == {"planning": 300.0}


def test_a_clock_that_goes_back_takes_no_time_away() -> None:
    assert PhaseTimes().at("planning", at(5)).seconds(at(0)) == {"planning": 0.0}


def test_time_in_which_nothing_drove_the_session_does_not_count() -> None:
    start = blank_before(SessionState(phase=Phase.PLANNING))
    stopped = event(4, SessionInterrupted(cause="stopped"))
    again = [resumed(0, "planning"), stopped, resumed(60, "planning")]
    assert phase_times(start, again).seconds(at(61)) == {"planning": 300.0}
    killed = [resumed(0, "planning"), resumed(4, "planning"), resumed(60, "planning")]
    assert phase_times(start, killed).seconds(at(61)) == {"planning": 60.0}


def test_an_event_without_a_time_is_skipped() -> None:
    start = blank_before(SessionState(phase=Phase.PLANNING))
    first = Event(id="1", at="soon", seat="orchestrator", launch="", cycle=1,
                  fact=SessionInterrupted(cause="x"))  # fmt: skip
    assert phase_times(start, [first]).seconds(at(1)) == {}
