"""Tracks the effect of SGR sequences, which set colours, bold and the like. Pure.

Uses neither dataclasses nor anything outside the standard library, because the program in a stopped
pane imports it, see `captured_screen`. Source: ECMA-48 and xterm's control sequences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

SEQUENCE: Final = re.compile(r"(\x1b\[[0-9;:]*m)")
"""Matches one SGR sequence; its ``split`` returns plain texts (at even indices) and sequences."""

_LONGEST_NUMBER: Final = 4

# Each maps a code to the mark that it sets or clears. Bold and blink are left out.
_ON: Final = {3: 3, 4: 4, 7: 7, 8: 8, 9: 9, 21: 4, 53: 53}
_OFF: Final = {23: 3, 24: 4, 27: 7, 28: 8, 29: 9, 55: 53}
_COLOURS: Final[dict[int, tuple[str, tuple[int, ...]]]] = {
    **{number: ("fg", (number,)) for number in (*range(30, 38), *range(90, 98))},
    **{number: ("bg", (number,)) for number in (*range(40, 48), *range(100, 108))},
    39: ("fg", ()),
    49: ("bg", ()),
}
_EXTENDED: Final = frozenset({38, 48, 58})
_VALUES: Final = {"5": 1, "2": 3}
"""How many numbers follow the form of an extended colour.

``5`` is followed by one of 256 colours, ``2`` by red, green and blue.
"""

Colour: TypeAlias = tuple[int, ...]
"""The numbers that set a colour, such as ``(31,)`` or ``(38, 5, 208)``; empty for the default."""

Look: TypeAlias = tuple[Colour, Colour, frozenset[int]]
"""The foreground colour, the background colour and the marks of a text: see `Style`."""


class Style:
    """The current style of text, after the sequences so far.

    Attributes:
        fg: The foreground colour: the numbers that set it, such as ``(31,)``; empty for the
            default colour.
        bg: The background colour, in the form of ``fg``.
        marks: The codes of other attributes, such as 4 for underlined and 7 for inverse; never of
            bold or blink.
        dim: Whether the text is faint.
    """

    __slots__ = ("bg", "dim", "fg", "marks")

    def __init__(self) -> None:
        """Begin with the style after a reset."""
        self.fg: Colour = ()
        self.bg: Colour = ()
        self.marks: frozenset[int] = frozenset()
        self.dim = False

    def look(self) -> Look:
        """Return the style as a tuple (``fg``, ``bg``, ``marks``), without ``dim``."""
        return self.fg, self.bg, self.marks

    def take(self, sequence: str) -> None:
        """Update this style as a terminal does when it gets ``sequence``.

        Args:
            sequence: One SGR sequence, with the escape, such as ``ESC[1;31m``; see `SEQUENCE`.
        """
        words = iter(sequence[2:-1].split(";"))
        for word in words:
            head, colon, rest = word.partition(":")
            number = _number(head)
            if number in _EXTENDED:
                self._extend(number, rest.split(":") if colon else _following(words))
            elif number == 4 and rest == "0":
                self.marks -= {4}
            elif number is not None:
                self._apply(number)

    def _apply(self, number: int) -> None:
        if number == 0:
            self.fg, self.bg, self.marks, self.dim = (), (), frozenset(), False
        elif number in {1, 2, 22}:
            self.dim = number == 2
        elif number in _ON:
            self.marks |= {_ON[number]}
        elif number in _OFF:
            self.marks -= {_OFF[number]}
        elif number in _COLOURS:
            ground, colour = _COLOURS[number]
            setattr(self, ground, colour)

    def _extend(self, number: int, words: list[str]) -> None:
        """Set an extended colour from the words after 38, 48 or 58; ignore an invalid one."""
        wanted = _VALUES.get(words[0] if words else "", 0)
        # With colons a (mostly empty) colour space may come before the three values.
        values = [_number(word) for word in words[1:][-wanted:]] if wanted else []
        good = [value for value in values if value is not None and value <= 255]
        if not wanted or len(good) != wanted:
            return
        if number == 38:
            self.fg = (number, int(words[0]), *good)
        elif number == 48:
            self.bg = (number, int(words[0]), *good)


def _number(word: str) -> int | None:
    return int(word or 0) if len(word) <= _LONGEST_NUMBER and (word or "0").isdecimal() else None


def _following(words: Iterator[str]) -> list[str]:
    """Take the parameters of an extended colour, which follow 38, 48 or 58, from ``words``."""
    kind = next(words, "")
    return [kind, *(next(words, "") for _ in range(_VALUES.get(kind, 0)))]
