"""Inference walks the pipeline that it is given."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.inference import infer
from agentmux.core.definitions.definition import Kind, PipelineDefinition
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.registry import FEATURE_PIPELINE, running
from agentmux.errors import DataError
from tests.core.builders import artifacts
from tests.core.decisions.test_inference import (
    ANY_STATE,
    BUILT,
    CLEARED,
    DAMAGED,
    disk,
    state,
)

BY_NAME = {each.phase: each for each in FEATURE.phases}


def of(*names: str) -> PipelineDefinition:
    """Return a pipeline of these phases of `FEATURE`."""
    return PipelineDefinition(name="some", phases=tuple(BY_NAME[name] for name in names))


QUICK = running(of("implementing", "reviewing", "fixing", "completing"))
ONE: dict[str, Any] = {"subplan_count": 1}
FIX = {**ONE, "review_iteration": 1}


@pytest.mark.parametrize(
    ("said", "files", "values", "expected"),
    [
        ("implementing", "", ONE, "implementing"),
        ("implementing", "done_1", ONE, "reviewing"),
        ("reviewing", "done_1 logic+", ONE, "completing"),
        ("reviewing", "done_1 logic-", ONE, "reviewing"),  # an event has to record the fail
        ("fixing", "fix", FIX, "fixing"),
        ("fixing", "fix done_1", FIX, "fixing"),  # an event has to record the fix
        ("reviewing", "fix done_1", FIX, "reviewing"),
        ("completing", "done_1 logic+ summary", ONE, "completing"),
        # what the walk does not have is no gap in it
        ("planning", "", ONE, "implementing"),
        ("failed", "done_1", ONE, "reviewing"),
    ],
)
def test_a_short_pipeline_resumes_in_its_own_phases(
    said: str, files: str, values: dict[str, Any], expected: str
) -> None:
    inferred = infer(state(said, **values), artifacts(disk(files)), pipeline=QUICK)
    assert inferred.phase == expected
    assert {each.phase for each in inferred.evidence} <= set(QUICK.by_name)


def test_the_long_pipeline_is_that_of_every_session() -> None:
    for files in ("", "arch", BUILT, CLEARED):
        for said in Phase:
            session, on_disk = state(said), artifacts(disk(files))
            assert infer(session, on_disk) == infer(session, on_disk, pipeline=FEATURE_PIPELINE)


# A fix without a review has nobody who asks for it, and the check refuses it.
PARTS = ("product_management", "architecting", "planning", "designing", "implementing")
SELECTIONS = st.builds(
    lambda parts, end: of(*(name for name in PARTS if name in parts), *end, "completing"),
    st.sets(st.sampled_from(PARTS)),
    st.sampled_from([(), ("reviewing", "fixing")]),
)


@given(SELECTIONS, ANY_STATE, DAMAGED, st.booleans(), st.integers(0, 1))
def test_the_answer_is_a_phase_of_the_pipeline_and_no_gap_is_skipped(
    definition: PipelineDefinition, session: Any, files: dict[str, str], known: bool, pending: int
) -> None:
    pipeline = running(definition)
    inferred = infer(
        session, artifacts(files), state_is_known=known, pending=pending, pipeline=pipeline
    )
    if known and session.phase == Phase.DONE:
        assert inferred.phase == Phase.DONE
        return
    assert inferred.phase in pipeline.by_name
    gap = next(e.phase for e in pipeline.phases if not e.check(session, artifacts(files)).complete)
    assert inferred.artifacts_phase == gap
    if not known or (session.phase not in pipeline.by_name and not pending):
        assert inferred.phase == gap


def test_what_follows_from_a_definition_is_that_of_its_own_phases() -> None:
    implementing, reviewing, fixing, completing = QUICK.phases
    assert implementing.archives == ("06_implementation", "07_review", "08_completion")
    assert [each.next for each in QUICK.phases] == [
        Phase.REVIEWING, Phase.COMPLETING, Phase.REVIEWING, Phase.DONE,
    ]  # fmt: skip
    assert fixing.archives == ("06_implementation/done_1", *reviewing.archives)
    assert completing.archives == ("08_completion",)
    assert QUICK.mended(Phase.FIXING) is implementing
    without = running(of("architecting", "implementing", "completing"))
    assert without.phases[0].archives == (
        "02_architecting", "06_implementation", "08_completion",
    )  # fmt: skip
    assert without.phases[0].next == Phase.IMPLEMENTING


@pytest.mark.parametrize(
    "changed",
    [{"folder": "mine"}, {"phase": "threats"}, {"kind": Kind.CHECK}, {"roles": ("planner",)}],
)
def test_a_phase_that_cannot_be_run_yet_is_refused(changed: dict[str, Any]) -> None:
    strange = replace(BY_NAME["architecting"], **changed)
    with pytest.raises(DataError, match="cannot be run yet"):
        running(replace(FEATURE, phases=(strange, *FEATURE.phases[2:])))
