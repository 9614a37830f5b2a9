"""Which seats are parked at a usage limit, as the journal tells."""

from dataclasses import replace
from typing import Any

import pytest

from agentmux.core.decisions.limits import is_parked
from agentmux.core.journal.events import (
    AgentNudged,
    AgentParked,
    AgentStalled,
    AgentWoken,
    CodeResearchDispatched,
    LimitsLifted,
    Resumed,
    SeatRestarted,
    SessionFailed,
    SessionInterrupted,
)
from agentmux.core.journal.state import decode, encode
from agentmux.core.names.phase import Phase
from tests.core.builders import AT, LOGIC, QUALITY, Session, at

LIMIT = AgentParked(agent="demo", home="/h", until="2026-01-01T12:10:00Z", said="12:10pm")


def limited() -> tuple[Session, str]:
    session = at(Phase.ARCHITECTING)
    launch = session.launch("architect")
    session.tell(LIMIT, "architect", launch)
    return session, launch


def parked(session: Session) -> bool:
    return is_parked(session.state, "architect")


def test_an_agent_at_its_limit_is_parked() -> None:
    session, launch = limited()
    assert parked(session)
    found = session.state.parked["architect"]
    assert (found.launch, found.until, found.said) == (launch, LIMIT.until, LIMIT.said)
    assert (found.agent, found.home, found.woken) == ("demo", "/h", "")


def test_a_state_is_written_with_its_limits() -> None:
    session, _ = limited()
    assert decode(encode(session.state), where="state.json").parked == session.state.parked != {}


def test_an_agent_at_its_limit_is_not_stalled() -> None:
    session = at(Phase.ARCHITECTING)
    launch = session.launch("architect")
    session.tell(AgentStalled(idle_s=60), "architect", launch)
    session.tell(LIMIT, "architect", launch)
    assert not session.state.seats["architect"].stalled


def test_the_limit_of_an_older_launch_parks_nobody() -> None:
    session = at(Phase.ARCHITECTING)
    old = session.launch("architect")
    session.launch("architect")
    session.tell(LIMIT, "architect", old)
    assert session.state.parked == {}


@pytest.mark.parametrize(("how", "kept"), [("told", True), ("launch", True), ("busy", False),
                                           ("answered", False)])  # fmt: skip
def test_who_is_woken_is_no_longer_parked(how: str, kept: bool) -> None:
    session, launch = limited()
    session.tell(AgentWoken(how=how), "architect", launch)
    assert not parked(session)
    assert ("architect" in session.state.parked) is kept
    if kept:
        assert session.state.parked["architect"].woken == AT


def test_a_new_limit_parks_again_who_was_woken() -> None:
    session, launch = limited()
    session.tell(AgentWoken(how="told"), "architect", launch)
    session.tell(replace(LIMIT, until="2026-01-01T17:10:00Z"), "architect", launch)
    assert parked(session)


def test_the_launch_of_a_woken_seat_takes_its_place() -> None:
    session, launch = limited()
    session.tell(AgentWoken(how="launch"), "architect", launch)
    new = session.launch("architect")
    assert (session.state.parked["architect"].launch, new != launch) == (new, True)
    assert not parked(session)


def test_a_signal_proves_that_there_is_no_limit() -> None:
    session, _ = limited()
    session.signal("architect", CodeResearchDispatched(topic="t", question="q"))
    assert session.state.parked == {}


@pytest.mark.parametrize(
    ("fact", "stays"),
    [
        (SessionInterrupted(cause="stopped by the user"), False),
        (SessionInterrupted(cause="the tmux server is gone"), True),
        (SeatRestarted(), False),
        (Resumed(phase="architecting", cycle=1, found={}), True),
    ],
    ids=["stop", "reboot", "restart", "resume"],
)
def test_a_reboot_and_a_resume_end_no_parking_but_the_user_does(fact: Any, stays: bool) -> None:
    session, _ = limited()
    session.tell(fact, "architect")
    assert parked(session) is stays


def test_a_launch_that_the_user_asked_for_ends_the_parking() -> None:
    session, _ = limited()
    session.launch("architect")
    assert session.state.parked == {}


def test_the_user_ends_the_waiting_of_everybody_who_is_parked() -> None:
    session, launch = limited()
    session.tell(LimitsLifted(), "user")
    assert parked(session)
    assert session.state.parked["architect"].until == AT

    session.tell(LIMIT, "architect", launch)
    session.tell(AgentWoken(how="told"), "architect", launch)
    session.tell(LimitsLifted(), "user")
    assert session.state.parked["architect"].until == LIMIT.until, "it is woken already"


def test_who_works_after_its_waking_is_settled() -> None:
    session, launch = limited()
    session.tell(AgentWoken(how="told"), "architect", launch)
    assert not session.state.parked["architect"].settled
    session.tell(AgentWoken(how="busy"), "architect", "an older launch")
    assert not session.state.parked["architect"].settled
    session.tell(AgentWoken(how="busy"), "architect", launch)
    found = session.state.parked["architect"]
    assert (found.settled, found.woken) == (True, AT)
    session.tell(LIMIT, "architect", launch)
    assert parked(session)
    assert not session.state.parked["architect"].settled


def test_who_was_woken_may_be_reminded_again() -> None:
    session, launch = limited()
    session.tell(AgentNudged(result="submitted"), "architect", launch)
    assert session.state.seats["architect"].nudged
    session.tell(AgentWoken(how="told"), "architect", launch)
    assert not session.state.seats["architect"].nudged


def test_who_is_not_needed_any_more_is_forgotten() -> None:
    """A fail that is in decides a review: the reviewer at its limit is not needed."""
    session = at(Phase.REVIEWING, LOGIC, QUALITY)
    launch = session.launch(QUALITY)
    session.tell(LIMIT, QUALITY, launch)
    assert session.state.parked.keys() == {QUALITY}
    session.reviewed(LOGIC, "fail")
    assert session.state.phase == Phase.FIXING
    assert session.state.parked == {}


def test_who_is_parked_in_a_failed_session_stays_so() -> None:
    session = at(Phase.REVIEWING, LOGIC, QUALITY)
    session.tell(LIMIT, QUALITY, session.launch(QUALITY))
    session.tell(SessionFailed(cause="it crashed"), LOGIC, session.launch(LOGIC))
    assert session.state.phase == Phase.FAILED
    session.tell(SessionInterrupted(cause="the tmux server is gone"))
    found = {"reviewer_nominations": [LOGIC, QUALITY]}
    session.tell(Resumed(phase="reviewing", cycle=1, found=found))
    assert session.state.seats == {}
    assert session.state.parked.keys() == {QUALITY}
