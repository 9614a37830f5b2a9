"""The fold, rule by rule: how each event changes the state."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from agentmux.core.codec.records import FieldError
from agentmux.core.fold.apply import advance, apply, fold
from agentmux.core.fold.implied import derive_files
from agentmux.core.journal.events import (
    AgentExited,
    AgentLaunched,
    AgentNudged,
    AgentStalled,
    Approved,
    ArchitectureDone,
    ArtifactsArchived,
    ChangesRequested,
    CodeDone,
    CodeResearchDispatched,
    CommitDelayed,
    CommitFailed,
    CommitMade,
    CommitStarted,
    ConversationLearned,
    DesignDone,
    Hello,
    JournalCreated,
    LaunchChosen,
    PhaseSettled,
    PlanDone,
    PmDone,
    PromptReached,
    ResearchDone,
    ResearchTold,
    Resumed,
    ReviewDone,
    SeatRestarted,
    SessionFailed,
    SessionImported,
    SessionInterrupted,
    SessionStarted,
    SummaryDone,
    WebResearchDispatched,
)
from agentmux.core.journal.results import Fix
from agentmux.core.journal.state import (
    ArchivedArtifacts,
    Commit,
    Options,
    SessionState,
    decode,
    encode,
)
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.artifacts import done_marker
from agentmux.core.pipeline.registry import PIPELINE
from agentmux.core.pipeline.work import find_work
from tests.core.builders import (
    EXPERT,
    LOGIC,
    QUALITY,
    Session,
    artifacts,
    at,
    event,
    found_fields,
    outcome_of,
    plan,
    review,
)

NOTHING_FOUND: dict[str, Any] = {}


# -- the fold itself -----------------------------------------------------------------------------


def test_a_fold_moves_the_cursor_line_by_line() -> None:
    lines = [
        (event(JournalCreated(journal_id="j"), id="a"), 80),
        (event(SessionStarted(state={"phase": "architecting", "feature": "f"}), id="b"), 200),
    ]
    state = fold(SessionState(phase=Phase.ARCHITECTING), lines)
    assert (state.applied_offset, state.revision, state.last_event_id) == (200, 2, "b")
    assert (state.journal_id, state.feature) == ("j", "f")
    assert state.last_event == "session_started"


def test_an_ignored_signal_moves_the_cursor_and_nothing_else() -> None:
    before = at(Phase.PLANNING).state
    late = event(ArchitectureDone(), "architect", "gone")
    assert apply(before, late) is before
    after = advance(before, late, 999)
    assert after.applied_offset == 999
    assert after.last_event == before.last_event
    assert after.signals == before.signals


def test_a_session_begins_with_what_its_first_fact_holds() -> None:
    session = Session(SessionState(phase=Phase.ARCHITECTING))
    session.tell(JournalCreated(journal_id="j1"))
    began = session.tell(
        SessionStarted(state={"phase": "product_management", "product_manager": True, "new": 1})
    )
    assert began.phase == Phase.PRODUCT_MANAGEMENT
    assert began.journal_id == "j1"
    assert began.extra == {"new": 1}


def test_a_failed_session_is_imported_from_its_phase_alone() -> None:
    session = Session(Phase.ARCHITECTING)
    assert session.tell(SessionImported(state={"phase": "failed"})).phase == Phase.FAILED


def test_a_first_fact_without_a_phase_names_itself() -> None:
    with pytest.raises(FieldError, match="`session_started` event: `phase` is missing"):
        Session(Phase.ARCHITECTING).tell(SessionStarted(state={}))


# -- phase after phase ---------------------------------------------------------------------------

NEXT = [
    ("product management", Phase.PRODUCT_MANAGEMENT, "product-manager", PmDone(), "architecting"),
    ("architecture", Phase.ARCHITECTING, "architect", ArchitectureDone(), "planning"),
    ("plan", Phase.PLANNING, "planner", PlanDone(plan=plan(("serial", [1]))), "implementing"),
    (
        "plan that needs a design", Phase.PLANNING, "planner",
        PlanDone(plan=plan(("serial", [1]), needs_design=True)), "designing",
    ),
    ("design", Phase.DESIGNING, "designer", DesignDone(), "implementing"),
    ("fix", Phase.FIXING, "coder", CodeDone(), "reviewing"),
    ("summary", Phase.COMPLETING, LOGIC, SummaryDone(), "completing"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "phase", "seat", "fact", "following"), NEXT, ids=str)
def test_a_signal_leads_to_the_next_phase(
    name: str, phase: Phase, seat: str, fact: Any, following: str
) -> None:
    session = Session(phase) if phase == Phase.PRODUCT_MANAGEMENT else at(phase)
    session.tell(ArtifactsArchived())
    after = session.signal(seat, fact)
    assert after.phase == following
    assert after.last_event == fact.kind
    # A phase that is skipped is archived as if it had been entered.
    entered = PIPELINE[phase].next if after.phase != phase else None
    archived = [each.paths for each in after.pending_archive]
    assert archived == ([PIPELINE[entered].archives] if entered else [])
    assert not after.seats


@pytest.mark.parametrize(
    ("phase", "to"),
    [
        (Phase.PLANNING, "history/1.0"),
        (Phase.DESIGNING, "history/1.0"),
        (Phase.REVIEWING, "history/1.0"),
        (Phase.FIXING, "history/1.0"),
    ],
)
def test_what_an_earlier_attempt_left_goes_to_the_history_of_its_iteration(
    phase: Phase, to: str
) -> None:
    assert at(phase).state.pending_archive[-1] == ArchivedArtifacts(
        to=to, paths=PIPELINE[phase].archives
    )


def test_archives_wait_until_they_are_made() -> None:
    session = at(Phase.PLANNING).planned()
    assert [each.paths for each in session.state.pending_archive] == [
        PIPELINE[Phase.PLANNING].archives,
        PIPELINE[Phase.DESIGNING].archives,
    ]
    assert session.tell(ArtifactsArchived()).pending_archive == ()


def test_a_plan_without_a_design_leaves_none_of_an_earlier_plan() -> None:
    """The design belongs to an earlier plan that was lost, not to the new plan."""
    session = at(Phase.DESIGNING)
    session.signal("designer", DesignDone())
    session.tell(ArtifactsArchived())
    session.tell(Resumed(phase="planning", cycle=1, found={}))
    assert layout.DESIGN not in archived(session.state)
    session.planned()
    assert session.state.phase == Phase.IMPLEMENTING
    assert layout.DESIGN in archived(session.state)


def archived(state: SessionState) -> set[str]:
    return {path for each in state.pending_archive for path in each.paths}


def test_an_archive_that_came_later_than_the_move_waits_for_its_own() -> None:
    session = at(Phase.PLANNING).planned()
    _, second = session.state.pending_archive
    assert session.tell(ArtifactsArchived(moved=1)).pending_archive == (second,)
    assert session.tell(ArtifactsArchived(moved=1)).pending_archive == ()


def test_an_architecture_nominates_the_reviewers() -> None:
    assert at(Phase.PLANNING, LOGIC, EXPERT).state.reviewer_nominations == (LOGIC, EXPERT)


def test_an_architecture_that_nominates_nobody_gets_the_logic_reviewer() -> None:
    session = at(Phase.ARCHITECTING)
    assert session.signal("architect", ArchitectureDone()).reviewer_nominations == (LOGIC,)


def test_a_plan_says_how_many_sub_plans_in_which_groups() -> None:
    session = at(Phase.PLANNING).planned(("parallel", [1, 2]), ("serial", [3, 4]))
    state = session.state
    assert state.subplan_count == 4
    assert state.needs_design is False
    assert state.implementation_group_total == 2
    assert [group["group_id"] for group in state.implementation_groups] == ["g1", "g2"]


# -- implementing --------------------------------------------------------------------------------


def progress(state: SessionState) -> tuple[object, ...]:
    return (
        state.implementation_group_index,
        state.implementation_group_mode,
        state.implementation_active_plan_ids,
        state.completed_subplans,
        state.implementation_completed_group_ids,
    )


def test_groups_run_one_after_the_other() -> None:
    session = at(Phase.PLANNING).planned(("parallel", [2, 1]), ("serial", [3, 4]))
    seen = [progress(session.state)]
    for index in (1, 2, 3, 4):
        session.coded(index)
        seen.append(progress(session.state))
    assert seen == [
        (0, "parallel", (2, 1), (), ()),
        (0, "parallel", (2,), (1,), ()),
        (1, "serial", (3,), (1, 2), ("g1",)),
        (1, "serial", (4,), (1, 2, 3), ("g1",)),
        (2, "", (), (1, 2, 3, 4), ("g1", "g2")),
    ]
    assert session.state.phase == Phase.REVIEWING
    assert session.state.iteration == 0


def test_a_coder_that_is_done_gives_its_seat_up_and_its_neighbour_keeps_its_own() -> None:
    session = at(Phase.PLANNING).planned(("parallel", [1, 2]))
    session.launch("coder-2", "coder", subplan=2)
    assert set(session.coded(1).state.seats) == {"coder-2"}


def test_a_single_coder_keeps_its_seat_for_the_whole_plan() -> None:
    options = Options(single_coder=True)
    session = at(Phase.PLANNING, options=options).planned(("serial", [1, 2]), ("parallel", [3]))
    assert session.state.implementation_single_coder
    assert session.state.implementation_active_plan_ids == (1, 2, 3)
    after = session.coded(2).state
    assert set(after.seats) == {"coder"}
    assert after.implementation_active_plan_ids == (1, 3)
    assert session.coded(1, 3).state.phase == Phase.REVIEWING
    assert not session.state.seats


def test_whether_one_coder_has_it_all_is_taken_from_state_on_resume() -> None:
    session = at(Phase.PLANNING, options=Options(single_coder=True)).planned(("serial", [1, 2]))
    session.state = replace(session.state, options=Options(single_coder=False))
    disk = artifacts({})
    resumed = session.tell(
        Resumed(
            phase="implementing", cycle=1,
            found=found_fields(session.state, disk),
        )
    )  # fmt: skip
    assert resumed.implementation_single_coder


# -- reviewing and fixing ------------------------------------------------------------------------

P, F = "pass", "fail"
REVIEWS = [
    # nominated, verdicts in the order of arrival, phase afterwards, outcome afterwards
    ([LOGIC], [(LOGIC, P)], "completing", "passed"),
    ([LOGIC], [(LOGIC, F)], "fixing", None),
    ([LOGIC, QUALITY], [(QUALITY, P)], "reviewing", None),
    ([LOGIC, QUALITY], [(QUALITY, P), (LOGIC, P)], "completing", "passed"),
    ([LOGIC, QUALITY], [(QUALITY, F)], "fixing", None),
    ([LOGIC, QUALITY, EXPERT], [(LOGIC, P), (EXPERT, P)], "reviewing", None),
    ([LOGIC, QUALITY, EXPERT], [(LOGIC, P), (EXPERT, F)], "fixing", None),
    ([EXPERT], [(EXPERT, P)], "completing", "passed"),
]


@pytest.mark.parametrize(("nominated", "verdicts", "phase", "outcome"), REVIEWS)
def test_a_review_is_decided_by_a_fail_or_by_all(
    nominated: list[str], verdicts: list[tuple[str, str]], phase: str, outcome: str | None
) -> None:
    session = at(Phase.REVIEWING, *nominated)
    for role in nominated:
        session.launch(role)
    for role, verdict in verdicts:
        session.reviewed(role, verdict)
    assert session.state.phase == phase
    assert outcome_of(session.state) == outcome
    if phase != "reviewing":
        assert not session.state.seats  # the others are stopped


def test_a_fix_starts_the_next_iteration_and_forgets_the_verdicts() -> None:
    session = at(Phase.FIXING, LOGIC, QUALITY)
    assert session.state.iteration == 1
    assert session.state.results["reviewing"].outcome == "failed"
    assert session.state.pending_archive[-1].to == "history/1.0"
    session.fixed()
    assert session.state.phase == Phase.REVIEWING
    assert session.state.pending_archive[-1].to == "history/1.1"
    assert session.state.iteration == 1


@pytest.mark.parametrize("cap", [0, 1, 3])
def test_a_fail_at_the_cap_goes_to_completing(cap: int) -> None:
    session = at(Phase.REVIEWING, max_review_iterations=cap)
    for iteration in range(1, cap + 1):
        assert session.reviewed(LOGIC, "fail").state.phase == Phase.FIXING
        assert session.state.iteration == iteration
        session.fixed()
    session.reviewed(LOGIC, "fail")
    assert session.state.phase == Phase.COMPLETING
    assert outcome_of(session.state) == "capped"
    assert session.state.iteration == cap


def test_a_pass_at_the_cap_is_a_pass() -> None:
    session = at(Phase.REVIEWING, max_review_iterations=1)
    session.reviewed(LOGIC, "fail").fixed().reviewed(LOGIC, "pass")
    assert outcome_of(session.state) == "passed"


def test_an_absent_iteration_counts_as_none_made() -> None:
    session = Session(Phase.REVIEWING, reviewer_nominations=(LOGIC,))
    assert session.reviewed(LOGIC, "fail").state.iteration == 1


def test_implementing_anew_has_an_iteration_of_its_own() -> None:
    session = at(Phase.FIXING)
    again = session.tell(
        Resumed(
            phase="implementing", cycle=1, override=True,
            found=found_fields(session.state, artifacts({})),
        )
    )  # fmt: skip
    assert again.iteration == 1  # no two attempts of a cycle have the same one
    assert again.fix is not None
    assert (again.fix.sender, again.fix.sent) == ("", {})
    assert again.completed_subplans == ()
    assert again.implementation_active_plan_ids == (1,)


# -- completing and cycles -----------------------------------------------------------------------


def completing(**values: Any) -> Session:
    return at(Phase.COMPLETING, **values).summed_up()


def test_approving_without_a_commit_is_done() -> None:
    session = completing()
    assert session.tell(Approved(), "user").phase == Phase.DONE
    assert not session.state.seats


def test_approving_with_a_commit_waits_for_it() -> None:
    session = completing(options=Options(commit=True))
    approved = session.tell(Approved(), "user", id="a1")
    assert (approved.phase, approved.approval, approved.commit) == (Phase.COMPLETING, "a1", None)
    started = session.tell(CommitStarted(approval="a1"))
    assert started.commit == Commit(status="committing", approval="a1")
    made = session.tell(CommitMade(commit="c0ffee"))
    assert made.phase == Phase.DONE
    assert made.commit == Commit(status="made", approval="a1", commit="c0ffee")


def test_an_approval_ends_whoever_still_writes_a_summary() -> None:
    session = at(Phase.COMPLETING, LOGIC, options=Options(commit=True))
    launch = session.launch(LOGIC)
    session.tell(AgentExited(cause="finished", status=0), LOGIC, launch)
    assert LOGIC in session.state.seats
    assert session.tell(Approved(), "user", id="a1").seats == {}


def test_a_commit_that_waits_keeps_its_approval() -> None:
    session = completing(options=Options(commit=True))
    session.tell(Approved(), "user", id="a1")
    session.tell(CommitStarted(approval="a1"))
    delayed = session.tell(CommitDelayed(reason="a lock"))
    assert (delayed.phase, delayed.approval) == (Phase.COMPLETING, "a1")
    assert delayed.commit == Commit(status="delayed", approval="a1", reason="a lock")
    assert session.tell(CommitMade(commit="c0ffee")).phase == Phase.DONE


def test_a_commit_with_nothing_in_it_is_done_too() -> None:
    session = completing(options=Options(commit=True))
    session.tell(Approved(), "user", id="a1")
    assert session.tell(CommitMade(commit=None)).commit == Commit(status="none", approval="a1")
    assert session.state.phase == Phase.DONE


def test_a_commit_that_fails_leaves_the_decision_to_the_user() -> None:
    session = completing(options=Options(commit=True))
    session.tell(Approved(), "user", id="a1")
    session.tell(CommitStarted(approval="a1"))
    failed = session.tell(CommitFailed(reason="the hook said no"))
    assert failed.phase == Phase.COMPLETING
    assert failed.approval is None
    assert failed.commit == Commit(status="failed", approval="a1", reason="the hook said no")
    again = session.tell(Approved(), "user", id="a2")
    assert again.approval == "a2"


def test_a_commit_that_fails_waits_for_no_summary_that_was_waived() -> None:
    session = at(Phase.COMPLETING, LOGIC, options=Options(commit=True))
    launch = session.launch(LOGIC)
    session.tell(AgentExited(cause="finished", status=0), LOGIC, launch)
    session.tell(Approved(), "user", id="a1")
    session.tell(CommitFailed(reason="the hook said no"))
    assert find_work(session.state) == ()
    assert session.tell(Approved(), "user", id="a2").approval == "a2"


def cycled() -> Session:
    session = at(Phase.REVIEWING, LOGIC, QUALITY)
    session.reviewed(LOGIC, "fail").fixed().reviewed(LOGIC, "pass").reviewed(QUALITY, "pass")
    session.summed_up().tell(ChangesRequested(text="in blue"), "user")
    return session


def test_a_change_request_starts_the_next_cycle_at_architecting() -> None:
    state = cycled().state
    assert (state.phase, state.cycle) == (Phase.ARCHITECTING, 2)
    assert state.change_request == "history/1.1/08_completion/changes.md"
    assert state.pending_archive[-1] == ArchivedArtifacts(
        to="history/1.1", paths=PIPELINE[Phase.ARCHITECTING].archives
    )


def small_change() -> Session:
    session = at(Phase.REVIEWING, LOGIC, QUALITY)
    session.reviewed(LOGIC, "pass").reviewed(QUALITY, "pass").summed_up()
    session.tell(ArtifactsArchived())
    session.tell(ChangesRequested(text="in blue", phase="fixing"), "user")
    return session


def test_a_small_change_goes_to_one_coder_as_a_fix_request() -> None:
    session = small_change()
    state = session.state
    assert (state.phase, state.cycle, state.iteration) == (Phase.FIXING, 2, 1)
    assert [work.seat for work in find_work(state)] == ["coder"]
    assert "in blue" in session.text("07_review/fix_request.md")
    assert state.completed_subplans == (1,)
    assert (state.results, state.summary_submitted) == ({}, False)


def test_a_small_change_archives_verdicts_and_summary_only() -> None:
    (archive,) = small_change().state.pending_archive
    assert archive.to == "history/1.0"
    folders = {path.partition("/")[0] for path in archive.paths}
    assert folders == {"06_implementation", "07_review", "08_completion"}
    assert {path for path in archive.paths if path.startswith("06")} == {done_marker(1)}
    assert "07_review" not in archive.paths, "the fix request lies there"


def test_the_cap_on_iterations_counts_from_a_small_change_on() -> None:
    session = small_change().fixed()
    for iteration in range(2, session.state.max_review_iterations + 2):
        session.reviewed(LOGIC, "fail")
        assert (session.state.phase, session.state.iteration) == (Phase.FIXING, iteration)
        session.fixed()
    session.reviewed(LOGIC, "fail")
    assert (session.state.phase, outcome_of(session.state)) == (Phase.COMPLETING, "capped")


@pytest.mark.parametrize("phase", ["planning", "implementing"])
def test_a_cycle_that_begins_later_keeps_what_was_before(phase: str) -> None:
    session = at(Phase.COMPLETING).summed_up()
    session.tell(ArtifactsArchived())
    state = session.tell(ChangesRequested(text="in blue", phase=phase), "user")
    assert (state.phase, state.cycle, state.iteration) == (phase, 2, 0)
    assert state.pending_archive[-1].paths == PIPELINE[phase].archives
    assert state.reviewer_nominations == (LOGIC,)
    assert state.change_request == "history/1.0/08_completion/changes.md"


def test_only_the_approved_files_are_remembered() -> None:
    session = at(Phase.COMPLETING, options=Options(commit=True)).summed_up()
    assert session.tell(Approved(tree="t1"), "user").approved_tree == "t1"
    session.tell(CommitFailed(reason="a hook"))
    assert session.tell(Approved(), "user").approved_tree == ""


def test_what_was_agreed_to_ends_with_a_request_for_changes() -> None:
    session = at(Phase.COMPLETING, options=Options(commit=True)).summed_up()
    approved = session.tell(Approved(tree="t1", brings_back=("1 one",)), "user")
    assert (approved.approved_tree, approved.approved_back) == ("t1", ("1 one",))
    session.tell(CommitFailed(reason="a hook"))
    state = session.tell(ChangesRequested(text="in blue"), "user")
    assert (state.approved_tree, state.approved_back) == ("", ())


def test_nothing_of_the_first_cycle_counts_in_the_second() -> None:
    state = cycled().state
    fresh = SessionState(phase=Phase.ARCHITECTING)
    decided = (
        "reviewer_nominations", "needs_design", "subplan_count", "completed_subplans",
        "implementation_groups", "implementation_group_total", "implementation_group_index",
        "implementation_group_mode", "implementation_active_plan_ids",
        "implementation_completed_group_ids", "results", "fix",
        "summary_submitted", "approval", "commit", "seats",
    )  # fmt: skip
    assert {n: getattr(state, n) for n in decided} == {n: getattr(fresh, n) for n in decided}
    assert state.iteration == 0


def test_research_of_the_first_cycle_stays() -> None:
    session = completing(research_tasks={"t": "done"}, web_research_tasks={"u": "done"})
    state = session.tell(ChangesRequested(text="more"), "user")
    assert (state.research_tasks, state.web_research_tasks) == ({"t": "done"}, {"u": "done"})


def test_a_researcher_of_the_first_cycle_is_launched_anew_in_the_second() -> None:
    """The old launch's signals have the first cycle, so they would always be ignored."""
    session = completing(research_tasks={"t": "dispatched"})
    session.launch("code-researcher-t", "code-researcher", topic="t")
    state = session.tell(ChangesRequested(text="more"), "user")
    assert state.research_tasks == {"t": "dispatched"}
    assert not state.seats


