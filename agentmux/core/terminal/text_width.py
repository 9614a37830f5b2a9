"""Text made safe for a terminal, and cut or wrapped to a number of cells; pure.

All text is measured here, by one of two tables: that of the library `wcwidth` or, in the program of
a stopped pane, which has no libraries, that of this Python.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, TypeAlias

Cells: TypeAlias = Callable[[str], int]
"""How many cells a character takes: 0, 1 or 2."""

ELLIPSIS: Final = "\u2026"
NARROW: Final = 20
"""Up to this width, in columns, nothing is indented."""
# No pane shows more of one text; a feature's text may have a megabyte.
_LONGEST: Final = 4096
# Terminals disagree on how these change the width of the character before them.
_SELECTORS: Final = frozenset(map(chr, range(0xFE00, 0xFE10)))


@functools.lru_cache(maxsize=2048)
def library_width(char: str) -> int:
    """Return the number of cells of a printable character, by the tables of `wcwidth`."""
    from wcwidth import wcwidth  # noqa: PLC0415 (slow to import; agents start before the first picture)

    # Terminals disagree on whether a spacing mark takes a cell of its own.
    return max(unicodedata.category(char) == "Mc", wcwidth(char))


@functools.lru_cache(maxsize=4096)
def cell_width(char: str) -> int:
    """Return the number of cells of a printable character, by this Python's Unicode tables."""
    if char.isascii():
        return 1
    if "\u1160" <= char <= "\u11ff" or unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0  # Hangul vowels and finals join the initial before them
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def width(text: str, *, cells: Cells = library_width) -> int:
    """Return the number of cells of a clean text."""
    return len(text) if text.isascii() else sum(map(cells, text))


def clean(text: str) -> str:
    """Return the text on one line, without characters that move the cursor or turn the text."""
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + ELLIPSIS
    if not text.isprintable() or not text.isascii():
        text = "".join(_shown(char) for char in text)
    return " ".join(text.split())


def _shown(char: str) -> str:
    if char in _SELECTORS:
        return ""
    return char if char.isprintable() else " "


def cut(text: str, cols: int, *, cells: Cells = library_width) -> str:
    """Return as much of a clean text as fits, with an ellipsis where it was cut."""
    if width(text, cells=cells) <= cols:
        return text
    return _head(text, cols - 1, cells) + ELLIPSIS[: max(cols, 0)]


def _head(text: str, cols: int, cells: Cells) -> str:
    used = 0
    for place, char in enumerate(text):
        used += cells(char)
        if used > cols:
            return text[:place]
    return text


def wrap(
    text: str, cols: int, lines: int, *, indent: str = "  ", cells: Cells = library_width
) -> tuple[str, ...]:
    """Break a clean text between words into at most ``lines`` lines; the last one may be cut.

    If ``cols`` is above `NARROW`, lines after the first begin with ``indent``.
    """
    hang = indent if cols > NARROW else ""
    broken = list(islice(_broken(text, max(cols, 1), hang, cells), lines + 1))
    if len(broken) > lines:
        joined = f"{broken[lines - 1]} {broken[lines].lstrip()}"
        broken[lines - 1 :] = [cut(joined, cols, cells=cells)]
    return tuple(broken)


def _broken(text: str, cols: int, hang: str, cells: Cells) -> Iterator[str]:
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if width(longer, cells=cells) <= cols:
            line = longer
            continue
        if line:
            yield line
            line = hang
        line += word
        while width(line, cells=cells) > cols:
            # Leave out a character that is wider than the pane.
            head = _head(line, cols, cells)
            if head:
                yield head
            line = hang + line[max(len(head), 1) :]
    if line:
        yield line


def spread(left: str, right: str, cols: int, *, least: int) -> tuple[str, str]:
    """Put one clean text at each edge; the left one is cut first, down to ``least`` cells.

    If that is still too long, both are joined into the left part, which is cut.

    Returns:
        Both parts; together they take at most ``cols`` cells.
    """
    room = cols - width(right) - 1
    if not right or room < min(width(left), least):
        return cut(f"{left} {right}".rstrip(), cols), ""
    kept = cut(left, room)
    return kept + " " * (cols - width(kept) - width(right)), right
