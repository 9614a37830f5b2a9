"""Each built-in pipeline is killed in each of its phases, with everything real, and goes on."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence

import pytest

from agentmux.adapters.disk.lock import SessionLock
from tests.app.invariants import check_journal
from tests.conftest import WaitUntil, _wait_until
from tests.e2e.conftest import Project, Session

THINKS = {"default": {"think": 1}, "roles": {"planner": {"plan": {"parts": 1}}}}
"""Agents that are still at work when they are killed."""

FAILS_ONCE = """\
verify:
  - name: tests
    run: [sh, -c, 'sleep 1; test -e {root}/failed && exit; test -e demo_part_1.py || exit 0;
        touch {root}/failed; exit 1']
"""
"""A check that passes on the base, and fails the first time that there is work."""


def kill(project: Project, session: Session) -> None:
    """End the orchestrator, the tmux server and all agents, as a power failure would."""
    holder = json.loads(session.read("session.lock.json"))
    os.kill(holder["pid"], signal.SIGKILL)
    os.kill(int(project.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
    session.gone()
    _wait_until(lambda: not SessionLock(session.path).is_held(), 10)


def at_work(session: Session, phase: str) -> bool:
    """Whether the session is in the phase, and a seat of it has begun."""
    state = session.state
    seats = state["seats"].values()
    return state["phase"] == phase and any(
        seat["phase"] == phase and seat["status"] == "launched" for seat in seats
    )


@pytest.mark.parametrize(
    ("pipeline", "phases", "work"),
    [
        (
            "quick",
            ["implementing", "verifying", "fixing", "reviewing", "completing"],
            ["done", "done", "review", "summary"],
        ),
        (
            "fix",
            ["reproducing", "confirming", "implementing", "verifying", "reviewing", "completing"],
            ["done", "done", "review", "summary"],
        ),
        (
            "plan",
            ["architecting", "planning", "completing"],
            ["architecture", "plan", "summary"],
        ),
        ("review", ["reviewing", "completing"], ["review", "summary"]),
    ],
)
def test_killed_in_each_of_its_phases(
    project: Project,
    wait_until: WaitUntil,
    pipeline: str,
    phases: Sequence[str],
    work: Sequence[str],
) -> None:
    project.scenario(THINKS)
    words = ["--pipeline", pipeline]
    if pipeline == "review":
        project.git("branch", "fix")
        project.git("commit", "-q", "--allow-empty", "-m", "More")
        words += ["--of", "fix"]
    else:
        project.config(FAILS_ONCE.format(root=project.root))
    session = project.start("fix the typo", *words)
    for phase in phases:
        wait_until(lambda: at_work(session, phase), 20)  # noqa: B023 (called at once)
        kill(project, session)
        assert session.state["phase"] == phase
        project.ok("resume", session.name, "--detach", "--yes")
    session.wait()
    check_journal(session.path)
    assert session.kinds(*(f"submit_{name}" for name in set(work))) == [f"submit_{n}" for n in work]
    assert session.approve().state["phase"] == "done"
