"""When the work tree is saved, which checkpoint a name means, and where a rewind goes on."""

from dataclasses import replace
from typing import Any

import pytest

from agentmux.core.codec.records import Json
from agentmux.core.decisions.tree_checkpoints import (
    Position,
    checkpoint_words,
    delivered_since,
    kept_subplans,
    named_checkpoint,
    position,
    reason_to_save,
    rewound_phase,
    stale_seats,
)
from agentmux.core.fold.apply import apply
from agentmux.core.journal.events import (
    AgentExited,
    CheckpointTaken,
    CodeDone,
    CommitMade,
    Event,
    Fact,
    PromptReached,
    Resumed,
    RewindStarted,
    Rewound,
    SessionFailed,
)
from agentmux.core.journal.results import Fix, PhaseResult
from agentmux.core.journal.state import SessionState, TreeCheckpoint, decode, encode
from agentmux.core.names.phase import Phase
from agentmux.errors import NotFoundError
from tests.core.builders import AT

STATE = SessionState(
    phase=Phase.COMPLETING,
    needs_design=False,
    subplan_count=3,
    completed_subplans=(1, 2, 3),
    implementation_groups=(
        {"group_id": "g", "mode": "serial", "plans": [{"index": n} for n in (1, 2, 3)]},
    ),
    fix=Fix(sender="reviewing", iteration=1, sent={"reviewing": 1}),
    results={"reviewing": PhaseResult(iteration=1, outcome="passed")},
)


def at(phase: Phase, **more: Any) -> Position:
    return Position(**{"phase": phase, "cycle": 1, "iteration": 0, "subplans": (), **more})


@pytest.mark.parametrize(
    ("before", "now", "because"),
    [
        (at(Phase.PLANNING), at(Phase.PLANNING), ""),
        (at(Phase.PLANNING), at(Phase.DESIGNING), "phase"),
        (at(Phase.IMPLEMENTING), at(Phase.IMPLEMENTING, subplans=(2,)), "subplan"),
        (at(Phase.IMPLEMENTING, subplans=(2,)), at(Phase.REVIEWING, subplans=(1, 2)), "phase"),
        (at(Phase.REVIEWING), at(Phase.FIXING, iteration=1), "phase"),
        (at(Phase.COMPLETING, subplans=(1,)), at(Phase.ARCHITECTING, cycle=2), "phase"),
        (at(Phase.IMPLEMENTING, subplans=(1,)), at(Phase.IMPLEMENTING), ""),
        (at(Phase.FAILED), at(Phase.PLANNING), ""),
    ],
)
def test_the_tree_is_saved_when_a_phase_ends_or_a_sub_plan_is_handed_in(
    before: Position, now: Position, because: str
) -> None:
    assert reason_to_save(before, now) == because


def test_a_failed_session_is_where_it_failed() -> None:
    after = apply(replace(STATE, phase=Phase.REVIEWING), event(SessionFailed(cause="x")))
    assert position(after).phase == Phase.REVIEWING


def event(fact: Fact, seat: str = "orchestrator") -> Event:
    return Event(id="i", at=AT, seat=seat, launch="l", cycle=1, fact=fact)


def point(number: int, phase: Phase, because: str = "phase", **more: Any) -> TreeCheckpoint:
    return TreeCheckpoint(number=number, because=because, phase=phase, commit=f"c{number}", **more)


def test_a_checkpoint_has_a_number_and_maybe_the_name_of_a_phase() -> None:
    known = (
        point(1, Phase.PLANNING),
        point(2, Phase.REVIEWING),
        point(3, Phase.REVIEWING, iteration=1),
        point(4, Phase.COMPLETING, "stop"),
    )
    assert named_checkpoint(known, "1") == known[0]
    assert named_checkpoint(known, "reviewing") == known[2]
    for unknown in ("completing", "5", "", "01"):
        with pytest.raises(NotFoundError, match="no work-tree checkpoint"):
            named_checkpoint(known, unknown)
    with pytest.raises(NotFoundError, match="has no work-tree checkpoint"):
        named_checkpoint((), "1")


@pytest.mark.parametrize(
    ("each", "words"),
    [
        (point(1, Phase.PLANNING), "1, at the end of planning"),
        (
            point(2, Phase.IMPLEMENTING, "subplan", subplans=(1, 3)),
            "2, in implementing with sub-plan 1, 3 handed in",
        ),
        (point(3, Phase.REVIEWING, "stop"), "3, in reviewing"),
        (point(4, Phase.REVIEWING, "rewind"), "4, before a rewind"),
        (point(5, Phase.REVIEWING, "rewound"), "5, after a rewind"),
    ],
)
def test_what_a_checkpoint_is_called(each: TreeCheckpoint, words: str) -> None:
    assert checkpoint_words(each) == words


