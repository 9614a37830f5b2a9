"""The histories of a session's seats: which state they come from, and that each is made once."""

from dataclasses import replace
from typing import Any

import pytest

from agentmux.app.launch.seat_histories import SeatHistories
from agentmux.core.conversation.seat_history import SeatHistory
from agentmux.core.journal.state import Seat, SessionState
from agentmux.core.names.phase import Phase
from tests.core.resume_records import ASSIGN, good

SEAT = Seat(
    launch="0123456789ab", role="coder", phase="implementing", mode="fresh", reason="", since=""
)
STATE = SessionState(phase=Phase.IMPLEMENTING, agents={"coder-1": good()}, seats={"coder-1": SEAT})


def test_each_history_is_made_once_and_from_its_own_state() -> None:
    histories = SeatHistories(STATE)
    assert histories.of("coder-1").record == ASSIGN
    assert histories.of("coder-1") is histories.of("coder-1")
    moved = replace(STATE, agents={"coder-1": {**good(), "session_ref": "moved-on-1"}})
    now = SeatHistories(moved).of("coder-1").record
    assert now is not None
    assert now.session_ref == "moved-on-1"


def test_a_seat_without_a_launch_has_an_empty_history() -> None:
    assert SeatHistories(STATE).of("coder-3") == SeatHistory()


@pytest.mark.parametrize(
    ("seat", "failed_at_once", "never_ran"),
    [
        ({}, False, False),
        ({"status": "crashed", "exit_status": 1}, True, False),
        ({"status": "crashed", "exit_status": 127}, True, True),
        ({"status": "crashed", "exit_status": 126, "reached": True}, False, True),
        ({"status": "crashed", "exit_status": 127, "mode": "native"}, False, False),
    ],
)
def test_how_the_last_launch_went(
    seat: dict[str, Any], failed_at_once: bool, never_ran: bool
) -> None:
    state = replace(STATE, seats={"coder-1": replace(SEAT, **seat)})
    history = SeatHistories(state).of("coder-1")
    assert (history.failed_at_once, history.never_ran) == (failed_at_once, never_ran)
