"""Every command of AgentMux that a page shows to be typed is one that it takes."""

import re
from pathlib import Path

import pytest

from tests.cli.fast.test_commands_data import parse

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*/*.md"))]


def _lines(page: Path) -> list[str]:
    """Return the command lines in the page's blocks for shells, without their comments."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    shown = (re.split(r"\s+#|\s+[>|&]", line)[0] for each in blocks for line in each.splitlines())
    return [line for line in shown if re.match(r"agentmux [a-z]", line)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_on_a_page_can_be_typed(page: Path) -> None:
    for line in _lines(page):
        parse(line)


def test_commands_are_found() -> None:
    assert "agentmux agents" in _lines(ROOT / "docs" / "how-to" / "install.md")
