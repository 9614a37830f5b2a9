"""Creates the demo's project: a git repository, a scenario for the agents, and a private home."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agentmux.demo.calculator import (
    BEGINNING,
    MEAN,
    MEDIAN,
    MEDIAN_MENDED,
    TEST_MEAN,
    TEST_MEDIAN,
    TEST_MEDIAN_MENDED,
    files_of,
)
from agentmux.demo.home import SOCKET_NAME, Scene, git, make_home, put

FEATURE: Final = "Add mean and median"
"""The feature that the demo builds."""
_CONFIG: Final = f"""\
version: 1
defaults: {{agent: demo}}
agents:
  demo: {{args: [--scenario, .agentmux/scenario.json]}}
tmux: {{socket_name: {SOCKET_NAME}}}
verify:
  - {{name: tests, run: [{json.dumps(sys.executable)}, -m, unittest, -q], timeout: 5m}}
"""


def make_project(
    root: Path, environ: Mapping[str, str], argv0: Path, *, think_s: float = 0.1
) -> Scene:
    """Create the demo's home and project, commit the project's files, and return them as a scene.

    Args:
        root: The demo's folder: empty, as an absolute path without symbolic links.
        environ: The user's environment variables; the demo's home gets an adapted copy.
        argv0: The path of this program. If the offline agent's program is in the same folder, that
            folder is added to ``PATH``.
        think_s: How many seconds each agent takes for its work.

    Raises:
        MissingError: git is missing or fails, or ``root`` is too long for a tmux socket.
    """
    project, home = root / "calc", make_home(root, environ, argv0)
    for name, text in BEGINNING.items():
        put(project / name, text)
    put(project / ".agentmux/config.yaml", _CONFIG)
    put(project / ".agentmux/scenario.json", json.dumps(scenario(think_s), indent=1) + "\n")
    first_commit(project, home.environment)
    look = "agentmux status; agentmux logs; git show"
    return Scene(root=root, project=project, homes=(home,), look=look)


def first_commit(project: Path, environment: Mapping[str, str]) -> None:
    """Make the folder ``project`` a git repository, and commit all its files on branch ``main``.

    Raises:
        MissingError: git is missing or fails.
    """
    git(project, environment, "init", "-q")
    git(project, environment, "symbolic-ref", "HEAD", "refs/heads/main")
    git(project, environment, "add", "-A")
    git(project, environment, "commit", "-q", "-m", "Add a small calculator")


def scenario(think_s: float) -> dict[str, object]:
    """Return the scenario of the demo's agents, in the format of docs/reference/demo-agent.md.

    It is a mapping with the keys ``default``, ``roles`` and ``seats``; nothing is written. Each
    agent takes ``think_s`` seconds for its work. At its first launch, the second coder thinks far
    longer than the demo takes. So it is always working when the tmux server is killed, however slow
    this machine is.
    """
    return {
        "default": {"think": think_s},
        "roles": {
            "architect": {
                "reviewers": ["logic", "quality"],
                "summary": "One module per function, on top of `calc.total`.",
            },
            "planner": {"plan": _plan()},
            "reviewer_logic": {
                "summary": "The mean and the median of a list of numbers, each with its tests.",
                "commit_message": FEATURE,
                # It thinks longer, so that the other reviewer usually gives its verdict first,
                # and both count.
                "attempts": [
                    {
                        "when": {"cycle": 1, "iteration": 0},
                        "think": think_s + 0.5,
                        **_FAILED_REVIEW,
                    }
                ],
            },
            "reviewer_quality": {"commit_message": FEATURE},
        },
        "seats": {
            "coder-1": {"files": files_of("mean", MEAN, TEST_MEAN)},
            "coder-2": {
                "files": files_of("median", MEDIAN, TEST_MEDIAN),
                "attempts": [{"when": {"launch": 1}, "think": 600}],
            },
            "coder": {
                "files": files_of("median", MEDIAN_MENDED, TEST_MEDIAN_MENDED),
            },
        },
    }


_FAILED_REVIEW: Final = {
    "verdict": "fail",
    "summary": "The median of an even number of values is wrong.",
    "findings": [
        {
            "location": "calc/median.py:12",
            "issue": "of an even number of values the upper of the two in the middle is returned",
            "severity": "major",
            "recommendation": "return their mean, and test it",
        }
    ],
}


def _plan() -> dict[str, object]:
    parts = {1: "mean", 2: "median"}
    return {
        "version": 2,
        "plan_overview": "Two functions that know nothing of each other.",
        "needs_design": False,
        "needs_docs": False,
        "doc_files": [],
        "groups": [
            {
                "group_id": "functions",
                "mode": "parallel",
                "plans": [{"index": index, "name": name} for index, name in parts.items()],
            }
        ],
        "subplans": [_subplan(index, name) for index, name in parts.items()],
    }


def _subplan(index: int, name: str) -> dict[str, object]:
    return {
        "index": index,
        "title": f"The {name}",
        "scope": f"The function `{name}` and its tests.",
        "owned_files": [f"calc/{name}.py", f"tests/test_{name}.py"],
        "dependencies": "none",
        "implementation_approach": "Write the function, then its tests.",
        "acceptance_criteria": "The tests pass.",
        "tasks": [f"Write `{name}`", f"Test `{name}`"],
        "isolation_rationale": "The other part touches other files.",
    }
