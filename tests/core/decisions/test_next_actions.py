"""The next actions for every state of a session."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from agentmux.core.decisions.next_actions import (
    Action,
    ApproveByItself,
    EndPanes,
    Exit,
    Facts,
    Fail,
    FinishArchive,
    Launch,
    LaunchFact,
    MakeCommit,
    OpenPane,
    RecordChoice,
    RecordExit,
    Settle,
    Tell,
    next_actions,
)
from agentmux.core.journal.events import (
    AgentExited,
    Approved,
    ArtifactsArchived,
    CodeResearchDispatched,
    CommitDelayed,
    CommitFailed,
    CommitStarted,
    Hello,
    LaunchChosen,
    PromptReached,
    ResearchDone,
    ResearchTold,
    Resumed,
    SessionFailed,
    SessionInterrupted,
    SessionReattached,
    WebResearchDispatched,
)
from agentmux.core.journal.state import Options, SessionState
from agentmux.core.names.phase import Phase, ResearchKind
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.on_disk import state_from_disk
from agentmux.core.pipeline.work import Work, find_work
from tests.core.builders import (
    EXPERT,
    LOGIC,
    QUALITY,
    Session,
    artifacts,
    at,
    execution_plan,
    found_fields,
    outcome_of,
    review,
    seat,
)

RUNS = LaunchFact(pane="%1", alive=True, started=True)
EMPTY = Artifacts()


def ready(phase: Phase, *reviewers: str, **values: Any) -> Session:
    """Return a session in ``phase`` that has nothing left to archive."""
    session = Session(phase) if phase == Phase.PRODUCT_MANAGEMENT else at(phase, *reviewers)
    session.tell(ArtifactsArchived())
    session.state = replace(session.state, **values)
    return session


def actions(
    session: Session, launches: Mapping[str, LaunchFact] = {}, disk: Artifacts = EMPTY
) -> tuple[Action, ...]:
    return next_actions(session.state, Facts(artifacts=disk, launches=launches))


def seats(state: SessionState) -> list[str]:
    return [work.seat for work in find_work(state)]


# -- wanted seats --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "wants"),
    [
        (Phase.PRODUCT_MANAGEMENT, ["product-manager"]),
        (Phase.ARCHITECTING, ["architect"]),
        (Phase.PLANNING, ["planner"]),
        (Phase.DESIGNING, ["designer"]),
        (Phase.IMPLEMENTING, ["coder-1"]),
        (Phase.REVIEWING, ["reviewer_logic"]),
        (Phase.FIXING, ["coder"]),
        (Phase.COMPLETING, ["reviewer_logic"]),
    ],
)
def test_a_phase_starts_with_its_role(phase: Phase, wants: list[str]) -> None:
    session = ready(phase)
    assert seats(session.state) == wants
    assert [a.work.seat for a in actions(session) if isinstance(a, Launch)] == wants


@pytest.mark.parametrize("phase", [Phase.DONE, Phase.FAILED])
def test_a_terminal_phase_wants_nobody(phase: Phase) -> None:
    state = SessionState(phase=phase, research_tasks={"t": "dispatched"})
    assert find_work(state) == ()
    assert next_actions(state, Facts(artifacts=EMPTY)) == ()


def test_a_parallel_group_runs_side_by_side_and_a_serial_one_in_turn() -> None:
    session = at(Phase.PLANNING).planned(("parallel", [1, 3]), ("serial", [2, 4]))
    wants = [Work(seat=f"coder-{n}", role="coder", subplan=n) for n in (1, 3)]
    assert list(find_work(session.state)) == wants
    assert seats(session.coded(3).state) == ["coder-1"]
    assert seats(session.coded(1).state) == ["coder-2"]
    assert seats(session.coded(2).state) == ["coder-4"]


def test_a_single_coder_has_one_seat_for_all() -> None:
    session = at(Phase.PLANNING, options=Options(single_coder=True))
    session.planned(("parallel", [1, 2]), ("serial", [3]))
    assert find_work(session.state) == (Work(seat="coder", role="coder"),)
    assert find_work(session.coded(1).state) == (Work(seat="coder", role="coder"),)


def test_only_reviewers_without_a_verdict_are_wanted() -> None:
    session = ready(Phase.REVIEWING, LOGIC, QUALITY, EXPERT).reviewed(QUALITY, "pass")
    assert seats(session.state) == [LOGIC, EXPERT]


def test_the_first_reviewer_writes_the_summary_once() -> None:
    session = ready(Phase.COMPLETING, EXPERT, LOGIC)
    assert seats(session.state) == [EXPERT]
    assert seats(session.summed_up().state) == []


def test_research_is_wanted_beside_the_phase_until_it_is_done() -> None:
    session = ready(Phase.PLANNING)
    session.signal("planner", CodeResearchDispatched(topic="a", question="q"))
    session.signal("planner", WebResearchDispatched(topic="b", question="q"))
    session.signal("planner", WebResearchDispatched(topic="c", question="q"))
    assert find_work(session.state)[1:] == (
        Work(seat="code-researcher-a", role="code-researcher", topic="a"),
        Work(seat="web-researcher-b", role="web-researcher", topic="b"),
        Work(seat="web-researcher-c", role="web-researcher", topic="c"),
    )
    session.launch("web-researcher-b", "web-researcher", topic="b")
    session.signal("web-researcher-b", ResearchDone(research="web", topic="b"))
    assert seats(session.state) == ["planner", "code-researcher-a", "web-researcher-c"]


def test_nobody_is_wanted_once_the_result_is_approved() -> None:
    session = ready(
        Phase.COMPLETING, options=Options(commit=True), research_tasks={"t": "dispatched"}
    )
    writer = session.launch(LOGIC)
    session.tell(AgentExited(cause="finished", status=0), LOGIC, writer)
    session.tell(Approved(), "user", id="a1")  # without a summary
    assert find_work(session.state) == ()
    assert actions(session) == (MakeCommit(approval="a1", started=False),)


# -- launches ------------------------------------------------------------------------------------


def launched(**values: Any) -> tuple[Session, str]:
    session = ready(Phase.PLANNING)
    return session, session.launch("planner", **values)


def test_a_recorded_launch_that_never_happened_is_made_once() -> None:
    session, launch = launched()
    assert actions(session) == (OpenPane(seat="planner", launch=launch),)
    assert actions(session, {launch: RUNS}) == ()


@pytest.mark.parametrize(
    ("fact", "cause", "status", "signal"),
    [
        # exit record, cause, status, signal
        (Exit(status=0), "finished", 0, None),
        (Exit(status=3), "crashed", 3, None),
        (Exit(signal=9), "crashed", None, 9),
        (Exit(signal=1, hup=True), "ended_by_user", None, 1),
        (Exit(status=0, hup=True), "ended_by_user", 0, None),
        (Exit(status=1, claim_taken=True), "claim_taken", 1, None),
        (None, "crashed", None, None),  # no exit record is a crash
    ],
)
@pytest.mark.parametrize("pane", [None, "%1"], ids=["pane gone", "pane dead"])
def test_an_exit_is_recorded_with_its_cause(
    fact: Exit | None, cause: str, status: int | None, signal: int | None, pane: str | None
) -> None:
    session, launch = launched()
    gone = LaunchFact(pane=pane, started=True, exit=fact)
    assert actions(session, {launch: gone}) == (
        RecordExit(seat="planner", launch=launch, cause=cause, status=status, signal=signal),
    )


def test_a_pane_that_died_before_its_wrapper_ran_is_a_crash() -> None:
    session, launch = launched()
    assert actions(session, {launch: LaunchFact(pane="%1")}) == (
        RecordExit(seat="planner", launch=launch, cause="crashed"),
    )


def test_an_exit_record_without_a_pane_is_never_launched_again_under_the_same_id() -> None:
    session, launch = launched()
    gone = LaunchFact(exit=Exit(status=1, claim_taken=True))
    assert actions(session, {launch: gone}) == (
        RecordExit(seat="planner", launch=launch, cause="claim_taken", status=1),
    )


@pytest.mark.parametrize(
    ("mode", "exit_record", "cause"),
    [
        ("native", Exit(status=1), "rejected"),
        ("native", Exit(status=0), "rejected"),
        ("fresh", Exit(status=1), "crashed"),
        ("fresh", Exit(status=0), "finished"),
        ("native", Exit(signal=9), "crashed"),
        ("native", Exit(hup=True), "ended_by_user"),
        ("native", Exit(status=1, claim_taken=True), "claim_taken"),
        ("native", None, "crashed"),
    ],
)
def test_only_a_native_launch_is_rejected(mode: str, exit_record: Exit | None, cause: str) -> None:
    session, launch = launched(mode=mode)
    fact = LaunchFact(started=True, exit=exit_record, early=True, refuses=True)
    (action,) = actions(session, {launch: fact})
    assert isinstance(action, RecordExit)
    assert action.cause == cause


NOT_THE_AGENTS_WORD = [
    # other event, exit status, early, refuses, cause
    ("", 1, True, False, "rejected"),
    ("", 1, False, True, "rejected"),  # also if the agent fails late
    ("", 1, False, False, "crashed"),
    ("", 0, True, False, "finished"),
    ("", 0, False, True, "finished"),
    ("reached", 1, True, False, "rejected"),
    ("reached", 1, False, True, "crashed"),
    ("reached", 0, True, True, "finished"),  # the words are part of its conversation
    ("heard", 1, True, True, "crashed"),
    ("heard", 0, True, True, "finished"),
]


@pytest.mark.parametrize(("also", "status", "early", "says_so", "cause"), NOT_THE_AGENTS_WORD)
def test_what_counts_as_a_refusal(
    also: str, status: int, early: bool, says_so: bool, cause: str
) -> None:
    session, launch = native(also)
    end = Exit(status=status)
    fact = LaunchFact(pane="%1", started=True, exit=end, early=early, refuses=says_so)
    assert actions(session, {launch: fact}) == (
        RecordExit(seat="planner", launch=launch, cause=cause, status=status),
    )


def native(also: str = "") -> tuple[Session, str]:
    session, launch = launched(mode="native")
    if also == "reached":
        session.tell(PromptReached(evidence="its screen shows that it works"), "planner", launch)
    elif also == "heard":
        session.tell(Hello(), "planner", launch)
    return session, launch


def test_a_live_agent_that_refuses_is_ended_before_a_fresh_start() -> None:
    session, launch = native()
    refuses = replace(RUNS, early=True, refuses=True)
    (rejected,) = actions(session, {launch: refuses})
    assert rejected == RecordExit(seat="planner", launch=launch, cause="rejected")
    session.tell(AgentExited(cause="rejected"), "planner", launch)
    ended = EndPanes(launches=(launch,))
    assert actions(session, {launch: refuses}) == (ended,)
    assert actions(session, {launch: replace(refuses, pane=None)}) == (ended,)
    gone = LaunchFact(started=True, exit=Exit(signal=1, hup=True))
    assert actions(session, {launch: gone}) == (
        Launch(work=Work(seat="planner", role="planner"), attempt=1),
    )


@pytest.mark.parametrize(
    ("also", "early", "says_so"),
    [("", False, True), ("", True, False), ("reached", True, True), ("heard", True, True)],
)
def test_a_live_agent_is_left_alone(also: str, early: bool, says_so: bool) -> None:
    session, launch = native(also)
    assert actions(session, {launch: replace(RUNS, early=early, refuses=says_so)}) == ()


# -- stopped panes, and panes without an agent ---------------------------------------------------

WAITS = LaunchFact(pane="%1", alive=True)
FRESH = LaunchChosen(choice="fresh", mode="fresh", reason="chosen")


def test_a_stopped_pane_waits_and_is_made_where_it_is_missing() -> None:
    session, launch = launched(stopped=True)
    assert actions(session, {launch: WAITS}) == ()
    assert actions(session) == (OpenPane(seat="planner", launch=launch),)


@pytest.mark.parametrize("fact", [WAITS, RUNS, LaunchFact(started=True, exit=Exit(status=1))])
def test_a_choice_is_recorded_before_anything_else_of_its_launch(fact: LaunchFact) -> None:
    session, launch = launched(stopped=True)
    chosen = {launch: replace(fact, choice=FRESH)}
    assert actions(session, chosen) == (RecordChoice(seat="planner", launch=launch, choice=FRESH),)
    session.tell(FRESH, "planner", launch)
    assert RecordChoice not in map(type, actions(session, chosen))


@pytest.mark.parametrize("exit_record", [None, Exit(hup=True, signal=1), Exit(signal=15)])
def test_a_stopped_pane_that_went_was_ended_by_its_user(exit_record: Exit | None) -> None:
    session, launch = launched(stopped=True)
    (action,) = actions(session, {launch: LaunchFact(started=True, exit=exit_record)})
    assert isinstance(action, RecordExit)
    assert action.cause == "ended_by_user"
    session.tell(AgentExited(cause="ended_by_user"), "planner", launch)
    assert actions(session) == ()


@pytest.mark.parametrize("mode", ["shell", "screen"])
@pytest.mark.parametrize("exit_record", [None, Exit(status=0), Exit(status=130), Exit(signal=9)])
def test_a_shell_that_went_was_ended_by_its_user(mode: str, exit_record: Exit | None) -> None:
    session, launch = launched(mode=mode)
    (action,) = actions(session, {launch: LaunchFact(started=True, exit=exit_record)})
    assert isinstance(action, RecordExit)
    assert action.cause == "ended_by_user"


@pytest.mark.parametrize(("mode", "told"), [("fresh", True), ("shell", False), ("screen", False)])
def test_only_an_agent_is_typed_to(mode: str, told: bool) -> None:
    session = ready(Phase.ARCHITECTING)
    launch = session.launch("architect", mode=mode)
    session.tell(CodeResearchDispatched(topic="t", question="q"), "architect", launch)
    researcher = session.launch("code-researcher-t", "code-researcher", topic="t")
    session.tell(ResearchDone(research="code", topic="t"), "code-researcher-t", researcher)
    made = actions(session, {launch: RUNS})
    assert (Tell in map(type, made)) is told


def test_a_pane_that_still_runs_is_not_gone_whatever_its_exit_record_says() -> None:
    session, launch = launched()
    assert actions(session, {launch: replace(RUNS, exit=Exit(status=0))}) == ()


AFTER_EXIT = [
    # cause, attempt of the launch, next action
    ("crashed", 1, "launch 2"),
    ("crashed", 2, "fail"),
    ("rejected", 1, "launch 1"),  # does not count as a crash
    ("rejected", 2, "launch 2"),
    ("claim_taken", 1, "launch 1"),
    ("finished", 1, "nothing"),
    ("ended_by_user", 1, "nothing"),
    ("finished", 2, "nothing"),
]


@pytest.mark.parametrize(("cause", "attempt", "follows"), AFTER_EXIT)
def test_what_follows_an_exit(cause: str, attempt: int, follows: str) -> None:
    session, launch = launched(attempt=attempt)
    session.tell(AgentExited(cause=cause, status=7), "planner", launch)
    planner = Work(seat="planner", role="planner")
    expected: dict[str, tuple[Action, ...]] = {
        "launch 1": (Launch(work=planner, attempt=1),),
        "launch 2": (Launch(work=planner, attempt=2),),
        "fail": (Fail(seat="planner", cause="planner was lost twice (exit 7)"),),
        "nothing": (),
    }
    assert actions(session, {launch: LaunchFact(started=True)}) == expected[follows]


@pytest.mark.parametrize(
    ("exited", "how"),
    [
        (AgentExited(cause="crashed", status=3), "exit 3"),
        (AgentExited(cause="crashed", signal=11), "signal 11"),
        (AgentExited(cause="crashed"), "no exit record"),
    ],
)
def test_a_failure_says_how_the_seat_was_lost(exited: AgentExited, how: str) -> None:
    session, launch = launched(attempt=2)
    session.tell(exited, "planner", launch)
    assert actions(session) == (Fail(seat="planner", cause=f"planner was lost twice ({how})"),)


def test_a_neighbour_goes_on_when_a_seat_is_lost_for_good() -> None:
    session = at(Phase.PLANNING).planned(("parallel", [1, 2]))
    session.tell(ArtifactsArchived())
    lost = session.launch("coder-1", "coder", subplan=1, attempt=2)
    kept = session.launch("coder-2", "coder", subplan=2)
    session.tell(AgentExited(cause="crashed", status=1), "coder-1", lost)
    assert actions(session, {kept: RUNS}) == (
        Fail(seat="coder-1", cause="coder-1 was lost twice (exit 1)"),
    )
    session.tell(SessionFailed(cause="lost"), "coder-1", lost)
    assert actions(session, {kept: RUNS}) == ()  # its pane is kept


def test_a_failed_session_relaunches_nobody_but_keeps_the_books() -> None:
    session = at(Phase.PLANNING).planned(("parallel", [1, 2]))
    session.tell(ArtifactsArchived())
    kept = session.launch("coder-2", "coder", subplan=2)
    session.tell(SessionFailed(cause="lost"), "coder-1", "l")
    crashed = LaunchFact(started=True, exit=Exit(status=1))
    (recorded,) = actions(session, {kept: crashed})
    assert recorded == RecordExit(seat="coder-2", launch=kept, cause="crashed", status=1)
    session.tell(AgentExited(cause="crashed", status=1), "coder-2", kept)
    assert actions(session, {kept: crashed}) == ()


def test_panes_of_launches_that_hold_no_seat_are_ended() -> None:
    session, launch = launched()
    facts = {launch: RUNS, "old": RUNS, "older": LaunchFact(pane="%3"), "gone": LaunchFact()}
    assert actions(session, facts) == (EndPanes(launches=("old", "older")),)


# -- archives ------------------------------------------------------------------------------------


def test_the_archive_comes_before_everything_else() -> None:
    session = at(Phase.PLANNING)
    assert actions(session, {"old": RUNS}) == (FinishArchive(),)
    session.tell(ArtifactsArchived())
    assert Launch(work=Work(seat="planner", role="planner")) in actions(session, {"old": RUNS})


def test_an_archive_left_by_a_failed_or_done_session_is_finished_too() -> None:
    for phase in (Phase.FAILED, Phase.DONE):
        session = at(Phase.PLANNING)
        session.state = replace(session.state, phase=phase)
        assert actions(session) == (FinishArchive(),)


# -- settling ------------------------------------------------------------------------------------

DONE_1 = {"06_implementation/done_1": ""}
SETTLED = [
    # name, phase, nominated, disk, settled
    ("pm done", Phase.PRODUCT_MANAGEMENT, (), {"01_product_management/done": ""}, True),
    ("architecture there", Phase.ARCHITECTING, (), {"02_architecting/architecture.md": "x"}, True),
    ("architecture empty", Phase.ARCHITECTING, (), {"02_architecting/architecture.md": ""}, False),
    (
        "plan accepted", Phase.PLANNING, (),
        {"04_planning/execution_plan.yaml": execution_plan(("serial", [1]))}, True,
    ),
    ("plan only written", Phase.PLANNING, (), {"04_planning/plan.yaml": "{}"}, False),
    ("design there", Phase.DESIGNING, (), {"05_design/design.md": "x"}, True),
    ("sub-plan done", Phase.IMPLEMENTING, (), DONE_1, True),
    ("sub-plan open", Phase.IMPLEMENTING, (), {}, False),
    ("fix done", Phase.FIXING, (), DONE_1 | {"07_review/fix_request.md": "x"}, True),
    ("fix open", Phase.FIXING, (), {"07_review/fix_request.md": "x"}, False),
    ("no verdict", Phase.REVIEWING, (LOGIC,), {}, False),
    (
        "one of two passed", Phase.REVIEWING, (LOGIC, QUALITY),
        {"07_review/review_logic.yaml": json.dumps(review("pass"))}, False,
    ),
    (
        "one of two failed", Phase.REVIEWING, (LOGIC, QUALITY),
        {"07_review/review_logic.yaml": json.dumps(review("fail"))}, True,
    ),
    (
        "long name passed", Phase.REVIEWING, (LOGIC,),
        {"07_review/review_reviewer_logic.yaml": json.dumps(review("pass"))}, True,
    ),
    (
        "hand-made review", Phase.REVIEWING, (LOGIC, QUALITY),
        {"07_review/review.md": "Verdict: pass"}, True,
    ),
    ("summary there", Phase.COMPLETING, (LOGIC,), {"08_completion/summary.md": "x"}, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "phase", "nominated", "files", "settled"), SETTLED, ids=[row[0] for row in SETTLED]
)
def test_a_phase_is_settled_right_after_a_resume_and_only_then(
    name: str, phase: Phase, nominated: tuple[str, ...], files: dict[str, str], settled: bool
) -> None:
    session = ready(phase, *nominated)
    if phase == Phase.PRODUCT_MANAGEMENT:
        session.state = replace(session.state, product_manager=True)
    disk = artifacts(files)
    assert not [a for a in actions(session, disk=disk) if isinstance(a, Settle)]
    session.tell(
        Resumed(
            phase=phase, cycle=1,
            found={**state_from_disk(session.state, disk).values()},
        )
    )  # fmt: skip
    expected = Settle(phase=phase, found=state_from_disk(session.state, disk))
    now = actions(session, disk=disk)
    if settled:
        assert now == (expected,)
    else:
        assert now
        assert all(isinstance(action, Launch) for action in now)


def test_a_resume_that_was_cut_off_is_settled_when_it_is_reattached() -> None:
    session = ready(Phase.REVIEWING, LOGIC)
    disk = artifacts({"07_review/review_logic.yaml": json.dumps(review("pass"))})
    values = found_fields(session.state, disk)
    session.tell(Resumed(phase="reviewing", cycle=1, found=values))
    session.tell(SessionInterrupted(cause="Ctrl-C at the monitor"))
    session.tell(SessionReattached())
    expected = Settle(phase=Phase.REVIEWING, found=state_from_disk(session.state, disk))
    assert actions(session, disk=disk) == (expected,)


def test_only_the_reviewer_without_a_verdict_is_started_after_a_resume() -> None:
    session = ready(Phase.REVIEWING, LOGIC, QUALITY)
    disk = artifacts({"07_review/review_quality.yaml": json.dumps(review("pass"))})
    values = found_fields(session.state, disk)
    session.tell(Resumed(phase="reviewing", cycle=1, found=values))
    assert actions(session, disk=disk) == (Launch(work=Work(seat=LOGIC, role=LOGIC)),)


def test_a_phase_entered_by_override_is_not_settled() -> None:
    session = ready(Phase.COMPLETING)
    disk = artifacts({"02_architecting/architecture.md": "x"})
    values = found_fields(session.state, disk)
    session.tell(Resumed(phase="architecting", cycle=1, found=values, override=True))
    assert actions(session, disk=disk) == (FinishArchive(),)
    session.tell(ArtifactsArchived())
    assert actions(session) == (Launch(work=Work(seat="architect", role="architect")),)


# -- telling -------------------------------------------------------------------------------------


def researched() -> tuple[Session, str]:
    session = ready(Phase.ARCHITECTING)
    launch = session.launch("architect")
    session.signal("architect", CodeResearchDispatched(topic="t", question="q"))
    session.launch("code-researcher-t", "code-researcher", topic="t")
    session.signal("code-researcher-t", ResearchDone(research="code", topic="t"))
    return session, launch


def test_the_owner_is_told_once_and_only_while_it_lives() -> None:
    session, launch = researched()
    tell = Tell(seat="architect", launch=launch, research=ResearchKind.CODE, topic="t")
    assert actions(session, {launch: RUNS}) == (tell,)
    assert not [
        a for a in actions(session, {launch: LaunchFact(pane="%1", started=True)})
        if isinstance(a, Tell)
    ]  # fmt: skip
    session.tell(ResearchTold(research="code", topic="t", result="typed"), "architect", launch)
    assert actions(session, {launch: RUNS}) == ()


def test_an_owner_that_was_relaunched_is_told_at_its_new_launch() -> None:
    session, launch = researched()
    session.tell(AgentExited(cause="crashed"), "architect", launch)
    assert not [a for a in actions(session) if isinstance(a, Tell)]
    new = session.launch("architect", attempt=2)
    told = [a for a in actions(session, {new: RUNS}) if isinstance(a, Tell)]
    assert [each.launch for each in told] == [new]


def test_each_of_several_owners_is_told() -> None:
    session = at(Phase.PLANNING).planned(("parallel", [1, 2]))
    session.tell(ArtifactsArchived())
    launches = {}
    for n in (1, 2):
        launches[session.launch(f"coder-{n}", "coder", subplan=n)] = RUNS
        session.signal(f"coder-{n}", WebResearchDispatched(topic="t", question="q"))
    session.launch("web-researcher-t", "web-researcher", topic="t")
    session.signal("web-researcher-t", ResearchDone(research="web", topic="t"))
    told = [a.seat for a in actions(session, launches) if isinstance(a, Tell)]
    assert told == ["coder-1", "coder-2"]


def test_a_neighbour_in_a_failed_session_is_told_what_it_waits_for() -> None:
    session, launch = researched()
    session.tell(SessionFailed(cause="lost"), "code-researcher-u", "l")
    assert actions(session, {launch: RUNS}) == (
        Tell(seat="architect", launch=launch, research=ResearchKind.CODE, topic="t"),
    )


# -- closing -------------------------------------------------------------------------------------


def closing(*, capped: bool = False, **options: Any) -> Session:
    session = ready(Phase.REVIEWING, max_review_iterations=0 if capped else 3)
    session.state = replace(session.state, options=Options(**options))
    session.reviewed(LOGIC, "fail" if capped else "pass").tell(ArtifactsArchived())
    return session.summed_up()


def test_the_user_decides_by_default() -> None:
    assert actions(closing()) == ()


def test_a_review_that_passed_is_approved_by_itself_where_configured() -> None:
    assert actions(closing(require_approval=False)) == (ApproveByItself(),)


def test_a_capped_review_is_never_approved_by_itself() -> None:
    session = closing(capped=True, require_approval=False)
    assert outcome_of(session.state) == "capped"
    assert actions(session) == ()


def test_nothing_is_approved_before_the_summary() -> None:
    session = ready(Phase.COMPLETING, options=Options(require_approval=False))
    assert not [a for a in actions(session) if isinstance(a, ApproveByItself)]


def test_the_commit_is_made_once_and_looked_for_after_a_crash() -> None:
    session = closing(commit=True)
    session.tell(Approved(), "user", id="a1")
    assert actions(session) == (MakeCommit(approval="a1", started=False),)
    session.tell(CommitStarted(approval="a1"))
    assert actions(session) == (MakeCommit(approval="a1", started=True),)
    session.tell(CommitDelayed(reason="a lock"))
    assert actions(session) == (MakeCommit(approval="a1", started=True),)


def test_a_commit_that_failed_is_not_tried_again_without_the_user() -> None:
    session = closing(commit=True, require_approval=False)
    session.tell(Approved(), "orchestrator", id="a1")
    session.tell(CommitStarted(approval="a1"))
    session.tell(CommitFailed(reason="hook"))
    assert actions(session) == ()
    session.tell(Approved(), "user", id="a2")
    assert actions(session) == (MakeCommit(approval="a2", started=False),)


def test_every_action_of_a_strange_state_is_decided_without_raising() -> None:
    """A state that was edited by hand can have a seat of another phase and no groups."""
    state = SessionState(
        phase=Phase.IMPLEMENTING, seats={"architect": seat("l1", "architect")}, cycle=0
    )
    assert next_actions(state, Facts(artifacts=EMPTY, launches={"l1": RUNS})) == ()
