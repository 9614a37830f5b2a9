"""The files that each accepted event adds before the state is committed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agentmux.core.documents.plan import check_execution_plan
from agentmux.core.documents.review import Verdict, verdict_in
from agentmux.core.fold.implied_file import Implied
from agentmux.core.journal.events import (
    AgentLaunched,
    Approved,
    ArchitectureDone,
    ChangesRequested,
    CodeDone,
    CodeResearchDispatched,
    DesignDone,
    PhaseSettled,
    PlanDone,
    PmDone,
    ResearchDone,
    Resumed,
    ReviewDone,
    SessionFailed,
    WebResearchDispatched,
)
from agentmux.core.journal.state import Options
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.artifacts import kept_fix_request
from agentmux.core.pipeline.work import find_work
from agentmux.core.prompts.reading_list import reading
from tests.core.builders import LOGIC, QUALITY, Session, artifacts, at, found_fields, plan, review

FIX_REQUEST = "07_review/fix_request.md"


def test_product_management_leaves_its_marker() -> None:
    session = Session(Phase.PRODUCT_MANAGEMENT)
    session.signal("product-manager", PmDone())
    assert session.files == (Implied(path="01_product_management/done", text=""),)


def test_what_agents_write_themselves_is_not_written_again() -> None:
    assert at(Phase.PLANNING).files == ()
    session = at(Phase.DESIGNING)
    session.signal("designer", DesignDone())
    assert session.files == ()


def test_a_plan_leaves_its_parts_and_last_the_file_that_completes_planning() -> None:
    session = at(Phase.PLANNING).planned(("parallel", [1, 2]))
    assert session.paths == (
        "04_planning/plan.md",
        "04_planning/plan_1.md", "04_planning/tasks_1.md",
        "04_planning/plan_2.md", "04_planning/tasks_2.md",
        "04_planning/execution_plan.yaml",
    )  # fmt: skip
    made, problems = check_execution_plan(session.files[-1].fields)
    assert problems == ()
    assert made is not None
    assert made.subplan_count == 2


def test_a_sub_plan_leaves_its_marker() -> None:
    session = at(Phase.PLANNING).planned(("parallel", [1, 2])).coded(2)
    assert session.files == (Implied(path="06_implementation/done_2", text=""),)


@pytest.mark.parametrize("named", [None, 1, 2])
def test_a_fix_leaves_the_first_marker_whatever_sub_plan_the_coder_names(named: int | None) -> None:
    session = at(Phase.FIXING)
    session.signal("coder", CodeDone(subplan_index=named))
    assert session.files == (Implied(path="06_implementation/done_1", text=""),)


def test_a_signal_that_does_not_count_leaves_nothing() -> None:
    session = at(Phase.FIXING)
    session.tell(CodeDone(), "coder", "old")
    assert session.state.phase == Phase.FIXING
    assert not session.paths
    session.tell(ChangesRequested(text="x"), "user")
    assert not session.paths


def test_a_duplicate_leaves_nothing() -> None:
    session = at(Phase.PLANNING).planned(("parallel", [1, 2]))
    launch = session.launch("coder-1", "coder", subplan=1)
    session.tell(CodeDone(subplan_index=1), "coder-1", launch, id="same")
    assert session.paths
    session.tell(CodeDone(subplan_index=1), "coder-1", launch, id="same")
    assert session.files == ()


# -- research ------------------------------------------------------------------------------------


def test_research_leaves_the_request_once_and_a_marker_at_the_end() -> None:
    session = at(Phase.ARCHITECTING)
    session.signal("architect", WebResearchDispatched(topic="t", question="how?"))
    assert session.files == (Implied(path="03_research/web-t/request.md", text="# t\n\nhow?\n"),)
    session.signal("architect", CodeResearchDispatched(topic="t", question="here?"))
    assert session.paths == ("03_research/code-t/request.md",)
    session.launch("web-researcher-t", "web-researcher", topic="t")
    session.architected()
    session.signal("planner", WebResearchDispatched(topic="t", question="again?"))
    assert list(session.paths) == []
    session.signal("web-researcher-t", ResearchDone(research="web", topic="t"))
    assert session.files == (Implied(path="03_research/web-t/done", text=""),)


# -- reviews -------------------------------------------------------------------------------------


def test_a_review_that_is_not_decided_leaves_nothing() -> None:
    assert at(Phase.REVIEWING, LOGIC, QUALITY).reviewed(LOGIC, "pass").files == ()


def test_a_review_that_passed_leaves_its_text() -> None:
    session = at(Phase.COMPLETING, LOGIC, QUALITY)
    assert session.paths == ("07_review/review.md", "07_review/results.yaml")
    text = session.text("07_review/review.md")
    assert verdict_in(text) is Verdict.PASS
    assert "## logic: pass" in text
    assert "## quality: pass" in text


def test_a_review_that_failed_leaves_itself_and_the_fix_request_in_history_too() -> None:
    session = at(Phase.REVIEWING, LOGIC, QUALITY)
    session.reviewed(LOGIC, "pass").reviewed(QUALITY, "fail")
    last, kept = "history/1.0/07_review/review.md", "history/1.0/07_review/fix_request.md"
    results = "history/1.0/07_review/results.yaml"
    assert session.paths == (last, results, kept, FIX_REQUEST, FIX_REQUEST)
    assert verdict_in(session.text(last)) is Verdict.FAIL
    assert session.text(kept) == session.text(FIX_REQUEST)
    assert session.text(FIX_REQUEST).startswith("# Fix request, iteration 1")
    assert "wrong" in session.text(FIX_REQUEST)
    assert session.files[-1] == Implied(path=FIX_REQUEST, copy_of=kept)
    session.fixed()
    assert last in reading(session.state, find_work(session.state)[0], artifacts({last: "x"}))


def test_each_iteration_keeps_its_own_fix_request() -> None:
    session = at(Phase.FIXING).fixed().reviewed(LOGIC, "fail")
    assert "history/1.1/07_review/fix_request.md" in session.paths
    assert session.text(FIX_REQUEST).startswith("# Fix request, iteration 2")
    assert kept_fix_request(session.state) == "history/1.1/07_review/fix_request.md"


def test_a_fail_at_the_cap_leaves_no_fix_request() -> None:
    session = at(Phase.REVIEWING, max_review_iterations=0).reviewed(LOGIC, "fail")
    assert session.paths == ("07_review/review.md", "07_review/results.yaml")
    assert verdict_in(session.text("07_review/review.md")) is Verdict.FAIL


def test_a_failed_session_that_a_review_mends_gets_its_fix_request_too() -> None:
    session = at(Phase.REVIEWING, LOGIC, QUALITY)
    session.launch(LOGIC)
    session.launch(QUALITY)
    session.tell(SessionFailed(cause="lost twice"), QUALITY, "l")
    session.reviewed(LOGIC, "fail")
    assert session.state.phase == Phase.FIXING
    assert "wrong" in session.text(FIX_REQUEST)
    assert "history/1.0/07_review/review.md" in session.paths


def test_a_fix_that_mends_a_failed_session_leaves_the_first_marker() -> None:
    session = at(Phase.FIXING)
    session.launch("coder")
    session.tell(SessionFailed(cause="lost twice"), "coder", "l")
    session.signal("coder", CodeDone(subplan_index=2))
    assert session.paths == ("06_implementation/done_1",)


def settled_by(name: str, text: str) -> Session:
    session = at(Phase.REVIEWING)
    disk = artifacts({f"07_review/{name}": text})
    found = found_fields(session.state, disk)
    session.tell(PhaseSettled(phase="reviewing", found=found))
    assert session.state.phase == Phase.FIXING
    return session


@pytest.mark.parametrize("name", ["review_logic.yaml", "review_reviewer_logic.yaml", "review.yaml"])
def test_a_settled_review_has_the_findings_that_are_on_disk(name: str) -> None:
    assert "wrong" in settled_by(name, json.dumps(review("fail"))).text(FIX_REQUEST)


def test_a_hand_made_review_is_pointed_at_in_history() -> None:
    session = settled_by("review.md", "# Mine\n\nVerdict: fail\n\nall of it\n")
    assert not [path for path in session.paths if "/review.md" in path]  # is not overwritten
    assert "`history/1.0/07_review/review.md`" in session.text(FIX_REQUEST)


def test_a_lost_fix_request_is_put_back_while_fixing() -> None:
    session = at(Phase.FIXING)
    back = Implied(path=FIX_REQUEST, copy_of="history/1.0/07_review/fix_request.md")
    found = found_fields(session.state, artifacts({}))
    session.tell(Resumed(phase="fixing", cycle=1, found=found))
    assert session.files == (back,)
    launched = AgentLaunched(role="coder", record={}, mode="fresh", reason="r")
    session.tell(launched, "coder", "l9")
    assert session.files == (back,)
    session.fixed()
    assert session.paths == ("06_implementation/done_1",)


def test_a_resume_that_goes_back_to_fixing_keeps_what_was_to_be_fixed() -> None:
    """The fix's marker was lost while the fix was being reviewed."""
    session = at(Phase.FIXING).fixed()
    assert session.state.phase == Phase.REVIEWING
    found = found_fields(session.state, artifacts({}))
    session.tell(Resumed(phase="fixing", cycle=1, found=found))
    back = Implied(path=FIX_REQUEST, copy_of="history/1.0/07_review/fix_request.md")
    assert session.files == (back,)


