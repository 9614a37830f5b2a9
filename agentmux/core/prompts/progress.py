"""Lists the work that was handed in so far, for the prompt of an agent that continues."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from agentmux.core.definitions.definition import Kind
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import ResearchKind
from agentmux.core.names.statuses import RESEARCHED
from agentmux.core.pipeline.registry import pipeline_of
from agentmux.core.pipeline.results import all_verdicts


def handed_in(state: SessionState) -> tuple[str, ...]:
    """Return one line for each piece of work that was handed in and accepted in this cycle.

    An example is ``sub-plan 2``. The order is: phases before the first work phase, sub-plans,
    reviews, research.
    """
    return tuple(_handed_in(state))


def _handed_in(state: SessionState) -> Iterator[str]:
    pipeline = pipeline_of(state)
    done = pipeline.before(state.phase) if state.phase in pipeline else pipeline.phases
    for each in itertools.takewhile(lambda each: each.kind is not Kind.WORK, done):
        if each.takes_part(state):
            yield f"phase {each.phase}"
    for index in state.completed_subplans:
        yield f"sub-plan {index}"
    for role, verdict in all_verdicts(state).items():
        yield f"review of {role}: {verdict}"
    for kind in ResearchKind:
        for topic, status in state.tasks(kind).items():
            if status == RESEARCHED:
                yield f"{kind} research `{topic}`"
