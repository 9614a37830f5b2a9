"""Every command of AgentMux on a page is one that it takes, in a block or in a sentence."""

import re
from pathlib import Path

import pytest

from agentmux.cli.fast.commands import find_path, load
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


FOR_AGENTS = {"submit", "research", "hook", "mcp"}
"""Commands that no person types: other parsers than typer's take them."""


def _inline(text: str) -> list[str]:
    """Return the command lines that stand in a page's sentences, each on one line."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [" ".join(each.split()) for each in re.findall(r"`(agentmux\s[a-z][^`]*)`", prose)]


def _unknown(line: str) -> list[str]:
    """Return what of a line, which may have placeholders, is no command or option of AgentMux."""
    words = re.sub(r'"[^"]*"', "TEXT", line).replace("[", "").replace("]", "").split()[1:]
    path = find_path(load(), tuple(words))
    if len(path) == 1:
        return [word for word in words[:1] if word not in FOR_AGENTS]
    known = {name for each in path for option in each.options for name in option.names}
    known |= {name for each in path for option in each.options for name in option.off}
    below = words[len(path) - 1 : len(path)] if path[-1].commands else []
    flags = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    return [
        *(w for w in below if w.islower() and w[0] != "-"),
        *(flag for flag in flags if flag not in known),
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_sentences_exist(page: Path) -> None:
    wrong = {line: _unknown(line) for line in _inline(page.read_text("utf-8"))}
    assert {line: words for line, words in wrong.items() if words} == {}


def test_what_does_not_exist_is_found_in_a_sentence() -> None:
    text = "Type `agentmux lst`,\n`agentmux\nresume --frehs` or `agentmux agents shw`."
    assert _inline(text) == ["agentmux lst", "agentmux resume --frehs", "agentmux agents shw"]
    assert _unknown("agentmux lst") == ["lst"]
    assert _unknown("agentmux resume [--frehs]") == ["--frehs"]
    assert _unknown("agentmux agents shw") == ["shw"]


def test_commands_are_found() -> None:
    assert "agentmux agents" in _lines(ROOT / "docs" / "how-to" / "install.md")
