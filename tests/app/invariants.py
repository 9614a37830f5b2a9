"""Rules that hold for the journal and state of every session, after any kill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from agentmux.adapters.disk.session.session_files import FileSession
from agentmux.core.fold.acceptance import Answer, is_judged, judge
from agentmux.core.fold.apply import advance
from agentmux.core.fold.parts.parking import BUSY
from agentmux.core.journal.events import AgentLaunched, AgentWoken, Event, Resumed, Rewound
from agentmux.core.journal.state import SessionState, encode
from agentmux.core.names.phase import Phase

BLANK = SessionState(phase=Phase.FAILED)

Work = tuple[int, int, str, str]
"""Cycle, iteration, phase and seat: what one launch is for."""


class Step(NamedTuple):
    """One event of a journal, with the state before and after it."""

    before: SessionState
    event: Event
    after: SessionState


def history(events: Iterable[tuple[Event, int]]) -> tuple[Step, ...]:
    """Fold a journal, and return every step."""
    steps: list[Step] = []
    state = BLANK
    for event, offset in events:
        after = advance(state, event, offset)
        steps.append(Step(state, event, after))
        state = after
    return tuple(steps)


def check_journal(session: Path, accepted: Iterable[str] = ()) -> tuple[Step, ...]:
    """Check that the journal folds to the state, and that accepted signals were applied once.

    Also checks the launches, as `check_launches` does.

    Args:
        session: The session's directory.
        accepted: Ids of the signals that were answered with `accepted`.
    """
    files = FileSession(session)
    steps, state = history(files.tail(0)), files.load().state
    assert encode(steps[-1].after) == encode(state), "the fold is not the state"
    lines = {step.event.id for step in steps}
    assert set(accepted) <= lines, "an acknowledged signal is not in the journal"
    assert Counter(state.signals).most_common(1)[0][1] == 1, "a signal was applied twice"
    assert set(accepted) <= set(state.signals), "an acknowledged signal was not applied"
    check_launches(steps)
    check_wakings(steps)
    return steps


def check_wakings(steps: Iterable[Step]) -> None:
    """Check that each agent at its limit is woken once, and launched only then."""
    for before, event, _ in steps:
        fact, parked = event.fact, before.parked.get(event.seat)
        if isinstance(fact, AgentWoken) and fact.how != BUSY:
            assert parked is not None, f"{event.seat} is woken without a limit"
            assert not parked.woken, f"{event.seat} is woken twice"
        if isinstance(fact, AgentLaunched):
            assert parked is None or parked.woken, f"{event.seat} is launched while it is parked"


def check_launches(steps: Iterable[Step]) -> None:
    """Check that work is launched again only after a resume, and never after it was handed in."""
    handed_in: set[Work] = set()
    launched: Counter[tuple[object, ...]] = Counter()  # also by the step of a setup
    for state, event, _ in steps:
        work = (state.cycle, state.iteration, state.phase, event.seat)
        if isinstance(event.fact, Resumed):
            launched.clear()
        elif isinstance(event.fact, Rewound):  # what was done after the checkpoint is done again
            handed_in.clear()
        elif isinstance(event.fact, AgentLaunched):
            launched[*work, event.fact.topic] += 1
            assert launched[*work, event.fact.topic] == 1, (
                f"{work} was launched twice without a reason"
            )
            assert work not in handed_in, f"{work} was launched after it was handed in"
        elif hands_in(state, event):
            assert work not in handed_in, f"{work} was taken twice"
            handed_in.add(work)


def hands_in(state: SessionState, event: Event) -> bool:
    """Return whether an event is an accepted signal that ends the work of its seat."""
    submitted = is_judged(event) and event.fact.kind.startswith("submit_")
    return submitted and judge(state, event).answer is Answer.ACCEPTED


def phases(steps: Iterable[Step]) -> tuple[tuple[int, int, str], ...]:
    """Return every (cycle, iteration, phase) of the session, in order."""
    seen: list[tuple[int, int, str]] = []
    for _, _, state in steps:
        here = (state.cycle, state.iteration, state.phase)
        if state.session_id and seen[-1:] != [here]:
            seen.append(here)
    return tuple(seen)
