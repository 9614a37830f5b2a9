"""Lines of styled text, which the desk's pure functions return and its widgets draw. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from agentmux.core.names.status_labels import Colour
from agentmux.core.terminal.text.text_width import ELLIPSIS, clean, width
from agentmux.core.terminal.text.text_width import cut as cut_clean

PLAIN: Final = ""
BOLD: Final = "bold"
DIM: Final = Colour.DIM.value

Part: TypeAlias = tuple[str, str]
"""A text and its style: `PLAIN`, `BOLD`, `DIM`, the value of a `Colour`, or several with spaces."""

Line: TypeAlias = tuple[Part, ...]
"""A line of text, as the parts that it consists of."""


def line(text: str, style: str = PLAIN) -> Line:
    """Return a line that consists of one text in one style.

    A line is a tuple of parts, and a part is a pair of text and style. A style is `PLAIN`, `BOLD`,
    `DIM`, the value of a `Colour`, or several of these with spaces between them.
    """
    return ((text, style),)


def plain(line_: Line) -> str:
    """Return the text of a line, which is a tuple of (text, style) pairs, without its styles."""
    return "".join(text for text, _ in line_)


def cut(text: str, cols: int) -> str:
    """Return ``text`` as one line without control characters, cut to at most ``cols`` columns."""
    return cut_clean(clean(text), cols)


def fill(text: str, cols: int) -> str:
    """Return ``text`` with a width of exactly ``cols`` columns: cut, or padded with spaces."""
    kept = cut(text, cols)
    return kept + " " * (cols - width(kept))


def fit_parts(parts: Iterable[Part], cols: int) -> Line:
    """Return the parts that fit into ``cols`` columns; the first that does not fit is cut.

    A part is a pair of text and style. A text that was cut ends with an ellipsis.
    """
    result: list[Part] = []
    for text, style in parts:
        size = width(text)
        if size > cols:
            result.append((cut_clean(text, cols) if cols > 1 else ELLIPSIS[:cols], style))
            break
        result.append((text, style))
        cols -= size
    return tuple(result)
