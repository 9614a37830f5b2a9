"""When a quiet agent is reminded, and when it is reported."""

import pytest

from agentmux.core.decisions.stall import QuietResponse, nudge_after, patience
from agentmux.core.names.turn import Turn

NUDGE, REPORT, WAIT = QuietResponse.NUDGE, QuietResponse.REPORT, QuietResponse.WAIT


@pytest.mark.parametrize(
    ("turn", "after_s"),
    [
        (Turn.UNKNOWN, 600),
        (Turn.BEGUN, 600),
        (Turn.OF_USER, 600),
        (Turn.ENDED, 10),
        (Turn.LOOKS_ENDED, 60),
    ],
)
def test_who_has_ended_its_turn_is_asked_soon(turn: Turn, after_s: float) -> None:
    assert nudge_after(turn, turn_ended_after_s=10, nudge_after_s=600) == after_s


@pytest.mark.parametrize("turn", list(Turn))
def test_nobody_is_asked_later_than_a_quiet_agent(turn: Turn) -> None:
    assert nudge_after(turn, turn_ended_after_s=10, nudge_after_s=5) == 5


@pytest.mark.parametrize(
    ("quiet_s", "nudged", "stalled", "due"),
    [
        (599, False, False, WAIT),
        (600, False, False, NUDGE),
        (600, True, False, WAIT),
        (1199, True, False, WAIT),
        (1200, True, False, REPORT),
        (1200, False, False, NUDGE),
        (9999, True, True, WAIT),
        (9999, False, True, WAIT),
    ],
)
def test_an_agent_is_nudged_once_then_reported_once(
    quiet_s: float, nudged: bool, stalled: bool, due: QuietResponse
) -> None:
    found = patience(
        quiet_s, nudged=nudged, stalled=stalled, nudge_after_s=600, report_after_s=1200
    )
    assert found is due


def test_who_is_never_to_be_nudged_is_reported() -> None:
    due = patience(5, nudged=False, stalled=False, nudge_after_s=9, report_after_s=5)
    assert due is REPORT
