"""`agentmux demo --fleet` as a program: its proof, and what it leaves.

The whole demo takes about 30 s of processor time, most of it in the agents and the orchestrators.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.processes import processes_with_variable
from agentmux.cli.main import main
from tests.conftest import TEST_ID

pytestmark = pytest.mark.long

DEADLINE_S = 200
DEMO = (sys.executable, "-m", "agentmux", "demo", "--fleet")


def left(test_id: str, scratch: Path) -> list[object]:
    """Return the command lines of the processes, and the files, that are left of the demo."""
    found = [
        Path(f"/proc/{pid}/cmdline") for pid, _ in processes_with_variable(f"{TEST_ID}={test_id}")
    ]
    return [*(each.read_bytes() for each in found if each.exists()), *scratch.iterdir()]


@pytest.mark.rare("./dev test-fresh runs the demo, too, and test_worker.py kills workers")
def test_a_backlog_survives_a_killed_worker(scratch: Path, isolated: str) -> None:
    done = subprocess.run(
        DEMO, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=DEADLINE_S,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    for said in (
        r"^me\$ agentmux fleet submit --from backlog.yaml --repo https://",
        r"^\$ kill -KILL \d+   # worker one, at work\n +its sessions go on without it: \w+",
        r"^me\$ agentmux fleet request-changes median ",
        r"ok +6 features were submitted, and each has one commit$",
        r"ok +6 branches were pushed, with 6 commits on top of main$",
        r"ok +6 commits name 6 different approvals$",
        r"ok +6 sessions were begun: \d on host one, \d on host two$",
        r"ok +worker one was killed with \w+.* at work; none of that was lost$",
        r"ok +merged, the project's tests pass: Ran 10 tests$",
        r"ok +the change that was requested of median is in its commit$",
        r"ok +no process is left$",
        r"^every check passed, in [\d.]+ s$",
    ):
        assert re.search(said, done.stdout, re.MULTILINE), f"{said} is not in:\n{done.stdout}"
    assert "WRONG" not in done.stdout
    assert left(isolated, scratch) == []


@pytest.mark.rare("tests/e2e/test_demo.py stops the other demo")
def test_whoever_stops_it_finds_nothing_left(scratch: Path, isolated: str) -> None:
    """Ctrl-C while sessions are live, one worker is killed and another one runs."""
    with subprocess.Popen(
        DEMO, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as demo:
        assert demo.stdout is not None
        for line in demo.stdout:
            if "its sessions go on without it" in line:
                break
        demo.send_signal(signal.SIGINT)
        said, errors = demo.communicate(timeout=DEADLINE_S)

    assert demo.returncode == 130, said + errors
    assert said.endswith("\ninterrupted: deleting everything\n")
    assert "Traceback" not in errors
    assert left(isolated, scratch) == []


@pytest.mark.parametrize("missing", ["dbos", "sqlalchemy"])
def test_without_the_extra_it_says_what_to_install(
    missing: str, scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)  # as Python sees what is not installed
    assert main(["demo", "--fleet"], os.environ) == 6
    said = capsys.readouterr().err
    assert "-m pip install 'dbos>=3.4,<4'" in said
    assert list(scratch.iterdir()) == []
