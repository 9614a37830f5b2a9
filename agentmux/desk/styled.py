"""Lines of styled text, as the pure parts of the desk make them."""

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
"""A text, and its style: `PLAIN`, `BOLD`, the value of a `Colour`, or several in one text."""

Line: TypeAlias = tuple[Part, ...]


def line(text: str, style: str = PLAIN) -> Line:
    """Return a line of one part."""
    return ((text, style),)


def plain(line_: Line) -> str:
    """Return the text of a line."""
    return "".join(text for text, _ in line_)


def cut(text: str, cols: int) -> str:
    """Return ``text`` on one line, safe for a terminal, cut to ``cols`` cells."""
    return cut_clean(clean(text), cols)


def fill(text: str, cols: int) -> str:
    """Return ``text`` in exactly ``cols`` cells: cut, or with spaces behind it."""
    kept = cut(text, cols)
    return kept + " " * (cols - width(kept))


def fit_parts(parts: Iterable[Part], cols: int) -> Line:
    """Return the parts that fit into ``cols`` cells; what does not is cut."""
    result: list[Part] = []
    for text, style in parts:
        size = width(text)
        if size > cols:
            result.append((cut_clean(text, cols) if cols > 1 else ELLIPSIS[:cols], style))
            break
        result.append((text, style))
        cols -= size
    return tuple(result)
