"""What a session's status means to the fleet."""

import pytest

from agentmux.core.fleet.statuses import (
    DEAD_LETTER_AFTER_DRIVES,
    SETTLE_S,
    FleetStatus,
    Outcome,
    is_dead,
    outcome,
    progress,
)
from agentmux.core.names.status_labels import SessionStatus


def test_every_status_of_a_session_has_a_meaning() -> None:
    for status in SessionStatus:
        outcome(status, SETTLE_S, "")


@pytest.mark.parametrize(
    ("status", "means"),
    [
        (SessionStatus.DECISION, FleetStatus.WAITING),
        (SessionStatus.PARKED, FleetStatus.PARKED),
        (SessionStatus.LIMIT, FleetStatus.PARKED),
        (SessionStatus.DONE, FleetStatus.DONE),
        (SessionStatus.MOVED, FleetStatus.MOVED),
        (SessionStatus.FAILED, FleetStatus.FAILED),
        (SessionStatus.STOPPED, FleetStatus.FAILED),
        (SessionStatus.INTERRUPTED, FleetStatus.RUNNING),
    ],
)
def test_a_drive_ends_where_the_session_rests(status: SessionStatus, means: FleetStatus) -> None:
    found = outcome(status, 0, "")
    assert found is not None
    assert found.status is means
    said = "" if status is SessionStatus.DONE else "why"
    assert outcome(status, 0, "why") == Outcome(status=means, reason=said)


@pytest.mark.parametrize(
    "status", [SessionStatus.RUNNING, SessionStatus.STARTING, SessionStatus.UNKNOWN]
)
def test_a_session_at_work_is_followed_on(status: SessionStatus) -> None:
    assert outcome(status, 1000, "why") is None


@pytest.mark.parametrize("status", [SessionStatus.WAITING, SessionStatus.STALLED])
def test_only_a_lasting_question_needs_a_person(status: SessionStatus) -> None:
    assert outcome(status, SETTLE_S - 1, "") is None
    found = outcome(status, SETTLE_S, "")
    assert found is not None
    assert found.status is FleetStatus.WAITING
    assert found.reason


def test_starts_and_stops_are_no_progress() -> None:
    kinds = ["journal_created", "session_started", "agent_launched", "resumed", "submit_plan"]
    assert progress(kinds) == 2
    assert progress([]) == 0


def test_five_drives_without_progress_are_a_dead_letter() -> None:
    assert not is_dead(DEAD_LETTER_AFTER_DRIVES - 1)
    assert is_dead(DEAD_LETTER_AFTER_DRIVES)
