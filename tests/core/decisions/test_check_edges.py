"""Checks beside which a session fails, and cycles that begin where nothing can be verified."""

from __future__ import annotations

import pytest

from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.check_actions import BeginChecks, RecordCheck
from agentmux.core.decisions.next_actions import Exit, LaunchFact
from agentmux.core.decisions.tree_checkpoints import rewound_phase
from agentmux.core.definitions.definition import (
    Expect,
    Kind,
    PhaseDefinition,
    PipelineDefinition,
    definition_fields,
)
from agentmux.core.fold.apply import advance
from agentmux.core.journal.events import (
    ChangesRequested,
    CheckDone,
    ChecksBegan,
    CheckSkipped,
    Fact,
    Repinned,
    Resumed,
    SeatRestarted,
    SessionFailed,
)
from agentmux.core.journal.results import Fix, PhaseResult
from agentmux.core.journal.state import SessionState, TreeCheckpoint
from agentmux.core.pipeline.registry import beginnings
from agentmux.core.pipeline.verified import is_proven
from tests.core.builders import event
from tests.core.decisions.test_check_actions import (
    HERE,
    actions,
    begin,
    begun,
    launched,
    pipeline,
    ran,
)

RESUMED = Resumed(phase=HERE, cycle=1, found={})


def told(
    state: SessionState, fact: Fact, seat: str = "orchestrator", launch: str = ""
) -> SessionState:
    """Return the state after an event, as an orchestrator folds it."""
    return advance(state, event(fact, seat=seat, launch=launch), 0)


def failed(state: SessionState) -> SessionState:
    return told(state, SessionFailed(cause="web-researcher-x was lost twice"))


def test_a_command_that_ends_after_its_session_has_failed_is_recorded() -> None:
    state = failed(launched(begin(begun("tests")), "check-tests", "l1"))
    gone = LaunchFact(pane="%1", started=True, exit=Exit(status=0))
    assert [type(each) for each in actions(state, l1=gone)] == [RecordCheck]
    done = CheckDone(phase=HERE, name="tests", outcome="passed", status=0, tree="t1")
    ended = told(state, done, "check-tests", "l1")
    assert ended.phase == "failed"
    assert ended.interruption == state.interruption
    assert ended.results[HERE].checks["tests"].outcome == "passed"
    assert not ended.seats
    # Once the session goes on, the check is decided: in a new process, and in the same one.
    resumed = told(ended, RESUMED)
    assert told(resumed, ChecksBegan(phase=HERE, tree="t1")).phase == "completing"
    going = told(ended, SeatRestarted(), "web-researcher-x")
    assert actions(going) == [BeginChecks(phase=HERE)]
    assert told(going, ChecksBegan(phase=HERE, tree="t1")).phase == "completing"


def test_a_command_is_skipped_in_a_failed_session() -> None:
    state = failed(ran(begin(begun("tests")), "tests", "broken"))
    assert state.phase == "failed"
    skipped = told(state, CheckSkipped(name="tests"), "user")
    assert skipped.phase == "failed"
    assert skipped.results[HERE].checks["tests"].skipped


@pytest.mark.parametrize("expect", list(Expect))
def test_a_new_cycle_does_not_begin_in_a_check_without_commands(expect: Expect) -> None:
    first = PhaseDefinition(phase="before", kind=Kind.CHECK, folder="before", expect=expect)
    given = PipelineDefinition(name="mine", phases=(first, *pipeline().phases))
    state = SessionState(phase="completing", pipeline=given)
    assert told(state, ChangesRequested(text="more"), "user").phase == "implementing"


def test_a_rewind_does_not_lead_into_a_check_without_commands() -> None:
    state = SessionState(phase="completing", pipeline=pipeline(), fix=Fix(sender=HERE, iteration=2))
    to = TreeCheckpoint(
        number=1, because="stop", phase="fixing", commit="c", cycle=1, iteration=1, subplans=()
    )
    assert rewound_phase(state, to) == "completing"
    assert rewound_phase(replace(state, verify=begun("a").verify), to) == HERE


def test_no_cycle_begins_in_a_fix_that_only_makes_commands_fail() -> None:
    one = PhaseDefinition(phase="x", kind=Kind.WORK, folder="x", roles=("coder",))
    check = replace(one, kind=Kind.CHECK, roles=())
    phases = (
        replace(one, phase="reproducing", folder="a"),
        replace(check, phase="confirming", expect=Expect.FAIL, on_fail="retesting"),
        replace(one, phase="retesting", kind=Kind.FIX, folder="a"),
        replace(one, phase="implementing", folder="b"),
        replace(check, phase="verifying", on_fail="fixing"),
        replace(one, phase="fixing", kind=Kind.FIX, folder="b"),
        pipeline().phases[-1],
    )
    given = PipelineDefinition(name="mine", phases=phases)
    found = beginnings(SessionState(phase="completing", pipeline=given))
    assert sorted(found) == ["fixing", "implementing", "reproducing"]


def test_a_pipeline_without_making_can_begin_again_in_its_review() -> None:
    review = PhaseDefinition(
        phase="reviewing", kind=Kind.REVIEW, folder="07", roles=("reviewer_logic",)
    )
    given = PipelineDefinition(name="mine", phases=(review, pipeline().phases[-1]))
    state = SessionState(phase="completing", pipeline=given)
    assert beginnings(state) == ("reviewing",)
    named = ChangesRequested(text="look at the tests", phase="reviewing")
    assert told(state, named, "user").phase == "reviewing"


def test_an_outcome_proves_nothing_in_another_pipeline() -> None:
    passed = {"reviewing": PhaseResult(outcome="passed")}
    reviewed = SessionState(phase="completing", results=passed)
    assert is_proven(reviewed)
    taken = told(reviewed, Repinned(pipeline=definition_fields(pipeline())))
    assert not is_proven(told(taken, Resumed(phase="completing", cycle=1, found={})))
