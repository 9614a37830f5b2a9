"""What a decision record counts in the program is counted again here, so that it stays true.

Times and shares were measured on one machine on one day; they say so, and are no claim about the
program as it is now.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

import pytest

from agentmux.adapters.system.processes import kernel, proc, psutil_processes
from agentmux.core.codec.frozen import fields
from agentmux.core.definitions.definition import Kind, PhaseDefinition
from agentmux.core.journal import events
from agentmux.core.names.layout import SCHEMA_VERSION
from tests.house.sources import ROOT

DECISIONS: Final = ROOT / "docs" / "decisions"

_WORDS: Final = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen",
)  # fmt: skip
_COUNTED: Final = re.compile(
    rf"\b(?:\d[\d ]*|{'|'.join(_WORDS[2:])}|some \w+)\s+(?:\w+\s+)?"
    r"(?:files|folders|fields|functions|classes|modules|kinds|places|tables|comparisons|signals"
    r"|guards|protocols|validators|statements|branches|commands)\b"
)


def _functions_of_both() -> int:
    theirs = {name for name in kernel.__all__ if hasattr(proc, name)}
    return len({name for name in theirs if hasattr(psutil_processes, name)})


def _types(pattern: str, *places: str) -> int:
    texts = ((ROOT / place).read_text(encoding="utf-8") for place in places)
    return sum(len(re.findall(pattern, text, re.MULTILINE)) for text in texts)


_ENGINE: Final = "agentmux/fleet/engine/workflows.py"
_READERS: Final = ("agentmux/core/codec/shape.py", "agentmux/adapters/yaml/schema.py")

CLAIMS: Final[Mapping[str, Callable[[], int]]] = {
    "There are seven kinds": lambda: len(Kind),
    "the same seven functions": _functions_of_both,
    "schema 3": lambda: SCHEMA_VERSION,
    "lines of version 2": lambda: events.VERSION,
    "Two kinds of workflows": lambda: _types(r"^    DBOS\.workflow\(", _ENGINE),
    "Two validators": lambda: sum((ROOT / place).is_file() for place in _READERS),
}
"""What is said of the program as it is, and how it is counted."""

ELSEWHERE: Final[Mapping[str, str]] = {
    "41 files": "0.1.0, before the change",
    "25 files": "other programs",
    "twelve files": "0.1.0, before the change",
    "50 000 files": "a repository of a user",
    "two functions": "of the standard library's module",
    "two kinds": "of YAML, described in the next sentence",
    "two places": "the two validators, counted above",
    "four short commands": "of git, which tests/adapters/trees/test_checkpoints.py counts",
    "90 places": "before the change",
    "three tables": "before the change",
    "90 comparisons": "what an alternative would have changed",
    "35 files": "what an alternative would have changed",
    "44 places": "before the change",
    "three kinds": "lines of the protocol of server-sent events",
    "two branches": "of a user",
    "Two calls": "of git",
}
"""What is counted elsewhere, and what it is."""


def _records() -> str:
    paths = sorted(DECISIONS.glob("0*.md"))
    return " ".join(" ".join(path.read_text(encoding="utf-8").split()) for path in paths)


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_number_in_a_decision_is_that_of_the_program(claim: str) -> None:
    assert claim in _records(), "no decision says so any more"
    (number,) = re.findall(rf"\d+|{'|'.join(_WORDS)}", claim.lower())
    assert CLAIMS[claim]() == (int(number) if number.isdigit() else _WORDS.index(number))


def test_every_number_of_things_is_counted_or_known() -> None:
    known = (*CLAIMS, *ELSEWHERE)
    counts = {match[0] for match in _COUNTED.finditer(_records())}
    assert {each for each in counts if not any(each in k or k in each for k in known)} == set()


def test_no_record_is_gone_for_which_there_is_an_excuse() -> None:
    assert [each for each in ELSEWHERE if each not in _records()] == []


def test_the_fields_of_a_phase_are_those_that_the_record_lists() -> None:
    text = (DECISIONS / "0014-pipelines-as-data.md").read_text(encoding="utf-8")
    (listed,) = re.findall(
        r"whose fields are those of the file \(([^)]*)\)", " ".join(text.split())
    )
    assert set(re.findall(r"`(\w+)`", listed)) <= {each.name for each in fields(PhaseDefinition)}