def test_a_resume_that_goes_on_to_completing_writes_no_review() -> None:
    session = at(Phase.REVIEWING, LOGIC, QUALITY).reviewed(LOGIC, "pass")
    session.tell(SessionFailed(cause="lost twice"), QUALITY, "l")
    found = found_fields(session.state, artifacts({}))
    session.tell(Resumed(phase="completing", cycle=1, found=found))
    assert session.files == ()


# -- the user ------------------------------------------------------------------------------------


def test_an_approval_is_written_down() -> None:
    session = at(Phase.COMPLETING, options=Options(commit=True)).summed_up()
    session.tell(Approved(), "user", id="a1")
    (made,) = session.files
    assert made.path == "08_completion/approval.json"
    assert made.fields is not None
    assert (made.fields["event"], made.fields["by"]) == ("a1", "user")


def test_a_change_request_goes_straight_to_history() -> None:
    session = at(Phase.COMPLETING).summed_up()
    session.tell(ChangesRequested(text="in blue"), "user")
    assert session.files == (Implied(path="history/1.0/08_completion/changes.md", text="in blue"),)
    assert session.state.change_request == session.paths[0]


# -- all of them ---------------------------------------------------------------------------------


def test_each_file_says_what_is_in_it_in_exactly_one_way() -> None:
    seen: list[Implied] = []
    session = Session(Phase.PRODUCT_MANAGEMENT)
    session.signal("product-manager", PmDone())
    seen += session.files
    session.signal("architect", CodeResearchDispatched(topic="t", question="q"))
    seen += session.files
    session.signal("architect", ArchitectureDone())
    session.signal("planner", PlanDone(plan=plan(("serial", [1]))))
    seen += session.files
    seen += session.coded(1).files
    seen += session.reviewed(LOGIC, "fail").files
    seen += session.fixed().files
    seen += session.reviewed(LOGIC, "pass").summed_up().files
    session.state = replace(session.state, options=Options(commit=True))
    session.tell(Approved(), "user")
    seen += session.files
    assert len(seen) > 10
    for each in seen:
        assert [each.text is None, each.fields is None, each.copy_of is None].count(False) == 1
        assert not each.path.startswith("/")


def test_the_same_event_implies_the_same_files() -> None:
    one, other = (
        at(Phase.REVIEWING).reviewed(LOGIC, "fail").files,
        at(Phase.REVIEWING).reviewed(LOGIC, "fail").files,
    )
    assert one == other


def test_a_verdict_without_its_content_still_makes_a_fix_request() -> None:
    session = at(Phase.REVIEWING)
    session.signal(LOGIC, ReviewDone(role=LOGIC, verdict="fail"))
    assert session.state.phase == Phase.FIXING
    assert session.text(FIX_REQUEST)


def test_a_question_of_no_text_is_written_as_one() -> None:
    session = at(Phase.ARCHITECTING)
    session.signal("architect", CodeResearchDispatched(topic="t", question="what \udcff is"))
    (request,) = session.files
    assert (request.text or "").encode() == b"# t\n\nwhat ? is\n"
