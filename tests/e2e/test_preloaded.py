"""A preloaded command is what a command that a shell starts is; see `preloaded`."""

import subprocess
import sys

import pytest

from tests.conftest import PATIENCE_S
from tests.e2e.conftest import PRELOADED, Project


@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        ("list", "--json"),
        ("status", "ünknown"),
        ("start", "--agent", "demo", "-"),
        ("nosuch",),
        ("hook",),
    ],
    ids=" ".join,
)
def test_it_says_and_returns_the_same(project: Project, words: tuple[str, ...]) -> None:
    real = project.program(sys.executable, "-m", "agentmux", *words)
    ours = PRELOADED.run(words, cwd=project.path, env=project.env, timeout_s=PATIENCE_S)
    assert (ours.args, ours.returncode) == ([*real.args], real.returncode)
    assert (ours.stdout, ours.stderr) == (real.stdout, real.stderr)


def test_what_python_reads_at_its_start_needs_a_real_start(project: Project) -> None:
    assert PRELOADED.can_run(project.env)
    assert PRELOADED.can_run({**project.env, "AGENTMUX_DEMO_TRACE": "/nowhere"})
    assert not PRELOADED.can_run({**project.env, "PYTHONIOENCODING": "utf-8:strict"})
    without = {name: value for name, value in project.env.items() if name != "LANG"}
    assert not PRELOADED.can_run({**without, "LANG": "xx_XX.UTF-8"})


def test_one_that_runs_too_long_is_ended(project: Project) -> None:
    project.scenario({"roles": {"architect": {"silent": True}}})
    session = project.start()
    words = ("wait", session.name, "--timeout", "60")
    with pytest.raises(subprocess.TimeoutExpired):
        PRELOADED.run(words, cwd=project.path, env=project.env, timeout_s=0.5)
    # The server goes on with other commands.
    assert PRELOADED.run(("list",), cwd=project.path, env=project.env, timeout_s=PATIENCE_S).stdout
