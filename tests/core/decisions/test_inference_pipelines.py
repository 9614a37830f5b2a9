"""Inference walks the pipeline that it is given."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.drafts import without_drafts
from agentmux.core.decisions.inference import infer
from agentmux.core.definitions.definition import Leaf, PipelineDefinition, When
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.journal.results import Fix, PhaseResult
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.registry import pipeline_for
from tests.core.builders import artifacts
from tests.core.decisions.test_inference import (
    ANY_STATE,
    DAMAGED,
    disk,
    state,
)

BY_NAME = {each.phase: each for each in FEATURE.phases}


def of(*names: str) -> PipelineDefinition:
    """Return a pipeline of these phases of `FEATURE`."""
    return PipelineDefinition(name="some", phases=tuple(BY_NAME[name] for name in names))


QUICK = of("implementing", "reviewing", "fixing", "completing")
ONE: dict[str, Any] = {"subplan_count": 1}
FIX = {**ONE, "fix": Fix(sender="reviewing", iteration=1, sent={"reviewing": 1})}
PASSED = {**ONE, "results": {"reviewing": PhaseResult(outcome="passed")}}


def found(names: str) -> Artifacts:
    """Return the artifacts with these names; ``passed`` is the outcome of a review."""
    outcome = "passed" in names.split()
    made = artifacts(disk(" ".join(name for name in names.split() if name != "passed")))
    return replace(made, results={"07_review/results.yaml": "passed"} if outcome else {})


@pytest.mark.parametrize(
    ("said", "files", "values", "expected"),
    [
        ("implementing", "", ONE, "implementing"),
        ("implementing", "done_1", ONE, "reviewing"),
        ("reviewing", "done_1", ONE, "reviewing"),
        ("reviewing", "done_1 passed", PASSED, "completing"),
        ("reviewing", "done_1 passed", ONE, "reviewing"),  # no event has recorded it
        ("reviewing", "done_1 logic+", ONE, "completing"),  # nobody was launched for it
        ("fixing", "fix", FIX, "fixing"),
        ("fixing", "fix done_1", FIX, "fixing"),  # an event has to record the fix
        ("reviewing", "fix done_1", FIX, "reviewing"),
        ("completing", "done_1 passed summary", PASSED, "completing"),
        ("completing", "done_1 summary", PASSED, "reviewing"),  # the outcome is lost
        ("failed", "done_1", ONE, "reviewing"),
    ],
)
def test_a_short_pipeline_resumes_in_its_own_phases(
    said: str, files: str, values: dict[str, Any], expected: str
) -> None:
    session = replace(state(said, **values), pipeline=QUICK, journal_id="j")
    inferred = infer(session, found(files))
    assert inferred.phase == expected
    assert {each.phase for each in inferred.evidence} <= set(pipeline_for(QUICK).by_name)


def test_without_a_state_the_artifacts_have_to_do() -> None:
    session = replace(state("failed", **ONE), pipeline=QUICK)
    assert infer(session, found("done_1 passed"), state_is_known=False).phase == "completing"


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
    pipeline, session = pipeline_for(definition), replace(session, pipeline=definition)
    inferred = infer(session, artifacts(files), state_is_known=known, pending=pending)
    if known and session.phase == Phase.DONE:
        assert inferred.phase == Phase.DONE
        return
    assert inferred.phase in pipeline.by_name
    gap = next(e.phase for e in pipeline.phases if not e.check(session, artifacts(files)).complete)
    assert inferred.artifacts_phase == gap
    if not known or (session.phase not in pipeline.by_name and not pending):
        assert inferred.phase == gap


def test_what_follows_from_a_definition_is_that_of_its_own_phases() -> None:
    quick = pipeline_for(QUICK)
    implementing, reviewing, fixing, completing = quick.phases
    assert implementing.archives == ("06_implementation", "07_review", "08_completion")
    assert [each.next for each in quick.phases] == [
        Phase.REVIEWING, Phase.COMPLETING, Phase.REVIEWING, Phase.DONE,
    ]  # fmt: skip
    assert fixing.archives == ("06_implementation/done_1", *reviewing.archives)
    assert "07_review/results.yaml" in reviewing.archives
    assert "07_review" not in reviewing.archives  # the fix request stays
    assert completing.archives == ("08_completion",)
    assert quick.find_fixed_work(Phase.FIXING) is implementing
    without = pipeline_for(of("architecting", "implementing", "completing"))
    assert without.phases[0].archives == (
        "02_architecting", "06_implementation", "08_completion",
    )  # fmt: skip
    assert without.phases[0].next == Phase.IMPLEMENTING


def test_the_marker_of_work_that_was_done_anew_is_no_draft_of_a_fix_before() -> None:
    place = {"phase": "fixing", "cycle": 1, "iteration": 1}
    gone_back = state(
        phase="reviewing",
        pipeline=QUICK,
        journal_id="j",
        subplan_count=1,
        completed_subplans=(1,),
        agents={"coder": {"place": place, "handed_in": False}},
        fix=Fix(sender="", iteration=1),
    )
    assert infer(gone_back, found("done_1")).phase == "reviewing"
    asked = replace(gone_back, phase="fixing", fix=Fix(sender="reviewing", iteration=1))
    assert "06_implementation/done_1" in without_drafts(asked, found("done_1")).problems


def test_product_management_that_every_session_has_is_not_skipped() -> None:
    phases = tuple(
        replace(e, when=When.ALWAYS) if e.phase == "product_management" else e
        for e in FEATURE.phases
    )
    mine = PipelineDefinition(name="mine", phases=phases)
    here = state(phase="product_management", pipeline=mine)
    assert infer(here, Artifacts()).phase == "product_management"
    done = Artifacts(sizes={"01_product_management/done": 0})
    assert infer(here, done).phase == "architecting"


def test_a_document_of_version_1_keeps_its_signal_as_long_as_it_is_the_same() -> None:
    here = BY_NAME["architecting"]
    expected = {
        here: "submit_architecture",
        replace(here, prompt="mine"): "submit_architecture",
        replace(here, folder="mine"): "submit_phase",
        replace(here, leaves=(Leaf(file="other.md"),)): "submit_phase",
        replace(here, phase="threats"): "submit_phase",
    }
    for phase, signal in expected.items():
        ends = (phase, BY_NAME["completing"])
        made = pipeline_for(PipelineDefinition(name="some", phases=ends))
        assert made[phase.phase].signal == signal
