"""The seats that a session needs now, for its phase and for the research under way."""

from __future__ import annotations

from collections.abc import Iterator

from agentmux.core.codec.frozen import dataclass
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import CODER, Phase, ResearchKind, researcher
from agentmux.core.names.statuses import DISPATCHED, LEFT
from agentmux.core.pipeline.registry import PIPELINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Work that needs a seat."""

    seat: str
    role: str
    subplan: int | None = None
    topic: str = ""


def wanted(state: SessionState) -> tuple[Work, ...]:
    """Return the work to be done now, in the session's phase and in the research under way.

    There is none once the result is approved.
    """
    if state.phase not in PIPELINE or state.approval is not None:
        return ()
    return (*_phase_work(state), *_research_work(state))


def _phase_work(state: SessionState) -> tuple[Work, ...]:
    match state.phase:
        case Phase.IMPLEMENTING if state.implementation_single_coder:
            return (Work(seat=CODER, role=CODER),)
        case Phase.IMPLEMENTING:
            active = state.implementation_active_plan_ids
            return tuple(Work(seat=f"{CODER}-{n}", role=CODER, subplan=n) for n in active)
        case Phase.REVIEWING:
            waiting = (r for r in state.reviewer_nominations if r not in state.verdicts)
            return tuple(Work(seat=role, role=role) for role in waiting)
        case Phase.COMPLETING:
            role = next(iter(state.reviewer_nominations), PIPELINE[Phase.COMPLETING].startup_role)
            return () if state.summary_submitted else (Work(seat=role, role=role),)
        case _:
            role = PIPELINE[state.phase].startup_role
            return (Work(seat=role, role=role),)


def _research_work(state: SessionState) -> Iterator[Work]:
    for kind in ResearchKind:
        for topic, status in state.tasks(kind).items():
            if status == DISPATCHED:
                yield _research(kind, topic)


def _research(kind: ResearchKind, topic: str) -> Work:
    role = researcher(kind)
    return Work(seat=f"{role}-{topic}", role=role, topic=topic)


def is_under_way(state: SessionState, kind: ResearchKind, topic: str) -> bool:
    """Whether this research was asked for and its researcher has not left."""
    seat = state.seats.get(_research(kind, topic).seat)
    return state.tasks(kind).get(topic) == DISPATCHED and (seat is None or seat.status not in LEFT)
