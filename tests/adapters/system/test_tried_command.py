"""A command that is run once: what it has shown, and that nothing of it stays."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.processes import is_alive
from agentmux.adapters.system.processes.tried_command import try_command
from agentmux.core.journal.results import CheckResult
from tests.conftest import WaitUntil


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        (("true",), CheckResult(outcome="passed", status=0)),
        (("sh", "-c", "cat; exit 3"), CheckResult(outcome="failed", status=3)),
        (("sh", "-c", "kill -TERM $$"), CheckResult(outcome="broken", signal=15)),
        (("no-such-program",), CheckResult(outcome="broken", status=127)),
        (("/",), CheckResult(outcome="broken", status=126)),
    ],
)
def test_a_command_is_run(argv: tuple[str, ...], found: CheckResult, tmp_path: Path) -> None:
    assert try_command(argv, tmp_path, os.environ, limit_s=30) == found


def test_a_command_that_takes_too_long_is_ended_with_all_of_its_group(
    tmp_path: Path, wait_until: WaitUntil
) -> None:
    argv = ("sh", "-c", "sleep 1000 & echo $! > child; wait")
    seen = try_command(argv, tmp_path, os.environ, limit_s=0.5)
    assert (seen.outcome, seen.timed_out) == ("broken", True)
    child = int((tmp_path / "child").read_text())
    wait_until(lambda: not is_alive(child))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_it_ends_with_us(number: int, tmp_path: Path, wait_until: WaitUntil) -> None:
    code = (
        "import os, pathlib;"
        "from agentmux.adapters.system.processes.tried_command import try_command;"
        "try_command(('sh', '-c', 'sleep 1000 & echo $! > new; mv new child; wait'),"
        " pathlib.Path(), os.environ, limit_s=1000)"
    )
    made = tmp_path / "child"
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.DEVNULL
    ) as ours:
        wait_until(made.exists)
        ours.send_signal(number)
        assert ours.wait(60)
    child = int(made.read_text())
    try:
        wait_until(lambda: not is_alive(child))
    finally:
        if is_alive(child):
            os.kill(child, signal.SIGKILL)


def test_it_ends_with_us_even_while_it_is_started(tmp_path: Path, wait_until: WaitUntil) -> None:
    code = (
        "import os, pathlib;"
        "from agentmux.adapters.system.processes.tried_command import try_command;"
        "try_command(('sh', '-c', 'echo $$ > child; kill -HUP $PPID; exec sleep 1000'),"
        " pathlib.Path(), os.environ, limit_s=1000)"
    )
    for _ in range(5):
        argv = [sys.executable, "-c", code]
        assert subprocess.run(argv, cwd=tmp_path, stderr=subprocess.DEVNULL, check=False).returncode
        child = int((tmp_path / "child").read_text())
        wait_until(lambda: not is_alive(child))  # noqa: B023 (called at once)
