"""What was handed in so far in a session, as lines for the prompt of an agent that continues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase, ResearchKind
from agentmux.core.names.statuses import RESEARCHED
from agentmux.core.pipeline.registry import PHASE_REGISTRY, PIPELINE

_ORDER: Final = tuple(each.phase for each in PHASE_REGISTRY)


def handed_in(state: SessionState) -> tuple[str, ...]:
    """Return what was handed in and accepted in this cycle, one line each.

    The order is: phases, sub-plans, reviews, research.
    """
    return tuple(_handed_in(state))


def _handed_in(state: SessionState) -> Iterator[str]:
    here = _ORDER.index(state.phase) if state.phase in PIPELINE else len(_ORDER)
    for phase in _ORDER[: min(here, _ORDER.index(Phase.IMPLEMENTING))]:
        if PIPELINE[phase].takes_part(state):
            yield f"phase {phase}"
    for index in state.completed_subplans:
        yield f"sub-plan {index}"
    for role, verdict in state.verdicts.items():
        yield f"review of {role}: {verdict}"
    for kind in ResearchKind:
        for topic, status in state.tasks(kind).items():
            if status == RESEARCHED:
                yield f"{kind} research `{topic}`"
