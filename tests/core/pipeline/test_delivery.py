"""The delivery of an approved result: its steps, in what order, and what a failure leaves open."""

import json
from dataclasses import replace
from typing import Any

import pytest

from agentmux.core.decisions.next_actions import (
    ApproveByItself,
    Facts,
    MakeCommit,
    TakeStep,
    next_actions,
)
from agentmux.core.fold.acceptance import Answer, judge, takes_decision
from agentmux.core.fold.implied_file import Implied
from agentmux.core.journal.events import (
    Approved,
    ArtifactsArchived,
    ChangesRequested,
    CommitFailed,
    CommitMade,
    CommitStarted,
    StepDone,
    StepFailed,
    StepStarted,
)
from agentmux.core.journal.state import Base, Options, SessionState, StepState, decode, encode
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.delivery import (
    failed_step,
    failure,
    open_delivery,
    open_step,
    running_record,
)
from agentmux.core.pipeline.work import find_work
from tests.core.builders import FIX_REQUEST, LOGIC, Session, artifacts, at, event

OLD, NEW = {"base": "main", "old": "a", "new": "b"}, {"base": "main", "old": "c", "new": "d"}


def completing(*, worktree: bool = True, **options: Any) -> Session:
    place: dict[str, Any] = (
        {"worktree": "/w", "base": Base(commit="b0", branch="main"), "branch": "agentmux/x"}
        if worktree
        else {"branch": "main"}
    )
    options = {"commit": True, "base": "b0", **options}
    session = at(Phase.COMPLETING, **place, options=Options(**options)).summed_up()
    session.tell(ArtifactsArchived())
    return session


def approved(then: str, **more: Any) -> Session:
    session = completing(**more)
    session.tell(Approved(then=then), "user", id="a1")
    return session


def committed(then: str, **more: Any) -> Session:
    session = approved(then, **more)
    session.tell(CommitStarted(approval="a1"))
    session.tell(CommitMade(commit="c0ffee"))
    return session


def steps(state: SessionState) -> dict[str, str]:
    assert state.delivery is not None
    return {name: step.status for name, step in state.delivery.steps.items()}


def actions(state: SessionState) -> tuple[Any, ...]:
    return next_actions(state, Facts(artifacts=artifacts({})))


@pytest.mark.parametrize("then", ["merge", "push"])
def test_the_steps_are_taken_in_order_and_done_follows_the_last(then: str) -> None:
    session = approved(then)
    assert actions(session.state) == (MakeCommit(approval="a1", started=False),)
    session.tell(CommitStarted(approval="a1"))
    session.tell(CommitMade(commit="c0ffee"))
    assert (session.state.phase, steps(session.state)) == (Phase.COMPLETING, {"commit": "done"})
    assert actions(session.state) == (TakeStep(step=then, approval="a1"),)

    session.tell(StepStarted(approval="a1", step=then, record=OLD))
    assert running_record(session.state, then) == OLD
    assert actions(session.state) == (TakeStep(step=then, approval="a1"),)
    session.tell(StepStarted(approval="a1", step=then, record=NEW))
    assert running_record(session.state, then) == NEW
    done = session.tell(StepDone(approval="a1", step=then, record={"more": "x"}))
    assert (done.phase, steps(done)) == (Phase.DONE, {"commit": "done", then: "done"})
    assert done.delivery is not None
    assert done.delivery.steps[then].record == {**NEW, "more": "x"}
    assert open_step(done) is None


@pytest.mark.parametrize("then", ["", "keep", "of a newer version"])
def test_a_result_that_is_kept_needs_its_commit_only(then: str) -> None:
    session = committed(then)
    assert (session.state.phase, steps(session.state)) == (Phase.DONE, {"commit": "done"})


def test_what_stays_in_the_checkout_is_not_delivered() -> None:
    assert committed("keep", worktree=False).state.delivery is None
    assert committed("push", worktree=False).state.delivery is not None


def test_nothing_is_delivered_where_nothing_is_to_be_committed() -> None:
    session = approved("merge")
    session.tell(CommitStarted(approval="a1"))
    assert session.tell(CommitMade(commit=None)).phase == Phase.DONE
    assert approved("merge", commit=False).state.phase == Phase.DONE


