"""Folds long lines of messages for a terminal, so that their commands can still be pasted. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from agentmux.core.names.words.located_commands import COMMAND
from agentmux.core.terminal.text.text_width import width

_COLOUR: Final = re.compile("\x1b\\[[0-9;]*m")
_COLUMN: Final = re.compile(r"\s*\S+(?: \S+)?\s{2,}(?=\S)")
"""A short text at the beginning of a line, and the gap to the column that follows it."""
_ENDS: Final = (",", ";", ")", "`", ":")
_WORD: Final = re.compile(r"""\s*(?:"[^"]*"|'[^']*'|\S)+""")
"""A word with the space before it; a text in quotes counts as one word."""
_ON: Final = " \\"
"""The end of a line of a command that goes on in the next line, for the shell."""


def fold(line: str, cols: int) -> Iterator[str]:
    """Break a line between words, and yield the resulting lines of at most ``cols`` cells.

    If there is room, the lines after the first are indented as far as the text of the first. A
    command of agentmux or git in the line is not broken if it fits into a line; else its lines end
    in a backslash, so that a shell takes them as one. A word that is longer than ``cols`` stays
    whole, in a line that is too long: a terminal that breaks it still copies it as one word.

    Args:
        line: A line of a message; it may contain colours.
        cols: The width of the terminal, in cells.
    """
    if _size(line) <= cols:
        yield line
        return
    indent = len(line) - len(line.lstrip())
    column = _COLUMN.match(line)
    hang = len(column[0]) if column and 2 * len(column[0]) <= cols else indent + 2
    held = ""
    for unit in _units(line):
        longer = held + unit
        if held and _size(longer) > cols:
            yield held
            text = unit.lstrip()
            longer = " " * _begin(text, cols, indent + 2, hang) + text
        *full, held = _continue_command(longer, cols, " " * (hang + 2))
        yield from full
    yield held


def _begin(text: str, cols: int, least: int, hang: int) -> int:
    """Return how far a word or command is indented; a long word begins further left, to fit."""
    room = cols - _size(text)
    if room >= hang:
        return hang
    return least if " " in text else min(least, max(room, 0))


def fit_above(lines: Sequence[str], below: Iterable[str], cols: int, rows: int) -> Sequence[str]:
    """Return as many of the first ``lines`` as fit on the screen above the lines ``below``.

    Each line counts as the rows that it takes after `fold`; the lines themselves are returned
    unfolded.

    Args:
        lines: The lines to choose from.
        below: The lines that are printed after them, to the end of the output.
        cols: The width of the terminal, in cells.
        rows: The height of the terminal.
    """

    def height(line: str) -> int:
        return sum(1 for _ in fold(line, cols))

    ends = accumulate(map(height, lines))
    room = rows - sum(map(height, below))
    return lines[: sum(1 for end in ends if end <= room)]


def _units(line: str) -> Iterator[str]:
    """Yield the words of a line, and each command as one text, with the space before it."""
    uncoloured = _COLOUR.sub(lambda colour: " " * len(colour[0]), line)
    starts = {each.end() for each in COMMAND.finditer(uncoloured)}
    command = ""
    for each in _WORD.finditer(line):
        begin = each.end() - len(each[0].lstrip())
        if not command and not starts & {begin, begin + 1}:
            yield each[0]
            continue
        command += each[0]
        if each[0].endswith(_ENDS):
            yield command
            command = ""
    if command:
        yield command


def _continue_command(text: str, cols: int, hang: str) -> Iterator[str]:
    """Yield a line that ends in a command, or the lines of the command if it is too long."""
    if _size(text) > cols:
        first, *words = _WORD.findall(text)
        text = first
        for word in words:
            if _size(f"{text}{word}{_ON}") > cols:
                yield text + _ON
                text = hang + word.lstrip()
            else:
                text += word
    yield text


def _size(text: str) -> int:
    return width(_COLOUR.sub("", text))
