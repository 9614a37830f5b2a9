"""An orchestrator that does nothing for a while, and then goes on where it was."""

import os
import signal
import time

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import Project
from tests.faults.freezing import frozen, is_held

THINKS = {"roles": {"architect": {"think": 3}, "planner": {"plan": {"parts": 1}}}}


@pytest.mark.long
@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(1, id="a second"),
        pytest.param(120, id="120 s", marks=pytest.mark.rare("it waits for two minutes")),
    ],
)
def test_what_is_done_while_the_orchestrator_is_frozen_counts_once(
    project: Project, wait_until: WaitUntil, seconds: float
) -> None:
    project.scenario(THINKS)
    session = project.start().settled("architect")
    orchestrator: int = session.runtime["orchestrator_pid"]
    with frozen(orchestrator):
        os.kill(orchestrator, signal.SIGCONT)  # as tmux does
        wait_until(lambda: session.kinds("submit_architecture"))
        before = session.events
        assert "is still active" in project.fails(3, "resume", session.name, "--detach")
        project.ok("status", session.name)
        project.ok("list")
        time.sleep(seconds)
        assert is_held(orchestrator)
        assert session.events == before, "nobody else acted for it"
        assert session.state["phase"] == "architecting"
    session.wait("decision", 60)
    assert session.runtime["orchestrator_pid"] == orchestrator
    launched = [each["launch"] for each in session.events if each["event"] == "agent_launched"]
    reached = [each["launch"] for each in session.events if each["event"] == "prompt_reached"]
    # A signal of an agent that was quicker than the look at its screen proves as much.
    assert len(set(reached)) == len(reached), "nobody was prompted twice"
    assert set(reached) <= set(launched)
    assert session.launched() == [
        "architect", "planner", "coder-1", "reviewer_logic", "reviewer_logic",
    ]  # fmt: skip
    session.approve().gone()
    assert project.git("log", "--format=%s") == "add a greeting\nBegin\n"
