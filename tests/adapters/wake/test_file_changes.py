"""File-change hints from the real kernel interface."""

from __future__ import annotations

import asyncio
import logging
import resource
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path

import pytest

from agentmux.adapters.disk import files
from agentmux.adapters.wake.file_changes import (
    DEBOUNCE_MS,
    STEP_MS,
    changes,
    follow,
    wait_until_gone,
)

DEADLINE_S = 60.0


class Watched:
    """Counts the hints for one folder while it is watched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hints = 0
        self.stop = asyncio.Event()
        self.hinted = asyncio.Event()
        self.task = asyncio.create_task(self._count())

    async def _count(self) -> None:
        async for _ in changes([self.folder], self.stop):
            self.hints += 1
            self.hinted.set()

    async def hint(self) -> None:
        """Wait for the next hint."""
        await asyncio.wait_for(self.hinted.wait(), DEADLINE_S)
        self.hinted.clear()

    async def started(self) -> None:
        """Touch files until a hint comes, then wait for the remaining hints."""
        number = 0
        while not self.hinted.is_set():
            assert not self.task.done()
            (self.folder / f"probe-{number}").touch()
            number += 1
            await asyncio.wait([asyncio.create_task(self.hinted.wait())], timeout=0.05)
        await self.quiet()

    async def quiet(self, for_s: float = (DEBOUNCE_MS + 2 * STEP_MS) / 1000) -> None:
        """Wait until no hint has come for longer than a hint can take to arrive."""
        self.hinted.clear()
        while True:
            try:
                await asyncio.wait_for(self.hinted.wait(), for_s)
            except TimeoutError:
                return
            self.hinted.clear()


@asynccontextmanager
async def watching(folder: Path) -> AsyncIterator[Watched]:
    watched = Watched(folder)
    await watched.started()
    yield watched
    watched.stop.set()
    await asyncio.wait_for(watched.task, DEADLINE_S)


def test_new_files_give_a_hint_and_are_there_then(tmp_path: Path) -> None:
    async def run() -> None:
        async with watching(tmp_path) as watched:
            files.put(tmp_path / "summary.md", b"x")
            await watched.hint()
            await watched.quiet()
            for number in range(10):  # in folders just made
                target = tmp_path / f"{number}" / "review.yaml"
                files.put(target, b"x")
            await watched.hint()
            assert len(list(tmp_path.glob("*/review.yaml"))) == 10

    asyncio.run(run())


OWN: list[Callable[[Path], object]] = [
    lambda folder: files.replace(folder / "state.json", b"{}"),
    lambda folder: files.replace(folder / "state.json.bak", b"{}"),
    lambda folder: files.replace(folder / "tool_event_state.json", b"{}"),
    lambda folder: files.replace(folder / "runtime_state.json", b"{}"),
    lambda folder: (folder / "orchestrator.log").write_bytes(b"{}"),
    lambda folder: files.replace(folder / "snapshots" / "coder.json", b"{}"),
]


def test_what_the_orchestrator_writes_gives_no_hint(tmp_path: Path) -> None:
    async def run() -> None:
        (tmp_path / "snapshots").mkdir()
        async with watching(tmp_path) as watched:
            before = watched.hints
            for write in OWN:
                write(tmp_path)
            used_s = time.process_time()
            await watched.quiet()
            assert watched.hints == before
            assert time.process_time() - used_s < 0.05, "waiting costs time of the processor"
            (tmp_path / "tool_events.jsonl").write_bytes(b"{}\n")
            await watched.hint()

    asyncio.run(run())


def test_stopping_ends_it(tmp_path: Path) -> None:
    async def run() -> None:
        stop = asyncio.Event()
        stop.set()
        assert [hint async for hint in changes([tmp_path], stop)] == []

    asyncio.run(asyncio.wait_for(run(), DEADLINE_S))


def test_a_cancel_ends_it_and_leaves_the_callers_event_alone(tmp_path: Path) -> None:
    async def run() -> None:
        watched = Watched(tmp_path)
        await watched.started()
        watched.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watched.task
        assert not watched.stop.is_set()

    asyncio.run(asyncio.wait_for(run(), DEADLINE_S))


def test_a_folder_that_is_gone_is_logged_and_gives_no_hint(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(0.2, stop.set)
        assert [hint async for hint in changes([tmp_path / "gone"], stop)] == []

    with caplog.at_level(logging.WARNING):
        asyncio.run(asyncio.wait_for(run(), DEADLINE_S))
    assert f"could not watch {tmp_path / 'gone'}" in caplog.text


@contextmanager
def no_more_files() -> Iterator[None]:
    import watchfiles  # noqa: F401 (opens files itself, before the limit)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_limit_of_the_kernel_is_logged_and_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(0.2, stop.set)
        with no_more_files():
            assert [hint async for hint in changes([tmp_path], stop)] == []
            assert stop.is_set()

    with caplog.at_level(logging.WARNING):
        asyncio.run(asyncio.wait_for(run(), DEADLINE_S))
    assert "could not watch files" in caplog.text


def test_a_limit_of_the_kernel_does_not_end_a_look_now_and_then(tmp_path: Path) -> None:
    with no_more_files():
        looks = follow(tmp_path, 60.0)
        assert [next(looks), next(looks)] == [None, None]


@pytest.mark.parametrize("watchable", [True, False])
def test_a_path_that_goes_is_told(tmp_path: Path, watchable: bool) -> None:
    lock = tmp_path / "folder" / "lock"
    lock.parent.mkdir()
    lock.touch()

    async def play() -> None:
        with no_more_files() if not watchable else nullcontext():
            waiting = asyncio.create_task(wait_until_gone(lock))
            await asyncio.wait([waiting], timeout=0.2)
            assert not waiting.done()
            lock.unlink()
            await asyncio.wait_for(waiting, DEADLINE_S)

    asyncio.run(play())


def test_what_is_not_there_is_gone_at_once(tmp_path: Path) -> None:
    asyncio.run(asyncio.wait_for(wait_until_gone(tmp_path / "no" / "lock"), 0.4))
