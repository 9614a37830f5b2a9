"""What a session wants of a person."""

from typing import Any

import pytest

from agentmux.core.decisions.attention import session_attention
from agentmux.core.journal.state import Commit, Interruption, Parked, Seat, SessionState
from agentmux.core.names.phase import Phase
from agentmux.core.names.statuses import IDLE, UNKNOWN, WAITING

AT = "2026-01-01T10:15:00.000Z"
FAILED = Interruption(cause="it crashed too often", at=AT)
LIMITED = Parked(launch="L1", agent="claude", until="2026-01-01T12:00:00.000Z")
DECIDING: dict[str, Any] = {"phase": Phase.COMPLETING, "summary_submitted": True}
DELAYED = Commit(status="delayed", approval="a1")


def seat(**values: Any) -> Seat:
    given = {"launch": "L1", "role": "coder", "phase": "implementing", "mode": "fresh"}
    return Seat(**{**given, "reason": "first start", "since": AT, **values})


def session(phase: Phase = Phase.IMPLEMENTING, **values: Any) -> SessionState:
    return SessionState(phase=phase, **values)


@pytest.mark.parametrize(
    ("state", "shown", "needs_you", "keys"),
    [
        (session(), {}, "", []),
        (session(seats={"coder": seat()}), {"coder": "busy"}, "", []),
        (session(seats={"coder": seat()}), {"coder": WAITING}, "question", ["question:coder:L1"]),
        (session(seats={"coder": seat(mode="shell")}), {}, "question", ["question:coder:L1"]),
        (session(seats={"coder": seat(mode="screen")}), {}, "question", ["question:coder:L1"]),
        (session(seats={"coder": seat(mode="shell", status="crashed")}), {}, "", []),
        (session(seats={"check": seat(mode="check", role="check")}), {}, "", []),
        (session(seats={"coder": seat(status="stopped")}), {}, "question", ["question:coder:L1"]),
        (session(seats={"coder": seat(status="finished")}), {}, "question", ["question:coder:L1"]),
        (session(seats={"r": seat(role="code-researcher", status="finished")}), {}, "", []),
        (session(seats={"coder": seat(status="crashed")}), {"coder": WAITING}, "", []),
        (session(seats={"coder": seat()}), {"coder": "stalled"}, "stalled", ["stalled:coder:L1"]),
        (session(seats={"coder": seat(stalled=True)}), {"coder": "busy"}, "", []),
        (session(**DECIDING), {}, "decision", ["decision:1:completing"]),
        (session(**DECIDING, approval="a1"), {}, "", []),
        (session(**DECIDING, approval="a1", commit=DELAYED), {}, "stalled", ["stalled:commit:a1"]),
        (session(Phase.FAILED, interruption=FAILED), {}, "failed", [f"failed:{AT}"]),
        (session(Phase.DONE), {}, "", ["done"]),
        (session(parked={"coder": LIMITED}), {}, "", ["parked:coder"]),
    ],
)  # fmt: skip
def test_what_a_person_is_wanted_for(
    state: SessionState, shown: dict[str, str], needs_you: str, keys: list[str]
) -> None:
    found = session_attention(state, shown, troubled=False)
    assert (found.needs_you, [each.key for each in found.notices]) == (needs_you, keys)


def test_the_most_urgent_reason_is_named() -> None:
    state = session(Phase.COMPLETING, summary_submitted=True, seats={"coder": seat()})
    found = session_attention(state, {"coder": "stalled"}, troubled=True)
    assert found.needs_you == "decision"
    assert len(found.notices) == 3


@pytest.mark.parametrize(
    ("shown", "unclear"), [({}, True), ({"coder": UNKNOWN}, True), ({"coder": IDLE}, False)]
)
def test_a_screen_that_was_not_read_ends_no_question(shown: dict[str, str], unclear: bool) -> None:
    found = session_attention(session(seats={"coder": seat()}), shown, troubled=False)
    assert ("question:coder:L1" in found.unclear) is unclear
