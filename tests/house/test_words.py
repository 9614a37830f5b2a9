"""What people read uses the words of the glossary, and none of its column *not*."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from typing import Final

import pytest

from tests.house.messages import texts
from tests.house.sources import ROOT

_TABLE: Final = re.compile(r"^\| we say \| not \|\n\|---\|---\|\n((?:\|.*\n)+)", re.MULTILINE)
_CODE: Final = re.compile(r"^```.*?^```|`[^`]*`|\]\([^)]*\)", re.MULTILINE | re.DOTALL)
_COMMAND: Final = re.compile(r"\bagentmux (?:agents )?[a-z-]+")
_TEMPLATE: Final = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<[^>]*>", re.DOTALL)
_GLOSSARY: Final = "reference/glossary.md"

_KEY_PAGES: Final = (
    "explanation/architecture.md",  # names the rooms of the code
    "explanation/resume.md",  # explains the guards by their names
    "how-to/add-an-agent.md",  # about the keys of an agent's entry
    "how-to/test-real-agents.md",
    "reference/agents.md",
    "reference/configuration.md",
    "reference/session-files.md",
    "how-to/uninstall.md",  # names the folders
)
"""Pages about keys and files that are called so: these may explain them by the same words."""

_KEY_WORDS: Final = ("strateg", "prob", "claim")
_OF_THEIR_TIME: Final = ("decisions/",)
"""Pages that say what was thought when they were written."""

_KEY_MESSAGES: Final = ("cli/commands/project/agents_text.py",)
"""Files that print the keys of an agent's entry, for people who write one."""


@functools.cache
def _words() -> tuple[str, ...]:
    """Return the words of the glossary's column *not*."""
    table = _TABLE.search((ROOT / "docs" / _GLOSSARY).read_text(encoding="utf-8"))
    assert table is not None
    cells = (row.strip("| ").split("|")[1] for row in table[1].splitlines())
    return tuple(word.strip() for cell in cells for word in cell.split(","))


@functools.cache
def _pattern(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])", re.IGNORECASE)


def not_words_in(text: str) -> list[str]:
    """Return the words of the column *not* in a text, outside of code and commands."""
    prose = _COMMAND.sub(" ", _CODE.sub(" ", text))
    return [word for word in _words() if _pattern(word).search(prose)]


def _messages() -> Iterator[tuple[str, str]]:
    """Yield each text of the program that may be a sentence, after its place."""
    for name, line, text in texts():
        if " " in text.strip() and name not in _KEY_MESSAGES:
            yield f"{name}:{line}", text


def _help() -> Iterator[tuple[str, str]]:
    """Yield each text of the help, after its place in the description of the commands."""
    described = json.loads((ROOT / "agentmux/shell/commands.json").read_text(encoding="utf-8"))
    yield from _sentences(described, "commands.json")


def _sentences(value: object, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and " " in value:
        yield place, value
    elif isinstance(value, list):
        for each in value:
            yield from _sentences(each, place)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _sentences(each, f"{place} {value.get('name', '')} {name}")


def _screens() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "agentmux/web/templates").glob("*.html")):
        yield path.name, _TEMPLATE.sub(" ", path.read_text(encoding="utf-8"))


def _pages() -> Iterator[tuple[str, str]]:
    """Yield each page of the documentation, after its name; the glossary without its table."""
    folder = ROOT / "docs"
    for path in (ROOT / "README.md", *sorted(folder.rglob("*.md"))):
        name = path.relative_to(folder).as_posix() if folder in path.parents else path.name
        text = path.read_text(encoding="utf-8")
        if not name.startswith(_OF_THEIR_TIME):
            yield name, _TABLE.sub("", text) if name == _GLOSSARY else text


def _places() -> Iterator[str]:
    for read in (_messages, _help, _screens, _pages):
        for place, text in read():
            keys = _KEY_WORDS if place in _KEY_PAGES else ()
            words = [each for each in not_words_in(text) if not each.startswith(keys)]
            if words:
                yield f"{place}: {', '.join(words)}: {text[:80]!r}"


def test_what_people_read_has_none_of_the_words_of_the_column_not() -> None:
    assert {"wish", "anew", "mend", "parked", "strategy"} <= set(_words())
    assert not list(_places()), "say it as the glossary does"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("it is mended", ["mended"]),
        ("Begin it Anew?", ["anew"]),
        ("the status `parked` of `agentmux agents probe`", []),
        ("ask it: agentmux agents probe claude", []),
        ("agentmux unpark x", []),
        ("done_1 missing: 0 of 1", ["done_1 missing"]),
        ("a problem of recommended strategies", ["strategies"]),
    ],
)
def test_a_word_is_found_in_prose_alone(text: str, seen: list[str]) -> None:
    assert not_words_in(text) == seen
