"""The rule that says whether a signal counts.

Both the answer to ``agentmux submit`` and the fold of the journal use it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.definitions.definition import Kind
from agentmux.core.journal.events import (
    SIGNALS,
    USER_DECISIONS,
    Approved,
    ChangesRequested,
    CodeDone,
    CodeResearchDispatched,
    Event,
    Hello,
    PhaseDone,
    ResearchDone,
    ReviewDone,
    WebResearchDispatched,
)
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import ResearchKind, researcher
from agentmux.core.names.statuses import DISPATCHED, LAUNCHED, STOPPED
from agentmux.core.pipeline.registry import (
    beginnings,
    pipeline_of,
    working_kind,
    working_phase,
)
from agentmux.core.pipeline.results import result_of


class Answer(StrEnum):
    """The answer to a signal: it counts, it does not count, or the same one counted before."""

    ACCEPTED = "accepted"
    IGNORED = "ignored"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer to a signal; if it was not accepted, with the reason in words."""

    answer: Answer
    reason: str = ""


_ACCEPTED: Final = Judgement(Answer.ACCEPTED)
_ANY_PHASE: Final = (Hello, ResearchDone, CodeResearchDispatched, WebResearchDispatched)


def _ignored(reason: str) -> Judgement:
    return Judgement(Answer.IGNORED, reason)


def is_judged(event: Event) -> bool:
    """Whether the event is a signal or a user's decision: `judge` says whether it counts.

    All other events count always.
    """
    return event.fact.kind in SIGNALS or event.fact.kind in USER_DECISIONS


def judge(state: SessionState, event: Event) -> Judgement:
    """Return the answer to a signal or a user's decision: whether it counts in ``state``."""
    if event.id in state.signals:
        return Judgement(Answer.DUPLICATE, "this was submitted before, there is nothing left to do")
    if state.moved is not None:
        return _ignored(f"the session was moved to {state.moved.to}")
    if working_phase(state) not in pipeline_of(state):
        return _ignored(f"the session is {state.phase}")
    if event.fact.kind in USER_DECISIONS:
        return _judge_decision(state, event)
    return _judge_launch(state, event) or _judge_work(state, event)


def _is_completing(state: SessionState) -> bool:
    return working_kind(state) is Kind.COMPLETE


def takes_decision(state: SessionState) -> bool:
    """Whether a request for changes would count now; for an approval see `takes_approval`."""
    return _is_completing(state) and state.approval is None and state.moved is None


def takes_approval(state: SessionState) -> bool:
    """Whether an approval would count now: the user can decide, and no summary is being written."""
    return takes_decision(state) and not _summary_is_coming(state)


def _judge_decision(state: SessionState, event: Event) -> Judgement:
    assert isinstance(event.fact, (Approved, ChangesRequested))  # noqa: S101 (DECISIONS says so)
    if event.cycle != state.cycle:
        return _ignored(f"it is about cycle {event.cycle}, the session is in cycle {state.cycle}")
    if not _is_completing(state):
        return _ignored(f"the session is in {state.phase}, there is nothing to decide yet")
    if event.fact.of_phase not in {"", working_phase(state)}:
        return _ignored(f"it is about {event.fact.of_phase}, the session is in {state.phase}")
    if state.approval is not None:
        return _ignored("the result was approved already")
    if isinstance(event.fact, ChangesRequested) and not _begins(state, event.fact.phase):
        return _ignored(f"no cycle can begin in `{event.fact.phase}`")
    if isinstance(event.fact, Approved) and _summary_is_coming(state):
        return _ignored("the summary is still being written")
    return _ACCEPTED


def _begins(state: SessionState, phase: str) -> bool:
    return not phase or phase in beginnings(state)


def _summary_is_coming(state: SessionState) -> bool:
    """Whether a summary is still expected: its writer was not launched yet, or is at work."""
    if state.summary_submitted:
        return False
    here = working_phase(state)
    writers = [s for s in state.seats.values() if s.phase == here and not s.topic]
    return not writers or any(seat.status in {LAUNCHED, STOPPED} for seat in writers)


def _judge_launch(state: SessionState, event: Event) -> Judgement | None:
    seat = state.seats.get(event.seat)
    if not event.launch:
        return _ignored("it comes from no launch of this session")
    if event.cycle != state.cycle:
        return _ignored(f"it belongs to cycle {event.cycle}, the session is in cycle {state.cycle}")
    if seat is None:
        return _ignored(f"the session has moved on to {state.phase}, `{event.seat}` has no work")
    if seat.launch != event.launch:
        return _ignored(f"`{event.seat}` belongs to launch {seat.launch} now, not {event.launch}")
    return None


def _judge_work(state: SessionState, event: Event) -> Judgement:
    fact = event.fact
    phase = working_phase(state)
    if isinstance(fact, ResearchDone):
        return _judge_research(state, event, fact)
    if isinstance(fact, _ANY_PHASE):
        return _ACCEPTED
    here = pipeline_of(state)[phase]
    if fact.kind != here.signal:
        return _ignored(f"{phase} does not expect `{fact.kind}`")
    if state.seats[event.seat].role not in here.roles:
        return _ignored(f"`{event.seat}` does not work in {phase}")
    if isinstance(fact, CodeDone) and here.kind is Kind.WORK:
        return _judge_subplan(state, event, fact)
    if isinstance(fact, PhaseDone) and fact.phase != phase:
        return _ignored(f"the session is in {phase}, not in {fact.phase}")
    known = result_of(state, phase).verdicts if isinstance(fact, ReviewDone) else {}
    if isinstance(fact, ReviewDone) and (fact.role != event.seat or fact.role in known):
        return _ignored(f"no review of `{fact.role}` is expected from `{event.seat}`")
    return _ACCEPTED


def _judge_research(state: SessionState, event: Event, fact: ResearchDone) -> Judgement:
    kind = ResearchKind(fact.research)
    status = state.tasks(kind).get(fact.topic)
    if status != DISPATCHED:
        return _ignored(f"research `{fact.topic}` is {status or 'unknown'}")
    seat = state.seats[event.seat]
    if (seat.role, seat.topic) != (researcher(kind), fact.topic):
        return _ignored(f"`{event.seat}` does not do the research `{fact.topic}`")
    return _ACCEPTED


def _judge_subplan(state: SessionState, event: Event, fact: CodeDone) -> Judgement:
    index = fact.subplan_index
    if index is None and not pipeline_of(state).is_planned:
        index = 1
    if index is None:
        return _ignored(f"{working_phase(state)} needs the sub-plan: --subplan N")
    if index in state.completed_subplans:
        return _ignored(f"sub-plan {index} is done already")
    if index not in state.implementation_active_plan_ids:
        return _ignored(f"sub-plan {index} is not active")
    if not state.implementation_single_coder and state.seats[event.seat].subplan != index:
        return _ignored(f"`{event.seat}` does not work on sub-plan {index}")
    return _ACCEPTED
