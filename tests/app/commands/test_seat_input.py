"""What a person has for an agent is recorded only where an agent and its orchestrator take it."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from agentmux.adapters.disk.lock import SessionLock
from agentmux.app.commands.resume.live_seat import only_seat
from agentmux.app.commands.resume.restart import restart
from agentmux.app.commands.talk.seat_input import record_input, require_message, wait_ended
from agentmux.app.session.search.lookup import entry_at, sessions_dir
from agentmux.core.journal.events import AgentExited, Fact, InputEnded, InputStarted, SeatTold
from agentmux.core.names.phase import Phase
from agentmux.core.names.version import VERSION
from agentmux.errors import BlockedError, NotFoundError, TimedOutError, UsageError
from tests.app.on_disk import OnDisk
from tests.app.staging import Stage

TOLD = SeatTold(text="use one part")


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    made = Stage(tmp_path, "demo", cache=tmp_path / "cache")
    made.launch()
    return made


def told(stage: Stage, seat: str = "coder-1", *, runs: bool = True) -> None:
    world = stage.world()
    record_input(world, entry_at(world, stage.path), seat, TOLD, poke=lambda: runs)


def inputs(stage: Stage) -> tuple[Fact, ...]:
    events = stage.world().files(stage.path).tail(0)
    return tuple(event.fact for event, _ in events if isinstance(event.fact, SeatTold))


@pytest.mark.parametrize("version", [{}, {"version": "9.0"}])
def test_an_orchestrator_of_another_version_gets_no_event_that_it_may_not_know(
    stage: Stage, version: dict[str, object]
) -> None:
    with _held(stage, {"orchestrator_pid": 7, **version}):
        with pytest.raises(BlockedError) as error:
            told(stage)
        assert error.value.reason == "version"
    assert inputs(stage) == ()


def test_an_orchestrator_that_has_just_begun_takes_a_message(stage: Stage) -> None:
    with _held(stage, {"orchestrator_pid": 7, "version": VERSION}):  # no runtime note yet
        told(stage)
    assert inputs(stage) == (TOLD,)


@contextmanager
def _held(stage: Stage, note: dict[str, object]) -> Iterator[None]:
    lock = SessionLock(stage.path)
    lock.acquire(0, note)
    try:
        yield
    finally:
        lock.release()


def test_without_an_orchestrator_or_the_seat_nothing_is_recorded(stage: Stage) -> None:
    with pytest.raises(NotFoundError, match="no orchestrator runs"):
        told(stage, runs=False)
    with pytest.raises(NotFoundError, match="no seat `codr-1` now") as error:
        told(stage, "codr-1")
    assert error.value.hints[0].startswith("did you mean `coder-1`")
    assert inputs(stage) == ()


def test_the_only_agent_that_runs_need_not_be_named(stage: Stage) -> None:
    files = stage.world().files(stage.path)
    with pytest.raises(UsageError, match="several agents run in session 7") as error:
        only_seat(files, "7")
    assert error.value.hints == ("seats: coder-1, coder-2",)
    stage.tell("coder-1", AgentExited(cause="ended_by_user"))
    assert only_seat(files, "7") == "coder-2"
    stage.tell("coder-2", AgentExited(cause="ended_by_user"))
    with pytest.raises(NotFoundError, match="no agent runs in session 7"):
        only_seat(files, "7")


def test_at_a_decision_there_is_no_seat_and_the_hints_say_what_to_type(tmp_path: Path) -> None:
    path = sessions_dir(tmp_path) / "20260101-101500-add-login"
    OnDisk(path, Phase.COMPLETING, summary_submitted=True)
    stage = Stage(tmp_path, "demo", cache=tmp_path / "cache")
    world = stage.world()
    with pytest.raises(
        NotFoundError, match=r"no seat `coder-1` now: none runs, .* your decision"
    ) as error:
        record_input(world, entry_at(world, path), "coder-1", TOLD, poke=lambda: True)
    with pytest.raises(NotFoundError, match=r"no seat `coder-1` now: none runs, .* your decision"):
        restart(world, world.files(path), "coder-1", fresh=None, poke=lambda: True)
    assert error.value.hints[0] == f"agentmux approve {path.name}"


def test_a_seat_without_a_running_agent_is_told_nothing(stage: Stage) -> None:
    stage.tell("coder-1", AgentExited(cause="ended_by_user"))
    with pytest.raises(BlockedError, match="is not running: ended by you") as error:
        told(stage)
    assert error.value.reason == "not_running"
    assert inputs(stage) == ()


def test_the_command_learns_what_became_of_it(stage: Stage) -> None:
    world, clock = stage.world(), count()
    entry = entry_at(world, stage.path)
    given = record_input(world, entry, "coder-1", TOLD, poke=lambda: True)

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