def test_the_change_request_is_kept_when_architecting_is_entered_once_more() -> None:
    session = cycled().architected(LOGIC)
    state = session.tell(
        Resumed(
            phase="architecting", cycle=2, override=True,
            found=found_fields(session.state, artifacts({})),
        )
    )  # fmt: skip
    assert state.change_request == "history/1.1/08_completion/changes.md"


# -- research ------------------------------------------------------------------------------------


def test_research_asked_twice_is_one_piece_of_work_with_two_owners() -> None:
    session = at(Phase.ARCHITECTING)
    session.signal("architect", CodeResearchDispatched(topic="t", question="how?"))
    session.launch("code-researcher-t", "code-researcher", topic="t")
    session.architected()
    session.signal("planner", CodeResearchDispatched(topic="t", question="how, again?"))
    asked = session.state.research["code-t"]
    assert (asked.question, asked.owners, asked.told) == ("how?", ("architect", "planner"), ())
    assert session.state.research_tasks == {"t": "dispatched"}


def test_the_same_topic_in_code_and_on_the_web_is_two() -> None:
    session = at(Phase.ARCHITECTING)
    session.signal("architect", CodeResearchDispatched(topic="t", question="q"))
    session.signal("architect", WebResearchDispatched(topic="t", question="q"))
    assert session.state.research_tasks == session.state.web_research_tasks == {"t": "dispatched"}
    assert set(session.state.research) == {"code-t", "web-t"}


