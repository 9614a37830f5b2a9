"""Read and check plain values (from YAML or JSON), and collect *all* problems with their places.

An invalid value is noted as a problem and read as empty, so that reading goes on and finds the
other problems, too.

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
"""Numbers must be below this limit."""
_SHOWN: Final = 60
# Control characters, and characters that are invisible or change the direction of a text.
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
    """Return the type of ``value`` as a noun for a message, such as ``a list``."""
    return kind_of(type(value))


def kind_of(given: type) -> str:
    """Return the type ``given`` as a noun for a message, such as ``a list``."""
    return _KINDS.get(given, f"a value of type {given.__name__}")


def describe_value(value: object) -> str:
    """Return a description of ``value`` for a message.

    It is the value itself if that is a short text or number, else its type, such as ``a list``.
    """
    if isinstance(value, str) and len(value) <= _SHOWN:
        return f"`{value}`"
    # YAML allows 0x… with thousands of digits, and Python refuses to print such a number.
    if type(value) is int and abs(value) < LARGEST:
        return str(value)
    return kind(value)


def as_code(text: str) -> str:
    """Return ``text``, read from a file, as code in a message.

    It is in backquotes, cut if it is long, and has ``?`` in place of hidden characters.
    """
    return f"`{replace_invisible(text if len(text) <= _SHOWN else f'{text[:_SHOWN]}…')}`"


def replace_invisible(text: str) -> str:
    """Return ``text`` with ``?`` in place of each control or invisible character.

    Such characters could change what a terminal shows.
    """
    return "".join("?" if unicodedata.category(c) in _HIDDEN else c for c in text)


def quote_names(names: Iterable[str]) -> str:
    """Return ``names`` for a message: each in backquotes, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)


def replace_unencodable(text: str) -> str:
    """Return ``text`` with ``?`` in place of each character that UTF-8 cannot encode.

    Such a character stands for a byte of a command line that was not valid UTF-8.
    """
    return text.encode("utf-8", "replace").decode()


def indent_list_item(text: str) -> str:
    """Return ``text`` for an item of a Markdown list: lines after the first get two spaces."""
    return text.replace("\n", "\n  ")


def is_control(char: str) -> bool:
    """Whether ``char`` is a control character or a surrogate.

    A surrogate stands for a byte that was not valid UTF-8.
    """
    return unicodedata.category(char) in {"Cc", "Cs"}


