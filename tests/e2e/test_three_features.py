"""Three features side by side in one repository, from their starts to three ways of delivery."""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import WaitUntil
from tests.core.builders import plan
from tests.e2e.conftest import Client, Project
from tests.fakes.forge import FakeForge

pytestmark = pytest.mark.rare("each of its parts has a test of its own")


def life(name: str) -> dict[str, Any]:
    """Return a scenario whose plan is one file, and whose coder works until it is killed."""
    made = plan(("serial", [1]))
    made["subplans"][0]["owned_files"] = [f"{name}.py"]
    return {"roles": {"planner": {"plan": made}, "coder": {"think": 600}}}


def kill_everything(project: Project, wait_until: WaitUntil) -> None:
    for pid, _ in project.processes():
        with suppress(ProcessLookupError):  # it has ended with another one
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not project.processes(), 20)


def test_three_features_are_killed_resumed_and_delivered_each_in_its_way(
    project: Project, forge: FakeForge, wait_until: WaitUntil
) -> None:
    sessions = {}
    for name in ("kept", "merged", "requested"):
        project.scenario(life(name))
        sessions[name] = project.start(name).until_seat("coder-1")
    kept, merged, requested = sessions.values()
    assert kept.state["worktree"] is None
    places = [Path(each.state["worktree"]) for each in (merged, requested)]
    assert len({*places, project.path}) == 3

    kill_everything(project, wait_until)
    project.scenario({})
    command = (sys.executable, "-m", "agentmux", "resume", "--all")
    names = [each.name for each in sessions.values()]

    def asked() -> bool:  # the order is that of the last changes
        _, _, asks = terminal.said.partition("Resume 3 sessions: ")
        return all(name in asks for name in names)

    with Client(project, *command, size=(200, 24)) as terminal:
        wait_until(asked, 20, lambda: terminal.said)
        terminal.press("y\r")
        wait_until(lambda: terminal.said.count(" is in phase implementing") == 3, 50)
    for each in sessions.values():
        each.wait(timeout=60)
    modes = [
        e["payload"]["mode"]
        for e in merged.events
        if e["seat"] == "coder-1" and "mode" in e["payload"]
    ]
    assert modes == ["fresh", "native"]

    project.ok("approve", kept.name, "--yes", "--keep")
    # The checkout is the user's again, while the other two still wait for a decision.
    (project.path / "mine.txt").write_text("mine\n")
    project.git("add", "mine.txt")
    project.git("commit", "-qm", "Mine")
    project.ok("approve", merged.name, "--yes", "--merge")
    said = project.ok("approve", requested.name, "--yes", "--pr")
    assert said.endswith("opened pull request #100: https://github.com/o/r/pull/100\n")

    commits = {name: each.state["commit"]["commit"] for name, each in sessions.items()}
    for name, commit in commits.items():
        changed = project.git("show", "--format=", "--name-only", commit).split()
        assert changed == [f"{name}.py"]
    assert len(forge.requests) == 1
    branches = project.git("for-each-ref", "--format=%(refname)").split()
    assert sorted(branches) == [
        "refs/heads/agentmux/merged",
        "refs/heads/agentmux/requested",
        "refs/heads/main",
        "refs/remotes/origin/agentmux/requested",
        "refs/remotes/origin/main",
    ]
    shown = project.git("log", "--all", "--format=%s").splitlines()
    assert len(shown) == 6, shown  # Begin, Mine, the three features, and the merge
    assert project.git("status", "--porcelain") == ""