def test_research_that_is_done_is_answered_to_who_asks_later() -> None:
    session = at(Phase.ARCHITECTING)
    session.signal("architect", WebResearchDispatched(topic="t", question="q"))
    session.launch("web-researcher-t", "web-researcher", topic="t")
    session.signal("web-researcher-t", ResearchDone(research="web", topic="t"))
    assert session.state.web_research_tasks == {"t": "done"}
    assert "web-researcher-t" not in session.state.seats
    assert session.state.research["web-t"].told == ()
    session.architected()
    after = session.signal("planner", WebResearchDispatched(topic="t", question="q"))
    assert after.web_research_tasks == {"t": "done"}
    assert after.research["web-t"].told == ("planner",)


def test_each_owner_is_told_once() -> None:
    session = at(Phase.ARCHITECTING)
    session.signal("architect", CodeResearchDispatched(topic="t", question="q"))
    for _ in range(2):
        session.tell(ResearchTold(research="code", topic="t", result="typed"), "architect", "l")
    assert session.state.research["code-t"].told == ("architect",)
    session.tell(ResearchTold(research="code", topic="unknown", result="typed"), "architect", "l")
    assert set(session.state.research) == {"code-t"}


# -- launches ------------------------------------------------------------------------------------


def test_a_launch_takes_its_seat_and_leaves_its_record() -> None:
    session = at(Phase.IMPLEMENTING)
    launch = session.launch(
        "coder-1", "coder", subplan=1, record={"agent": "demo"}, mode="native", attempt=2
    )
    seat = session.state.seats["coder-1"]
    assert (seat.launch, seat.role, seat.phase, seat.subplan) == (
        launch,
        "coder",
        "implementing",
        1,
    )
    assert (seat.mode, seat.attempt, seat.status, seat.reached) == ("native", 2, "launched", False)
    assert session.state.agents["coder-1"] == {"agent": "demo"}


