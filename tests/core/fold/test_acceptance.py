"""Which signals are accepted, ignored or duplicates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentmux.core.fold.acceptance import Answer, is_judged, judge, takes_approval
from agentmux.core.journal.events import (
    FACTS,
    SIGNALS,
    USER_DECISIONS,
    AgentExited,
    Approved,
    ArchitectureDone,
    ArtifactsArchived,
    ChangesRequested,
    CodeDone,
    CodeResearchDispatched,
    DesignDone,
    Fact,
    Hello,
    PlanDone,
    PmDone,
    ResearchDone,
    Resumed,
    ReviewDone,
    SessionFailed,
    SummaryDone,
    WebResearchDispatched,
)
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.registry import working_phase
from tests.core.builders import LOGIC, QUALITY, Session, at, event, plan, review

OF_PHASE: dict[Phase, tuple[str, Fact]] = {
    Phase.PRODUCT_MANAGEMENT: ("product-manager", PmDone()),
    Phase.ARCHITECTING: ("architect", ArchitectureDone(reviewers=(LOGIC,))),
    Phase.PLANNING: ("planner", PlanDone(plan=plan(("serial", [1])))),
    Phase.DESIGNING: ("designer", DesignDone()),
    Phase.IMPLEMENTING: ("coder-1", CodeDone(subplan_index=1)),
    Phase.REVIEWING: (LOGIC, ReviewDone(role=LOGIC, verdict="pass", review=review("pass"))),
    Phase.FIXING: ("coder", CodeDone()),
    Phase.COMPLETING: (LOGIC, SummaryDone()),
}
IN_ANY_PHASE: tuple[Fact, ...] = (
    Hello(conversation="c"),
    CodeResearchDispatched(topic="t", question="q"),
    WebResearchDispatched(topic="t", question="q"),
)


def in_phase(phase: Phase) -> tuple[Session, str]:
    """Return a session in ``phase``, and the seat that is launched in it."""
    session = Session(phase) if phase == Phase.PRODUCT_MANAGEMENT else at(phase)
    seat = OF_PHASE[phase][0]
    role, _, index = seat.partition("-")
    if role == "coder":
        session.launch(seat, "coder", subplan=int(index) if index else None)
    else:
        session.launch(seat)
    return session, seat


def answer(session: Session, fact: Fact, seat: str, launch: str | None = None, **more: Any) -> str:
    judged = session.judge(fact, seat, launch, **more)
    return f"{judged.answer}: {judged.reason}"


@pytest.mark.parametrize("phase", OF_PHASE)
@pytest.mark.parametrize("other", OF_PHASE)
def test_a_phase_takes_its_own_signal_and_no_other(phase: Phase, other: Phase) -> None:
    session, seat = in_phase(phase)
    fact = OF_PHASE[other][1]
    judged = session.judge(fact, seat).answer
    if phase == other:
        assert judged is Answer.ACCEPTED
    elif phase == Phase.FIXING and other == Phase.IMPLEMENTING:
        assert judged is Answer.ACCEPTED  # a coder may name sub-plan 1 in a fix
    else:
        assert judged is Answer.IGNORED


@pytest.mark.parametrize("phase", OF_PHASE)
@pytest.mark.parametrize("fact", IN_ANY_PHASE, ids=lambda fact: fact.kind)
def test_research_and_greetings_count_in_every_phase(phase: Phase, fact: Fact) -> None:
    session, seat = in_phase(phase)
    assert session.judge(fact, seat).answer is Answer.ACCEPTED


@pytest.mark.parametrize("phase", OF_PHASE)
def test_a_signal_given_twice_is_a_duplicate_that_changes_nothing(phase: Phase) -> None:
    session, seat = in_phase(phase)
    launch = session.state.seats[seat].launch
    first = session.tell(OF_PHASE[phase][1], seat, launch, id="same")
    assert "same" in first.signals
    assert session.judge(OF_PHASE[phase][1], seat, launch, id="same").answer is Answer.DUPLICATE
    unchanged(first, session.tell(OF_PHASE[phase][1], seat, launch, id="same"))


def test_of_two_signals_with_one_id_the_first_counts_whatever_the_second_says() -> None:
    session, seat = in_phase(Phase.REVIEWING)
    launch = session.state.seats[seat].launch
    passes = ReviewDone(role=LOGIC, verdict="pass", review=review("pass"))
    fails = ReviewDone(role=LOGIC, verdict="fail", review=review("fail"))
    first = session.tell(passes, seat, launch, id="same")
    assert session.judge(fails, seat, launch, id="same").answer is Answer.DUPLICATE
    unchanged(first, session.tell(fails, seat, launch, id="same"))


@pytest.mark.parametrize("phase", OF_PHASE)
def test_a_signal_of_an_older_launch_is_ignored(phase: Phase) -> None:
    session, seat = in_phase(phase)
    old = session.state.seats[seat].launch
    role, subplan = session.state.seats[seat].role, session.state.seats[seat].subplan
    new = session.launch(seat, role, subplan=subplan, attempt=2)
    fact = OF_PHASE[phase][1]
    assert answer(session, fact, seat, old) == (
        f"ignored: `{seat}` belongs to launch {new} now, not {old}"
    )
    unchanged(session.state, session.tell(fact, seat, old))
    assert session.judge(fact, seat, new).answer is Answer.ACCEPTED


@pytest.mark.parametrize("phase", OF_PHASE)
def test_a_signal_of_another_cycle_is_ignored(phase: Phase) -> None:
    session, seat = in_phase(phase)
    fact = OF_PHASE[phase][1]
    assert answer(session, fact, seat, cycle=2) == (
        "ignored: it belongs to cycle 2, the session is in cycle 1"
    )
    unchanged(session.state, session.tell(fact, seat, session.state.seats[seat].launch, cycle=2))


@pytest.mark.parametrize("phase", OF_PHASE)
def test_a_late_signal_is_ignored_when_the_session_has_moved_on(phase: Phase) -> None:
    session, seat = in_phase(phase)
    launch = session.state.seats[seat].launch
    moved_on = session.tell(OF_PHASE[phase][1], seat, launch)
    late = session.judge(OF_PHASE[phase][1], seat, launch, id="another")
    assert late.answer is Answer.IGNORED
    unchanged(moved_on, session.tell(OF_PHASE[phase][1], seat, launch, id="another"))


@pytest.mark.parametrize("phase", OF_PHASE)
def test_a_signal_of_a_launch_before_the_resume_is_ignored(phase: Phase) -> None:
    session, seat = in_phase(phase)
    launch = session.state.seats[seat].launch
    values = {
        "completed_subplans": [],
        "implementation_groups": session.state.implementation_groups,
    }
    session.tell(Resumed(phase=phase, cycle=1, found=values))
    assert session.judge(OF_PHASE[phase][1], seat, launch).answer is Answer.IGNORED


def test_a_signal_without_a_launch_is_ignored() -> None:
    session, seat = in_phase(Phase.ARCHITECTING)
    assert answer(session, ArchitectureDone(), seat, "") == (
        "ignored: it comes from no launch of this session"
    )


@pytest.mark.parametrize("phase", OF_PHASE)
def test_a_researcher_cannot_finish_the_phase_for_its_owner(phase: Phase) -> None:
    session, seat = in_phase(phase)
    session.signal(seat, CodeResearchDispatched(topic="t", question="q"))
    session.launch("code-researcher-t", "code-researcher", topic="t")
    fact = OF_PHASE[phase][1]
    assert session.judge(fact, "code-researcher-t").answer is Answer.IGNORED


def unchanged(before: SessionState, after: SessionState) -> None:
    """Check that only the cursor and the fields of the last update have changed."""
    cursor: dict[str, Any] = {
        "revision": after.revision, "applied_offset": after.applied_offset,
        "last_event_id": after.last_event_id, "updated_at": after.updated_at,
        "updated_by": after.updated_by,
    }  # fmt: skip
    assert after.applied_offset > before.applied_offset
    assert replace(before, **cursor) == after


# -- implementing --------------------------------------------------------------------------------


def coding(*groups: tuple[str, list[int]], single: bool = False) -> Session:
    session = at(Phase.PLANNING)
    options = replace(session.state.options, single_coder=single)
    session.state = replace(session.state, options=options)
    return session.planned(*groups)


def test_implementing_takes_the_sub_plan_of_the_seat_only() -> None:
    session = coding(("parallel", [1, 2]), ("serial", [3]))
    for index in (1, 2):
        session.launch(f"coder-{index}", "coder", subplan=index)
    table = {
        None: "ignored: implementing needs the sub-plan: --subplan N",
        1: "accepted: ",
        2: "ignored: `coder-1` does not work on sub-plan 2",
        3: "ignored: sub-plan 3 is not active",
        9: "ignored: sub-plan 9 is not active",
    }
    found = {n: answer(session, CodeDone(subplan_index=n), "coder-1") for n in table}
    assert found == table


def test_a_sub_plan_that_is_done_is_not_done_again() -> None:
    session = coding(("parallel", [1, 2])).coded(1)
    session.launch("coder-2", "coder", subplan=2)
    assert answer(session, CodeDone(subplan_index=1), "coder-2") == (
        "ignored: sub-plan 1 is done already"
    )


def test_a_single_coder_signals_each_sub_plan_in_any_order() -> None:
    session = coding(("serial", [1, 2]), ("parallel", [3]), single=True)
    session.launch("coder", "coder")
    for index in (3, 1):
        assert session.judge(CodeDone(subplan_index=index), "coder").answer is Answer.ACCEPTED
    session.coded(3)
    assert session.judge(CodeDone(subplan_index=3), "coder").answer is Answer.IGNORED
    assert session.judge(CodeDone(subplan_index=None), "coder").answer is Answer.IGNORED


# -- reviewing -----------------------------------------------------------------------------------


def test_a_reviewer_gives_its_own_review_once() -> None:
    session = at(Phase.REVIEWING, LOGIC, QUALITY)
    session.launch(LOGIC)
    session.launch(QUALITY)
    other = ReviewDone(role=QUALITY, verdict="pass", review=review("pass"))
    assert answer(session, other, LOGIC) == (
        f"ignored: no review of `{QUALITY}` is expected from `{LOGIC}`"
    )
    session.reviewed(LOGIC, "pass")
    session.launch(LOGIC)
    again = ReviewDone(role=LOGIC, verdict="fail", review=review("fail"))
    assert session.judge(again, LOGIC).answer is Answer.IGNORED


# -- research ------------------------------------------------------------------------------------


def test_research_is_finished_by_its_own_researcher_once() -> None:
    session = at(Phase.ARCHITECTING)
    session.signal("architect", CodeResearchDispatched(topic="t", question="q"))
    session.launch("code-researcher-t", "code-researcher", topic="t")
    done = ResearchDone(research="code", topic="t")
    assert session.judge(done, "architect").answer is Answer.IGNORED
    assert answer(session, ResearchDone(research="code", topic="u"), "code-researcher-t") == (
        "ignored: research `u` is unknown"
    )
    assert answer(session, ResearchDone(research="web", topic="t"), "code-researcher-t") == (
        "ignored: research `t` is unknown"
    )
    session.signal("code-researcher-t", done)
    session.launch("code-researcher-t", "code-researcher", topic="t")
    assert answer(session, done, "code-researcher-t") == "ignored: research `t` is done"


def test_a_researcher_of_another_topic_cannot_finish_this_one() -> None:
    session = at(Phase.ARCHITECTING)
    for topic in ("t", "u"):
        session.signal("architect", CodeResearchDispatched(topic=topic, question="q"))
        session.launch(f"code-researcher-{topic}", "code-researcher", topic=topic)
    done = ResearchDone(research="code", topic="t")
    assert session.judge(done, "code-researcher-u").answer is Answer.IGNORED
    assert session.judge(done, "code-researcher-t").answer is Answer.ACCEPTED


def test_research_goes_on_when_the_phase_does() -> None:
    session = at(Phase.ARCHITECTING)
    session.signal("architect", CodeResearchDispatched(topic="t", question="q"))
    session.launch("code-researcher-t", "code-researcher", topic="t")
    session.architected()
    done = ResearchDone(research="code", topic="t")
    assert session.judge(done, "code-researcher-t").answer is Answer.ACCEPTED


# -- the user ------------------------------------------------------------------------------------


def decision(session: Session, fact: Fact) -> str:
    foretold = takes_approval(session.state)
    said = answer(session, fact, "user", "")
    if isinstance(fact, Approved):
        assert foretold is said.startswith("accepted")
    return said


@pytest.mark.parametrize("phase", [each for each in OF_PHASE if each != Phase.COMPLETING])
@pytest.mark.parametrize("fact", [Approved(), ChangesRequested(text="x")], ids=lambda f: f.kind)
def test_nothing_is_to_be_decided_before_completing(phase: Phase, fact: Fact) -> None:
    session, _ = in_phase(phase)
    assert decision(session, fact) == (
        f"ignored: the session is in {phase}, there is nothing to decide yet"
    )


def test_approving_waits_for_the_summary_that_is_being_written() -> None:
    session = at(Phase.COMPLETING)
    assert decision(session, Approved()) == "ignored: the summary is still being written"
    session.launch(LOGIC)
    assert decision(session, Approved()) == "ignored: the summary is still being written"
    assert decision(session, ChangesRequested(text="x")) == "accepted: "
    session.summed_up()
    assert decision(session, Approved()) == "accepted: "


def test_approving_does_not_wait_for_a_summary_that_nobody_writes() -> None:
    session = at(Phase.COMPLETING)
    launch = session.launch(LOGIC)
    session.tell(AgentExited(cause="finished", status=0), LOGIC, launch)
    assert decision(session, Approved()) == "accepted: "


DECISIONS = [Approved(of_phase="completing"), ChangesRequested(text="x", of_phase="completing")]


@pytest.mark.parametrize("fact", DECISIONS)
def test_a_decision_counts_only_in_the_cycle_and_phase_that_were_shown(fact: Approved) -> None:
    """A phone that shows cycle 1 must not decide on cycle 2."""
    session = at(Phase.COMPLETING).summed_up()
    session.state = replace(session.state, cycle=2)
    late = answer(session, fact, "user", "", cycle=1)
    assert late == "ignored: changes were asked for meanwhile, in another browser or terminal"
    other = answer(session, replace(fact, of_phase="reporting"), "user", "")
    assert other == "ignored: it is about reporting, the session is in completing"
    assert answer(session, fact, "user", "").startswith("accepted")
    assert answer(session, replace(fact, of_phase=""), "user", "").startswith("accepted")


@pytest.mark.parametrize(
    ("phase", "counts"),
    [
        *(("", True), ("fixing", True), ("implementing", True), ("planning", True)),
        *(("designing", False), ("reviewing", False), ("completing", False), ("odd", False)),
        *(("product_management", False), ("architecting", True)),
    ],
)
def test_a_cycle_begins_where_agents_make_something(phase: str, counts: bool) -> None:
    session = at(Phase.COMPLETING).summed_up()
    found = answer(session, ChangesRequested(text="x", phase=phase), "user", "")
    assert found.startswith("accepted" if counts else "ignored: no cycle can begin in")


def test_an_approval_stands() -> None:
    session = at(Phase.COMPLETING)
    session.state = replace(session.state, options=replace(session.state.options, commit=True))
    session.summed_up()
    session.tell(Approved(), "user")
    assert decision(session, Approved()) == "ignored: the result was approved already"
    assert decision(session, ChangesRequested(text="x")) == (
        "ignored: the result was approved already"
    )


def test_a_done_session_takes_no_signal() -> None:
    session = at(Phase.COMPLETING).summed_up()
    session.tell(Approved(), "user")
    assert session.state.phase == Phase.DONE
    assert decision(session, ChangesRequested(text="x")) == "ignored: the session is done"
    assert answer(session, SummaryDone(), LOGIC, "l1") == "ignored: the session is done"


# -- failed sessions -----------------------------------------------------------------------------


def test_a_failed_session_listens_in_the_phase_it_failed_in() -> None:
    session, seat = in_phase(Phase.PLANNING)
    launch = session.state.seats[seat].launch
    session.tell(SessionFailed(cause="lost twice"), seat, launch)
    assert session.state.phase == Phase.FAILED
    assert working_phase(session.state) == Phase.PLANNING
    assert session.judge(PlanDone(plan=plan(("serial", [1]))), seat).answer is Answer.ACCEPTED
    assert session.judge(DesignDone(), seat).answer is Answer.IGNORED


def test_a_session_that_is_nothing_but_failed_takes_no_signal() -> None:
    session = Session(Phase.FAILED)
    assert working_phase(session.state) == Phase.FAILED
    assert decision(session, Approved()) == "ignored: the session is failed"


@pytest.mark.parametrize("kind", sorted(FACTS))
def test_what_agents_and_users_say_is_a_signal(kind: str) -> None:
    assert is_judged(event(FACTS[kind].__new__(FACTS[kind]))) is (kind in SIGNALS | USER_DECISIONS)


def test_a_fact_of_the_orchestrator_is_never_judged_away() -> None:
    assert not is_judged(event(ArtifactsArchived()))
    ignored = judge(SessionState(phase=Phase.DONE), event(Approved(), "user"))
    assert ignored.answer is Answer.IGNORED
