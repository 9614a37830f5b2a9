from datetime import UTC, datetime
from typing import Any

import pytest

from agentmux.core.codec.frozen import replace
from agentmux.core.config.settings import ResumeSettings
from agentmux.core.conversation.resume_choice import Fresh, ResumeFacts, choose_resume
from agentmux.core.conversation.seat_history import seat_history
from agentmux.core.journal.results import BaseChecks
from agentmux.core.journal.state import (
    ArchivedArtifacts,
    Base,
    Delivery,
    Moved,
    Options,
    Parked,
    Reviewed,
    Rewind,
    Seat,
    SessionState,
    TreeCheckpoint,
)
from agentmux.core.moving.arrival import (
    CHECKPOINTS_MAX,
    ImportValues,
    find_state_fault,
    imported_state,
    why_not_exportable,
)

COMMIT = "a" * 40
RECORD = {
    "agent": "claude",
    "strategy": "assign",
    "resume_argv": ["claude", "--resume", "{session_id}"],
    "session_ref": "0f8fad5b-d9cb-469f-a165-70867728950e",
    "reached": 3,
    "env": {"EVIL": "1"},
}
STATE = SessionState(
    phase="implementing",
    session_id="there",
    session_name="agentmux-there",
    branch="main",
    worktree="/there",
    tmux_socket="/there/socket",
    tree_checkpoints=(
        TreeCheckpoint(
            number=1, because="stop", phase="implementing", commit=COMMIT, branch="main"
        ),
        TreeCheckpoint(number=2, because="stop", phase="implementing", commit=COMMIT, branch="x"),
    ),
    seats={
        "coder-1": Seat(
            launch="l", role="coder", phase="implementing", mode="fresh", reason="", since=""
        )
    },
    parked={"coder-1": Parked(launch="l", agent="claude", until="")},
    agents={"coder-1": RECORD},
    delivery=Delivery(id="old"),
    options=Options(
        agents={"coder": "sh -c evil", "architect": "claude"},
        models={"coder": "m", "architect": "opus"},
        require_approval=False,
        commit=True,
        base=COMMIT,
    ),
    moved=Moved(to="/there/file"),
    extra={"unknown": 1},
)
LANDING = ImportValues(
    name="20260101-101500-x",
    session_id="here",
    host="box",
    worktree="/here",
    branch="agentmux/x",
    base=Base(commit=COMMIT, branch="main"),
    at="2026-01-01T10:15:00.000Z",
    setup=None,
    port_base=20_000,
    require_approval=True,
    commit=True,
    agents=frozenset({"claude"}),
)


def test_all_that_decides_what_runs_is_of_here() -> None:
    made = imported_state(STATE, LANDING)
    assert made.options.agents == {"architect": "claude"}
    assert made.options.models == {"architect": "opus"}
    assert made.options.require_approval
    assert (made.session_id, made.session_name) == ("here", "agentmux-20260101-101500-x")
    assert (made.worktree, made.branch, made.tmux_socket) == ("/here", "agentmux/x", "")
    assert (made.seats, made.parked, made.inputs, made.extra) == ({}, {}, (), {})
    assert (made.delivery, made.commit, made.moved) == (None, None, None)
    assert made.agents["coder-1"] == {
        "agent": "claude", "strategy": "none", "reached": 3, "moved_from": "box",
    }  # fmt: skip
    assert [each.branch for each in made.tree_checkpoints] == ["agentmux/x", "x"]
    assert made.worktree_made
    assert made.interruption is not None
    assert made.interruption.cause == "stopped: imported from box"


def test_a_conversation_stays_behind() -> None:
    record = imported_state(STATE, LANDING).agents["coder-1"]
    now = datetime(2026, 1, 2, tzinfo=UTC)
    facts = ResumeFacts(
        agent="claude",
        program="claude",
        host="box",
        cwd="",
        home="",
        runtime="",
        epoch={},
        now=now,
        settings=ResumeSettings(),
    )
    choice = choose_resume(seat_history(record), facts)
    assert isinstance(choice, Fresh)
    assert choice.reason == "the session was imported from `box`, its conversation was not"


def test_a_base_that_was_not_looked_at_is_looked_at_here() -> None:
    base = BaseChecks(path="/there/base", commit=COMMIT, steps=({"run": ["evil"]},))
    assert imported_state(replace(STATE, base_checks=base), LANDING).base_checks is None
    done = imported_state(
        replace(STATE, base_checks=replace(base, finished=True)), LANDING
    ).base_checks
    assert done is not None
    assert (done.path, done.steps) == ("", ())


@pytest.mark.parametrize(
    "wrong",
    [
        {"phase": "done"},
        {"approval": "id"},
        {"rewind": Rewind(number=1, before=2, phase="planning")},
        {"pending_archive": (ArchivedArtifacts(to="history/1.0", paths=("../../x",)),)},
        {"options": Options()},
    ],
)
def test_what_cannot_go_on_elsewhere(wrong: dict[str, Any]) -> None:
    assert why_not_exportable(STATE) == ""
    assert why_not_exportable(replace(STATE, **wrong)) != ""


@pytest.mark.parametrize(
    "wrong",
    [
        {"agents": {"../x": RECORD}},
        {"seats": {"a/b": STATE.seats["coder-1"]}},
        {"research_tasks": {"../x": "dispatched"}},
        {"web_research_tasks": {"": "done"}},
        {"change_request": "../../etc/passwd"},
        {"change_request": "/etc/passwd"},
        {"base": Base(commit="--output=x")},
        {"options": Options(base="HEAD")},
        {"reviewed": Reviewed(name="x", commit="HEAD", base="main", since=COMMIT)},
        {"cycle": 10**9},
        {
            "tree_checkpoints": (
                TreeCheckpoint(number=1, because="stop", phase="planning", commit="-x"),
            )
        },
    ],
)
def test_what_is_malformed(wrong: dict[str, Any]) -> None:
    assert find_state_fault(STATE) == ""
    assert find_state_fault(replace(STATE, **wrong)) != ""


def test_a_session_with_too_many_checkpoints_stays() -> None:
    saved = TreeCheckpoint(number=1, because="phase", phase="implementing", commit=COMMIT)
    kept = replace(STATE, tree_checkpoints=(saved,) * CHECKPOINTS_MAX)
    assert why_not_exportable(kept) == ""
    more = replace(kept, tree_checkpoints=(*kept.tree_checkpoints, saved))
    assert (
        why_not_exportable(more)
        == "it has 5001 work-tree checkpoints, and at most 5000 can be moved"
    )