def test_a_launch_for_a_phase_that_is_over_gets_no_seat() -> None:
    session = at(Phase.REVIEWING, LOGIC, QUALITY)
    session.reviewed(LOGIC, "pass").reviewed(QUALITY, "pass")
    session.launch(LOGIC, phase="reviewing")
    assert session.state.phase == Phase.COMPLETING
    assert not session.state.seats
    session.launch(LOGIC, phase="completing")
    assert LOGIC in session.state.seats


def test_a_launch_for_work_that_is_handed_in_gets_no_seat() -> None:
    session = at(Phase.PLANNING).planned(("parallel", [1, 2]))
    lost = session.launch("coder-1", "coder", subplan=1, phase="implementing")
    session.launch("coder-2", "coder", subplan=2, phase="implementing")
    session.tell(AgentExited(cause="crashed"), "coder-1", lost)
    # A process of the lost agent hands in before the new launch is recorded.
    session.tell(CodeDone(subplan_index=1), "coder-1", lost)
    session.launch("coder-1", "coder", subplan=1, phase="implementing", attempt=2)
    assert session.state.seats.keys() == {"coder-2"}
    session.tell(SessionFailed(cause="lost twice", phase="implementing"), "coder-1")
    assert session.state.phase == Phase.IMPLEMENTING
    session.launch("coder-2", "coder", subplan=2, phase="implementing", attempt=2)
    assert session.state.seats["coder-2"].attempt == 2


