"""Creates the demo's project: a git repository, a script for the agents, and private folders."""

from __future__ import annotations

import json
import os
import shlex
import site
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agentmux.adapters.tmux.server import SOCKET_PATH_MAX, socket_path
from agentmux.core.codec.frozen import dataclass
from agentmux.errors import MissingError

FEATURE: Final = "Add mean and median"
TRACE: Final = "demo_trace.jsonl"
"""The file into which the agents write what they do, relative to the session's directory."""

SOCKET_NAME: Final = "demo"
MARK: Final = "AGENTMUX_DEMO_HOME"
"""An environment variable that every process of the demo has; its value is different in each run of
the demo."""

# Variables of another session's pane, in which the demo may have been started; they are removed.
_PANE: Final = (
    *("SESSION_DIR", "SESSION_ID", "LAUNCH_ID", "ROLE", "SEAT", "CYCLE", "ITERATION", "SUBPLAN"),
    *("TOPIC", "LEARN"),
)
_FOREIGN: Final = frozenset({"TMUX", "TMUX_PANE", *(f"AGENTMUX_{name}" for name in _PANE)})
_FOREIGN_PREFIXES: Final = ("AGENTMUX_DEMO_", "GIT_", "XDG_")

_README: Final = "# calc\n\nSums and products of lists of numbers.\n"
_PACKAGE: Final = '"""A very small calculator for lists of numbers."""\n'
_TOTAL: Final = '''\
"""Sums and products."""

from collections.abc import Sequence


def total(values: Sequence[float]) -> float:
    """Return the sum; of nothing it is 0."""
    return sum(values)


def product(values: Sequence[float]) -> float:
    """Return the product; of nothing it is 1."""
    result = 1.0
    for value in values:
        result *= value
    return result
'''
_TEST_TOTAL: Final = """\
import unittest

from calc.total import product, total


class TotalTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_product(self):
        self.assertEqual(product([2, 3]), 6)
"""
_MEAN: Final = '''\
"""The arithmetic mean."""

from collections.abc import Sequence

from calc.total import total


def mean(values: Sequence[float]) -> float:
    """Return the mean of at least one value."""
    if not values:
        raise ValueError("the mean of no values")
    return total(values) / len(values)
'''
_TEST_MEAN: Final = """\
import unittest

from calc.mean import mean


class MeanTest(unittest.TestCase):
    def test_mean(self):
        self.assertEqual(mean([1, 2, 6]), 3)

    def test_no_values(self):
        with self.assertRaises(ValueError):
            mean([])
"""
_MEDIAN_HEAD: Final = '''\
"""The median."""

from collections.abc import Sequence


def median(values: Sequence[float]) -> float:
    """Return the middle of at least one value."""
    if not values:
        raise ValueError("the median of no values")
    ordered = sorted(values)
    middle = len(ordered) // 2
'''
_MEDIAN: Final = _MEDIAN_HEAD + "    return ordered[middle]\n"
_MEDIAN_MENDED: Final = (
    _MEDIAN_HEAD
    + """\
    if len(ordered) % 2 == 0:
        return (ordered[middle - 1] + ordered[middle]) / 2
    return ordered[middle]
"""
)
_TEST_MEDIAN: Final = """\
import unittest

from calc.median import median


class MedianTest(unittest.TestCase):
    def test_odd(self):
        self.assertEqual(median([3, 1, 2]), 2)
"""
_TEST_MEDIAN_MENDED: Final = (
    _TEST_MEDIAN
    + """
    def test_even(self):
        self.assertEqual(median([4, 1, 3, 2]), 2.5)
"""
)

