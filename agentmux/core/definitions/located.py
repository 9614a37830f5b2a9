"""A value of a file with its lines, so that a mistake can be found there. Parses nothing."""

from __future__ import annotations

from collections.abc import Mapping

from agentmux.core.codec.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A plain value and its lines.

    Attributes:
        value: As `core.codec.shape` reads it.
        lines: The line of each key and item by its place, such as ``phases[1].kind``; lines count
            from 1. The empty place is the whole value.
    """

    value: object
    lines: Mapping[str, int]

    def line(self, place: str = "") -> int:
        """Return the line of a place, or of the nearest one around it."""
        while place not in self.lines:
            place = place[: max(place.rfind("."), place.rfind("["), 0)]
        return self.lines[place]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One mistake in a file: its line, and what is wrong, in words without the line."""

    line: int
    what: str


PROBLEMS_MAX = 50
"""Nobody fixes more at once, and a hostile file has thousands."""