def test_research_outlives_its_phase_but_not_its_cycle() -> None:
    session = at(Phase.REVIEWING, LOGIC)
    session.signal(LOGIC, WebResearchDispatched(topic="x", question="why"))
    session.reviewed(LOGIC, "pass")
    session.launch("web-researcher-x", "web-researcher", topic="x", phase="reviewing")
    assert session.state.seats.keys() == {"web-researcher-x"}
    session = completing()
    session.tell(ChangesRequested(text="in blue"), "user")
    fact = AgentLaunched(
        role="web-researcher", topic="x", record={}, mode="fresh", reason="", phase="completing"
    )
    session.tell(fact, "web-researcher-x", "l9", cycle=1)
    assert not session.state.seats


def test_a_stopped_launch_goes_on_as_chosen() -> None:
    session = at(Phase.ARCHITECTING)
    launch = session.launch("architect", mode="native", record={"agent": "a"}, stopped=True)
    assert session.state.seats["architect"].status == "stopped"

    fact = LaunchChosen(
        choice="fresh", mode="fresh", reason="chosen", record={"agent": "b"}, prompt_bytes=7
    )
    session.tell(fact, "architect", "another launch")
    assert session.state.seats["architect"].status == "stopped"
    session.tell(fact, "architect", launch, at="2026-02-02T00:00:00Z")
    seat = session.state.seats["architect"]
    assert (seat.status, seat.mode, seat.reason) == ("launched", "fresh", "chosen")
    assert (seat.since, seat.prompt_bytes) == ("2026-02-02T00:00:00Z", 7)
    assert session.state.agents["architect"] == {"agent": "b"}
    session.tell(LaunchChosen(choice="resume", mode="native", reason="late"), "architect", launch)
    assert session.state.seats["architect"] == seat


def test_a_choice_without_a_record_keeps_that_of_the_launch() -> None:
    session = at(Phase.ARCHITECTING)
    launch = session.launch("architect", record={"agent": "a", "reached": 2}, stopped=True)
    session.tell(LaunchChosen(choice="shell", mode="shell", reason="chosen"), "architect", launch)
    session.signal("architect", CodeResearchDispatched(topic="t", question="q"))
    # The user gave that signal in a shell, so it does not prove that a conversation was reached.
    assert session.state.agents["architect"] == {"agent": "a", "reached": 2}
    assert session.state.seats["architect"].reached


def test_a_launch_that_ended_stopped_was_never_played() -> None:
    session = at(Phase.ARCHITECTING)
    launch = session.launch("architect", mode="native", stopped=True)
    session.tell(AgentExited(cause="ended_by_user"), "architect", launch)
    seat = session.state.seats["architect"]
    assert (seat.status, seat.mode) == ("ended_by_user", "screen")


