"""The page about exit codes agrees with the enum `ExitCode`."""

import re
from pathlib import Path

from agentmux.errors import ExitCode

PAGE = Path(__file__).parent.parent / "docs/reference/exit-codes.md"


def test_the_page_lists_every_exit_code() -> None:
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \| (.+?) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [(int(number), name) for number, name, _ in rows] == [
        (code.value, code.name) for code in ExitCode
    ]
    assert all(meaning.strip() for _, _, meaning in rows)
