"""What the monitor shows while it asks whether to approve: a page of the preview. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from agentmux.core.terminal.text_width import clean, cut, printable, wrap
from agentmux.monitor.segments import MonitorLine, Segment, Style

if TYPE_CHECKING:
    from agentmux.ports.display import Picture

_QUESTION_LINES: Final = 8
_TEXT_LINES: Final = 40
_LEAST: Final = 4
"""How many rows of a page are worth a page."""


def draw_preview(picture: Picture, cols: int, rows: int) -> tuple[MonitorLine, ...]:
    """Return ``rows`` lines: a page of the preview, and below it the question.

    Empty if the pane has too few rows for that.
    """
    asked = wrap(f"! {clean(picture.question)}", cols, _QUESTION_LINES)
    room = rows - len(asked) - 2
    if room < _LEAST:
        return ()
    lines = [line for text in picture.preview for line in _wrapped(text, cols)]
    if len(lines) <= room + 1:
        shown, below = lines, ""
    else:
        pages = -(-len(lines) // room)
        page = picture.page % pages
        shown = lines[page * room : (page + 1) * room]
        below = f"page {page + 1} of {pages}: \u2193 and \u2191 turn the page"
    body = [(Segment(line),) for line in shown]
    end: list[MonitorLine] = [(Segment(line, Style.ATTENTION),) for line in asked]
    if below:
        end = [(Segment(cut(below, cols), Style.DIM),), *end]
    blank: list[MonitorLine] = [()] * (rows - len(body) - len(end))
    return (*body, *blank, *end)


def _wrapped(text: str, cols: int) -> Iterator[str]:
    """Yield the lines of a text with its indentation, unless that would take half of the pane."""
    line = printable(text).rstrip()
    inner = line.lstrip()
    deep = len(line) - len(inner)
    indent = " " * deep if deep <= cols // 2 else ""
    if not inner:
        yield ""
    for each in wrap(inner, cols - len(indent), _TEXT_LINES):
        yield indent + each
