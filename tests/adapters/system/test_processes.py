"""Which processes are alive, which outlived their tmux server, and how they are ended."""

import asyncio
import errno
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.processes import (
    PidWatch,
    end,
    is_alive,
    left_after,
    processes_with_variable,
    start_time,
    survivors,
)
from tests.conftest import WaitUntil
from tests.fakes.bench import Bench as TmuxTerminal

SESSION = str(uuid.uuid4())
"""A session id of this test process only, because other test processes run at the same time."""


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def sleeper(
    started: list[subprocess.Popen[bytes]], script: str = "", **env: str
) -> subprocess.Popen[bytes]:
    words = ["sh", "-c", script] if script else ["sleep", "1000"]
    process = subprocess.Popen(words, env=os.environ | env, stdout=subprocess.PIPE)
    started.append(process)
    if script:
        assert process.stdout is not None
        process.stdout.readline()
    return process


def test_a_process_is_told_by_its_start_time(started: list[subprocess.Popen[bytes]]) -> None:
    process = sleeper(started)
    now = start_time(process.pid)
    assert now > start_time(os.getpid()) > 0
    assert is_alive(process.pid)
    assert is_alive(process.pid, now)
    assert not is_alive(process.pid, now - 1)


def test_a_zombie_is_not_alive(
    started: list[subprocess.Popen[bytes]], wait_until: WaitUntil
) -> None:
    process = sleeper(started)
    os.kill(process.pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(process.pid))
    assert Path(f"/proc/{process.pid}").exists()
    process.wait()
    assert not is_alive(process.pid)
    assert start_time(process.pid) == 0


@pytest.mark.parametrize("pid", [0, -1])
def test_nobody_is_not_alive(pid: int) -> None:
    assert not is_alive(pid)
    assert start_time(pid) == 0


def test_an_odd_name_is_read_over(started: list[subprocess.Popen[bytes]], tmp_path: Path) -> None:
    odd = tmp_path / "a) Z 1 ("
    odd.symlink_to("/bin/sleep")
    process = subprocess.Popen([str(odd), "1000"])
    started.append(process)
    assert is_alive(process.pid, start_time(process.pid))
    assert start_time(process.pid) >= start_time(os.getpid())


def test_every_end_is_called_back_once(started: list[subprocess.Popen[bytes]]) -> None:
    processes = [sleeper(started) for _ in range(20)]
    gone = subprocess.Popen(["true"])
    gone.wait()
    ended: list[int] = []

    async def watch() -> None:
        watcher = PidWatch(asyncio.get_running_loop())
        for process in processes:
            watcher.watch(process.pid, ended.append)
            watcher.watch(process.pid, ended.append)
        watcher.watch(gone.pid, ended.append)
        for process in processes[:-1]:
            process.kill()
        async with asyncio.timeout(60):
            while len(ended) < 20:
                await asyncio.sleep(0.005)
        watcher.close()
        processes[-1].kill()
        processes[-1].wait()
        await asyncio.sleep(0)

    before = len(list(Path("/proc/self/fd").iterdir()))
    asyncio.run(watch())
    assert sorted(ended) == sorted([gone.pid, *(process.pid for process in processes[:-1])])
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
def test_a_kernel_without_process_descriptors_is_asked_now_and_then(
    started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refused(pid: int, flags: int = 0) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "pidfd_open", refused)
    process = sleeper(started)
    ended: list[int] = []

    async def watch() -> None:
        watcher = PidWatch(asyncio.get_running_loop())
        watcher.watch(process.pid, ended.append)
        process.kill()
        async with asyncio.timeout(60):
            while not ended:
                await asyncio.sleep(0.005)
        watcher.close()

    asyncio.run(watch())
    assert ended == [process.pid]
    stays, goes = sleeper(started), sleeper(started, "echo ready; sleep 0.1")
    stay, go = ((each.pid, start_time(each.pid)) for each in (stays, goes))
    assert left_after([go], wait_s=60) == ()
    assert left_after([stay, go], wait_s=0.1) == (stay,)


def test_survivors_are_found_by_their_environment(
    started: list[subprocess.Popen[bytes]], wait_until: WaitUntil
) -> None:
    mine = sleeper(
        started, AGENTMUX_SESSION_ID=SESSION, AGENTMUX_LAUNCH_ID="abc", AGENTMUX_SEAT="coder-2"
    )
    bare = sleeper(started, AGENTMUX_SESSION_ID=SESSION)
    sleeper(started, AGENTMUX_SESSION_ID=SESSION + "0")
    sleeper(started, NOT_AGENTMUX_SESSION_ID=SESSION)

    # A process shows its environment only a moment after its program has begun.
    wait_until(lambda: len(survivors("", SESSION)) == 2)
    found = survivors("", SESSION, str(uuid.uuid4()))

    assert {one.session for one in found} == {SESSION}
    assert {(one.pid, one.launch, one.seat, one.argv0) for one in found} == {
        (mine.pid, "abc", "coder-2", "sleep"),
        (bare.pid, "", "", "sleep"),
    }
    assert all(one.started == start_time(one.pid) for one in found)
    assert survivors("") == ()


