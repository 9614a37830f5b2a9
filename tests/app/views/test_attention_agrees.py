"""The loop and ``list`` call the status of a session the same."""

from typing import Any

import pytest

from agentmux.core.decisions.attention import session_attention
from agentmux.core.journal.state import Interruption, Parked, SessionState, decode
from agentmux.core.names.phase import Phase
from tests.app.views.test_status import DECIDING, DELAYED, WORKING, entry, noted, seat, view

AT = "2026-01-01T10:15:00.000Z"
UNTIL = "2026-01-01T13:00:00.000Z"
LIMITED = Parked(launch="L1", agent="claude", until=UNTIL)
CODER: dict[str, Any] = {"seats": {"coder": seat()}}
SEATS: tuple[dict[str, Any], ...] = (
    {}, CODER, DECIDING, DECIDING | DELAYED, CODER | {"parked": {"coder": LIMITED}},
    {"seats": {"coder": seat(stalled=True)}}, {"seats": {"coder": seat(status="stopped")}},
    {"seats": {"coder": seat(status="finished")}}, {"seats": {"coder": seat(status="crashed")}},
    {"phase": Phase.DONE}, {"phase": Phase.FAILED, "interruption": Interruption(cause="x", at=AT)},
    DECIDING | CODER,
)  # fmt: skip
SHOWN = ("busy", "idle", "waiting_for_user", "usage_limit", "stalled", "unknown", "setting_up")


@pytest.mark.parametrize("values", SEATS)
@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("problem", [None, "the disk is full"])
@pytest.mark.parametrize("unsent", ["", "its input field is not known"])
def test_the_same_session_has_one_status(
    values: dict[str, Any], shown: str, problem: str | None, unsent: str
) -> None:
    found = entry(**values)
    state: SessionState = decode(found.fields, where="state.json")
    runtime: dict[str, Any] = {**noted(shown), "problem": problem}
    runtime["statuses"]["coder"]["unsent"] = unsent
    listed = view(found, WORKING, runtime).status
    seen = session_attention(
        state,
        {"coder": shown},
        troubled=problem is not None,
        unsent=["coder"] if unsent else [],
    )
    assert seen.status == listed


def test_a_seat_without_its_prompt_needs_its_user() -> None:
    found = entry(**CODER)
    runtime = noted("unknown")
    runtime["statuses"]["coder"]["unsent"] = "its input field is not known"
    listed = view(found, WORKING, runtime)
    assert listed.status == "waiting_for_user"
    why = "the prompt of coder has not arrived: its input field is not known"
    assert listed.problems == (why,)