@pytest.mark.parametrize(
    ("to", "here", "phase"),
    [
        (point(1, Phase.ARCHITECTING), Phase.COMPLETING, Phase.PLANNING),
        (point(1, Phase.PLANNING), Phase.COMPLETING, Phase.IMPLEMENTING),
        (point(1, Phase.IMPLEMENTING), Phase.COMPLETING, Phase.REVIEWING),
        (point(1, Phase.REVIEWING), Phase.COMPLETING, Phase.REVIEWING),
        (point(1, Phase.FIXING, iteration=1), Phase.COMPLETING, Phase.REVIEWING),
        (point(1, Phase.IMPLEMENTING, "subplan"), Phase.COMPLETING, Phase.IMPLEMENTING),
        (point(1, Phase.FIXING, "stop", iteration=1), Phase.COMPLETING, Phase.FIXING),
        (point(1, Phase.FIXING, "stop", iteration=0), Phase.COMPLETING, Phase.REVIEWING),
        # Never forward: the artifacts of later phases may be gone.
        (point(1, Phase.REVIEWING, "rewind"), Phase.IMPLEMENTING, Phase.IMPLEMENTING),
        (point(1, Phase.IMPLEMENTING), Phase.FIXING, Phase.FIXING),
        # The artifacts of an earlier cycle are in the history.
        (point(1, Phase.REVIEWING, cycle=0), Phase.COMPLETING, Phase.ARCHITECTING),
    ],
)
def test_where_work_goes_on_after_a_rewind(to: TreeCheckpoint, here: Phase, phase: Phase) -> None:
    assert rewound_phase(replace(STATE, phase=here), to) == phase


def test_a_design_follows_the_plan_where_one_is_needed() -> None:
    state = replace(STATE, needs_design=True)
    assert rewound_phase(state, point(1, Phase.PLANNING)) == Phase.DESIGNING


def test_sub_plans_of_the_same_plan_stay_done() -> None:
    to = point(1, Phase.IMPLEMENTING, "subplan", subplans=(1,))
    assert kept_subplans(STATE, to, Phase.IMPLEMENTING) == (1,)
    assert kept_subplans(STATE, to, Phase.REVIEWING) == ()
    assert kept_subplans(replace(STATE, completed_subplans=(2,)), to, Phase.IMPLEMENTING) == ()


def test_a_seat_is_stale_if_its_conversation_went_on() -> None:
    taken = CheckpointTaken(number=2, because="phase", phase="planning", commit="c")
    events = [
        event(PromptReached(evidence="x"), "planner"),
        event(replace(taken, number=1)),
        event(PromptReached(evidence="x"), "coder-1"),
        event(taken),
        event(AgentExited(cause="finished"), "planner"),
        event(PromptReached(evidence="x"), "coder-2"),
        event(CodeDone(subplan_index=3), "coder-3"),
    ]
    assert stale_seats(events, 2) == ("coder-2", "coder-3")
    assert stale_seats(events, 1) == ("coder-1", "coder-2", "coder-3")
    assert stale_seats(events, 9) == ()


def test_a_result_that_was_committed_stays() -> None:
    taken = CheckpointTaken(number=1, because="phase", phase="planning", commit="c")
    later = [event(CommitMade(commit="d")), event(replace(taken, number=2))]
    assert delivered_since([event(taken), *later], 1)
    assert not delivered_since([event(taken), *later], 2)
    assert not delivered_since([event(taken), event(CommitMade(commit=None))], 1)


def test_a_rewind_enters_the_phase_again_and_marks_what_went_on() -> None:
    records: dict[str, Json] = {
        "coder-1": {"agent": "a"},
        "coder-2": {"agent": "a", "previous": {"agent": "a"}},
    }
    begun = RewindStarted(
        number=2, before=5, phase="implementing", subplans=(1,), stale=("coder-2",)
    )
    pending = apply(replace(STATE, agents=records), event(begun))
    assert decode(encode(pending), where="here") == pending
    assert pending.rewind is not None
    assert pending.phase == Phase.COMPLETING
    done = apply(
        pending,
        event(Rewound(number=2, phase="implementing", subplans=(1,), stale=("coder-2",))),
    )
    assert done.rewind is None
    assert encode(done)["rewind"] is None
    assert (done.phase, done.completed_subplans) == (Phase.IMPLEMENTING, (1,))
    assert (done.implementation_active_plan_ids, done.results) == ((2,), {})
    (archive,) = done.pending_archive
    assert archive.paths == (
        "06_implementation/done_2", "06_implementation/done_3", "07_review", "08_completion",
    )  # fmt: skip
    assert done.agents["coder-1"] == {"agent": "a"}
    assert done.agents["coder-2"] == {
        "agent": "a",
        "rewound": 2,
        "previous": {"agent": "a", "rewound": 2},
    }


def test_a_checkpoint_does_not_hide_that_a_resume_came_last() -> None:
    resumed = Resumed(phase="implementing", cycle=1, found={})
    state = apply(STATE, event(resumed))
    taken = CheckpointTaken(number=1, because="stop", phase="implementing", commit="c", cycle=1)
    after = apply(state, event(taken))
    assert after.last_event == "resumed"
    made = replace(point(1, Phase.IMPLEMENTING, "stop"), commit="c", at=AT)
    assert after.tree_checkpoints == (made,)
    assert decode(encode(after), where="here") == after
    assert encode(state)["tree_checkpoints"] == []