def test_a_prompt_reaches_a_launch_once() -> None:
    session = at(Phase.ARCHITECTING)
    launch = session.launch("architect", record={"reached": 2})
    for _ in range(2):
        session.tell(PromptReached(evidence="echo"), "architect", launch)
    assert session.state.seats["architect"].reached
    assert session.state.agents["architect"]["reached"] == 3


def test_a_signal_proves_that_its_launch_was_reached() -> None:
    session = at(Phase.ARCHITECTING)
    session.launch("architect")
    session.signal("architect", CodeResearchDispatched(topic="t", question="q"))
    assert session.state.agents["architect"]["reached"] == 1


@pytest.mark.parametrize(
    "fact",
    [
        PromptReached(evidence="echo"), AgentExited(cause="crashed"), AgentNudged(result="typed"),
        AgentStalled(idle_s=9), ConversationLearned(conversation="c", source="hook"),
    ],
    ids=lambda fact: fact.kind,
)  # fmt: skip
def test_what_happens_to_an_older_launch_does_not_touch_the_seat(fact: Any) -> None:
    session = at(Phase.ARCHITECTING)
    old = session.launch("architect", record={"session_ref": "mine"})
    session.launch("architect", record={"session_ref": "mine"})
    before = session.state
    after = session.tell(fact, "architect", old)
    assert (after.seats, after.agents) == (before.seats, before.agents)


def test_what_is_seen_of_a_launch_is_kept_with_its_seat() -> None:
    session = at(Phase.ARCHITECTING)
    launch = session.launch("architect")
    session.tell(AgentNudged(result="typed"), "architect", launch)
    session.tell(AgentStalled(idle_s=60), "architect", launch)
    session.tell(AgentExited(cause="crashed", status=None, signal=9), "architect", launch)
    seat = session.state.seats["architect"]
    assert (seat.nudged, seat.stalled, seat.status, seat.exit_signal) == (True, True, "crashed", 9)


def test_a_rejected_conversation_is_marked() -> None:
    session = at(Phase.ARCHITECTING)
    launch = session.launch("architect", mode="native", record={"session_ref": "c"})
    session.tell(AgentExited(cause="rejected", status=1), "architect", launch)
    assert session.state.agents["architect"] == {"session_ref": "c", "rejected": True}


@pytest.mark.parametrize(("said", "kept", "unsure"), [("c2", "c2", False), ("", None, True)])
def test_a_changed_conversation_is_followed_or_unsure(
    said: str, kept: str | None, unsure: bool
) -> None:
    session = at(Phase.ARCHITECTING)
    launch = session.launch("architect", record={"session_ref": "c1"})
    session.tell(ConversationLearned(conversation=said, source="hook"), "architect", launch)
    assert session.state.agents["architect"] == {"session_ref": kept, "unsure": unsure}


@pytest.mark.parametrize("told", [["c2"], ["", "c2"]])
def test_no_prompt_has_reached_the_conversation_after_a_clear(told: list[str]) -> None:
    session = at(Phase.ARCHITECTING)

    def reached() -> object:
        return session.state.agents["architect"]["reached"]

    launch = session.launch("architect", record={"session_ref": "c1"})
    session.tell(PromptReached(evidence="hook"), "architect", launch)
    assert reached() == 1
    for said in told:
        session.tell(ConversationLearned(conversation=said, source="hook"), "architect", launch)
    assert reached() == 0
    # Who asks for research there knows our prompt: the user has told it to read it.
    session.signal("architect", CodeResearchDispatched(topic="t", question="q"))
    assert reached() == 1


def test_an_id_that_is_learned_late_names_the_conversation_that_our_prompt_reached() -> None:
    session = at(Phase.ARCHITECTING)
    launch = session.launch("architect", record={"session_ref": None})
    session.tell(PromptReached(evidence="screen"), "architect", launch)
    session.tell(ConversationLearned(conversation="c1", source="hook"), "architect", launch)
    assert session.state.agents["architect"]["reached"] == 1


def test_hello_tells_the_conversation() -> None:
    session = at(Phase.ARCHITECTING)
    session.launch("architect")
    session.signal("architect", Hello(conversation="c7"))
    assert session.state.agents["architect"]["session_ref"] == "c7"


def test_hello_without_a_conversation_does_not_forget_the_known_one() -> None:
    session = at(Phase.ARCHITECTING)
    session.launch("architect", record={"session_ref": "c1"})
    session.signal("architect", Hello())
    assert session.state.agents["architect"]["session_ref"] == "c1"


# -- interruptions, failure, resume --------------------------------------------------------------


def failed_in(phase: Phase, *reviewers: str, **values: Any) -> Session:
    session = at(phase, *reviewers, **values)
    session.tell(ArtifactsArchived())
    return session


def test_a_failure_names_cause_seat_and_phase() -> None:
    session = failed_in(Phase.PLANNING)
    launch = session.launch("planner")
    state = session.tell(SessionFailed(cause="planner was lost twice"), "planner", launch)
    assert state.phase == Phase.FAILED
    assert state.interruption is not None
    assert (state.interruption.cause, state.interruption.seat, state.interruption.phase) == (
        "planner was lost twice", "planner", "planning",
    )  # fmt: skip


def test_the_first_failure_stands() -> None:
    session = failed_in(Phase.PLANNING)
    first = session.tell(SessionFailed(cause="one"), "planner")
    second = session.tell(SessionFailed(cause="two"), "planner")
    assert second.interruption == first.interruption


def test_a_phase_that_is_over_fails_nobody() -> None:
    session = at(Phase.PLANNING)
    late = SessionFailed(cause="late", phase="architecting")
    assert session.tell(late, "architect").phase == Phase.PLANNING
    assert session.tell(replace(late, phase="planning"), "planner").phase == Phase.FAILED


