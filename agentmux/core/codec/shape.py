"""Read plain values (from YAML or JSON) into types, and note *every* problem with its place.

A wrong value is noted once and then read as empty, so that one mistake does not hide the next.

Configuration is checked by `adapters/yaml/schema` instead; docs/decisions/0009-two-validators.md
says why.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final, TypeVar

from agentmux.core.names.words.nearest import suggestion

LARGEST: Final = 10**6
_SHOWN: Final = 60
# Control characters, and those that turn the direction of a text or cannot be seen.
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a mapping (text that contains `: ` needs quotes)",
    type(None): "nothing",
}


E = TypeVar("E", bound=StrEnum)


def kind(value: object) -> str:
    """Return the type of ``value`` in words for a message, such as ``a list``."""
    return kind_of(type(value))


def kind_of(given: type) -> str:
    """Return the type ``given`` in words for a message, such as ``a list``."""
    return _KINDS.get(given, f"a value of type {given.__name__}")


def spell(value: object) -> str:
    """Return ``value`` for a message: a short text or number itself, else its type in words."""
    if isinstance(value, str) and len(value) <= _SHOWN:
        return f"`{value}`"
    # YAML allows 0x… with thousands of digits, and Python refuses to print such a number.
    if type(value) is int and abs(value) < LARGEST:
        return str(value)
    return kind(value)


def as_code(text: str) -> str:
    """Return a text of a file for a message: in backquotes, short, without hidden characters."""
    return f"`{plain(text if len(text) <= _SHOWN else f'{text[:_SHOWN]}…')}`"


def plain(text: str) -> str:
    """Return a text without hidden characters, which could change what a terminal shows."""
    return "".join("?" if unicodedata.category(c) in _HIDDEN else c for c in text)


def either(names: Iterable[str]) -> str:
    """Return the names for a message, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


def writable(text: str) -> str:
    """Return ``text`` with `?` in place of each character that UTF-8 cannot encode.

    Such a character stands for a byte of a command line that was not valid UTF-8.
    """
    return text.encode("utf-8", "replace").decode()


def hanging(text: str) -> str:
    """Return ``text`` for an entry of a Markdown list: all lines but the first are indented."""
    return text.replace("\n", "\n  ")


def is_control(char: str) -> bool:
    """Whether ``char`` is a control character, or stands for a byte that is not valid UTF-8."""
    return unicodedata.category(char) in {"Cc", "Cs"}


class Shape:
    """Reads the values of one document and collects its problems.

    Attributes:
        name: The name of the document, for problems that concern the whole document.
        noted: Each problem as its place and what is wrong, in the order of reading.
    """

    __slots__ = ("name", "noted")

    def __init__(self, name: str) -> None:
        self.name = name
        self.noted: dict[tuple[str, str], None] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """A line for each problem: ``<place>: <what is wrong>``."""
        return tuple(f"{place or self.name}: {what}" for place, what in self.noted)

    def note(self, place: str, what: str) -> None:
        """Add the problem ``what`` at ``place``, such as ``groups[0].mode``.

        If ``place`` is empty, the problem concerns the whole document.
        """
        self.noted[place, what] = None

    def mapping(
        self,
        value: object,
        place: str,
        *,
        required: Sequence[str],
        optional: Sequence[str] = (),
        closed: bool = True,
    ) -> Fields:
        """Return the fields of a mapping; note missing ones and, if ``closed``, unknown ones.

        If ``value`` is not a mapping, note that and return no fields.
        """
        if not isinstance(value, dict):
            self.note(place, f"expected a mapping, found {kind(value)}")
            return Fields(self, place, {})
        fields = Fields(self, place, value)
        for key in required:
            if key not in value:
                self.note(fields.at(key), "missing")
        if closed:
            self._note_unknown(fields, (*required, *optional))
        return fields

    def _note_unknown(self, fields: Fields, known: Sequence[str]) -> None:
        for key in fields.values:
            if key not in known:
                name = key if isinstance(key, str) else spell(key)
                self.note(fields.at(name), f"unknown field{suggestion(name, known)}")

    def text(self, value: object, place: str) -> str:
        """Return a text without the white space around it.

        Anything else, or an empty text, is noted and read as empty.
        """
        if not isinstance(value, str):
            self.note(place, f"expected text, found {kind(value)}")
            return ""
        stripped = value.strip()
        if not stripped:
            self.note(place, "expected text, found only white space")
        return stripped

    def number(self, value: object, place: str) -> int:
        """Return a whole number from 1 to below `LARGEST`; note anything else and return 0."""
        if type(value) is int and 0 < value < LARGEST:
            return value
        self.note(place, f"expected a whole number from 1, found {spell(value)}")
        return 0


