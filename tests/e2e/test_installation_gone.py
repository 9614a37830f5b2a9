"""AgentMux is removed under a live session, and another one of the same version is used."""

import shutil

import pytest

from agentmux.errors import ExitCode
from tests.conftest import WaitUntil
from tests.e2e.conftest import QUICK, Project, Session
from tests.e2e.test_upgrade import Tool

pytestmark = pytest.mark.long


def test_a_session_whose_installation_is_removed_says_so_and_goes_on_after_a_resume(
    project: Project, wait_until: WaitUntil
) -> None:
    tool = Tool(project.root / "tool")
    tool.install()
    project.scenario(QUICK)
    words = ("start", "--agent", "demo", "--detach", "--", "add a greeting")
    done = project.program(str(tool.bin / "agentmux"), *words)
    assert done.returncode == 0, done.stderr
    session = Session(project, project.sessions()[0]).wait()
    place = tool.place
    shutil.rmtree(place)
    said = project.run("approve", session.name, "--yes", "--timeout", "0")
    assert said.returncode == ExitCode.TIMED_OUT, said.stderr
    wait_until(lambda: f"{place} was removed or replaced" in str(session.runtime["problem"]))
    assert "agentmux stop" in session.runtime["problem"]
    assert "is gone" in project.ok("status", session.name)
    assert project.git("rev-list", "--count", "HEAD") == "1\n"
    project.ok("stop", session.name)
    project.ok("resume", session.name, "--yes", "--detach")
    session.wait("done")
    assert session.state["phase"] == "done"
    assert project.git("rev-list", "--count", "HEAD") == "2\n"
