"""Prepares a captured screen to be painted again: dimmed, cropped, and safe.

The result contains only text and SGR sequences, which set colours, bold and the like. A captured
screen is not trusted, so all other sequences are dropped. Pure, and without dataclasses or anything
outside the standard library, because the program in a stopped pane imports no other modules of
AgentMux than this one and those that this one imports.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from agentmux.core.terminal.text.sgr import SEQUENCE, Colour, Look, Style
from agentmux.core.terminal.text.text_width import Cells, cell_width, width

_JOINER: Final = "\u200d"
_TAB_COLS: Final = 8

# ECMA-48: CSI with SGR apart, strings (OSC, DCS, SOS, PM, APC), other escapes, controls, text.
# An unfinished sequence ends with its line.
_TOKEN: Final = re.compile(
    r"(?P<sgr>\x1b\[[0-9;:]*m)"
    r"|\x1b\[[0-?]*[ -/]*[@-~]?"
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"
    r"|\x1b[ -/]*[0-Z\\`-~]?"
    r"|(?P<shift>[\x0e\x0f])"
    r"|(?P<newline>\n)"
    r"|[\x00-\x1f\x7f-\x9f]"
    r"|(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
)

# The DEC special graphics set, which tmux prints between SO and SI (terminfo's acsc).
_ACS: Final = str.maketrans(
    "`afgijklmnopqrstuvwxyz{|}~+,-.0",
    "◆▒°±␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·→←↑↓█",
)

_UNSEEN_ON_BLANKS: Final = frozenset({3, 8})

Piece: TypeAlias = tuple[Look, str]
"""A text without control characters, after the look in which it is painted."""


def line_drawing(text: str) -> str:
    """Return ``text`` with each letter replaced by the line-drawing character that it stands for.

    Pass only a text that tmux printed between the control characters SO and SI: there, for example,
    ``q`` stands for a horizontal line. Characters that stand for nothing else stay.
    """
    return text.translate(_ACS)


def expand_tabs(ansi: str, *, cells: Cells = cell_width) -> str:
    """Return a captured screen with each tab replaced by blanks up to the next tab stop.

    A tab stop is every 8 cells. tmux 3.6 and newer capture the tabs that a program wrote; older
    versions capture blanks.

    Args:
        ansi: The captured screen.
        cells: Returns how many cells a character takes.
    """
    if "\t" not in ansi:
        return ansi
    return "\n".join(_untabbed_row(row, cells) for row in ansi.split("\n"))


def _untabbed_row(row: str, cells: Cells) -> str:
    done, *others = row.split("\t")
    for part in others:
        done += " " * (_TAB_COLS - width(SEQUENCE.sub("", done), cells=cells) % _TAB_COLS) + part
    return done


def paint(
    ansi: str, cols: int, rows: int, *, dim: bool = True, cells: Cells = cell_width
) -> tuple[str, ...]:
    """Return the rows of a screen, ready to print: at most ``rows`` rows of at most ``cols`` cells.

    Each row sets its own colours at its start and resets them at its end. Rows that are too wide
    are cut. If there are too many rows, empty rows at the end are left out first, then rows at the
    top.

    Args:
        ansi: The captured screen: rows joined by newlines. A colour continues in the next row.
        cols: The maximum width, in cells.
        rows: The maximum number of rows.
        dim: Whether to paint everything faint.
        cells: Returns how many cells a character takes.
    """
    faint = ";2" if dim else ""
    return tuple(
        "".join(f"\x1b[0{faint}{_codes(look)}m{text}" for look, text in row)
        + ("\x1b[0m" if row else "")
        for row in _crop_rows(ansi, cols, rows, cells)
    )


def _codes(look: Look) -> str:
    """Return the numbers that set a look after a reset, each preceded by a semicolon."""
    fg, bg, marks = look
    return "".join(f";{number}" for number in (*fg, *bg, *sorted(marks)))


def to_pieces(
    ansi: str, cols: int, rows: int, *, cells: Cells = cell_width
) -> tuple[tuple[Piece, ...], ...]:
    """Return the rows that `paint` returns, each as pairs of a look and the text that has it.

    A look is the foreground colour, the background colour and the marks (`sgr.Style`); nothing is
    dimmed. ``ansi`` is the captured screen, its rows joined by newlines; ``cols`` and ``rows`` are
    the maximum size. ``cells`` returns how many cells a character takes.
    """
    return tuple(tuple(row) for row in _crop_rows(ansi, cols, rows, cells))


def plain(ansi: str, cols: int, rows: int, *, cells: Cells = cell_width) -> tuple[str, ...]:
    """Return the rows that `paint` returns, as plain text without blanks at their ends.

    ``ansi`` is the captured screen, its rows joined by newlines; ``cols`` and ``rows`` are the
    maximum size. ``cells`` returns how many cells a character takes.
    """
    screen_rows = _crop_rows(ansi, cols, rows, cells)
    return tuple("".join(text for _, text in row).rstrip() for row in screen_rows)


def trim_screen(ansi: str) -> str:
    """Return the captured screen ``ansi`` without the invisible blanks at the ends of its rows.

    A blank with a background colour, or with a mark such as underline, is visible and is kept.
    """
    rows, ground = [], _NOTHING
    for row in ansi.split("\n"):
        rest, ground = _trim_row(row, ground)
        rows.append(rest)
    return "\n".join(rows)


_BlankStyle: TypeAlias = tuple[Colour, frozenset[int]]
"""The attributes that can make a blank visible: background colour, and marks such as underline."""

_NOTHING: Final[_BlankStyle] = ((), frozenset())


def _trim_row(row: str, ground: _BlankStyle) -> tuple[str, _BlankStyle]:
    """Return a row without invisible blanks at its end, and the `_BlankStyle` after the row.

    ``ground`` is the `_BlankStyle` at the start of the row.
    """
    parts = SEQUENCE.split(row)
    last, kept = -1, ""  # the last visible part, and its visible text
    for number, part in enumerate(parts):
        if number % 2:
            ground = _behind(ground, part)
        elif rest := part if ground != _NOTHING else part.rstrip(" "):
            last, kept = number, rest
    ends = (part for part in parts[last + 1 :] if part[:1] == "\x1b")
    return "".join((*parts[: max(last, 0)], kept, *ends)), ground


@functools.lru_cache(maxsize=4096)
def _behind(ground: _BlankStyle, sequence: str) -> _BlankStyle:
    """Return the `_BlankStyle` after an SGR sequence; cached, because few different ones occur."""
    style = Style()
    style.bg, style.marks = ground
    style.take(sequence)
    return style.bg, style.marks - _UNSEEN_ON_BLANKS


SNAPSHOT_MAX: Final = 8 << 20
"""The maximum size of a snapshot, in bytes; a larger one counts as unreadable."""

# In cells: larger than any terminal, and small enough to be painted.
_LARGEST: Final = 10_000


def snapshot_screen(fields: object) -> str | None:
    """Return the captured screen in a snapshot, in the form that `paint` takes; None if invalid.

    Args:
        fields: The content of a snapshot's file after parsing: valid if it is a mapping with
            ``ansi`` (the screen as text), and ``cols`` and ``rows`` (its size, each a whole number
            from 1 to 10,000).
    """
    if not isinstance(fields, Mapping):
        return None
    ansi = fields.get("ansi")
    sizes = (fields.get("cols"), fields.get("rows"))
    whole = all(type(size) is int and 0 < size <= _LARGEST for size in sizes)
    return ansi if isinstance(ansi, str) and whole else None


def _crop_rows(ansi: str, cols: int, rows: int, cells: Cells) -> list[list[Piece]]:
    screen_rows = _rows(ansi, cols, cells)
    while len(screen_rows) > max(rows, 0) and not any(text.strip() for _, text in screen_rows[-1]):
        screen_rows.pop()
    return screen_rows[-rows:] if rows > 0 else []


def _rows(ansi: str, cols: int, cells: Cells) -> list[list[Piece]]:
    """Return all rows of a screen, each cut after ``cols`` cells, as pieces with their looks.

    Even rows that are cropped later are read, because colours continue in the next row.
    """
    style, shifted = Style(), False
    rows = [_Row(cols, cells)]
    for token in _TOKEN.finditer(expand_tabs(ansi, cells=cells)):
        kind = token.lastgroup
        if kind == "sgr":
            style.take(token["sgr"])
        elif kind == "shift":
            shifted = token["shift"] == "\x0e"
        elif kind == "newline":
            rows.append(_Row(cols, cells))
        elif kind == "text":
            text = line_drawing(token["text"]) if shifted else token["text"]
            rows[-1].add(style.look(), text)
    return [row.segments for row in rows]


class _Row:
    """A row of a screen that is filled from the left until it is full."""

    __slots__ = ("_cells", "_joined", "_room", "segments")

    def __init__(self, cols: int, cells: Cells) -> None:
        self.segments: list[Piece] = []
        self._room = cols if cols > 0 else -1
        self._cells = cells
        self._joined = False

    def add(self, look: Look, text: str) -> None:
        """Append as much of ``text`` as fits, painted in ``look``.

        A combining mark on the last cell still fits.
        """
        if text.isascii():
            kept = text[: max(self._room, 0)]
            self._room = self._room - len(kept) if len(kept) == len(text) else -1
            self._joined = False
        else:
            kept = "".join(self._fitting(text))
        if kept:
            self.segments.append((look, kept))

    def _fitting(self, text: str) -> Iterator[str]:
        for char in filter(_is_shown, text):
            # As in tmux, a character after a joiner is drawn over the character before the joiner.
            width = 0 if self._joined else max(self._cells(char), 0)
            if width > self._room:
                self._room = -1
                return
            self._room -= width
            self._joined = char == _JOINER
            yield char


def _is_shown(char: str) -> bool:
    """Whether ``char`` may be painted; bidirectional marks and surrogates, for example, may not."""
    return char == _JOINER or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
