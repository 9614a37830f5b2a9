"""Makes text safe for a terminal, and measures, cuts and wraps it by cells. Pure.

Two functions return the width of a character. `library_width`, the default, uses the tables of the
library ``wcwidth``. `cell_width` uses Python's Unicode tables, for the program in a stopped pane,
which has no libraries.

A *clean* text is one that `clean` has returned.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice, takewhile
from typing import Final, TypeAlias

Cells: TypeAlias = Callable[[str], int]
"""A function that returns how many cells a character takes: 0, 1 or 2."""

ELLIPSIS: Final = "\u2026"
NARROW: Final = 20
"""The maximum width, in cells, at which `wrap` does not indent."""
# No pane shows more of one text; a feature's text may have a megabyte.
_LONGEST: Final = 4096
_WRAPPED_LINES: Final = 40
# The beginning of a text that is cut in its middle, unless a third of the cells is less.
_HEAD_CELLS: Final = 5
ONE_CELL: Final = ("\u00ae\u02ff", "\u2010\u2027", "\u2190\u2319", "\u2500\u25fc")
"""The first and last character of each block whose characters all take one cell in ``wcwidth``.

The blocks are Latin letters, dashes and dots, arrows and mathematical signs, lines and boxes.
AgentMux draws with these characters, and does not have to load the slow ``wcwidth`` for them.
"""
# Terminals disagree on how these change the width of the character before them.
_SELECTORS: Final = frozenset(map(chr, range(0xFE00, 0xFE10)))


@functools.lru_cache(maxsize=2048)
def library_width(char: str) -> int:
    """Return the number of cells of a printable character, by the tables of ``wcwidth``."""
    if char.isascii() or any(first <= char <= last for first, last in ONE_CELL):
        return 1
    from wcwidth import wcwidth

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
    """Return the number of cells that ``text`` takes, which must be clean already.

    Nothing is cleaned here: pass what `clean` or `printable` returned. ``cells`` returns how many
    cells a character takes.
    """
    return len(text) if text.isascii() else sum(map(cells, text))


def clean(text: str) -> str:
    """Return ``text`` on one line, cut after about 4000 characters, safe to print on a terminal.

    Characters that move the cursor or change the direction of text become spaces or are left out.
    Several spaces become one.
    """
    return " ".join(printable(text).split())


def printable(text: str) -> str:
    """Return ``text`` on one line, safe to print like `clean`, but with all its spaces kept.

    It is for a line that has columns. It is also cut after about 4000 characters. A tab becomes one
    space.
    """
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + ELLIPSIS
    if not text.isprintable() or not text.isascii():
        text = "".join(_to_printable(char) for char in text)
    return text


def printable_line(text: str) -> str:
    """Return ``text`` on one line, safe to print like `printable`, but never cut.

    All spaces are kept. A tab becomes the spaces up to the next multiple of 4 characters; any other
    unprintable character becomes one space or is left out.
    """
    whole = text.expandtabs(4)
    if whole.isascii() and whole.isprintable():
        return whole
    return "".join(printable(whole[at : at + _LONGEST]) for at in range(0, len(whole), _LONGEST))


def _to_printable(char: str) -> str:
    if char in _SELECTORS:
        return ""
    return char if char.isprintable() else " "


def cut(text: str, cols: int, *, cells: Cells = library_width) -> str:
    """Return ``text``, which must be clean already, cut to at most ``cols`` cells.

    Nothing is cleaned here: pass what `clean` or `printable` returned. A text that fits is returned
    unchanged. Otherwise, it is cut after a word and ends in an ellipsis; it is cut inside a word if
    more than a quarter of the cells would stay empty. ``cells`` returns how many cells a character
    takes.
    """
    if width(text, cells=cells) <= cols:
        return text
    kept = _head(text, cols - 2, cells)
    words = kept if text[len(kept)] == " " else kept.rpartition(" ")[0]
    if words and 4 * width(words, cells=cells) >= 3 * cols:
        return f"{words.rstrip()} {ELLIPSIS}"
    return _head(text, cols - 1, cells) + ELLIPSIS[: max(cols, 0)]


def cut_start(text: str, cols: int) -> str:
    """Return ``text``; if it takes more than ``cols`` cells, an ellipsis and the end of it.

    Nothing is cleaned here: pass what `clean` or `printable` returned.
    """
    return text if width(text) <= cols else f"{ELLIPSIS[: max(cols, 0)]}{_tail(text, cols - 1)}"


def cut_apart(texts: Sequence[str], cols: int) -> tuple[str, ...]:
    """Return ``texts``, in order, each cut to ``cols`` cells so that one can tell them apart.

    They are cut as `cut` does. Those that would then look the same are cut in their middle instead,
    so that they keep the part in which they differ (`cut_middle`). Nothing is cleaned here: pass
    what `clean` or `printable` returned.
    """
    alike: dict[str, set[str]] = {}
    for each in texts:
        alike.setdefault(cut(each, cols), set()).add(each)
    parts = {each: find_difference(group) for group in alike.values() for each in group}
    return tuple(cut_middle(each, cols, parts[each]) for each in texts)


def find_difference(texts: Collection[str]) -> int:
    """Return where the first word begins in which ``texts`` differ; 0 if they do not."""
    same = takewhile(lambda chars: len(set(chars)) == 1, zip(*texts, strict=False))
    start = "".join(chars[0] for chars in same) if len(texts) > 1 else ""
    return max(start.rfind(" "), start.rfind("-")) + 1


def cut_middle(text: str, cols: int, part: int) -> str:
    """Return ``text`` cut to ``cols`` cells: its beginning, and what stands from ``part`` on.

    It is cut as `cut` does if it then keeps the first character of the part. Nothing is cleaned
    here: pass what `clean` or `printable` returned.
    """
    tail = cut(text[part:], max(cols - min(_HEAD_CELLS, cols // 3) - 1, 1))
    head = _head(text, cols - width(tail) - 1, library_width)
    return cut(f"{head.rstrip()}{ELLIPSIS}{tail}" if len(head) < part else text, cols)


def _tail(text: str, cols: int) -> str:
    return _head(text[::-1], cols, library_width)[::-1]


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
    """Return ``text``, which must be clean already, as at most ``lines`` lines of ``cols`` cells.

    Nothing is cleaned here: pass what `clean` or `printable` returned. An empty text has no lines.
    Lines break between words, and inside a word that is too long. If the text does not fit, the
    last line is cut with an ellipsis. Lines after the first begin with ``indent``, unless ``cols``
    is `NARROW` (20) or less. ``cells`` returns how many cells a character takes.
    """
    hang = indent if cols > NARROW else ""
    broken = list(islice(_broken(text, max(cols, 1), hang, cells), lines + 1))
    if len(broken) > lines:
        joined = f"{broken[lines - 1]} {broken[lines].lstrip()}"
        broken[lines - 1 :] = [cut(joined, cols, cells=cells)]
    return tuple(broken)


def wrap_indented(text: str, cols: int) -> Iterator[str]:
    """Yield the lines into which a line of text is wrapped, each with the text's indentation.

    An indentation of more than half of the columns is dropped. At most 40 lines are yielded; the
    rest is cut. The text need not be clean: it is made safe to print first.
    """
    line = printable(text).rstrip()
    if len(line) <= cols and line.isascii():
        yield line
        return
    inner = line.lstrip()
    deep = len(line) - len(inner)
    indent = " " * deep if deep <= cols // 2 else ""
    if not inner:
        yield ""
    for each in wrap(inner, cols - len(indent), _WRAPPED_LINES):
        yield indent + each


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
    """Return the two parts of a line with ``left`` at its start and ``right`` at its end.

    To print the line, join the parts: the first ends in the spaces between the texts, so that both
    together take ``cols`` cells. If the texts do not fit, ``left`` is cut, down to ``least`` cells.
    If that is not enough, the first part contains both texts, cut to ``cols`` cells, and the second
    is empty. If ``right`` is empty, the first part is ``left``, cut to ``cols`` cells.

    Args:
        left: A text that is clean already: `clean` or `printable` returned it.
        right: A clean text, too; may be empty.
        cols: The width of the line, in cells.
        least: The minimum width of ``left``, in cells.
    """
    room = cols - width(right) - 1
    if not right or room < min(width(left), least):
        return cut(f"{left} {right}".rstrip(), cols), ""
    kept = cut(left, room)
    return kept + " " * (cols - width(kept) - width(right)), right
