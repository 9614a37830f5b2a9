"""Commands that a face runs for its reader."""

import asyncio
from pathlib import Path

from agentmux.adapters.system.processes.command_runs import CommandRuns


def test_what_a_command_says_is_completed_for_the_reader_of_the_face(tmp_path: Path) -> None:
    said = "echo 'error: it is live'; echo 'hint: agentmux stop x'"
    runs = CommandRuns(
        program=("sh", "-c", f"{{ {said}; }} >&2; exit 3"),
        environ={"PATH": "/usr/bin:/bin"},
        locate=lambda text, project: f"{text} in {project}",
    )
    end = asyncio.run(runs.run(tmp_path, ("remove", "x")))
    assert (end.code, end.words) == (3, f"it is live in {tmp_path}")
    assert end.hints == (f"agentmux stop x in {tmp_path}",)
    assert asyncio.run(runs.run(None, ("fleet",))).hints == ("agentmux stop x in None",)
