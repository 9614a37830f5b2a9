"""Writing to the wake pipe never blocks, and never writes to any other file."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentmux.adapters.wake.pipe import STOP, WAKE, WakeFifo, poke
from agentmux.errors import DataError


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[WakeFifo]:
    made = WakeFifo(tmp_path)
    yield made
    made.close()


def readable(pipe: WakeFifo, within_s: float = 0) -> bool:
    return bool(select.select([pipe.fileno()], [], [], within_s)[0])


def test_a_poke_wakes_and_is_gone_once_drained(pipe: WakeFifo, tmp_path: Path) -> None:
    assert not readable(pipe)
    assert poke(tmp_path)
    assert poke(tmp_path)
    assert poke(tmp_path, STOP)
    assert readable(pipe, 5)
    assert pipe.drain() == {WAKE, STOP}
    assert not readable(pipe)
    assert pipe.drain() == set()


def test_it_stays_quiet_after_its_writers_have_gone(pipe: WakeFifo, tmp_path: Path) -> None:
    program = "import sys, pathlib; from agentmux.adapters.wake.pipe import poke; "
    program += "sys.exit(not poke(pathlib.Path(sys.argv[1])))"
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    assert pipe.drain() == {WAKE}
    assert not readable(pipe)


def test_nobody_listening_is_told_at_once(tmp_path: Path) -> None:
    assert not poke(tmp_path)
    assert not poke(tmp_path / "gone")
    pipe = WakeFifo(tmp_path)
    pipe.close()
    pipe.close()
    assert not poke(tmp_path)


def test_a_full_pipe_counts_as_awake(pipe: WakeFifo, tmp_path: Path) -> None:
    assert all(poke(tmp_path, b"x" * 4095 + b"\n") for _ in range(100))
    assert poke(tmp_path)
    assert pipe.drain() == {b"x" * 4095 + b"\n"}


def test_only_a_pipe_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "far").write_bytes(b"")
    (tmp_path / "wake.fifo").write_bytes(b"")
    assert not poke(tmp_path)
    (tmp_path / "wake.fifo").unlink()
    (tmp_path / "wake.fifo").symlink_to(tmp_path / "far")
    assert not poke(tmp_path)
    assert (tmp_path / "far").read_bytes() == b""


@pytest.mark.parametrize("kind", ["file", "link", "no folder"])
def test_what_is_no_pipe_is_not_listened_to(tmp_path: Path, kind: str) -> None:
    folder = tmp_path
    if kind == "file":
        (tmp_path / "wake.fifo").touch()
    elif kind == "link":
        os.mkfifo(tmp_path / "far")
        (tmp_path / "wake.fifo").symlink_to(tmp_path / "far")
    else:
        folder = tmp_path / "gone"
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(DataError, match=r"wake\.fifo"):
        WakeFifo(folder)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_the_pipe_of_a_killed_orchestrator_is_used_again(tmp_path: Path) -> None:
    first = WakeFifo(tmp_path)
    poke(tmp_path)
    first.close()
    second = WakeFifo(tmp_path)
    assert second.drain() == set()
    assert poke(tmp_path)
    assert second.drain() == {WAKE}
    assert (tmp_path / "wake.fifo").stat().st_mode & 0o777 == 0o600
    assert not os.get_inheritable(second.fileno())
    second.close()


def test_half_a_line_waits_for_its_other_half(pipe: WakeFifo, tmp_path: Path) -> None:
    poke(tmp_path, b"s")
    assert pipe.drain() == set()
    poke(tmp_path, b"\n")
    assert pipe.drain() == {STOP}


def test_poking_needs_no_event_loop() -> None:
    program = "import sys, agentmux.adapters.wake.pipe; sys.exit('asyncio' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
