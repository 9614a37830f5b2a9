"""Draws a long text that the user reads in the monitor, page by page. Pure."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from agentmux.core.terminal.keys.console import TextPage
from agentmux.core.terminal.text.text_width import (
    clean,
    cut,
    spread,
    width,
    wrap,
    wrap_indented,
)
from agentmux.monitor.segments import WIDEST, MonitorLine, Segment, SegmentStyle

if TYPE_CHECKING:
    from agentmux.ports.tmux.display import DisplayedText, MonitorContent

_QUESTION_LINES: Final = 8
_TAB: Final = 4
_LEAST: Final = 4
"""The fewest rows of text for which a page is shown."""
# The first text that fits into the columns is shown.
_HINTS: Final = (
    "\u2193 \u2191 PgDn PgUp move, Esc closes, ? all keys",
    "PgDn PgUp move, Esc closes",
)
_MOVES: Final = (
    "\u2193 \u2191 PgDn PgUp move, Esc takes the question back",
    "PgDn PgUp, Esc takes it back",
)
# The first entry with a matching beginning decides the style of a line.
_DIFF_STYLES: Final = (
    (("diff ", "+++", "---"), SegmentStyle.HEADER),
    (("index ", "new file", "deleted file", "similarity", "rename"), SegmentStyle.DIM),
    (("old mode", "new mode", "copy "), SegmentStyle.DIM),
    (("@@",), SegmentStyle.PLACE),
    (("+",), SegmentStyle.GOOD),
    (("-",), SegmentStyle.BAD),
)  # fmt: skip


def page_of(picture: MonitorContent, cols: int, rows: int) -> TextPage:
    """Return how many lines of ``picture.reading`` the screen shows, and how far it can scroll.

    ``picture.reading`` is the text that the user reads; if it is None, the result is `TextPage()`:
    one line, no scrolling. ``cols`` and ``rows`` are the size of the whole screen.
    """
    reading = picture.reading
    if reading is None:
        return TextPage()
    room = rows - 1 - len(_below(picture, cols))
    return TextPage(rows=max(room, 1), last=max(len(_body(reading, cols)) - room, 0))


def draw_reading(picture: MonitorContent, cols: int, rows: int) -> tuple[MonitorLine, ...]:
    """Return the lines of the whole screen while the user reads a text, ``picture.reading``.

    There are ``rows`` lines: a title, a page of the text, then a hint about keys and, if there is
    one, the question that the user has to confirm. Empty if the user reads no text, or the screen
    has too few rows for it. ``cols`` is the width of the screen.
    """
    reading, page = picture.reading, page_of(picture, cols, rows)
    if reading is None or page.rows < _LEAST:
        return ()
    body, top = _body(reading, cols), min(reading.top, page.last)
    shown = body[top : top + page.rows]
    where = f"lines {top + 1}-{top + len(shown)} of {len(body)}" if page.last else ""
    left, right = spread(clean(reading.title), where, min(cols, WIDEST), least=cols // 4)
    blank: list[MonitorLine] = [()] * (page.rows - len(shown))
    title = (Segment(left, SegmentStyle.HEADER), Segment(right, SegmentStyle.DIM))
    return (title, *shown, *blank, *_below(picture, cols))


def _below(picture: MonitorContent, cols: int) -> tuple[MonitorLine, ...]:
    wide = min(cols, WIDEST)
    note = [(Segment(line, SegmentStyle.DIM),) for line in wrap(clean(picture.note), wide, 2)]
    if not picture.question:
        return (*note, _keys(_HINTS, wide))
    asked = wrap(f"! {clean(picture.question)}", wide, _QUESTION_LINES)
    return (
        *note,
        _keys(_MOVES, wide),
        *((Segment(line, SegmentStyle.ATTENTION),) for line in asked),
    )


def _keys(hints: tuple[str, ...], wide: int) -> MonitorLine:
    fits = next((each for each in hints if width(each) <= wide), hints[-1])
    return (Segment(cut(fits, wide), SegmentStyle.DIM),)


def _body(reading: DisplayedText, cols: int) -> tuple[MonitorLine, ...]:
    return _lines(reading.lines, cols if reading.is_diff else min(cols, WIDEST), reading.is_diff)


@functools.lru_cache(maxsize=4)
def _lines(lines: tuple[str, ...], cols: int, is_diff: bool) -> tuple[MonitorLine, ...]:
    if not is_diff:
        return tuple((Segment(line),) for text in lines for line in wrap_indented(text, cols))
    return tuple(line for text in lines for line in _diff_line(text, cols))


def _diff_line(text: str, cols: int) -> Iterator[MonitorLine]:
    style = next(
        (style for starts, style in _DIFF_STYLES if text.startswith(starts)), SegmentStyle.PLAIN
    )
    sign, rest = text[:1], text[1:].expandtabs(_TAB)
    for line in wrap_indented(sign + rest, cols):
        yield (Segment(line, style),)
