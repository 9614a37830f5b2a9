"""The files that an agent has to read before it works, as its prompt lists them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from agentmux.core.documents.plan import subplan_file, tasks_file
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import CODER, RESEARCHERS, Phase, ResearchKind
from agentmux.core.names.statuses import RESEARCHED
from agentmux.core.pipeline.artifacts import FIX_REQUEST, REVIEW_MD, Artifacts, kept_review
from agentmux.core.pipeline.completion import ARCHITECTURE, DESIGN, PLAN
from agentmux.core.pipeline.work import Work

PM_REQUIREMENTS: Final = f"{layout.PRODUCT_MANAGEMENT}/requirements.md"
PLAN_MD: Final = f"{layout.PLANNING}/plan.md"

_BEFORE: Final[dict[str, tuple[str, ...]]] = {
    Phase.PRODUCT_MANAGEMENT: (),
    Phase.ARCHITECTING: (PM_REQUIREMENTS,),
    Phase.PLANNING: (PM_REQUIREMENTS, ARCHITECTURE),
    Phase.DESIGNING: (PM_REQUIREMENTS, ARCHITECTURE, PLAN_MD),
    Phase.IMPLEMENTING: (ARCHITECTURE, PLAN_MD, DESIGN),
    Phase.REVIEWING: (PM_REQUIREMENTS, ARCHITECTURE, PLAN, DESIGN),
    Phase.FIXING: (FIX_REQUEST, ARCHITECTURE, PLAN_MD, DESIGN),
    Phase.COMPLETING: (PM_REQUIREMENTS, ARCHITECTURE, PLAN_MD, REVIEW_MD),
}
_RESEARCH_FOR: Final = frozenset({Phase.ARCHITECTING, Phase.PLANNING, Phase.DESIGNING})


def reading(state: SessionState, work: Work, artifacts: Artifacts) -> tuple[str, ...]:
    """Return the files to read for ``work``, in reading order, as paths relative to the session.

    Without the files that every agent reads: ``context.md`` and ``requirements.md``.
    """
    return tuple(dict.fromkeys(_reading(state, work, artifacts)))


def _reading(state: SessionState, work: Work, artifacts: Artifacts) -> Iterator[str]:
    if work.role in RESEARCHERS:
        yield f"{layout.research(work.role.partition('-')[0], work.topic)}/request.md"
        return
    if state.change_request is not None:
        yield state.change_request
    for path in _BEFORE.get(state.phase, ()):
        if artifacts.has_content(path):
            yield path
    if work.role == CODER and state.phase == Phase.IMPLEMENTING:
        yield from _plan_of(state, work)
    if state.phase == Phase.REVIEWING and state.iteration > 0:
        yield from _of_last_review(state, artifacts)
    if state.phase in _RESEARCH_FOR:
        yield from _research(state)


def _of_last_review(state: SessionState, artifacts: Artifacts) -> Iterator[str]:
    if artifacts.has_content(kept_review(state)):  # there is none where the cycle began in fixing
        yield kept_review(state)
    yield FIX_REQUEST


def _plan_of(state: SessionState, work: Work) -> Iterator[str]:
    ids = state.implementation_active_plan_ids if work.subplan is None else (work.subplan,)
    for index in ids:
        yield f"{layout.PLANNING}/{subplan_file(index)}"
        yield f"{layout.PLANNING}/{tasks_file(index)}"


def _research(state: SessionState) -> Iterator[str]:
    for kind in ResearchKind:
        for topic, status in state.tasks(kind).items():
            if status == RESEARCHED:
                yield f"{layout.research(kind, topic)}/summary.md"
