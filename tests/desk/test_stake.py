"""What is at stake for a session: which of its screens, outputs and plans comes first."""

from __future__ import annotations

from typing import Any

import pytest

from agentmux.app.views.session.session_view import SeatView, SessionView
from agentmux.core.codec.frozen import replace
from agentmux.core.journal.results import CheckResult, PhaseResult
from agentmux.core.journal.state import Interruption, SessionState
from agentmux.core.names import statuses
from agentmux.core.names.phase import Phase
from agentmux.core.names.status_labels import SessionStatus
from agentmux.desk.session.overview import head_lines
from agentmux.desk.session.stake import failed_output, seat_at_stake
from agentmux.desk.styled import plain
from tests.desk.test_overview import CHECKED, facts


def seat(name: str, status: str, age_s: float | None = 60.0, **values: Any) -> SeatView:
    return SeatView(
        seat=name, role="coder", agent="claude", mode="fresh", reason="", status=status,
        source="screen", age_s=age_s, attempt=1, prompt_bytes=0, fresh_prompt_bytes=0, **values,
    )  # fmt: skip


def view(*seats: SeatView, **values: Any) -> SessionView:
    return replace(facts(STATE).view, seats=seats, **values)


STATE = SessionState(phase=Phase.IMPLEMENTING)
BUSY, IDLE = seat("busy", statuses.BUSY), seat("idle", statuses.IDLE, 1.0)
ASKS = seat("asks", statuses.WAITING, 900.0)


@pytest.mark.parametrize(
    ("seats", "shown"),
    [
        ((IDLE, BUSY), "busy"),
        ((BUSY, ASKS), "asks"),
        ((BUSY, seat("ended", statuses.FINISHED)), "ended"),
        ((BUSY, seat("unsent", statuses.UNKNOWN, unsent="no input field")), "unsent"),
        ((seat("choice", statuses.STOPPED, 5.0), ASKS), "choice"),
        ((BUSY, seat("newer", statuses.BUSY, 3.0)), "newer"),
        ((seat("new", "something else", None), BUSY), "busy"),
    ],
)
def test_the_agent_that_asks_comes_first_then_what_waits_then_who_works(
    seats: tuple[SeatView, ...], shown: str
) -> None:
    every = tuple(each.seat for each in seats)
    assert seat_at_stake(view(*seats), every) == shown
    assert seat_at_stake(view(*seats), tuple(reversed(every))) == shown


def test_of_several_agents_that_ask_all_are_named() -> None:
    def asked(*seats: SeatView) -> list[str]:
        shown = [plain(each) for each in head_lines(replace(facts(STATE), view=view(*seats)))]
        return [each for each in shown if each.endswith("ask you something")]

    also = seat("coder-2", statuses.WAITING)
    assert asked(ASKS, BUSY, also) == ["asks and coder-2 ask you something"]
    assert asked(ASKS, BUSY) == []


def test_only_a_seat_with_a_screen_is_shown_and_without_seats_the_last_one() -> None:
    assert seat_at_stake(view(ASKS, BUSY), ("busy",)) == "busy"
    assert seat_at_stake(view(), ("architect", "planner")) == "planner"
    assert seat_at_stake(view(ASKS), ()) is None


def test_the_seat_that_made_a_session_fail_is_shown() -> None:
    failed = view(
        ASKS, BUSY, status=SessionStatus.FAILED, interruption={"cause": "it ended", "seat": "busy"}
    )
    assert seat_at_stake(failed, ("asks", "busy")) == "busy"
    assert seat_at_stake(failed, ("asks",)) == "asks"


def test_the_output_of_what_failed_is_named_and_safe_to_show() -> None:
    check = CheckResult(outcome="failed", status=1, output="FAIL: test_total\n\x1b[31m1150\x07")
    state = SessionState(
        phase=Phase.FAILED, pipeline=CHECKED, summary_submitted=True,
        interruption=Interruption(cause="the check failed", at="2026-01-02T11:00:00.000Z"),
        verify=({"name": "tests", "run": ["pytest"], "timeout_s": 60.0, "required": True},),
        results={"verifying": PhaseResult(outcome="capped", checks={"tests": check})},
    )  # fmt: skip
    lines = list(failed_output(facts(state).view))
    assert lines[0] == "verifying, tests: failed (exit 1)  pytest:"
    assert lines[1] == "FAIL: test_total"
    assert "\x1b" not in lines[2]
    assert "1150" in lines[2]