class Fields:
    """Reads the fields of one mapping into types, and notes problems in its `Shape`.

    A missing field is read as empty (or False, or 0) and not noted: `Shape.mapping` has noted it.
    """

    __slots__ = ("place", "shape", "values")

    def __init__(self, shape: Shape, place: str, values: dict[object, object]) -> None:
        self.shape = shape
        self.place = place
        self.values = values

    def at(self, key: str) -> str:
        """Return the place of the field ``key`` in the document, for a message."""
        return f"{self.place}.{key}" if self.place else key

    def text(self, key: str) -> str:
        """Return the text in the field ``key``; a wrong one is noted and read as empty."""
        return self.shape.text(self.values[key], self.at(key)) if key in self.values else ""

    def flag(self, key: str) -> bool:
        """Return the field ``key``, true or false; a wrong one is noted and read as False."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            self.shape.note(self.at(key), f"expected true or false, found {kind(value)}")
            return False
        return value

    def number(self, key: str) -> int:
        """Return the number, from 1, in the field ``key``; a wrong one is noted and read as 0."""
        return self.shape.number(self.values[key], self.at(key)) if key in self.values else 0

    def items(self, key: str, *, some: bool = False) -> list[tuple[str, object]]:
        """Return the entries of the list in the field ``key``, each as its place and its value.

        If ``some``, note an empty list. A value that is no list is noted and read as empty.
        """
        if key not in self.values:
            return []
        value = self.values[key]
        if not isinstance(value, list):
            self.shape.note(self.at(key), f"expected a list, found {kind(value)}")
            return []
        if some and not value:
            self.shape.note(self.at(key), "expected at least one entry")
        return [(f"{self.at(key)}[{position}]", entry) for position, entry in enumerate(value)]

    def texts(self, key: str, *, some: bool = False) -> tuple[str, ...]:
        """Return the texts of the list in the field ``key``; a text alone counts as a list of one.

        If ``some``, note an empty list.
        """
        if isinstance(self.values.get(key), str):
            text = self.text(key)
            return (text,) if text else ()
        return tuple(self.shape.text(entry, place) for place, entry in self.items(key, some=some))

    def distinct(self, key: str) -> tuple[tuple[str, str], ...]:
        """Return the different texts of the list in the field ``key``, each with its place."""
        places: dict[str, str] = {}
        for place, entry in self.items(key):
            text = self.shape.text(entry, place)
            if text in places:
                self.shape.note(place, f"{as_code(text)} is there twice")
            elif text:
                places[text] = place
        return tuple((place, text) for text, place in places.items())

    def name(self, key: str, pattern: re.Pattern[str], form: str) -> str:
        """Return a text that matches a pattern; ``form`` says in words which texts do."""
        text = self.text(key)
        if text and pattern.fullmatch(text) is None:
            self.shape.note(self.at(key), f"{as_code(text)}: {form}")
            return ""
        return text

    def choice(self, key: str, choices: type[E]) -> E | None:
        """Return one of these values; None if it is absent or wrong."""
        text = self.text(key)
        known = {each.value: each for each in choices}
        if text and text not in known:
            near = suggestion(text[:_SHOWN], known)
            self.shape.note(
                self.at(key), f"no {key} {as_code(text)}{near}; choose one of {either(known)}"
            )
        return known.get(text)
