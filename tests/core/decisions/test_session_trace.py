"""What is known of a session outside of its directory."""

from typing import Any

from agentmux.core.codec.records import to_fields
from agentmux.core.conversation.resume_record import ResumeRecord
from agentmux.core.decisions.session_trace import trace_of
from agentmux.core.journal.state import SessionState


def state(**changed: Any) -> SessionState:
    usual: dict[str, Any] = {
        "agent": "claude", "strategy": "assign", "cwd": "/my project", "reached": 1,
        "resume_argv": ("claude", "--resume", "{session_id}"), "session_ref": "abc",
    }  # fmt: skip
    record = ResumeRecord(**{**usual, **changed})
    agents: dict[str, dict[str, object]] = {
        "coder": to_fields(record),
        "planner": {"damaged": True},
    }
    return SessionState(phase="planning", session_id="one", feature="Add\nit", agents=agents)


def test_it_has_the_command_of_each_conversation() -> None:
    made = trace_of(state(env={"HOME_OF": "a b"}), "/my project/.agentmux/.sessions/x", "/git")
    command = "cd '/my project' && env 'HOME_OF=a b' claude --resume abc"
    assert made.conversations == (f"coder\t{command}",)
    assert (made.feature, made.phase, made.worktree, made.repository) == (
        "Add",
        "planning",
        "",
        "/git",
    )


def test_it_has_no_conversation_that_cannot_come_back() -> None:
    for changed in ({"reached": 0}, {"session_ref": None}, {"rejected": True}, {"resume_argv": ()}):
        assert trace_of(state(**changed), "/x", "").conversations == ()
