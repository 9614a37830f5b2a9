"""What holds for the journal and the state of every session, whatever was killed meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from agentmux.adapters.session_files import FileSession
from agentmux.core.acceptance import Answer, is_signal, judge
from agentmux.core.apply import advance, fold
from agentmux.core.events import AgentLaunched, Event, Resumed
from agentmux.core.phase import Phase
from agentmux.core.state import SessionState, encode

BLANK = SessionState(phase=Phase.FAILED)

Journal = Sequence[tuple[Event, int]]
Work = tuple[int, int, str, str]
"""Cycle, iteration, phase and seat: what one launch is for."""


def check_journal(session: Path, accepted: Iterable[str] = ()) -> None:
    """The fold is the state; what was acknowledged was applied, once; nothing was done twice.

    Args:
        session: Its directory.
        accepted: Ids of the signals that were answered with `accepted`.
    """
    files = FileSession(session)
    events, state = files.tail(0), files.load().state
    assert encode(fold(BLANK, events)) == encode(state), "the fold is not the state"
    lines = {event.id for event, _ in events}
    assert set(accepted) <= lines, "an acknowledged signal is not in the journal"
    assert Counter(state.signals).most_common(1)[0][1] == 1, "a signal was applied twice"
    assert set(accepted) <= set(state.signals), "an acknowledged signal was not applied"
    check_launches(events)


def check_launches(events: Journal) -> None:
    """Work is launched again only where a kill took its agent, and never after it was handed in."""
    state = BLANK
    handed_in: set[Work] = set()
    launched: Counter[Work] = Counter()
    for event, offset in events:
        work = (state.cycle, state.iteration, state.phase.value, event.seat)
        if isinstance(event.fact, Resumed):
            launched.clear()
        elif isinstance(event.fact, AgentLaunched):
            launched[work] += 1
            assert launched[work] == 1, f"{work} was launched twice without a reason"
            assert work not in handed_in, f"{work} was launched after it was handed in"
        elif hands_in(state, event):
            assert work not in handed_in, f"{work} was taken twice"
            handed_in.add(work)
        state = advance(state, event, offset)


def hands_in(state: SessionState, event: Event) -> bool:
    """Whether this signal ends the work of its seat, and counts."""
    submitted = is_signal(event) and event.fact.kind.startswith("submit_")
    return submitted and judge(state, event).answer is Answer.ACCEPTED


def phases(events: Journal) -> tuple[tuple[int, int, str], ...]:
    """Every (cycle, iteration, phase) that the session was in, in order."""
    state = BLANK
    seen: list[tuple[int, int, str]] = []
    for event, offset in events:
        state = advance(state, event, offset)
        here = (state.cycle, state.iteration, state.phase.value)
        if state.session_id and seen[-1:] != [here]:
            seen.append(here)
    return tuple(seen)
