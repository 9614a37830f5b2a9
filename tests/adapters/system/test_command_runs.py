"""Commands that a face runs for its reader."""

import asyncio
from pathlib import Path

from agentmux.adapters.system.processes.command_runs import CommandEnd, CommandRuns


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


def test_what_was_done_is_said_rather_than_what_could_be_typed_next() -> None:
    def words(*lines: str) -> str:
        return CommandEnd(code=0, out=lines, errors=("waits: a hook",)).words

    assert words("stopped x", "to resume it: agentmux --project /p resume x") == "stopped x"
    assert words("committed 1a2b3c on y", "get it with: git merge y") == "committed 1a2b3c on y"
    assert words("pressed Enter; its screen changed") == "pressed Enter; its screen changed"
    assert CommandEnd(code=0, out=("watch it: agentmux attach x",), errors=()).words == (
        "watch it: agentmux attach x"
    )
    assert CommandEnd(code=0, out=(), errors=()).words == "done"
