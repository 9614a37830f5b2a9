"""Commands do not pay for the libraries of other faces."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("textual", "rich.console", "watchfiles", "mcp", "apprise", "dbos", "sqlalchemy")


@pytest.mark.parametrize("words", [["list"], [], ["list", "--json"], ["help"]])
def test_a_short_command_imports_no_face(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / ".agentmux").mkdir()
    code = (
        "import os, sys\n"
        "from agentmux.__main__ import dispatch\n"
        f"assert dispatch({words!r}, os.environ) == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
