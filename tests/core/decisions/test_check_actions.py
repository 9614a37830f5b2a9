"""A check from its beginning to its end, by events and actions alone."""

from __future__ import annotations

from typing import Any

import pytest

from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.check_actions import (
    BeginChecks,
    EndBase,
    MakeBase,
    RecordBase,
    RecordCheck,
)
from agentmux.core.decisions.next_actions import (
    ApproveByItself,
    Exit,
    Facts,
    Launch,
    LaunchFact,
    RecordExit,
    next_actions,
)
from agentmux.core.definitions.definition import (
    Expect,
    Kind,
    PhaseDefinition,
    PipelineDefinition,
)
from agentmux.core.fold.apply import apply
from agentmux.core.journal.events import (
    AgentExited,
    AgentLaunched,
    BaseChecked,
    BaseDone,
    BaseMade,
    CheckDone,
    ChecksBegan,
    CheckSkipped,
    Fact,
    SeatRestarted,
)
from agentmux.core.journal.results import BaseChecks, PhaseResult
from agentmux.core.journal.state import Options, SessionState
from agentmux.core.pipeline.artifacts import Artifacts
from agentmux.core.pipeline.verified import is_proven, told_lines, verified_lines
from tests.core.builders import event

HERE = "verifying"


def pipeline(expect: Expect = Expect.PASS) -> PipelineDefinition:
    fix = PhaseDefinition(
        phase="fixing", kind=Kind.FIX, folder="06_implementation", roles=("coder",)
    )
    return PipelineDefinition(
        name="mine",
        phases=(
            replace(fix, phase="implementing", kind=Kind.WORK),
            PhaseDefinition(
                phase=HERE, kind=Kind.CHECK, folder=HERE, on_fail="fixing", expect=expect
            ),
            fix,
            PhaseDefinition(
                phase="completing", kind=Kind.COMPLETE, folder="08", roles=("reviewer_logic",)
            ),
        ),
    )


def begun(*names: str, expect: Expect = Expect.PASS, **values: Any) -> SessionState:
    """Return a session in its check; a name that begins with ``?`` is not required."""
    verify = tuple(
        {"name": n.lstrip("?"), "run": ["x"], "timeout_s": 60, "required": n[0] != "?"}
        for n in names
    )
    return SessionState(phase=HERE, pipeline=pipeline(expect), verify=verify, **values)


def actions(state: SessionState, tree: str | None = "t1", **launches: LaunchFact) -> list[object]:
    facts = Facts(artifacts=Artifacts(), launches=launches, tree=tree)
    return list(next_actions(state, facts))


def after(
    state: SessionState, fact: Fact, seat: str = "orchestrator", launch: str = ""
) -> SessionState:
    return apply(state, event(fact, seat=seat, launch=launch))


def launched(state: SessionState, name: str, launch: str, *, attempt: int = 1) -> SessionState:
    role, _, command = name.partition("-")
    fact = AgentLaunched(
        role=role,
        record={},
        mode=role,
        reason="",
        topic=command or "build",
        phase=HERE,
        attempt=attempt,
    )
    return after(state, fact, name, launch)


def ran(state: SessionState, name: str, outcome: str, **fields: Any) -> SessionState:
    """Return the state after a command was launched and has ended."""
    launch = f"l{len(state.results[HERE].checks)}{outcome}"
    seated = launched(state, f"check-{name}", launch)
    required = {str(each["name"]): each["required"] is True for each in state.verify}
    done = CheckDone(
        phase=HERE, name=name, outcome=outcome, tree="t1", required=required[name], **fields
    )
    return after(seated, done, f"check-{name}", launch)


def begin(state: SessionState, tree: str = "t1") -> SessionState:
    return after(state, ChecksBegan(phase=HERE, tree=tree))


