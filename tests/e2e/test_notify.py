"""A session calls its user at a real server: once for each reason, whatever is killed."""

import os
import signal

import pytest

from agentmux.adapters.system.processes.processes import is_alive
from tests.conftest import WaitUntil
from tests.e2e.conftest import Project
from tests.fakes.receiver import Receiver

pytestmark = pytest.mark.long


def test_a_decision_is_told_once_also_after_a_kill_and_a_resume(
    project: Project, receiver: Receiver, wait_until: WaitUntil
) -> None:
    folder = project.home / "config" / "agentmux"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(
        f"version: 1\nnotify: [{{on: [decision, done], to: ['{receiver.url('/tk_secret')}']}}]\n"
    )
    session = project.start("add a greeting").wait()
    wait_until(lambda: receiver.got, 20, lambda: session.read("agentmux.log"))

    killed = session.runtime["orchestrator_pid"]
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: not is_alive(killed, 0))
    project.ok("resume", session.name, "--reattach", "--detach")
    session.approve().gone()  # also the processes that send

    assert [body["title"] for _, body in receiver.got] == [
        "AgentMux: add-a-greeting wants your decision",
        "AgentMux: add-a-greeting is done",
    ]
    assert "agentmux attach add-a-greeting" in receiver.got[0][1]["message"]
    for path in session.path.rglob("*"):
        assert not path.is_file() or b"tk_secret" not in path.read_bytes()
