"""What a state says of the earlier launches of its seats."""

from dataclasses import replace
from typing import Any

import pytest

from agentmux.core.conversation.seat_history import SeatHistory
from agentmux.core.journal.state import Seat, SessionState
from agentmux.core.launch.facts import histories_of
from agentmux.core.names.phase import Phase
from tests.core.resume_records import ASSIGN, good

SEAT = Seat(
    launch="0123456789ab", role="coder", phase="implementing", mode="fresh", reason="", since=""
)
STATE = SessionState(phase=Phase.IMPLEMENTING, agents={"coder-1": good()}, seats={"coder-1": SEAT})


def test_who_has_no_record_has_an_empty_history() -> None:
    histories = histories_of(replace(STATE, agents={}))
    assert histories == {"coder-1": SeatHistory()}


def test_a_seat_of_before_keeps_its_history() -> None:
    assert histories_of(replace(STATE, seats={}))["coder-1"].record == ASSIGN


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
    history = histories_of(state)["coder-1"]
    assert (history.failed_at_once, history.never_ran) == (failed_at_once, never_ran)