def test_the_files_are_looked_at_before_the_first_command() -> None:
    state = begun("a", "b")
    assert actions(state, None) == [BeginChecks(phase=HERE)]
    state = begin(state)
    assert actions(state, None) == [BeginChecks(phase=HERE)], "a new process looks again"
    (launch,) = actions(state)
    assert isinstance(launch, Launch)
    assert (launch.work.seat, launch.work.role, launch.work.topic) == ("check-a", "check", "a")
    (launch,) = actions(ran(state, "a", "passed"))
    assert isinstance(launch, Launch)
    assert launch.work.seat == "check-b", "one after the other"


def test_what_ran_on_other_files_does_not_count() -> None:
    state = ran(begin(begun("a", "b", "?c")), "a", "passed")
    assert actions(state, "t2") == [BeginChecks(phase=HERE)]
    assert begin(state, "t2").results[HERE] == PhaseResult(tree="t2")
    seated = launched(state, "check-b", "l9")
    assert begin(seated).results[HERE].checks.keys() == {"a"}
    assert not begin(seated).seats


def test_what_a_command_leaves_belongs_to_its_check() -> None:
    state = ran(begin(begun("a", "b")), "a", "passed", left="t2")
    for tree in ("t1", "t2"):
        assert isinstance(actions(state, tree)[0], Launch)
    assert actions(state, "t3") == [BeginChecks(phase=HERE)]
    again = replace(state, results={HERE: replace(state.results[HERE], tree="")})
    assert actions(again, "t2") == [BeginChecks(phase=HERE)]
    assert begin(again, "t2").results[HERE].checks.keys() == {"a"}


@pytest.mark.parametrize(
    ("record", "attempt", "action"),
    [
        (Exit(status=0), 1, RecordCheck),
        (Exit(status=1), 1, RecordCheck),
        (None, 1, RecordExit),
        (Exit(signal=1, hup=True), 1, RecordExit),
        (None, 2, RecordCheck),
        (Exit(signal=1, hup=True), 2, RecordCheck),
    ],
)
def test_a_command_that_was_not_finished_runs_again_once(
    record: Exit | None, attempt: int, action: type[object]
) -> None:
    state = launched(begin(begun("a")), "check-a", "l1", attempt=attempt)
    found, *_ = actions(state, l1=LaunchFact(started=True, exit=record))
    assert type(found) is action
    if isinstance(found, RecordCheck) and attempt == 2:
        assert found.outcome == "broken"
    if isinstance(found, RecordExit):
        lost = after(state, AgentExited(cause=found.cause), "check-a", "l1")
        (again,) = actions(lost, l1=LaunchFact(started=True, exit=record))
        assert again == Launch(work=again.work, attempt=2)  # type: ignore[attr-defined]


def test_a_check_that_passes_goes_on_and_one_that_fails_is_fixed() -> None:
    state = ran(begin(begun("a", "?b")), "a", "passed")
    assert ran(state, "b", "failed").phase == "completing"
    failed = ran(ran(begin(begun("a", "?b")), "a", "failed", output="no"), "b", "passed")
    assert (failed.phase, failed.fix and failed.fix.sender) == ("fixing", HERE)
    capped = ran(begin(begun("a", max_review_iterations=0)), "a", "failed")
    assert (capped.phase, capped.results[HERE].outcome) == ("completing", "capped")
    reproduced = ran(begin(begun("a", expect=Expect.FAIL)), "a", "failed")
    assert reproduced.phase == "completing"
    assert not reproduced.seats


