"""Drafts: artifacts in a phase folder that a seat was launched to make and has not handed in.

Pure. A draft decides nothing, however complete it looks: on a resume its seat is launched again and
the agent is told of the draft. A file that no seat was launched for is not a draft; such files come
from older sessions, or were made by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from agentmux.core.codec.frozen import replace
from agentmux.core.documents.review import review_files
from agentmux.core.fold.acceptance import working_phase
from agentmux.core.journal.state import SessionState
from agentmux.core.names.layout import REVIEW
from agentmux.core.names.phase import CODER, Phase
from agentmux.core.pipeline.artifacts import (
    REVIEW_MD,
    Artifacts,
    done_marker,
    nominations,
    subplan_count,
)
from agentmux.core.pipeline.completion import ARCHITECTURE, DESIGN, EXECUTION_PLAN, PM_DONE
from agentmux.core.pipeline.registry import pipeline_of

NOT_HANDED_IN: Final = "a draft that was not handed in"
# The artifact that decides a phase with a single seat.
_OF_ONE: Final[Mapping[str, str]] = {
    Phase.PRODUCT_MANAGEMENT: PM_DONE,
    Phase.ARCHITECTING: ARCHITECTURE,
    Phase.PLANNING: EXECUTION_PLAN,
    Phase.DESIGNING: DESIGN,
    Phase.FIXING: done_marker(1),
}


def without_drafts(state: SessionState, artifacts: Artifacts) -> Artifacts:
    """Return ``artifacts`` without the drafts; the ``problems`` of the result name each draft."""
    found = frozenset(_drafts(state, artifacts))
    if not found:
        return artifacts
    return replace(
        artifacts,
        sizes={path: size for path, size in artifacts.sizes.items() if path not in found},
        execution_plan=None if EXECUTION_PLAN in found else artifacts.execution_plan,
        nominations=None if ARCHITECTURE in found else artifacts.nominations,
        verdicts={path: each for path, each in artifacts.verdicts.items() if path not in found},
        reviews={path: each for path, each in artifacts.reviews.items() if path not in found},
        problems={**artifacts.problems, **dict.fromkeys(sorted(found), NOT_HANDED_IN)},
    )


def _lies(path: str, artifacts: Artifacts) -> bool:
    return artifacts.exists(path) or path in artifacts.verdicts


def _drafts(state: SessionState, artifacts: Artifacts) -> Iterator[str]:
    pipeline = pipeline_of(state)
    for phase, path in _OF_ONE.items():
        if phase not in pipeline or not _lies(path, artifacts):
            continue
        if _owes(state, pipeline[phase].startup_role, phase):
            yield path
    for index in range(1, subplan_count(state, artifacts) + 1):
        path, seats = done_marker(index), (CODER, f"{CODER}-{index}")
        if index in state.completed_subplans or not _lies(path, artifacts):
            continue
        if any(_owes(state, seat, Phase.IMPLEMENTING) for seat in seats):
            yield path
    yield from (path for path in _verdicts(state, artifacts) if _lies(path, artifacts))


def _verdicts(state: SessionState, artifacts: Artifacts) -> Iterator[str]:
    nominated = nominations(state, artifacts)
    at_work = [role for role in nominated if _owes(state, role, Phase.REVIEWING)]
    for role in (role for role in at_work if role not in state.verdicts):
        # A `review.md` that holds for all reviewers also holds for this one.
        names = review_files(role, alone=len(nominated) == 1)
        yield from (REVIEW_MD, *(f"{REVIEW}/{name}" for name in names))


def _owes(state: SessionState, seat: str, phase: str) -> bool:
    """Whether the seat was launched for ``phase`` in this iteration and has not handed in yet.

    A resume record of version 0.1.0 does not say whether the seat has handed in; then the seat
    counts as having done so once the session has left the phase.
    """
    record = state.agents.get(seat, {})
    place = record.get("place") or record.get("epoch")
    if not isinstance(place, Mapping):
        return False
    if place.get("phase") != phase:
        return False
    if (place.get("cycle"), place.get("iteration")) != (state.cycle, state.iteration):
        return False
    handed_in = record.get("handed_in")
    return phase == working_phase(state) if handed_in is None else handed_in is False
