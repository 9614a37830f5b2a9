"""Segments: the pieces of text, each in one style, of which the monitor's lines consist. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from agentmux.core.codec.frozen import dataclass

WIDEST: Final = 100
"""The greatest width of a line of text, in cells; longer lines are hard to read."""


class SegmentStyle(StrEnum):
    """The style of a segment, by its meaning; `style_line` turns it into escape sequences.

    A style never carries meaning that the text does not have.
    """

    PLAIN = "plain"
    HEADER = "header"
    DIM = "dim"
    ATTENTION = "attention"
    PROBLEM = "problem"
    GOOD = "good"
    """For done work, and for added lines of a diff."""
    BAD = "bad"
    """For failed work, and for removed lines of a diff."""
    PLACE = "place"
    """For the lines of a diff that say where in a file a change is."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a line, in one style."""

    text: str
    style: SegmentStyle = SegmentStyle.PLAIN


MonitorLine = tuple[Segment, ...]
"""A line of the monitor, from left to right; empty for a blank line."""


def plain(line: MonitorLine) -> str:
    """Return the text of a line, without its styles."""
    return "".join(segment.text for segment in line)