class Shape:
    """Reads the values of one document and collects the problems in it.

    Attributes:
        name: The name of the document, for problems that concern the whole document.
        noted: The problems found so far, each as its place and a description, oldest first. It is
            used as an ordered set; the values are None.
    """

    __slots__ = ("name", "noted")

    def __init__(self, name: str) -> None:
        self.name = name
        self.noted: dict[tuple[str, str], None] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems found so far, oldest first, each as ``<place>: <description>``."""
        return tuple(f"{place or self.name}: {what}" for place, what in self.noted)

    def note(self, place: str, what: str) -> None:
        """Add a problem; one that was added before is not added again.

        Args:
            place: The place of the problem in the document, such as ``groups[0].mode``; empty if it
                concerns the whole document.
            what: The description of the problem.
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
        """Return the `Fields` of a mapping, and note missing and unknown fields as problems.

        If ``value`` is not a mapping, note that as a problem and return `Fields` of an empty one.

        Args:
            value: The value that has to be a mapping.
            place: The place of the value in the document; empty for the whole document.
            required: The names of the fields that must be present.
            optional: The names of the other known fields.
            closed: Whether fields with other names are problems.
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
                name = key if isinstance(key, str) else describe_value(key)
                self.note(fields.at(name), f"unknown field{suggestion(name, known)}")

    def text(self, value: object, place: str) -> str:
        """Return ``value`` without the white space around it.

        If it is not text, or contains only white space, note a problem and return an empty string.
        ``place`` is the place of the value in the document.
        """
        if not isinstance(value, str):
            self.note(place, f"expected text, found {kind(value)}")
            return ""
        stripped = value.strip()
        if not stripped:
            self.note(place, "expected text, found only white space")
        return stripped

    def number(self, value: object, place: str) -> int:
        """Return ``value`` if it is a positive integer below `LARGEST`.

        Otherwise note a problem at ``place`` and return 0.
        """
        if type(value) is int and 0 < value < LARGEST:
            return value
        self.note(place, f"expected a whole number from 1, found {describe_value(value)}")
        return 0


class Fields:
    """Reads and checks the fields of one mapping, and notes problems in its `Shape`.

    The methods read a missing field as empty (or False, 0 or None) without noting a problem,
    because `Shape.mapping` notes missing fields.

    Attributes:
        shape: Collects the problems.
        place: The place of the mapping in the document; empty for the whole document.
        values: The mapping.
    """

    __slots__ = ("place", "shape", "values")

    def __init__(self, shape: Shape, place: str, values: dict[object, object]) -> None:
        self.shape = shape
        self.place = place
        self.values = values

    def at(self, key: str) -> str:
        """Return the place of the field ``key`` in the document, such as ``groups[0].mode``."""
        return f"{self.place}.{key}" if self.place else key

    def text(self, key: str) -> str:
        """Return the text in the field ``key``, without the white space around it.

        If the field is empty or is not text, note a problem and return an empty string. If it is
        missing, just return an empty string.
        """
        return self.shape.text(self.values[key], self.at(key)) if key in self.values else ""

    def flag(self, key: str) -> bool:
        """Return the boolean in the field ``key``; False if the field is missing.

        If the field is not a boolean, note a problem and return False.
        """
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            self.shape.note(self.at(key), f"expected true or false, found {kind(value)}")
            return False
        return value

    def number(self, key: str) -> int:
        """Return the positive integer in the field ``key``; 0 if the field is missing.

        If the field is not a positive integer below `LARGEST`, note a problem and return 0.
        """
        return self.shape.number(self.values[key], self.at(key)) if key in self.values else 0

    def items(self, key: str, *, some: bool = False) -> list[tuple[str, object]]:
        """Return the entries of the list in the field ``key``, each as its place and its value.

        Empty if the field is missing. If the field is not a list, note a problem and return an
        empty list. If ``some``, an empty list is a problem, too.
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
        """Return the texts of the list in the field ``key``; empty if the field is missing.

        A field that is a text counts as a list of one text. An entry that is not text is noted as a
        problem and read as empty. If ``some``, an empty list is a problem, too.
        """
        if isinstance(self.values.get(key), str):
            text = self.text(key)
            return (text,) if text else ()
        return tuple(self.shape.text(entry, place) for place, entry in self.items(key, some=some))

    def distinct_texts(self, key: str) -> tuple[tuple[str, str], ...]:
        """Return the texts of the list in the field ``key``, each as its place and the text.

        Empty if the field is missing. If it is not a list, note a problem and return no texts. An
        entry that is not text, or that repeats an earlier entry, is noted as a problem and left
        out.
        """
        places: dict[str, str] = {}
        for place, entry in self.items(key):
            text = self.shape.text(entry, place)
            if text in places:
                self.shape.note(place, f"{as_code(text)} is there twice")
            elif text:
                places[text] = place
        return tuple((place, text) for text, place in places.items())

    def name(self, key: str, pattern: re.Pattern[str], form: str) -> str:
        """Return the text in the field ``key`` if all of it matches ``pattern``.

        Otherwise note a problem and return an empty string. If the field is missing, just return an
        empty string. ``form`` describes the valid texts for the message, such as ``it must begin
        with a letter``.
        """
        text = self.text(key)
        if text and pattern.fullmatch(text) is None:
            self.shape.note(self.at(key), f"{as_code(text)}: {form}")
            return ""
        return text

    def choice(self, key: str, choices: type[E]) -> E | None:
        """Return the member of ``choices`` that the field ``key`` names.

        If the field names no member, note a problem and return None. If it is missing, just return
        None.
        """
        text = self.text(key)
        known = {each.value: each for each in choices}
        if text and text not in known:
            near = suggestion(text[:_SHOWN], known)
            self.shape.note(
                self.at(key), f"no {key} {as_code(text)}{near}; choose one of {quote_names(known)}"
            )
        return known.get(text)
