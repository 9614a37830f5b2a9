"""Reading the values of a definition's file; each mistake is noted, and reading goes on.

What is wrong is read as absent, so that one mistake does not hide the next.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final, TypeVar

from agentmux.core.codec.shape import kind
from agentmux.core.definitions.located import Entry, Located, Problem
from agentmux.core.names.nearest import suggestion

PROBLEMS_MAX: Final = 50
"""Nobody mends more at once, and a hostile file has thousands."""
_SHOWN: Final = 60
# Control characters, and those that turn the direction of a text or cannot be seen.
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

E = TypeVar("E", bound=StrEnum)


def shown(text: str) -> str:
    """Return a text of a file for a message: in backquotes, short, without hidden characters."""
    return f"`{plain(text if len(text) <= _SHOWN else f'{text[:_SHOWN]}…')}`"


def plain(text: str) -> str:
    """Return a text without hidden characters, which could change what a terminal shows."""
    return "".join("?" if unicodedata.category(c) in _HIDDEN else c for c in text)


def either(names: Iterable[str]) -> str:
    """Return the names for a message, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


class Reader:
    """Reads values and collects problems, at most `PROBLEMS_MAX`."""

    def __init__(self) -> None:
        self._problems: dict[Problem, None] = {}

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was noted, by line."""
        return tuple(sorted(self._problems, key=lambda each: each.line))[:PROBLEMS_MAX]

    def note(self, line: int, what: str) -> None:
        """Note a mistake; the same one is noted once."""
        self._problems[Problem(line=line, what=what)] = None

    def record(self, item: Located, what: str, keys: tuple[str, ...]) -> Mapping[str, Entry]:
        """Return the entries of a mapping that has only these keys; ``what`` names the mapping."""
        if not isinstance(item.value, Mapping):
            self.note(item.line, f"{what} must be a mapping, not {_kind(item)}")
            return {}
        for key in item.value:
            if key not in keys:
                near = suggestion(key[:_SHOWN], keys)
                self.note(item.value[key].line, f"{what} has no key {shown(key)}{near}")
        return {key: entry for key, entry in item.value.items() if key in keys}

    def items(self, entries: Mapping[str, Entry], key: str) -> tuple[Located, ...]:
        """Return the items of a list; none if it is absent."""
        entry = entries.get(key)
        if entry is None or entry.item.value is None:
            return ()
        if not isinstance(entry.item.value, tuple):
            self.note(entry.line, f"`{key}` must be a list, not {_kind(entry.item)}")
            return ()
        return entry.item.value

    def text(self, entries: Mapping[str, Entry], key: str) -> str:
        """Return a text; empty if it is absent."""
        entry = entries.get(key)
        if entry is None:
            return ""
        if not isinstance(entry.item.value, str) or not entry.item.value:
            self.note(entry.line, f"`{key}` must be a text, not {_kind(entry.item)}")
            return ""
        return entry.item.value

    def texts(self, entries: Mapping[str, Entry], key: str) -> tuple[tuple[str, int], ...]:
        """Return the different texts of a list, each with its line."""
        found: dict[str, int] = {}
        for item in self.items(entries, key):
            if not isinstance(item.value, str) or not item.value:
                self.note(item.line, f"`{key}` must have texts, not {_kind(item)}")
            elif item.value in found:
                self.note(item.line, f"`{key}` has {shown(item.value)} twice")
            else:
                found[item.value] = item.line
        return tuple(found.items())

    def name(
        self, entries: Mapping[str, Entry], key: str, pattern: re.Pattern[str], form: str
    ) -> str:
        """Return a text that matches a pattern; ``form`` says in words which texts do."""
        text = self.text(entries, key)
        if text and pattern.fullmatch(text) is None:
            self.note(entries[key].line, f"`{key}` {shown(text)}: {form}")
            return ""
        return text

    def choice(self, entries: Mapping[str, Entry], key: str, choices: type[E]) -> E | None:
        """Return one of these values; None if it is absent or wrong."""
        text = self.text(entries, key)
        if not text:
            return None
        known = {each.value: each for each in choices}
        if text not in known:
            near = suggestion(text[:_SHOWN], known)
            words = f"no {key} {shown(text)}{near}; choose one of {either(known)}"
            self.note(entries[key].line, words)
        return known.get(text)


def _kind(item: Located) -> str:
    if item.value == "":
        return "an empty text"
    if isinstance(item.value, tuple):
        return "a list"
    return "a mapping" if isinstance(item.value, Mapping) else kind(item.value)