def test_what_could_not_run_waits_for_the_user_who_is_asked_once() -> None:
    state = ran(ran(begin(begun("a", "b")), "a", "broken", status=127), "b", "passed")
    assert (state.phase, state.seats["check-a"].status) == (HERE, "broken")
    assert actions(state) == []
    gone = replace(state, seats={})
    assert actions(gone) == [BeginChecks(phase=HERE)], "a resume tries it again"
    assert begin(gone).results[HERE].checks.keys() == {"b"}
    again = after(state, SeatRestarted(), "check-a", state.seats["check-a"].launch)
    assert actions(again) == [BeginChecks(phase=HERE)], "the user may have mended a file"
    assert begin(again).results[HERE].checks.keys() == {"b"}
    assert after(state, CheckSkipped(name="b")) == replace(state, last_event="check_skipped")
    skipped = after(state, CheckSkipped(name="a"))
    assert (skipped.phase, skipped.skipped_checks) == ("completing", ("a",))
    anew = replace(begin(begun("a", "b")), skipped_checks=("a",))
    assert ran(ran(anew, "a", "broken"), "b", "passed").phase == "completing"
    assert verified_lines(skipped)[1] == "  a: could not run (exit 127), you went on without it  x"
    assert told_lines(skipped)[1] == "verifying, b: passed"


def test_a_result_of_an_old_launch_changes_nothing() -> None:
    state = launched(begin(begun("a")), "check-a", "l1")
    done = CheckDone(phase=HERE, name="a", outcome="passed", tree="t1")
    assert after(state, done, "check-a", "l0").results == state.results
    assert after(state, replace(done, phase="other"), "check-a", "l1").results == state.results


BASE = BaseChecks(
    path="/base", commit="c", steps=({"name": "build", "run": ["make"], "timeout_s": 60},)
)


def test_the_base_is_checked_before_the_check_begins() -> None:
    state = begun("a", "?b", base_checks=BASE)
    assert actions(state) == [MakeBase()]
    state = after(state, BaseMade())
    (launch,) = actions(state)
    assert isinstance(launch, Launch)
    assert (launch.work.seat, launch.work.topic) == ("base", "build")
    step = launched(state, "base", "l1")
    (found,) = actions(step, l1=LaunchFact(started=True, exit=Exit(status=0)))
    assert found == RecordExit(seat="base", launch="l1", cause="finished", status=0)
    built = after(step, AgentExited(cause="finished", status=0), "base", "l1")
    (launch,) = actions(built)
    assert isinstance(launch, Launch)
    assert launch.work.seat == "base-a"
    seated = launched(built, "base-a", "l2")
    (found,) = actions(seated, l2=LaunchFact(started=True, exit=Exit(status=1)))
    assert isinstance(found, RecordBase)
    red = after(seated, BaseChecked(name="a", outcome="failed", status=1), "base-a", "l2")
    assert actions(red) == [EndBase()], "what is not required does not run there"
    state = begin(after(red, BaseDone()))
    decided = ran(ran(state, "a", "failed", status=1), "b", "passed")
    assert decided.phase == "completing"
    assert "  a: failed (exit 1), as before the session  x" in verified_lines(decided)
    assert not is_proven(decided)


def test_a_base_that_cannot_be_prepared_is_only_recorded() -> None:
    step = launched(after(begun("a", base_checks=BASE), BaseMade()), "base", "l1")
    failed = after(step, AgentExited(cause="crashed", status=2), "base", "l1")
    (end,) = actions(failed)
    assert isinstance(end, EndBase)
    assert "`build`" in end.because
    over = after(failed, BaseDone(because=end.because))
    assert actions(over) == [BeginChecks(phase=HERE)]


@pytest.mark.parametrize(
    ("names", "outcomes", "alone"),
    [
        (["a", "?b"], ["passed", "failed"], True),
        (["?a", "?b"], ["passed", "passed"], False),
    ],
)
def test_only_a_required_command_that_passed_approves_alone(
    names: list[str], outcomes: list[str], alone: bool
) -> None:
    state = begin(begun(*names, options=Options(require_approval=False)))
    for name, outcome in zip(names, outcomes, strict=True):
        state = ran(state, name.lstrip("?"), outcome)
    state = replace(state, summary_submitted=True, pending_archive=())
    assert (ApproveByItself() in actions(state)) is alone
    capped = {**state.results, "other": PhaseResult(outcome="capped")}
    assert ApproveByItself() not in actions(replace(state, results=capped))
