"""Background tasks: one of each kind at a time, and a failed one is restarted after a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from agentmux.app.loop.background_tasks import (
    AGAIN_S,
    TRIES,
    BackgroundTasks,
    UnrecordedError,
)
from agentmux.errors import AgentmuxError


class Loop:
    """A loop that starts the same work each time it wakes, like ours until the work is done."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work
        self.said: list[str] = []
        self.begun: list[float] = []
        self.given_up: list[tuple[str, Exception]] = []
        self._again = asyncio.Event()

    def wake(self) -> None:
        self._again.set()

    def say(self, message: str) -> None:
        self.said.append(message)

    async def drive(
        self, rounds: int, give_up: Callable[[Exception], object] | None = None
    ) -> None:
        """Run until the work has started ``rounds`` times, and see that it starts no more."""
        background = BackgroundTasks(self, lambda *given: self.given_up.append(given))
        async with asyncio.timeout(20 * AGAIN_S):
            while len(self.begun) < rounds:
                background.run("work", self._run(), give_up=give_up)
                assert not background.run("work", self._run(), give_up=give_up)
                await self._again.wait()
                self._again.clear()
        if self.given_up:
            assert not background.run("work", self._run())
            background.allow_again("work")
            assert background.run("work", asyncio.sleep(0))  # it is cancelled before it begins
        await background.close()

    async def _run(self) -> None:
        self.begun.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0)
        self.work()


def watch(
    error: Exception | None,
    rounds: int,
    give_up: Callable[[Exception], object] | None = None,
    *,
    work: Callable[[], None] | None = None,
) -> Loop:
    """Return a loop after so many rounds of work that fails by ``error``, or of ``work``."""

    def fail() -> None:
        assert error is not None
        raise error

    async def drive() -> Loop:
        loop = Loop(work or fail)
        await loop.drive(rounds, give_up)
        return loop

    return asyncio.run(drive())


def test_an_error_that_people_can_act_on_is_said_and_the_work_begun_again_after_a_while() -> None:
    loop = watch(AgentmuxError("no luck"), TRIES + 1)
    assert loop.begun[1] - loop.begun[0] >= AGAIN_S
    (said,) = loop.said
    assert "no luck" in said
    assert loop.given_up == []


UNEXPECTED = [OSError("no luck"), KeyError("no luck"), ModuleNotFoundError("no luck")]


@pytest.mark.parametrize("error", UNEXPECTED, ids=lambda each: type(each).__name__)
def test_work_that_fails_unexpectedly_is_given_up_after_three_tries(error: Exception) -> None:
    loop = watch(error, TRIES)
    assert loop.given_up == [("work", error)]
    (said,) = loop.said
    assert "no luck" in said
    assert len(loop.begun) == TRIES == 3


def test_work_whose_end_cannot_be_recorded_is_not_done_again() -> None:
    error = UnrecordedError("no luck")
    loop = watch(error, 1)
    assert loop.given_up == [("work", error)]
    assert len(loop.begun) == 1


def test_work_whose_failure_is_recorded_instead_may_begin_again() -> None:
    failed: list[Exception] = []
    error = KeyError("no luck")
    loop = watch(error, 2 * TRIES, failed.append)
    assert failed == [error, error]
    assert loop.given_up == []


def test_a_failure_that_cannot_be_recorded_is_given_up() -> None:
    unrecorded = UnrecordedError("no room")

    def record(error: Exception) -> None:
        raise unrecorded

    loop = watch(KeyError("no luck"), TRIES, record)
    assert loop.given_up == [("work", unrecorded)]
    assert [said.partition(": ")[2] for said in loop.said] == [
        "work: KeyError: 'no luck'",
        "work: no room",
    ]


def test_a_success_forgets_the_failures_before_it() -> None:
    outcomes = iter([*[KeyError("a")] * (TRIES - 1), None] * 2)

    def work() -> None:
        error = next(outcomes)
        if error is not None:
            raise error

    loop = watch(None, 2 * TRIES, work=work)
    assert loop.given_up == []


def test_what_is_done_wakes_the_loop_and_may_be_begun_again_at_once() -> None:
    async def watch() -> Loop:
        loop = Loop(lambda: None)
        await loop.drive(3)
        return loop

    loop = asyncio.run(watch())
    assert loop.begun[2] - loop.begun[0] < AGAIN_S
    assert loop.said == []
