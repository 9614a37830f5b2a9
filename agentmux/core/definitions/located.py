"""Values that were read from a file, with their line numbers for messages. Parses nothing."""

from __future__ import annotations

from collections.abc import Mapping

from agentmux.core.codec.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """The value of a file and the line numbers of its parts.

    Attributes:
        value: The plain value (mappings, lists, texts, …) for `core.codec.shape` to read.
        lines: Maps the place of each key and item, such as ``phases[1].kind``, to its line, from 1.
            The empty place stands for the whole value.
    """

    value: object
    lines: Mapping[str, int]

    def line(self, place: str = "") -> int:
        """Return the line of ``place``, from 1, or of the nearest enclosing place that has a line.

        ``place`` is a key of ``lines``, such as ``phases[1].kind``; empty for the whole value.
        """
        while place not in self.lines:
            place = place[: max(place.rfind("."), place.rfind("["), 0)]
        return self.lines[place]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A mistake in a file: its line, from 1, and a description without the line."""

    line: int
    what: str


PROBLEMS_MAX = 50
"""The most problems that are reported at once; a hostile file may have thousands."""
