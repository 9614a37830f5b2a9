"""Work in threads that is ended from outside, with the programs that it runs."""

import asyncio
import subprocess
import threading
import time
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.child import Child
from agentmux.threads import GRACE_S, WorkEndedError, WorkGroup
from tests.conftest import WaitUntil

LIMIT_S = 60.0


def waits(folder: Path, *, deaf: bool = False) -> Child:
    """Return a program that says its pid, and waits for ten minutes; a deaf one ignores TERM."""
    trap = "trap '' TERM; " if deaf else ""
    script = f"{trap}echo $$ > {folder}/new; mv {folder}/new {folder}/pid; sleep 600; :"
    return Child(argv=["sh", "-c", script], limit_s=LIMIT_S)


def is_there(folder: Path) -> bool:
    pid = (folder / "pid").read_text().strip()
    found = subprocess.run(["ps", "-o", "state=", "-p", pid], capture_output=True, check=False)
    return found.stdout.strip() not in {b"", b"Z"}


@pytest.mark.parametrize("deaf", [False, True])
def test_the_end_ends_the_programs_that_the_work_runs(
    tmp_path: Path, wait_until: WaitUntil, deaf: bool
) -> None:
    async def run() -> None:
        group = WorkGroup()
        done = group.run(waits(tmp_path, deaf=deaf).run)
        await asyncio.to_thread(wait_until, (tmp_path / "pid").exists)
        assert await asyncio.to_thread(group.end, LIMIT_S)
        assert not is_there(tmp_path)
        with pytest.raises(WorkEndedError):
            await done

    asyncio.run(run())


def test_all_programs_are_ended_at_once(tmp_path: Path, wait_until: WaitUntil) -> None:
    folders = [tmp_path / name for name in "abcd"]

    async def run() -> None:
        group = WorkGroup()
        for each in folders:
            each.mkdir()
        done = [group.run(waits(each, deaf=True).run) for each in folders]
        for each in folders:
            await asyncio.to_thread(wait_until, (each / "pid").exists)
        begun = time.monotonic()
        assert await asyncio.to_thread(group.end, LIMIT_S)
        assert time.monotonic() - begun < 3.5 * GRACE_S  # one after the other would take 4
        assert not [each for each in folders if is_there(each)]
        await asyncio.gather(*done, return_exceptions=True)

    asyncio.run(run())


def test_what_an_ended_program_leaves_in_its_group_is_killed(
    tmp_path: Path, wait_until: WaitUntil
) -> None:
    deaf = f"(trap '' TERM; echo $BASHPID > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; "
    script = f"{deaf} while :; do sleep 1; done) & wait"

    async def run() -> None:
        group = WorkGroup()
        done = group.run(Child(argv=["bash", "-c", script], limit_s=LIMIT_S).run)
        await asyncio.to_thread(wait_until, (tmp_path / "pid").exists)
        assert await asyncio.to_thread(group.end, LIMIT_S)
        await asyncio.to_thread(wait_until, lambda: not is_there(tmp_path))
        with pytest.raises(WorkEndedError):
            await done

    asyncio.run(run())


def test_no_program_begins_after_the_end(tmp_path: Path) -> None:
    ended = threading.Event()

    def work() -> None:
        ended.wait(LIMIT_S)
        waits(tmp_path).run()

    async def run() -> None:
        group = WorkGroup()
        done = group.run(work)
        assert not group.end(0)
        ended.set()
        with pytest.raises(WorkEndedError):
            await done
        with pytest.raises(WorkEndedError):
            await group.run(lambda: None)

    asyncio.run(run())
    assert not (tmp_path / "pid").exists()


def test_the_work_of_another_group_goes_on(tmp_path: Path) -> None:
    async def run() -> bytes:
        ours, theirs = WorkGroup(), WorkGroup()
        ours.end(0)
        found = await theirs.run(Child(argv=["echo", "yes"], limit_s=LIMIT_S).run)
        return found.out

    assert asyncio.run(run()) == b"yes\n"
