"""A session folds through the pipeline that its state holds."""

from __future__ import annotations

import pytest

from agentmux.core.codec.frozen import replace
from agentmux.core.definitions.definition import PhaseDefinition, PipelineDefinition
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.fold import transitions
from agentmux.core.fold.acceptance import Answer
from agentmux.core.fold.transitions import enter
from agentmux.core.journal.events import Approved, CodeDone, ReviewDone
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.work import wanted
from agentmux.errors import DataError
from tests.core.builders import LOGIC, QUALITY, Session, review

BY_NAME = {each.phase: each for each in FEATURE.phases}


def of(*phases: PhaseDefinition) -> PipelineDefinition:
    return PipelineDefinition(name="some", phases=phases)


QUICK = of(*(BY_NAME[name] for name in ("implementing", "reviewing", "fixing", "completing")))


def begun(pipeline: PipelineDefinition, phase: Phase) -> Session:
    """Return a session of this pipeline that has just entered a phase."""
    new = SessionState(
        phase=phase, journal_id="j", pipeline=pipeline, reviewer_nominations=(LOGIC,)
    )
    return Session(replace(enter(new, phase), pending_archive=()))


def seats(session: Session) -> list[str]:
    return [each.seat for each in wanted(session.state)]


def test_without_a_plan_the_request_is_one_sub_plan() -> None:
    session = begun(QUICK, Phase.IMPLEMENTING)
    assert seats(session) == ["coder-1"]
    assert session.state.subplan_count == 1
    session.signal("coder-1", CodeDone(), "coder", subplan=1)
    assert session.paths == ("06_implementation/done_1",)
    assert session.state.phase == Phase.REVIEWING


def test_with_a_plan_the_sub_plan_has_to_be_named() -> None:
    session = begun(FEATURE, Phase.ARCHITECTING).architected().planned()
    session.launch("coder-1", "coder", subplan=1)
    assert session.judge(CodeDone(), "coder-1").answer is Answer.IGNORED


def test_a_short_pipeline_comes_to_its_end_by_a_fix() -> None:
    session = begun(QUICK, Phase.IMPLEMENTING)
    session.signal("coder-1", CodeDone(subplan_index=1), "coder", subplan=1)
    session.reviewed(LOGIC, "fail")
    assert (session.state.phase, session.state.iteration) == (Phase.FIXING, 1)
    assert "07_review/fix_request.md" in session.paths
    assert seats(session) == ["coder"]
    session.fixed()
    assert seats(session) == [LOGIC]
    session.reviewed(LOGIC, "pass")
    assert (session.state.phase, session.state.review_outcome) == (Phase.COMPLETING, "passed")
    ended = session.summed_up().tell(Approved(), "user", id="approval")
    assert ended.phase == Phase.DONE


def test_entering_a_phase_archives_what_later_phases_left() -> None:
    session = begun(QUICK, Phase.IMPLEMENTING)
    session.signal("coder-1", CodeDone(), "coder", subplan=1)
    paths = session.state.pending_archive[-1].paths
    assert "08_completion" in paths
    assert "06_implementation" not in paths
    assert not [path for path in paths if path.startswith(("02_", "04_", "05_"))]


def test_phases_that_do_not_take_part_are_skipped_together() -> None:
    names = ("planning", "product_management", "designing", "implementing", "completing")
    session = begun(of(*(BY_NAME[name] for name in names)), Phase.PLANNING)
    session.planned()
    assert session.state.phase == Phase.IMPLEMENTING
    assert session.state.pending_archive[-1].paths == (
        "01_product_management", "05_design", "06_implementation", "08_completion",
    )  # fmt: skip


def test_without_a_review_the_work_leads_to_the_users_decision() -> None:
    session = begun(of(BY_NAME["implementing"], BY_NAME["completing"]), Phase.IMPLEMENTING)
    session.signal("coder-1", CodeDone(), "coder", subplan=1)
    assert session.state.phase == Phase.COMPLETING
    assert session.state.review_outcome is None


@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_every_nominated_reviewer_of_a_short_pipeline_counts(verdict: str) -> None:
    session = begun(QUICK, Phase.REVIEWING)
    session = Session(replace(session.state, reviewer_nominations=(LOGIC, QUALITY)))
    session.signal(LOGIC, ReviewDone(role=LOGIC, verdict="pass", review=review("pass")))
    assert session.state.phase == Phase.REVIEWING
    session.signal(QUALITY, ReviewDone(role=QUALITY, verdict=verdict, review=review(verdict)))
    expected = {"pass": Phase.COMPLETING, "fail": Phase.FIXING}
    assert session.state.phase == expected[verdict]


def test_a_phase_that_this_version_cannot_run_stops_the_fold() -> None:
    strange = of(replace(BY_NAME["implementing"], folder="mine"), BY_NAME["completing"])
    with pytest.raises(DataError, match="cannot be run yet"):
        begun(strange, Phase.IMPLEMENTING)


def test_a_session_begins_in_the_first_phase_that_it_goes_through() -> None:
    state = SessionState(phase=Phase.ARCHITECTING)
    assert transitions.begun(state) == state
    asked = replace(state, product_manager=True)
    assert transitions.begun(asked).phase == Phase.PRODUCT_MANAGEMENT
    short = transitions.begun(replace(state, pipeline=QUICK))
    assert short.phase == Phase.IMPLEMENTING
    assert short.implementation_active_plan_ids == (1,)
    assert short.reviewer_nominations == (LOGIC,)