_FILES: Final = {
    "README.md": _README,
    "calc/__init__.py": _PACKAGE,
    "calc/total.py": _TOTAL,
    "tests/__init__.py": "",
    "tests/test_total.py": _TEST_TOTAL,
    ".gitignore": "__pycache__/\n",
    ".agentmux/config.yaml": f"""\
version: 1
defaults: {{agent: demo}}
agents:
  demo: {{args: [--scenario, .agentmux/scenario.json]}}
tmux: {{socket_name: {SOCKET_NAME}}}
""",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoProject:
    """The demo's project; it shares no folder and no tmux server with the user.

    Attributes:
        root: Temporary folder that contains everything of the demo.
        project: The git repository.
        environment: Environment of every command of the demo.
        socket: Socket of the demo's own tmux server.
    """

    root: Path
    project: Path
    environment: Mapping[str, str]
    socket: str

    @property
    def mark(self) -> str:
        """Return the ``NAME=value`` that every process of the demo has in its environment."""
        return f"{MARK}={self.environment[MARK]}"


def make_project(root: Path, environ: Mapping[str, str], argv0: Path) -> DemoProject:
    """Create the project and commit its files.

    Args:
        root: The demo's folder: new, absolute, without symbolic links.
        environ: The user's environment; the demo's copy of it names private folders.
        argv0: Path of this program; the offline agent's program may be in the same folder.

    Raises:
        MissingError: git is missing or fails, or ``root`` is too long for a tmux socket.
    """
    project = root / "calc"
    private = {name: root / name for name in ("home", "config", "state", "data", "cache", "tmux")}
    for folder in (project, *private.values()):
        folder.mkdir(mode=0o700)
    socket = socket_path(name=SOCKET_NAME, tmux_tmpdir=str(private["tmux"]))
    if len(os.fsencode(socket)) > SOCKET_PATH_MAX:
        raise MissingError(
            f"the path `{root}` is too long for the socket of a tmux server",
            hints=("TMPDIR=/tmp agentmux demo",),
        )
    environment = _environment(root, private, environ, argv0)
    for name, text in _FILES.items():
        _put(project / name, text)
    _put(project / ".agentmux/scenario.json", json.dumps(scenario(), indent=1) + "\n")
    git(project, environment, "init", "-q")
    git(project, environment, "symbolic-ref", "HEAD", "refs/heads/main")
    git(project, environment, "add", "-A")
    git(project, environment, "commit", "-q", "-m", "Add a small calculator")
    return DemoProject(root=root, project=project, environment=environment, socket=socket)


def _environment(
    root: Path, private: Mapping[str, Path], environ: Mapping[str, str], argv0: Path
) -> dict[str, str]:
    kept = {
        name: value
        for name, value in environ.items()
        if name not in _FOREIGN and not name.startswith(_FOREIGN_PREFIXES)
    }
    path = [str(argv0.parent)] if (argv0.parent / "agentmux-demo-agent").is_file() else []
    return {
        **kept,
        "PATH": os.pathsep.join([*path, environ.get("PATH", os.defpath)]),
        # The user's tmux.conf and git configuration are not read …
        "HOME": str(private["home"]),
        "GIT_CONFIG_NOSYSTEM": "1",
        # … but a package that is installed for this user is still found.
        "PYTHONUSERBASE": environ.get("PYTHONUSERBASE") or site.getuserbase(),
        "XDG_CONFIG_HOME": str(private["config"]),
        "XDG_STATE_HOME": str(private["state"]),
        "XDG_DATA_HOME": str(private["data"]),
        "XDG_CACHE_HOME": str(private["cache"]),
        "TMUX_TMPDIR": str(private["tmux"]),
        MARK: str(root / "data" / "demo-agent"),
        "AGENTMUX_DEMO_TRACE": TRACE,
        "GIT_AUTHOR_NAME": "AgentMux demo",
        "GIT_AUTHOR_EMAIL": "demo@localhost",
        "GIT_COMMITTER_NAME": "AgentMux demo",
        "GIT_COMMITTER_EMAIL": "demo@localhost",
    }


def scenario() -> dict[str, object]:
    """Return the script of the agents, in the format of docs/reference/demo-agent.md.

    At its first start, the second coder thinks far longer than the demo takes. So it is always
    working when the tmux server is killed, however slow this machine is.
    """
    return {
        "default": {"think": 0.1},
        "roles": {
            "architect": {
                "reviewers": ["logic", "quality"],
                "summary": "One module per function, on top of `calc.total`.",
            },
            "planner": {"plan": _plan()},
            "reviewer_logic": {
                "commit_message": FEATURE,
                "attempts": [{"when": {"cycle": 1, "iteration": 0}, **_FAILED_REVIEW}],
            },
            "reviewer_quality": {"commit_message": FEATURE},
        },
        "seats": {
            "coder-1": {"files": {"calc/mean.py": _MEAN, "tests/test_mean.py": _TEST_MEAN}},
            "coder-2": {
                "files": {"calc/median.py": _MEDIAN, "tests/test_median.py": _TEST_MEDIAN},
                "attempts": [{"when": {"launch": 1}, "think": 600}],
            },
            "coder": {
                "files": {
                    "calc/median.py": _MEDIAN_MENDED,
                    "tests/test_median.py": _TEST_MEDIAN_MENDED,
                },
            },
        },
    }


# It thinks longer, so that the other reviewer's verdict mostly comes first and both are in.
_FAILED_REVIEW: Final = {
    "think": 0.6,
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


def git(project: Path, environment: Mapping[str, str], *words: str) -> str:
    """Run git in the project; return what it writes to stdout.

    Args:
        project: Directory of the project.
        environment: Environment of the command.
        words: The command line after ``git``.

    Raises:
        MissingError: git is missing or fails.
    """
    try:
        done = subprocess.run(
            ["git", *words],
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise MissingError(
            "git is not installed", hints=("install git, then run this again",)
        ) from None
    if done.returncode:
        raise MissingError(f"git {words[0]} failed: {done.stderr.strip()}")
    return done.stdout


def run_tests(demo: DemoProject) -> tuple[bool, str]:
    """Run the tests of the demo's project.

    Returns:
        Whether they pass, and how many tests ran, in words; if none ran, the error output.
    """
    done = subprocess.run(
        [sys.executable, "-B", "-m", "unittest", "-q"],
        cwd=demo.project,
        env=demo.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    counted = [line for line in done.stderr.splitlines() if line.startswith("Ran ")]
    return done.returncode == 0, counted[0].partition(" in ")[0] if counted else done.stderr.strip()


def write_environment(demo: DemoProject) -> Path:
    """Write a shell script that gives a shell the demo's environment; return the script's path.

    With it, a user can look at a demo that was kept.
    """
    names = ("HOME", "PYTHONUSERBASE", "TMUX_TMPDIR", "PATH")
    chosen = {
        name: value
        for name, value in demo.environment.items()
        if name in names or name.startswith(("XDG_", "AGENTMUX_", "GIT_"))
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in sorted(chosen.items())]
    lines.append(f"cd {shlex.quote(str(demo.project))}")
    script = demo.root / "env.sh"
    _put(script, "\n".join(lines) + "\n")
    return script


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
