"""Running a program in the foreground of a terminal."""

import os
import pty
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.foreground import run
from agentmux.errors import MissingError
from tests.conftest import WaitUntil
from tests.fakes.pseudo_terminal import read_to_end

_RUN = "import os, sys; from agentmux.adapters.system.processes.foreground import run;"
_RUN += " sys.exit(run({}, os.environ))"


def running(*argv: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", _RUN.format(repr(argv))])


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def child_of(pid: int) -> int:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(found[0]) if found else 0


@pytest.mark.parametrize(("script", "status"), [("exit 7", 7), ("kill -9 $$", 137), ("true", 0)])
def test_its_status_is_told(script: str, status: int) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert run(("sh", "-c", script), os.environ) == status
    assert signal.getsignal(signal.SIGTERM) is before


def test_its_errors_go_where_they_are_wanted(tmp_path: Path) -> None:
    with (tmp_path / "errors").open("wb") as file:
        assert run(("sh", "-c", "echo wrong >&2"), os.environ, errors=file.fileno()) == 0
    assert (tmp_path / "errors").read_text() == "wrong\n"


def test_a_program_that_is_not_there_is_said() -> None:
    with pytest.raises(MissingError, match="no-such-program cannot be started"):
        run(("no-such-program",), os.environ)


def test_it_stops_and_goes_on_with_its_program(tmp_path: Path, wait_until: WaitUntil) -> None:
    mark = tmp_path / "went on"
    with running("sh", "-c", f"kill -STOP $$; touch '{mark}'; exit 3") as process:
        wait_until(lambda: state(process.pid) == "T")
        assert not mark.exists()
        os.kill(child_of(process.pid), signal.SIGCONT)  # as `fg` does, for the whole job
        os.kill(process.pid, signal.SIGCONT)
        assert process.wait(60) == 3
    assert mark.exists()


def test_what_ends_it_in_the_first_moment_ends_its_program() -> None:
    script = "trap 'exit 5' TERM; kill -TERM $PPID; while :; do sleep 0.01; done"
    with running("sh", "-c", script) as process:
        assert process.wait(60) == 5


def test_what_ends_it_ends_its_program(tmp_path: Path, wait_until: WaitUntil) -> None:
    mark = tmp_path / "ready"
    script = f"trap 'exit 5' TERM; touch '{mark}'; while :; do sleep 0.01; done"
    with running("sh", "-c", script) as process:
        wait_until(mark.exists)
        process.terminate()
        assert process.wait(60) == 5


@pytest.mark.parametrize(
    ("script", "is_left"), [("stty raw -echo; kill -9 $$", True), ("exit 1", False)]
)
def test_a_terminal_that_a_program_left_changed_is_usable_again(script: str, is_left: bool) -> None:
    master, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    code = _RUN.format(repr(("sh", "-c", script)))
    argv = [sys.executable, "-c", code]
    subprocess.run(argv, stdin=terminal, stdout=terminal, start_new_session=True, check=False)
    after = termios.tcgetattr(terminal)
    os.close(terminal)
    assert after == before
    # It leaves the second screen, where tmux draws, only if the program has not.
    assert ("\x1b[?1049l" in read_to_end(master)) is is_left