def test_a_mended_session_is_not_failed_again_by_whom_it_lost() -> None:
    session = at(Phase.ARCHITECTING)
    architect = session.launch("architect", phase="architecting")
    session.tell(WebResearchDispatched(topic="x", question="why"), "architect", architect)
    lost = session.launch("web-researcher-x", "web-researcher", topic="x", attempt=2)
    session.tell(AgentExited(cause="crashed"), "web-researcher-x", lost)
    session.tell(SessionFailed(cause="lost", phase="architecting"), "web-researcher-x")
    assert session.state.phase == Phase.FAILED
    session.tell(ArchitectureDone(reviewers=(LOGIC,)), "architect", architect)
    assert (session.state.phase, session.state.seats) == (Phase.PLANNING, {})
    assert [work.seat for work in find_work(session.state)] == ["planner", "web-researcher-x"]


def test_an_interruption_leaves_the_phase() -> None:
    session = failed_in(Phase.PLANNING)
    state = session.tell(SessionInterrupted(cause="stopped"))
    assert state.phase == Phase.PLANNING
    assert state.interruption is not None
    assert state.interruption.cause == "stopped"


@pytest.mark.parametrize("fact", [SessionFailed(cause="x"), SessionInterrupted(cause="x")])
def test_done_stays_done(fact: Any) -> None:
    session = completing()
    session.tell(Approved(), "user")
    state = session.tell(fact)
    assert state.phase == Phase.DONE
    assert state.interruption is None


def test_a_neighbours_sub_plan_counts_in_a_failed_session_which_stays_failed() -> None:
    session = at(Phase.PLANNING).planned(("parallel", [1, 2, 3]))
    for index in (1, 2, 3):
        session.launch(f"coder-{index}", "coder", subplan=index)
    session.tell(SessionFailed(cause="lost twice"), "coder-1", "l")
    state = session.coded(2).state
    assert state.phase == Phase.FAILED
    assert state.interruption is not None
    assert state.completed_subplans == (2,)
    assert state.implementation_active_plan_ids == (1, 3)


def test_the_signal_that_completes_the_phase_mends_a_failed_session() -> None:
    session = at(Phase.PLANNING).planned(("parallel", [1, 2]))
    for index in (1, 2):
        session.launch(f"coder-{index}", "coder", subplan=index)
    session.tell(SessionFailed(cause="lost twice"), "coder-1", "l")
    state = session.coded(2, 1).state
    assert state.phase == Phase.REVIEWING
    assert state.interruption is None


def test_approving_mends_a_failed_session() -> None:
    """The agent that writes the summary was lost twice; the user approves without a summary."""
    session = at(Phase.COMPLETING, options=Options(commit=True))
    launch = session.launch(LOGIC)
    session.tell(AgentExited(cause="crashed"), LOGIC, launch)
    session.tell(SessionFailed(cause="lost twice"), LOGIC, launch)
    state = session.tell(Approved(), "user", id="a1")
    assert (state.phase, state.approval, state.interruption) == (Phase.COMPLETING, "a1", None)


def test_a_resume_gives_every_seat_up_and_clears_the_interruption() -> None:
    session = at(Phase.PLANNING)
    launch = session.launch("planner", record={"session_ref": "c"})
    session.tell(SessionFailed(cause="lost twice"), "planner", launch)
    state = session.tell(
        Resumed(
            phase="planning", cycle=1,
            found=found_fields(session.state, artifacts({})),
        )
    )  # fmt: skip
    assert (state.phase, state.interruption, dict(state.seats)) == (Phase.PLANNING, None, {})
    assert state.agents["planner"] == {"session_ref": "c"}
    assert state.last_event == "resumed"


def test_a_resume_into_an_earlier_phase_takes_the_approval_back() -> None:
    session = completing(options=Options(commit=True))
    session.tell(Approved(), "user", id="a1")
    session.tell(CommitStarted(approval="a1"))
    values = found_fields(session.state, artifacts({}))
    here = session.tell(Resumed(phase="completing", cycle=1, found=values))
    assert here.approval == "a1"
    back = session.tell(Resumed(phase="reviewing", cycle=1, found=values))
    assert (back.approval, back.commit, back.summary_submitted) == (None, None, False)
    assert find_work(back)


def test_a_resume_into_a_phase_archives_nothing_and_leaves_research_as_it_is() -> None:
    session = at(Phase.IMPLEMENTING, research_tasks={"t": "dispatched"})
    session.tell(ArtifactsArchived())
    state = session.tell(
        Resumed(
            phase="implementing", cycle=1,
            found=found_fields(session.state, artifacts({})),
        )
    )  # fmt: skip
    assert state.pending_archive == ()
    assert state.research_tasks == {"t": "dispatched"}


def test_a_resume_counts_the_sub_plans_whose_marker_is_there() -> None:
    session = at(Phase.PLANNING).planned(("serial", [1, 2]), ("parallel", [3]))
    disk = artifacts({"06_implementation/done_1": "", "06_implementation/done_3": ""})
    state = session.tell(
        Resumed(
            phase="implementing", cycle=1,
            found=found_fields(session.state, disk),
        )
    )  # fmt: skip
    assert state.completed_subplans == (1, 3)
    assert state.implementation_active_plan_ids == (2,)


@pytest.mark.parametrize("phase", list(PIPELINE))
def test_an_override_enters_the_phase_anew(phase: Phase) -> None:
    session = at(Phase.COMPLETING, LOGIC, QUALITY).summed_up()
    session.tell(ArtifactsArchived())
    session.state = replace(
        session.state, fix=Fix(sender="reviewing", iteration=2, sent={"reviewing": 2})
    )
    state = session.tell(
        Resumed(
            phase=phase, cycle=1, override=True,
            found=found_fields(session.state, artifacts({})),
        )
    )  # fmt: skip
    assert state.phase == phase
    assert state.pending_archive == (
        ArchivedArtifacts(to="history/1.2", paths=PIPELINE[phase].archives),
    )
    assert not state.summary_submitted
    early = phase in {Phase.PRODUCT_MANAGEMENT, Phase.ARCHITECTING}
    assert state.reviewer_nominations == (() if early else (LOGIC, QUALITY))


