"""A session folds through the pipeline that its state holds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentmux.core.codec.frozen import replace
from agentmux.core.definitions.definition import (
    Expect,
    Kind,
    Leaf,
    PhaseDefinition,
    PipelineDefinition,
    Result,
)
from agentmux.core.definitions.feature import FEATURE
from agentmux.core.fold import transitions
from agentmux.core.fold.acceptance import Answer
from agentmux.core.fold.implied_results import of_results
from agentmux.core.fold.transitions import decide_check, enter
from agentmux.core.journal.events import (
    Approved,
    ChangesRequested,
    CodeDone,
    DesignDone,
    PhaseDone,
    Resumed,
    ReviewDone,
    SummaryDone,
)
from agentmux.core.journal.results import CheckResult, Fix
from agentmux.core.journal.state import Options, SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.check_phase import with_check
from agentmux.core.pipeline.registry import pipeline_of
from agentmux.core.pipeline.results import outcome
from agentmux.core.pipeline.work import find_work
from tests.core.builders import (
    LOGIC,
    QUALITY,
    Session,
    artifacts,
    event,
    found_fields,
    outcome_of,
    review,
)

BY_NAME = {each.phase: each for each in FEATURE.phases}


def of(*phases: PhaseDefinition) -> PipelineDefinition:
    return PipelineDefinition(name="some", phases=phases)


QUICK = of(*(BY_NAME[name] for name in ("implementing", "reviewing", "fixing", "completing")))


def begun(pipeline: PipelineDefinition, phase: str) -> Session:
    """Return a session of this pipeline that has just entered a phase."""
    new = SessionState(
        phase=phase, journal_id="j", pipeline=pipeline, reviewer_nominations=(LOGIC,)
    )
    return Session(replace(enter(new, phase), pending_archive=()))


def seats(session: Session) -> list[str]:
    return [each.seat for each in find_work(session.state)]


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
    assert session.state.fix == Fix(sender="reviewing", iteration=1, sent={"reviewing": 1})
    assert session.paths == (
        "history/1.0/07_review/review.md", "history/1.0/07_review/results.yaml",
        "history/1.0/07_review/fix_request.md", "07_review/fix_request.md",
        "07_review/fix_request.md",
    )  # fmt: skip
    assert seats(session) == ["coder"]
    session.fixed()
    assert [*session.paths] == ["06_implementation/done_1"]
    assert seats(session) == [LOGIC]
    session.reviewed(LOGIC, "pass")
    assert (session.state.phase, outcome(session.state)) == (Phase.COMPLETING, "passed")
    assert [*session.paths] == ["07_review/review.md", "07_review/results.yaml"]
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
    assert outcome_of(session.state) is None


@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_every_nominated_reviewer_of_a_short_pipeline_counts(verdict: str) -> None:
    session = begun(QUICK, Phase.REVIEWING)
    session = Session(replace(session.state, reviewer_nominations=(LOGIC, QUALITY)))
    session.signal(LOGIC, ReviewDone(role=LOGIC, verdict="pass", review=review("pass")))
    assert session.state.phase == Phase.REVIEWING
    session.signal(QUALITY, ReviewDone(role=QUALITY, verdict=verdict, review=review(verdict)))
    expected = {"pass": Phase.COMPLETING, "fail": Phase.FIXING}
    assert session.state.phase == expected[verdict]


def test_a_session_begins_in_the_first_phase_that_it_goes_through() -> None:
    state = SessionState(phase=Phase.ARCHITECTING)
    assert transitions.begin_session(state) == state
    asked = replace(state, product_manager=True)
    assert transitions.begin_session(asked).phase == Phase.PRODUCT_MANAGEMENT
    short = transitions.begin_session(replace(state, pipeline=QUICK))
    assert short.phase == Phase.IMPLEMENTING
    assert short.implementation_active_plan_ids == (1,)
    assert short.reviewer_nominations == (LOGIC,)


# -- checks, and the loop of fixes ---------------------------------------------------------------

VERIFYING = PhaseDefinition(
    phase="verifying", kind=Kind.CHECK, folder="verifying", on_fail="fixing"
)
TESTS = {"name": "tests", "run": ["true"], "timeout_s": 60, "required": True}
TYPES = {**TESTS, "name": "types", "required": False}
CHECKED = of(
    *(BY_NAME["implementing"], VERIFYING),
    *(BY_NAME[name] for name in ("reviewing", "fixing", "completing")),
)


def checking(session: Session, **outcomes: str) -> Session:
    """Return the session after its commands have shown this."""
    state = session.state
    for name, said in outcomes.items():
        state = with_check(
            state, state.phase, name, CheckResult(outcome=said, required=name == "tests")
        )
    after = decide_check(state)
    session.files = of_results(state, event(SummaryDone()), after)
    session.state = replace(after, pending_archive=())
    return session


def verifying(pipeline: PipelineDefinition = CHECKED, **values: Any) -> Session:
    """Return a session whose work is done, so that it is about to be checked."""
    session = begun(pipeline, Phase.IMPLEMENTING)
    session = Session(replace(session.state, verify=(TESTS, TYPES), **values))
    session.signal("coder-1", CodeDone(), "coder", subplan=1)
    assert session.state.phase == "verifying"
    return session


def test_without_commands_a_check_takes_no_part() -> None:
    session = begun(CHECKED, Phase.IMPLEMENTING)
    session.signal("coder-1", CodeDone(), "coder", subplan=1)
    assert session.state.phase == Phase.REVIEWING


@pytest.mark.parametrize(
    ("outcomes", "phase"),
    [
        ({"tests": "passed"}, "verifying"),  # the other one is still to come
        ({"tests": "passed", "types": "passed"}, "reviewing"),
        ({"tests": "passed", "types": "failed"}, "reviewing"),  # only reported
        ({"tests": "failed", "types": "passed"}, "fixing"),
        ({"tests": "broken", "types": "passed"}, "verifying"),  # the user is asked
    ],
)
def test_what_a_check_leads_to(outcomes: dict[str, str], phase: str) -> None:
    session = checking(verifying(), **outcomes)
    assert session.state.phase == phase
    left = [] if "types" in outcomes else ["check-types"]
    assert seats(session) == {"reviewing": [LOGIC], "fixing": ["coder"]}.get(phase, left)


def test_after_a_fix_everything_behind_the_work_looks_again() -> None:
    session = checking(verifying(), tests="passed", types="passed").reviewed(LOGIC, "fail")
    assert session.state.phase == Phase.FIXING
    assert {"verifying/results.yaml", "verifying/output", "07_review/results.yaml"} <= {
        *session.state.pending_archive[-1].paths
    }
    assert session.state.results.keys() == {"reviewing"}  # it says what is to be fixed
    assert outcome(session.state) == ""
    session.fixed()
    assert session.state.phase == "verifying"
    assert session.state.results.keys() <= {"verifying"}
    assert seats(checking(session, tests="passed", types="passed")) == [LOGIC]


def test_each_sender_has_its_own_fix_request_and_its_own_cap() -> None:
    session = verifying(max_review_iterations=2)
    for number in (1, 2):
        checking(session, tests="failed", types="passed")
        assert "verifying/fix_request.md" in session.paths
        assert session.state.fix is not None
        assert session.state.fix.sent == {"verifying": number}
        session.fixed()
    checking(session, tests="failed", types="passed")
    assert session.state.phase == Phase.REVIEWING
    assert session.state.results["verifying"].outcome == "capped"
    assert session.paths == ("verifying/results.yaml",)
    session.reviewed(LOGIC, "fail")  # the cap of the check is not that of the review
    assert (session.state.phase, session.state.iteration) == (Phase.FIXING, 3)
    assert "07_review/fix_request.md" in session.paths
    assert "history/1.2/07_review/results.yaml" in session.paths
    session.fixed()
    checking(session, tests="passed", types="passed").reviewed(LOGIC, "pass")
    assert outcome(session.state) == "passed"  # what was capped before the fix does not count


def test_a_request_of_the_user_is_fixed_in_a_new_cycle_with_caps_that_begin_anew() -> None:
    session = checking(verifying(), tests="failed", types="passed").fixed()
    checking(session, tests="passed", types="passed").reviewed(LOGIC, "pass").summed_up()
    session.tell(ChangesRequested(text="more", phase="fixing"), "user")
    state = session.state
    assert (state.phase, state.cycle, state.iteration) == (Phase.FIXING, 2, 1)
    assert state.fix == Fix(sender="reviewing", iteration=1)
    assert state.pending_archive[-1].to == "history/1.1"
    assert session.text("07_review/fix_request.md").startswith("# Fix request of the user")
    assert seats(session) == ["coder"]
    session.fixed()
    assert session.state.phase == "verifying"


def test_a_new_cycle_begins_with_the_first_phase_and_iteration_0() -> None:
    session = checking(verifying(), tests="failed", types="passed").fixed()
    checking(session, tests="passed", types="passed").reviewed(LOGIC, "pass").summed_up()
    session.tell(ChangesRequested(text="more"), "user")
    state = session.state
    assert (state.phase, state.cycle, state.iteration) == (Phase.IMPLEMENTING, 2, 0)
    assert not state.results
    assert seats(session) == ["coder-1"]


def test_work_that_is_done_anew_ends_the_fix_but_no_iteration_comes_twice() -> None:
    session = checking(verifying(), tests="failed", types="passed")
    found = found_fields(session.state, artifacts({}))
    session.tell(Resumed(phase="implementing", cycle=1, found=found, override=True))
    assert session.state.fix == Fix(sender="", iteration=1)
    assert not pipeline_of(session.state)["fixing"].takes_part(session.state)
    session.signal("coder-1", CodeDone(), "coder", subplan=1)
    checking(session, tests="failed", types="passed")
    assert session.state.fix == Fix(sender="verifying", iteration=2, sent={"verifying": 1})


def test_a_resume_goes_on_with_what_an_open_review_has() -> None:
    session = checking(verifying(), tests="passed", types="passed")
    session.state = replace(session.state, reviewer_nominations=(LOGIC, QUALITY))
    session.reviewed(LOGIC, "pass")
    given = artifacts({"07_review/review_logic.yaml": json.dumps(review("pass"))})
    found = found_fields(session.state, given)
    session.tell(Resumed(phase="reviewing", cycle=1, found=found))
    assert seats(session) == [QUALITY]
    lost = found_fields(session.state, artifacts({}))
    session.tell(Resumed(phase="reviewing", cycle=1, found=lost))
    assert seats(session) == [LOGIC, QUALITY]
    session.tell(Resumed(phase="verifying", cycle=1, found=found))  # its results are lost
    assert not session.state.results


REPRODUCING = PhaseDefinition(
    phase="reproducing", kind=Kind.WORK, folder="reproducing", roles=("coder",)
)
REPRODUCED = PhaseDefinition(
    phase="reproduced", kind=Kind.CHECK, folder="reproduced", on_fail="fixing", expect=Expect.FAIL
)
BUG = of(REPRODUCING, REPRODUCED, *CHECKED.phases)


def test_a_failed_reproduction_does_not_skip_the_work() -> None:
    session = begun(BUG, "reproducing")
    session = Session(replace(session.state, verify=(TESTS,)))
    session.signal("coder-1", CodeDone(), "coder", subplan=1)
    assert session.paths == ("reproducing/done_1",)
    assert checking(session, tests="passed").state.phase == Phase.FIXING  # no test fails yet
    assert session.fixed().state.phase == "reproduced"
    assert checking(session, tests="failed").state.phase == Phase.IMPLEMENTING
    assert session.state.iteration == 1
    session.signal("coder-1", CodeDone(), "coder", subplan=1)
    assert checking(session, tests="failed").state.phase == Phase.FIXING
    assert session.fixed().state.phase == "verifying"
    assert session.state.results["reproduced"].outcome == "passed"


# -- documents, and what a session leaves ---------------------------------------------------------

THREATS = PhaseDefinition(
    phase="threats", kind=Kind.DOCUMENT, folder="threats", roles=("architect",),
    leaves=(Leaf(file="threats.md"),),
)  # fmt: skip
SECURITY = PhaseDefinition(
    phase="security", kind=Kind.REVIEW, folder="security", roles=("security",), on_fail="fixing"
)
OWN = of(THREATS, BY_NAME["implementing"], SECURITY, BY_NAME["fixing"], BY_NAME["completing"])


def test_a_phase_of_ones_own_ends_with_its_signal() -> None:
    session = begun(OWN, "threats")
    session.launch("architect")
    for fact in (DesignDone(), PhaseDone(phase="other")):
        assert session.judge(fact, "architect").answer is Answer.IGNORED
    session.signal("architect", PhaseDone(phase="threats", sha256="1"))
    assert session.state.phase == Phase.IMPLEMENTING
    session.signal("coder-1", CodeDone(), "coder", subplan=1)
    assert seats(session) == ["security"]  # a role of one's own reviews without a nomination
    session.reviewed("security", "fail")
    assert "security/fix_request.md" in session.paths
    session.fixed()
    session.reviewed("security", "pass")
    assert session.state.phase == Phase.COMPLETING
    assert seats(session) == [LOGIC]


def test_a_report_is_approved_without_a_commit() -> None:
    report = replace(OWN, result=Result.REPORT)
    session = begun(replace(report, phases=(THREATS, BY_NAME["completing"])), "threats")
    session = Session(replace(session.state, options=Options(commit=True)))
    session.signal("architect", PhaseDone(phase="threats"))
    ended = session.summed_up().tell(Approved(), "user", id="approval")
    assert ended.phase == Phase.DONE
    assert ended.commit is None