def test_who_looks_is_no_survivor_nor_what_started_it(
    started: list[subprocess.Popen[bytes]],
) -> None:
    program = (
        "from agentmux.adapters.system.processes.processes import survivors;"
        " print(len(survivors(%r)))"
    )
    done = subprocess.run(
        ["sh", "-c", f'python -c "{program % SESSION}"; :'],
        env=os.environ | {"AGENTMUX_SESSION_ID": SESSION},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0\n"


def test_a_tmux_server_is_no_survivor(
    tmux: TmuxTerminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait_until: WaitUntil
) -> None:
    monkeypatch.setenv("AGENTMUX_SESSION_ID", SESSION)
    made = tmux.create_session(
        name="agentmux-a", uuid="u", cwd=tmp_path, size=(80, 24), argv=("sleep", "1000")
    )
    environ = Path(f"/proc/{made.server.pid}/environ")
    wait_until(lambda: SESSION.encode() in environ.read_bytes())
    monkeypatch.delenv("AGENTMUX_SESSION_ID")
    assert survivors(SESSION) == ()


ABOVE = "import os; from agentmux.adapters.system.processes.processes import agent_above as a;"
ABOVE += " print(a(os.environ))"


@pytest.mark.parametrize(
    ("command", "mode", "found"),
    [
        ('python -c "$CODE"; :', "fresh", True),
        ('env -u AGENTMUX_LAUNCH_ID python -c "$CODE"; :', "fresh", True),
        ('env AGENTMUX_MODE=shell python -c "$CODE"; :', "native", True),
        ('env -i PATH="$PATH" CODE="$CODE" sh -c \'python -c "$CODE"; :\'; :', "", True),
        ('python -c "$CODE"; :', "shell", False),
        ('env -u AGENTMUX_LAUNCH_ID python -c "$CODE"; :', "shell", False),
    ],
)
def test_an_agent_above_is_found_and_a_person_in_its_place_is_none(
    command: str, mode: str, found: bool
) -> None:
    launch = {"AGENTMUX_LAUNCH_ID": "abc", "AGENTMUX_SEAT": "coder-2", "AGENTMUX_MODE": mode}
    done = subprocess.run(
        ["sh", "-c", command],
        env=os.environ | launch | {"CODE": ABOVE},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ("launch='abc', seat='coder-2'" in done.stdout) == found, done.stdout
    assert (done.stdout == "None\n") != found


def test_nobody_is_above_who_runs_in_a_server_that_an_agent_started(
    tmux: TmuxTerminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait_until: WaitUntil
) -> None:
    monkeypatch.setenv("AGENTMUX_LAUNCH_ID", "abc")
    said = tmp_path / "said"
    code = (
        "import os; from agentmux.adapters.system.processes.processes import agent_above as a; "
        f"open('{said}.new', 'w').write(str(a(os.environ))); "
        f"os.rename('{said}.new', '{said}'); os.read(0, 1)"
    )
    argv = ("env", "-u", "AGENTMUX_LAUNCH_ID", sys.executable, "-c", code)
    tmux.create_session(name="agentmux-a", uuid="u", cwd=tmp_path, size=(80, 24), argv=argv)
    wait_until(said.exists)
    assert said.read_text() == "None"


def test_whoever_carries_a_word_is_found(
    tmux: TmuxTerminal,
    started: list[subprocess.Popen[bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AGENTMUX_MARK", "a")
    mine = sleeper(started)
    made = tmux.create_session(
        name="agentmux-a", uuid="u", cwd=tmp_path, size=(80, 24), argv=("sleep", "1000")
    )
    monkeypatch.setenv("AGENTMUX_MARK", "ab")
    other = sleeper(started)

    found = processes_with_variable("AGENTMUX_MARK=a")

    assert (mine.pid, start_time(mine.pid)) in found
    assert (made.server.pid, made.server.started) in found
    assert other.pid not in {pid for pid, _ in found}


def test_who_stays_is_told_after_the_wait(started: list[subprocess.Popen[bytes]]) -> None:
    stays = sleeper(started)
    goes = sleeper(started, "echo ready; sleep 0.1")
    both = [(each.pid, start_time(each.pid)) for each in (stays, goes)]

    assert left_after(both, wait_s=0.5) == tuple(both[:1])


def test_ending_is_gentle_first(started: list[subprocess.Popen[bytes]]) -> None:
    polite = sleeper(started, "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done")
    deaf = sleeper(started, "trap '' TERM; echo ready; while :; do sleep 0.01; done")
    other = sleeper(started)

    left = end(
        [
            (polite.pid, start_time(polite.pid)),
            (deaf.pid, 0),
            (other.pid, start_time(other.pid) + 1),
        ],
        grace_s=0.5,
    )

    assert left == ()
    assert polite.wait() == 7
    assert deaf.wait() == -signal.SIGKILL
    assert other.poll() is None


def test_a_process_lives_until_its_last_thread_has_ended(wait_until: WaitUntil) -> None:
    code = (
        "import ctypes, threading, time;"
        "threading.Thread(target=time.sleep, args=(600,)).start();"
        "ctypes.CDLL(None).pthread_exit(0)"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        try:
            stat = Path(f"/proc/{process.pid}/stat")
            wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "Z")
            assert is_alive(process.pid)
        finally:
            process.kill()
    assert not is_alive(process.pid)