def test_a_resumed_architecting_waits_for_the_nominations_of_its_architecture() -> None:
    """Otherwise the first resume's default would win over the front matter found by the second."""
    session = Session(Phase.ARCHITECTING)
    session.tell(
        Resumed(
            phase="architecting", cycle=1,
            found=found_fields(session.state, artifacts({})),
        )
    )  # fmt: skip
    disk = artifacts({"02_architecting/architecture.md": "reviewers: quality, expert\n# A"})
    found = found_fields(session.state, disk)
    state = session.tell(Resumed(phase="architecting", cycle=1, found=found))
    state = session.tell(PhaseSettled(phase="architecting", found=found_fields(state, disk)))
    assert state.phase == Phase.PLANNING
    assert state.reviewer_nominations == (QUALITY, EXPERT)


# -- settling ------------------------------------------------------------------------------------


def test_a_review_that_is_decided_on_disk_is_settled() -> None:
    session = at(Phase.REVIEWING, LOGIC, QUALITY)
    disk = artifacts({"07_review/review_quality.yaml": json.dumps(review("fail"))})
    found = found_fields(session.state, disk)
    state = session.tell(PhaseSettled(phase="reviewing", found=found))
    assert (state.phase, state.iteration) == (Phase.FIXING, 1)


def test_settling_another_phase_than_the_sessions_changes_nothing() -> None:
    session = at(Phase.PLANNING)
    before = session.state
    after = session.tell(PhaseSettled(phase="reviewing", found=NOTHING_FOUND))
    assert (after.phase, after.pending_archive) == (before.phase, before.pending_archive)


def test_settled_product_management_keeps_no_nominations_of_an_archived_architecture() -> None:
    session = Session(Phase.PRODUCT_MANAGEMENT, product_manager=True)
    disk = artifacts(
        {
            "01_product_management/done": "",
            "02_architecting/architecture.md": "reviewers: quality\n",
        }
    )
    found = found_fields(session.state, disk)
    state = session.tell(PhaseSettled(phase="product_management", found=found))
    assert state.phase == Phase.ARCHITECTING
    assert state.reviewer_nominations == ()


# -- restarts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fresh", "mark"), [(None, ""), (True, "fresh"), (False, "resume")])
def test_a_restart_frees_the_seat_and_mends_the_session(fresh: bool | None, mark: str) -> None:
    session = at(Phase.PLANNING)
    launch = session.launch("planner", record={"session_ref": "c"}, attempt=2)
    session.tell(SessionFailed(cause="lost twice"), "planner", launch)
    state = session.tell(SeatRestarted(fresh=fresh), "planner")
    assert (state.phase, state.interruption, dict(state.seats)) == (Phase.PLANNING, None, {})
    assert state.agents["planner"] == {"session_ref": "c", "restart": mark}


def test_a_restart_of_a_seat_that_never_was_changes_no_record() -> None:
    session = at(Phase.PLANNING)
    assert session.tell(SeatRestarted(), "designer").agents == session.state.agents


# -- the fold and its file -----------------------------------------------------------------------


def test_a_whole_life_folds_to_what_its_file_says() -> None:
    state = cycled().state
    read = decode(json.loads(json.dumps(encode(state))), where="state.json")
    assert read == state


def test_a_verdict_is_kept_with_its_content() -> None:
    session = at(Phase.REVIEWING, LOGIC, QUALITY)
    given = review("pass", commit_message="add it")
    session.signal(LOGIC, ReviewDone(role=LOGIC, verdict="pass", review=given))
    found = session.state.results["reviewing"]
    assert found.verdicts == {LOGIC: "pass"}
    assert found.reviews == {LOGIC: given}


def test_an_event_that_cannot_be_handled_fails_the_session_and_is_named() -> None:
    session = at(Phase.REVIEWING, LOGIC)
    session.tell(ArtifactsArchived())
    launched = event(
        AgentLaunched(role=LOGIC, record={}, mode="fresh", reason=""), seat=LOGIC, launch="l"
    )
    bad = event(ReviewDone(role=LOGIC, verdict="perhaps"), seat=LOGIC, launch="l")
    state = fold(session.state, [(launched, 1), (bad, 2)])
    assert state.phase == Phase.FAILED
    assert state.applied_offset == 2
    assert state.interruption is not None
    assert bad.id in state.interruption.cause
    assert "perhaps" in state.interruption.cause
    before = fold(session.state, [(launched, 1)])
    assert derive_files(before, bad, state) == ()


def test_a_research_of_no_kind_fails_the_session_and_implies_nothing() -> None:
    session = at(Phase.ARCHITECTING)
    launch = session.launch("architect", phase="architecting")
    session.tell(ResearchDone(research="none", topic="x"), "architect", launch)
    assert session.state.phase == Phase.FAILED
    assert session.files == ()


def test_a_failed_session_is_resumed_into_what_its_options_say() -> None:
    """The failed phase's artifact exists, so the resume enters the next phase without a signal."""
    session = at(Phase.DESIGNING, options=Options(single_coder=True))
    session.tell(SessionFailed(cause="lost twice", phase="designing"), "designer")
    group = {"group_id": "g1", "mode": "parallel", "plans": [{"index": 1}, {"index": 2}]}
    plan = {"implementation_groups": [group], "subplan_count": 2}
    session.tell(Resumed(phase="implementing", cycle=1, found=plan))
    assert [work.seat for work in find_work(session.state)] == ["coder"]


@pytest.mark.parametrize(("verdict", "outcome"), [("pass", "passed"), ("fail", None)])
def test_a_session_that_failed_in_reviewing_knows_what_was_decided(
    verdict: str, outcome: str | None
) -> None:
    session = at(Phase.REVIEWING, LOGIC)
    session.tell(SessionFailed(cause="lost twice", phase="reviewing"), LOGIC)
    given = {"verdicts": {LOGIC: verdict}, "reviews": {LOGIC: review(verdict)}}
    found = {"results": {"reviewing": given}, "reviewer_nominations": [LOGIC]}
    session.tell(Resumed(phase="completing", cycle=1, found=found))
    assert outcome_of(session.state) == outcome
