"""What psutil says of processes is what ``/proc`` says, where both answer."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentmux.adapters.system.processes import proc, psutil_processes
from tests.conftest import WaitUntil
from tests.fakes.bench import Bench as TmuxTerminal


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "1000"], env=os.environ | {"WORD": "caf\udce9 = x"})
    yield process
    process.kill()
    process.wait()


def test_a_process_is_described_the_same(
    sleeper: subprocess.Popen[bytes], wait_until: WaitUntil
) -> None:
    wait_until(lambda: proc.argv(sleeper.pid) == ("sleep", "1000"))
    for each in (proc, psutil_processes):
        assert each.argv(sleeper.pid) == ("sleep", "1000")
        assert each.environment(sleeper.pid)["WORD"] == "caf\udce9 = x"
        assert each.parent(sleeper.pid) == os.getpid()
        assert sleeper.pid in each.own_pids()
        assert not each.is_tmux_server(sleeper.pid)
        state, started = each.state_and_start(sleeper.pid)
        assert state not in {"", "Z", "X"}
        assert started > 0


def test_a_zombie_and_a_process_that_is_gone(
    sleeper: subprocess.Popen[bytes], wait_until: WaitUntil
) -> None:
    sleeper.kill()
    for each in (proc, psutil_processes):
        wait_until(lambda of=each: of.state_and_start(sleeper.pid)[0] == "Z")
    sleeper.wait()
    for each in (proc, psutil_processes):
        assert each.state_and_start(sleeper.pid) == ("", 0)
        assert each.parent(sleeper.pid) == 0
        with pytest.raises(OSError):  # noqa: PT011 (which one depends on the system)
            each.environment(sleeper.pid)
        with pytest.raises(OSError):  # noqa: PT011 (as above)
            each.argv(sleeper.pid)


def test_a_tmux_server_is_recognised(tmux: TmuxTerminal, tmp_path: Path) -> None:
    made = tmux.create_session(
        name="agentmux-a", uuid="u", cwd=tmp_path, size=(80, 24), argv=("sleep", "1000")
    )
    assert proc.is_tmux_server(made.server.pid)
    assert psutil_processes.is_tmux_server(made.server.pid)
