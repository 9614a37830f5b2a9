"""What the watcher concludes from usage limits on screens."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentmux.core.config.settings import StallSettings
from agentmux.core.decisions.limits import is_parked
from agentmux.core.journal.events import AgentWoken, PromptReached
from agentmux.core.journal.state import Parked
from tests.app.loop.test_watcher import (
    ARCHITECT,
    BUSY,
    IDLE,
    LIMIT,
    PROMPT,
    Ahead,
    Looking,
)

UNTIL = "You have reached your usage limit · it resets at 12:10\n\u276f \n"
"""It is midnight of January 1st where the test begins, in UTC."""


@pytest.fixture
def looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Looking:
    monkeypatch.setenv("TZ", "UTC")
    return Looking(tmp_path / ".agentmux" / ".sessions" / "20260101-101500-x")


def parked(looking: Looking) -> Parked | None:
    state = looking.session.state
    return state.parked["architect"] if is_parked(state, "architect") else None


def reached(looking: Looking) -> None:
    looking.session.record(PromptReached(evidence="typed"), seat="architect", launch=ARCHITECT)


def woken(looking: Looking) -> str:
    """Wake the architect; return when."""
    looking.session.record(AgentWoken(how="told"), seat="architect", launch=ARCHITECT)
    return looking.session.state.parked["architect"].woken


def test_who_shows_a_limit_is_parked_until_the_time_that_it_shows(looking: Looking) -> None:
    looking.show(f"{PROMPT}{UNTIL}")
    assert looking.look() == "usage_limit"
    found = parked(looking)
    assert found is not None
    assert (found.until, found.said) == ("2026-01-01T12:10:00.000Z", "12:10")
    assert (found.agent, found.launch) == ("demo", ARCHITECT)
    assert looking.watcher.sight.statuses["architect"].until == found.until
    assert looking.session.state.seats["architect"].reached, "the limit is below the prompt"
    revision = looking.session.state.revision
    looking.look()
    assert looking.session.state.revision == revision, "it is recorded once"


def test_who_shows_no_time_is_parked_for_a_while(looking: Looking) -> None:
    looking.show(LIMIT)
    looking.look()
    found = parked(looking)
    assert found is not None
    assert (found.until, found.said) == ("2026-01-01T00:30:02.000Z", "")


def test_a_time_that_is_drawn_later_counts(looking: Looking) -> None:
    looking.show(LIMIT)
    looking.look()
    looking.show(f"{PROMPT}{UNTIL}")
    looking.look()
    found = parked(looking)
    assert found is not None
    assert found.said == "12:10"


@pytest.mark.parametrize(
    ("screen", "is_reached", "counts"),
    [
        (f"{UNTIL}{PROMPT}{IDLE}", True, False),  # it was there before the prompt
        (f"{UNTIL}> Read the file /s/launch-arch\nitect/prompt.md\n{IDLE}", True, False),
        (f"{PROMPT}{UNTIL}{PROMPT}{IDLE}", True, False),
        (UNTIL, True, True),  # the prompt is further up
        (UNTIL, False, False),  # a conversation that came back, before its prompt
        (f"{PROMPT}{UNTIL}", False, True),
    ],
)
def test_a_limit_counts_only_below_the_last_prompt(
    looking: Looking, screen: str, is_reached: bool, counts: bool
) -> None:
    if is_reached:
        reached(looking)
    looking.show(screen)
    assert (looking.look() == "usage_limit") is counts
    assert (parked(looking) is not None) is counts


def test_who_is_parked_is_neither_reminded_nor_reported(looking: Looking) -> None:
    looking.show(f"{PROMPT}{UNTIL}")
    looking.look()
    looking.show("$ \n")  # it shows something else, which is not known
    looking.look()
    looking.look()
    assert looking.watcher.quiet.to_nudge == []
    assert parked(looking) is not None


def test_the_limit_that_was_waited_out_parks_nobody_again(looking: Looking) -> None:
    looking.show(f"{PROMPT}{UNTIL}")
    looking.look()
    looking.set_clock(hours=12)
    at = woken(looking)
    looking.show(f"{PROMPT}{UNTIL}")  # the message could not be typed
    looking.look()
    assert parked(looking) is None
    looking.show(f"{PROMPT}{UNTIL}> AgentMux, {at}: go on\n{IDLE}")
    looking.look()
    assert parked(looking) is None
    looking.show(f"{PROMPT}{UNTIL}> AgentMux, {at}: go on\n{UNTIL}")  # there is another one
    looking.look()
    found = parked(looking)
    assert found is not None
    assert found.until > at


def test_who_worked_after_its_waking_may_reach_the_next_limit_anywhere(looking: Looking) -> None:
    looking.show(f"{PROMPT}{UNTIL}")
    looking.look()
    looking.set_clock(hours=12)
    woken(looking)
    looking.show(BUSY)
    looking.look()
    assert looking.session.state.parked["architect"].settled
    looking.show(UNTIL)
    looking.look()
    assert parked(looking) is not None
    assert not looking.session.state.parked["architect"].settled


def test_who_is_due_is_looked_at_before_it_is_woken(looking: Looking) -> None:
    async def due() -> tuple[tuple[str, ...], frozenset[str]]:
        facts = looking.watcher.probe()
        return facts.to_wake, facts.busy

    looking.show(f"{PROMPT}{UNTIL}")
    looking.look()
    assert asyncio.run(due()) == ((), frozenset())
    looking.set_clock(hours=13)
    assert asyncio.run(due()) == (("architect",), frozenset())
    looking.show(BUSY)  # it has gone on by itself
    assert asyncio.run(due()) == (("architect",), frozenset({"architect"}))
    woken(looking)
    assert asyncio.run(due()) == ((), frozenset())


def test_who_has_gone_on_before_the_time_is_parked_no_more(
    looking: Looking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Ahead, "seconds", 0.0)
    with asyncio.Runner(loop_factory=Ahead) as runner:

        def pass_time(seconds: int) -> None:
            for _ in range(seconds):
                Ahead.seconds += 1
                runner.run(looking.watcher.tick())

        looking.show(f"{PROMPT}{UNTIL}")
        runner.run(looking.watcher.tick())
        looking.show(IDLE)
        pass_time(8)
        assert parked(looking) is not None, "it may draw its screen anew"
        pass_time(4)
        assert parked(looking) is None
        assert looking.session.state.parked == {}


def test_the_silence_before_the_waking_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stall = StallSettings(nudge_after_s=60, report_after_s=120)
    looking = Looking(tmp_path / ".agentmux" / ".sessions" / "20260101-101500-x", stall=stall)
    monkeypatch.setattr(Ahead, "seconds", 0.0)
    with asyncio.Runner(loop_factory=Ahead) as runner:
        looking.show(f"{PROMPT}{UNTIL}")
        for _ in range(60):
            runner.run(looking.watcher.tick())
            Ahead.seconds += 5
        looking.set_clock(hours=13)
        looking.session.record(AgentWoken(how="told"), seat="architect", launch=ARCHITECT)

        async def rouse() -> None:
            looking.watcher.quiet.rouse(ARCHITECT)

        runner.run(rouse())
        looking.terminal.moved = 2**40  # it is looked at, and shows the same
        runner.run(looking.watcher.tick())
        assert looking.watcher.quiet.to_nudge == []
        for _ in range(13):
            Ahead.seconds += 5
            runner.run(looking.watcher.tick())
        assert looking.watcher.quiet.to_nudge == ["architect"]


def test_who_shows_a_later_end_when_it_is_due_is_not_woken(looking: Looking) -> None:
    async def due() -> tuple[str, ...]:
        return looking.watcher.probe().to_wake

    looking.show(f"{PROMPT}{UNTIL}")
    looking.look()
    looking.set_clock(hours=13)
    looking.show(f"{PROMPT}{UNTIL.replace('12:10', '17:10')}")
    assert asyncio.run(due()) == ()
    found = parked(looking)
    assert found is not None
    assert found.said == "17:10"


def test_words_drawn_anew_when_it_is_due_park_nobody_again(looking: Looking) -> None:
    """Claude says at the end of a limit when it has ended, in another form."""
    looking.show(f"{PROMPT}{UNTIL}")
    looking.look()
    looking.set_clock(hours=12)
    looking.show(f"{PROMPT}{UNTIL.replace('12:10', '12:10pm')}")
    looking.look()
    found = parked(looking)
    assert found is not None
    assert found.said == "12:10"
