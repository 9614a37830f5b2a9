"""Programs that run for hours collect garbage sooner than short commands do."""

import subprocess
import sys

import pytest

from agentmux.adapters.system.python.garbage import OFTEN, RARELY

CODE = """
import contextlib, gc, sys
from agentmux.__main__ import collect_rarely, dispatch
collect_rarely()
with contextlib.suppress(Exception, SystemExit):
    dispatch(sys.argv[1:], {})
print(gc.get_threshold()[0])
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "threshold"),
    [
        (("mcp",), OFTEN),
        (("_orchestrate",), OFTEN),
        (("stop", "web"), RARELY),  # the name of a session
        (("list",), RARELY),
    ],
)
def test_what_runs_for_hours_collects_sooner(words: tuple[str, ...], threshold: int) -> None:
    argv = (sys.executable, "-c", CODE, *words)
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split()[-1] == str(threshold)
