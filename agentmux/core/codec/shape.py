"""Read plain values (from YAML or JSON) into types, and note *every* problem with its place.

A wrong value is noted once and then read as empty, so that one mistake does not hide the next.
Configuration is checked by `adapters/yaml/schema` instead; docs/decisions/0009-two-validators.md
says why.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

from agentmux.core.names.nearest import suggestion

LARGEST: Final = 10**6
_SHOWN: Final = 60
_KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a mapping (text that contains `: ` needs quotes)",
    type(None): "nothing",
}


def kind(value: object) -> str:
    """Return the kind of ``value`` in words, for a message."""
    return kind_of(type(value))


def kind_of(given: type) -> str:
    """Say in words what a value of this type is, for a problem."""
    return _KINDS.get(given, f"a value of type {given.__name__}")


def spell(value: object) -> str:
    """Return a short value as it was written, and the kind of any other."""
    if isinstance(value, str) and len(value) <= _SHOWN:
        return f"`{value}`"
    # YAML allows 0x… with thousands of digits, and Python refuses to print such a number.
    if type(value) is int and abs(value) < LARGEST:
        return str(value)
    return kind(value)


def writable(text: str) -> str:
    """Return the text with `?` for each byte of a command line that was not valid UTF-8."""
    return text.encode("utf-8", "replace").decode()


def hanging(text: str) -> str:
    """Indent the lines after the first, so that they stay inside an entry of a Markdown list."""
    return text.replace("\n", "\n  ")


def is_control(char: str) -> bool:
    """Whether a character is a control character, or stands for a byte that is not valid UTF-8."""
    return unicodedata.category(char) in {"Cc", "Cs"}


class Shape:
    """Reads the values of one document and collects its problems.

    Attributes:
        name: The name of the document, used for problems that concern all of it.
        problems: Lines of the form ``<place>: <what is wrong>``, in the order of reading.
    """

    __slots__ = ("name", "problems")

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[str] = []

    def note(self, place: str, what: str) -> None:
        """Add a problem at ``place``; an empty place means the document."""
        self.problems.append(f"{place or self.name}: {what}")

    def mapping(
        self,
        value: object,
        place: str,
        *,
        required: Sequence[str],
        optional: Sequence[str] = (),
        closed: bool = True,
    ) -> Fields:
        """Read a mapping; note missing fields and, if ``closed``, unknown ones."""
        if not isinstance(value, dict):
            self.note(place, f"expected a mapping, found {kind(value)}")
            return Fields(self, place, {})
        fields = Fields(self, place, value)
        for key in required:
            if key not in value:
                self.note(fields.at(key), "missing")
        if closed:
            self._unknown(fields, (*required, *optional))
        return fields

    def _unknown(self, fields: Fields, known: Sequence[str]) -> None:
        for key in fields.values:
            if key not in known:
                name = key if isinstance(key, str) else spell(key)
                self.note(fields.at(name), f"unknown field{suggestion(name, known)}")

    def text(self, value: object, place: str) -> str:
        """Read a non-empty text, and strip the white space around it."""
        if not isinstance(value, str):
            self.note(place, f"expected text, found {kind(value)}")
            return ""
        stripped = value.strip()
        if not stripped:
            self.note(place, "expected text, found only white space")
        return stripped

    def number(self, value: object, place: str) -> int:
        """Read a whole number from 1 to below `LARGEST`; return 0 for anything else."""
        if type(value) is int and 0 < value < LARGEST:
            return value
        self.note(place, f"expected a whole number from 1, found {spell(value)}")
        return 0


class Fields:
    """The fields of one mapping; a missing one is read as empty, since it was noted before."""

    __slots__ = ("place", "shape", "values")

    def __init__(self, shape: Shape, place: str, values: dict[object, object]) -> None:
        self.shape = shape
        self.place = place
        self.values = values

    def at(self, key: str) -> str:
        """Return the place of a field."""
        return f"{self.place}.{key}" if self.place else key

    def text(self, key: str) -> str:
        """Read a text field, which must not be empty."""
        return self.shape.text(self.values[key], self.at(key)) if key in self.values else ""

    def flag(self, key: str) -> bool:
        """Read ``true`` or ``false``."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            self.shape.note(self.at(key), f"expected true or false, found {kind(value)}")
            return False
        return value

    def number(self, key: str) -> int:
        """Read a whole number from 1; 0 when missing or wrong."""
        return self.shape.number(self.values[key], self.at(key)) if key in self.values else 0

    def items(self, key: str, *, some: bool = False) -> list[tuple[str, object]]:
        """Read a list as pairs of place and value; with ``some``, note an empty list."""
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
        """Read a list of texts; a single text counts as a list of one."""
        if isinstance(self.values.get(key), str):
            text = self.text(key)
            return (text,) if text else ()
        return tuple(self.shape.text(entry, place) for place, entry in self.items(key, some=some))
