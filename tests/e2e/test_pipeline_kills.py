"""Each built-in pipeline is killed in each of its phases, with everything real, and goes on."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from agentmux.adapters.disk.lock import SessionLock
from tests.app.invariants import check_journal
from tests.conftest import WaitUntil, _wait_until
from tests.e2e.conftest import Project, Session

pytestmark = pytest.mark.rare("test_kills.py kills at the same places of a usual pipeline")

IDLE: list[dict[str, Any]] = [{"when": {"launch": n}, "silent": True} for n in (1, 3)]
LIFE: Mapping[str, Any] = {
    "default": {"attempts": IDLE},
    "roles": {"planner": {"plan": {"parts": 1, "needs_design": True}, "attempts": IDLE}},
}
"""Each agent does nothing until it was killed and resumed; a seat may be needed in two phases."""

CHECK = """\
verify:
  - name: tests
    run:
      - sh
      - -c
      - |
        test -e demo_part_1.py || exit 0
        echo run >> {root}/runs
        case $(wc -l < {root}/runs) in
          1|{hangs}) touch {root}/hangs; sleep 60 ;;
          2) exit 1 ;;
        esac
"""
"""A check that passes on the base; where there is work, it hangs until it is killed, then fails."""


def kill(project: Project, session: Session) -> None:
    """End the orchestrator, the tmux server and all agents, as a power failure would."""
    holder = json.loads(session.read("session.lock.json"))
    os.kill(holder["pid"], signal.SIGKILL)
    os.kill(int(project.tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
    session.gone()
    (project.root / "hangs").unlink(missing_ok=True)
    _wait_until(lambda: not SessionLock(session.path).is_held(), 10)


def at_work(session: Session, phase: str) -> bool:
    """Whether the session is in the phase, and its agent has its prompt, or its check hangs."""
    state = session.state
    if state["phase"] != phase:
        return False
    seats = [each for each in state["seats"].values() if each["phase"] == phase]
    hangs = (session.project.root / "hangs").exists()
    return any(each["reached"] or (each["role"] == "check" and hangs) for each in seats)


@pytest.mark.parametrize(
    ("pipeline", "phases", "work"),
    [
        (
            "feature",
            [
                *("product_management", "architecting", "planning", "designing", "implementing"),
                *("verifying", "fixing", "reviewing", "completing"),
            ],
            [
                *("pm_done", "architecture", "plan", "design"),
                *("done", "done", "review", "summary"),
            ],
        ),
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
    project.scenario(LIFE)
    words = ["--pipeline", pipeline]
    if pipeline == "feature":
        words.append("--product-manager")
    if pipeline == "review":
        project.git("branch", "fix")
        project.git("commit", "-q", "--allow-empty", "-m", "More")
        words += ["--of", "fix"]
    else:
        hangs = 3 if pipeline == "fix" else 1
        project.config(CHECK.format(root=project.root, hangs=hangs))
    session = project.start("fix the typo", *words)
    for phase in phases:
        wait_until(lambda: at_work(session, phase), 20)  # noqa: B023 (called at once)
        kill(project, session)
        assert session.state["phase"] == phase
        project.ok("resume", session.name, "--detach", "--yes")
    session.wait()
    check_journal(session.path)
    assert session.kinds(*(f"submit_{name}" for name in set(work))) == [f"submit_{n}" for n in work]
    commits = project.git("rev-list", "--count", "HEAD")
    session.approve()
    made = int(project.git("rev-list", "--count", "HEAD")) - int(commits)
    assert made == (pipeline in {"feature", "quick", "fix"}), "the others leave a report"