def test_a_step_that_failed_leaves_the_decision_open_with_the_reason() -> None:
    session = committed("merge")
    assert not takes_decision(session.state)
    session.tell(StepStarted(approval="a1", step="merge", record=OLD))
    judged = judge(session.state, event(Approved(then="keep"), "user", id="a2"))
    assert judged.answer is Answer.IGNORED
    failed = session.tell(
        StepFailed(approval="a1", step="merge", reason="why", record={"conflicts": "it"})
    )
    assert (failed.phase, failed.approval) == (Phase.COMPLETING, None)
    assert failed_step(failed) == (
        "merge",
        StepState(status="failed", reason="why", record={**OLD, "conflicts": "it"}),
    )
    assert failure(failed) == "not merged: why"
    assert actions(failed) == ()
    assert decode(json.loads(json.dumps(encode(failed))), where="x") == failed

    kept = session.tell(Approved(then="keep"), "user", id="a2")
    assert failure(kept) == ""
    session.tell(CommitStarted(approval="a2"))
    assert session.tell(CommitMade(commit="c0ffee", adopted=True)).phase == Phase.DONE


def test_events_of_a_delivery_that_was_replaced_change_nothing() -> None:
    session = committed("push")
    before = session.state
    for fact in (
        StepStarted(approval="a0", step="push", record=OLD),
        StepDone(approval="a0", step="push"),
        StepFailed(approval="a0", step="push", reason="late"),
    ):
        after = session.tell(fact)
        assert (after.phase, after.delivery, after.approval) == (
            before.phase,
            before.delivery,
            "a1",
        )


def test_nobody_approves_again_what_could_not_be_delivered() -> None:
    session = committed("push", require_approval=False)
    failed = session.tell(StepFailed(approval="a1", step="push", reason="no"))
    assert actions(failed) == ()
    fresh = completing(require_approval=False)
    assert actions(fresh.state) == (ApproveByItself(),)
    fresh.tell(Approved(), "user", id="a1")
    assert actions(fresh.tell(CommitFailed(reason="no"))) == ()


def test_a_resume_goes_on_with_the_open_step() -> None:
    session = committed("merge")
    session.tell(StepStarted(approval="a1", step="merge", record=OLD))
    again = replace(session.state, last_event="resumed")
    assert actions(again) == (TakeStep(step="merge", approval="a1"),)


def test_an_unknown_way_of_a_state_is_kept() -> None:
    state = replace(completing().state, approval="a1")
    opened = open_delivery(state, "merge").delivery
    assert opened is not None
    assert open_step(replace(state, delivery=replace(opened, then="nowhere"))) == "commit"


# -- changes after a delivery --------------------------------------------------------------------


def test_a_small_change_begins_a_cycle_in_fixing() -> None:
    session = committed("merge")
    session.tell(StepFailed(approval="a1", step="merge", reason="why"))
    text = "Resolve it.\nAll of it."
    state = session.tell(ChangesRequested(text=text, phase="fixing"), "user")
    assert (state.phase, state.cycle, state.iteration) == (Phase.FIXING, 2, 1)
    assert (state.delivery, state.commit, state.approval) == (None, None, None)
    assert state.reviewer_nominations == (LOGIC,)
    assert state.completed_subplans == (1,)
    assert [work.seat for work in find_work(state)] == ["coder"]
    (archive,) = state.pending_archive
    assert archive.to == "history/1.0"
    assert archive.takes("08_completion/summary.md")
    assert archive.takes("07_review/review_logic.yaml")
    assert archive.takes("06_implementation/done_1")
    assert not archive.takes("04_planning/plan.yaml")
    kept = "history/2.0/07_review/fix_request.md"
    assert session.paths == (
        "history/1.0/08_completion/changes.md", kept, FIX_REQUEST, FIX_REQUEST,
    )  # fmt: skip
    assert "> Resolve it.\n> All of it.\n" in session.text(FIX_REQUEST)
    assert session.files[-1] == Implied(path=FIX_REQUEST, copy_of=kept)

    session.tell(ArtifactsArchived())
    session.fixed()
    assert session.state.phase == Phase.REVIEWING
    session.reviewed(LOGIC, "fail")
    assert (session.state.phase, session.state.iteration) == (Phase.FIXING, 2)


def test_a_large_change_begins_with_the_architecture() -> None:
    state = completing().tell(ChangesRequested(text="Other."), "user")
    assert (state.phase, state.cycle, state.iteration) == (Phase.ARCHITECTING, 2, 0)
