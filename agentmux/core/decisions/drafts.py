"""Drafts: artifacts that a seat was launched to make and has not handed in.

Pure. A draft never counts as a result, however complete it looks: at a resume its seat is launched
again and the agent is told about the draft. A file that no seat was launched for is not a draft;
such files come from older sessions or were made by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from agentmux.core.codec.frozen import replace
from agentmux.core.definitions.definition import LOOKING, Kind
from agentmux.core.documents.review import review_files
from agentmux.core.journal.state import SessionState
from agentmux.core.pipeline.artifacts import (
    PLAN_FILE,
    RESULTS,
    REVIEW_FILE,
    Artifacts,
    done_marker,
    nominations,
    reviewing,
    subplan_count,
)
from agentmux.core.pipeline.kinds import PhaseDescriptor
from agentmux.core.pipeline.registry import pipeline_of, working_phase
from agentmux.core.pipeline.results import result_of

_PLANS: Final = {PLAN_FILE}
_NOMINATING: Final = {"architecture.md"}
NOT_HANDED_IN: Final = "a draft that was not handed in"
"""The description of a draft in `Artifacts.problems`."""


def without_drafts(state: SessionState, artifacts: Artifacts) -> Artifacts:
    """Return ``artifacts`` without the drafts, so that only what was handed in counts.

    A draft is an artifact whose seat was launched to make it and has not handed it in. In the
    ``problems`` of the result, the path of each draft has the reason `NOT_HANDED_IN`. If there are
    no drafts, ``artifacts`` itself is returned.
    """
    drafts = frozenset(_drafts(state, artifacts))
    if not drafts:
        return artifacts
    names = {path.rpartition("/")[2] for path in drafts}
    return replace(
        artifacts,
        sizes={path: size for path, size in artifacts.sizes.items() if path not in drafts},
        execution_plan=None if _PLANS & names else artifacts.execution_plan,
        nominations=None if _NOMINATING & names else artifacts.nominations,
        verdicts={path: each for path, each in artifacts.verdicts.items() if path not in drafts},
        reviews={path: each for path, each in artifacts.reviews.items() if path not in drafts},
        results={path: each for path, each in artifacts.results.items() if path not in drafts},
        problems={**artifacts.problems, **dict.fromkeys(sorted(drafts), NOT_HANDED_IN)},
    )


def _lies(path: str, artifacts: Artifacts) -> bool:
    return artifacts.exists(path) or path in artifacts.verdicts


def _drafts(state: SessionState, artifacts: Artifacts) -> Iterator[str]:
    for here in pipeline_of(state).phases:
        # After the session went back to before a fix, the done marker in the folder is that of the
        # work, not that of the fix.
        is_over = here.kind is Kind.FIX and here.takes_part(state) is False
        for path in () if is_over else here.decisive:
            if _lies(path, artifacts) and _owes(state, here.startup_role, here.phase):
                yield path
        if here.kind is Kind.WORK:
            yield from _markers(state, artifacts, here)
        elif here.kind in LOOKING:
            yield from _results(state, artifacts, here)


def _results(state: SessionState, artifacts: Artifacts, here: PhaseDescriptor) -> Iterator[str]:
    yield from _find_unrecorded(state, artifacts, here)
    if here.kind is Kind.REVIEW:
        yield from (path for path in _verdicts(state, artifacts, here) if _lies(path, artifacts))


def _find_unrecorded(
    state: SessionState, artifacts: Artifacts, here: PhaseDescriptor
) -> Iterator[str]:
    """Yield the file with the outcome of a check or review if the state lacks that outcome.

    Only AgentMux writes this file, after it has recorded the event. If no state could be read, the
    file counts.
    """
    path = f"{here.folder}/{RESULTS}"
    known, outcome = state.results.get(here.phase), artifacts.results.get(path, "")
    if state.journal_id and outcome and outcome != (known.outcome if known else ""):
        yield path


def _markers(state: SessionState, artifacts: Artifacts, here: PhaseDescriptor) -> Iterator[str]:
    role = here.startup_role
    for index in range(1, subplan_count(state, artifacts) + 1):
        path, seats = done_marker(index, here.folder), (role, f"{role}-{index}")
        if index in state.completed_subplans or not _lies(path, artifacts):
            continue
        if any(_owes(state, seat, here.phase) for seat in seats):
            yield path


def _verdicts(state: SessionState, artifacts: Artifacts, here: PhaseDescriptor) -> Iterator[str]:
    roles = reviewing(nominations(state, artifacts), here.roles)
    known = result_of(state, here.phase).verdicts
    at_work = [role for role in roles if _owes(state, role, here.phase)]
    for role in (role for role in at_work if role not in known):
        # A `review.md` that holds for all reviewers also holds for this one.
        names = (REVIEW_FILE, *review_files(role, alone=len(roles) == 1))
        yield from (f"{here.folder}/{name}" for name in names)


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
