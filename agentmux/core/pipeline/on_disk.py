"""Derives fields of the state from artifacts, so that an event can record them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.codec.records import Json
from agentmux.core.definitions.definition import Kind
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.pipeline.artifacts import (
    Artifacts,
    completed_subplans,
    needs_design,
    nominations,
    reviewing,
    reviews,
    subplan_count,
    verdicts,
)
from agentmux.core.pipeline.registry import pipeline_of


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFromDisk:
    """What can be derived from the artifacts of a session for its state.

    All fields but ``results`` have the names and meanings of those of `SessionState`.

    Attributes:
        results: The results of reviews on disk, by phase. Each is a mapping with ``verdicts`` and
            ``reviews``, as in the fields of a `PhaseResult`.
    """

    reviewer_nominations: tuple[str, ...] = ()
    needs_design: bool | None = None
    subplan_count: int = 0
    implementation_groups: tuple[Json, ...] = ()
    completed_subplans: tuple[int, ...] = ()
    results: Json = field(default_factory=dict)

    def values(self) -> dict[str, Any]:
        """Return all fields but `results`, by name, as keyword arguments for `SessionState`."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "results"}


def state_from_disk(
    state: SessionState, artifacts: Artifacts, phase: str | None = None
) -> StateFromDisk:
    """Return what can be derived from the artifacts for the session's state; reads no file itself.

    Args:
        state: The session's state; gives the values that the artifacts do not show.
        artifacts: The session's artifacts.
        phase: The phase in which the session will continue, which decides whose sub-plans are
            counted; None means the session's phase.
    """
    pipeline, goes_on = pipeline_of(state), phase or state.phase
    here = pipeline.work_at(goes_on)
    work = here.folder if here is not None else layout.IMPLEMENTATION
    completed = completed_subplans(state, artifacts, work)
    is_behind = here is not None and goes_on != here.phase
    if is_behind and here == pipeline.work_at(state.phase):
        # A fix has a marker of the same name in the same folder, which is archived with it.
        completed = tuple(sorted({*completed, *state.completed_subplans}))
    groups = state.implementation_groups
    if artifacts.execution_plan is not None:
        fields = artifacts.execution_plan.to_fields()["groups"]
        groups = tuple(fields) if isinstance(fields, list) else groups
    return StateFromDisk(
        reviewer_nominations=nominations(state, artifacts),
        needs_design=needs_design(state, artifacts),
        subplan_count=subplan_count(state, artifacts),
        implementation_groups=groups,
        completed_subplans=completed,
        results=_results(state, artifacts),
    )


def _results(state: SessionState, artifacts: Artifacts) -> Mapping[str, Json]:
    nominated, results = nominations(state, artifacts), dict[str, Json]()
    for each in pipeline_of(state).of_kind(Kind.REVIEW):
        roles = reviewing(nominated, each.roles)
        given = verdicts(roles, artifacts, each.folder)
        review_fields = reviews(roles, artifacts, each.folder)
        results[each.phase] = {
            "verdicts": {role: verdict.value for role, verdict in given.items()},
            "reviews": {role: fields for role, fields in review_fields.items() if fields},
        }
    return results
