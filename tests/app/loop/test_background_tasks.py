"""Background tasks: one of each kind at a time, and a failed one is restarted after a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from agentmux.app.loop.background_tasks import AGAIN_S, BackgroundTasks
from agentmux.errors import AgentmuxError


class Loop:
    """A loop that starts the same work each time it wakes, like ours until the work is done."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work
        self.said: list[str] = []
        self.begun: list[float] = []
        self._again = asyncio.Event()

    def wake(self) -> None:
        self._again.set()

    def say(self, message: str) -> None:
        self.said.append(message)

    async def drive(self, rounds: int) -> None:
        """Run until the work has started ``rounds`` times."""
        background = BackgroundTasks(self)
        async with asyncio.timeout(10 * AGAIN_S):
            while len(self.begun) < rounds:
                background.run("work", self._run())
                background.run("work", self._run())
                await self._again.wait()
                self._again.clear()
        background.cancel()

    async def _run(self) -> None:
        self.begun.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0)
        self.work()


ERRORS = [AgentmuxError("no luck"), OSError("no luck"), KeyError("no luck")]


@pytest.mark.parametrize("error", ERRORS, ids=[type(each).__name__ for each in ERRORS])
def test_what_fails_is_said_and_begun_again_after_a_while(error: Exception) -> None:
    def fail() -> None:
        raise error

    async def watch() -> Loop:
        loop = Loop(fail)
        await loop.drive(3)
        return loop

    loop = asyncio.run(watch())
    assert loop.begun[1] - loop.begun[0] >= AGAIN_S
    (said,) = loop.said
    assert "no luck" in said


def test_what_is_done_wakes_the_loop_and_may_be_begun_again_at_once() -> None:
    async def watch() -> Loop:
        loop = Loop(lambda: None)
        await loop.drive(3)
        return loop

    loop = asyncio.run(watch())
    assert loop.begun[2] - loop.begun[0] < AGAIN_S
    assert loop.said == []
