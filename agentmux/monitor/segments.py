"""The styled segments of which the monitor's lines consist. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from agentmux.core.codec.frozen import dataclass

WIDEST: Final = 100
"""The greatest width of a text, in cells: longer lines are hard to read."""


class SegmentStyle(StrEnum):
    """How a segment is shown. The text says everything without its style, too."""

    PLAIN = "plain"
    HEADER = "header"
    DIM = "dim"
    ATTENTION = "attention"
    PROBLEM = "problem"
    GOOD = "good"
    """What is done, or was added."""
    BAD = "bad"
    """What is broken, or was removed."""
    PLACE = "place"
    """Where in a file a change is."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a line that has one style."""

    text: str
    style: SegmentStyle = SegmentStyle.PLAIN


MonitorLine = tuple[Segment, ...]


def plain(line: MonitorLine) -> str:
    """Return the text of a line, without its styles."""
    return "".join(segment.text for segment in line)
