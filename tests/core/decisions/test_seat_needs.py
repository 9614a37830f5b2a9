"""Which seats wait for something that a person can do."""

from __future__ import annotations

from agentmux.core.decisions.seat_needs import (
    list_messageable_seats,
    list_restartable_seats,
    list_skippable_seats,
    list_stopped_seats,
)
from agentmux.core.journal.state import Interruption, Seat, SessionState
from agentmux.core.names.phase import Phase


def state(phase: str = "implementing", *, failed: str = "", **statuses: str) -> SessionState:
    seats = {
        name: Seat(launch=name, role="coder", phase="implementing", mode="fresh", reason="",
                   since="", status=status)
        for name, status in statuses.items()
    }  # fmt: skip
    why = Interruption(cause="lost twice", seat=failed) if failed else None
    return SessionState(phase=phase, seats=seats, interruption=why)


def test_each_need_has_its_seats() -> None:
    found = state(a="launched", b="stopped", c="finished", d="ended_by_user", e="broken")
    assert list_stopped_seats(found) == ("b",)
    assert list_restartable_seats(found) == ("c", "d", "e")
    assert list_skippable_seats(found) == ("e",)
    assert list_messageable_seats(found) == ("a",)


def test_the_seat_because_of_which_a_session_failed_is_started_again() -> None:
    assert list_restartable_seats(state(Phase.FAILED, failed="a", a="crashed", b="crashed")) == (
        "a",
    )
    assert list_restartable_seats(state(Phase.FAILED, failed="a", a="launched")) == ()
    assert list_restartable_seats(state(Phase.FAILED, a="crashed")) == ()
    assert list_restartable_seats(state(failed="a", a="crashed")) == ()
