"""What a person has for an agent is recorded only where an agent and its orchestrator take it."""

import json
from itertools import count
from pathlib import Path

import pytest

from agentmux.app.commands.seat_input import give, require_message, wait_ended
from agentmux.app.session.lookup import entry_at
from agentmux.core.journal.events import AgentExited, Fact, InputEnded, InputStarted, SeatTold
from agentmux.core.names import layout
from agentmux.errors import BlockedError, NotFoundError, TimedOutError, UsageError
from tests.app.staging import Stage

TOLD = SeatTold(text="use one part")


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    made = Stage(tmp_path, "demo", cache=tmp_path / "cache")
    made.launch()
    takes(made, "tell", "answer")
    return made


def takes(stage: Stage, *what: str) -> None:
    (stage.path / layout.RUNTIME).write_text(json.dumps({"takes": what}))


def told(stage: Stage, seat: str = "coder-1", *, runs: bool = True) -> None:
    world = stage.world()
    give(world, entry_at(world, stage.path), seat, TOLD, poke=lambda: runs)


def inputs(stage: Stage) -> tuple[Fact, ...]:
    events = stage.world().files(stage.path).tail(0)
    return tuple(event.fact for event, _ in events if isinstance(event.fact, SeatTold))


def test_an_orchestrator_of_an_older_version_gets_no_event_that_it_does_not_know(
    stage: Stage,
) -> None:
    for note in ({}, {"takes": ["answer"]}, {"takes": "tell"}):
        (stage.path / layout.RUNTIME).write_text(json.dumps(note))
        with pytest.raises(BlockedError) as error:
            told(stage)
        assert error.value.reason == "older_orchestrator"
    assert inputs(stage) == ()
    takes(stage, "tell")
    told(stage)
    assert inputs(stage) == (TOLD,)


def test_without_an_orchestrator_or_the_seat_nothing_is_recorded(stage: Stage) -> None:
    with pytest.raises(NotFoundError, match="no orchestrator runs"):
        told(stage, runs=False)
    with pytest.raises(NotFoundError, match="no seat `codr-1` now") as error:
        told(stage, "codr-1")
    assert error.value.hints[0].startswith("did you mean `coder-1`")
    assert inputs(stage) == ()


def test_a_seat_without_a_running_agent_is_told_nothing(stage: Stage) -> None:
    stage.tell("coder-1", AgentExited(cause="ended_by_user"))
    with pytest.raises(BlockedError, match="is not running: ended by you") as error:
        told(stage)
    assert error.value.reason == "not_running"
    assert inputs(stage) == ()


def test_the_command_learns_what_became_of_it(stage: Stage) -> None:
    world, clock = stage.world(), count()
    entry = entry_at(world, stage.path)
    given = give(world, entry, "coder-1", TOLD, poke=lambda: True)

    def wait(timeout_s: float = 0) -> InputEnded:
        monotonic = lambda: float(next(clock))  # noqa: E731
        return wait_ended(world, entry, given, timeout_s=timeout_s, monotonic=monotonic)

    with pytest.raises(TimedOutError, match="the orchestrator has ended; it was not typed yet"):
        wait()
    stage.tell("coder-1", InputStarted(input=given.id))
    with pytest.raises(TimedOutError, match="it may have been typed"):
        wait(0.1)
    other = InputEnded(input="another", result="unknown")
    ended = InputEnded(input=given.id, result="submitted", evidence="seen")
    stage.tell("coder-1", other)
    stage.tell("coder-1", ended)
    assert wait() == ended
    assert stage.world().files(stage.path).load().state.inputs == ()


@pytest.mark.parametrize("text", ["", " \n", "a" * 4001, "a\n" * 20_000])
def test_a_message_that_cannot_be_typed_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        require_message(text)
