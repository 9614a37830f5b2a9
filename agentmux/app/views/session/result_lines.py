"""Lays out the result on which the user decides, shortened to the rows that are free. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.terminal.text.text_width import cut, printable, wrap_indented

if TYPE_CHECKING:
    from agentmux.ports.tmux.display import ResultView

_ROOMY: Final = 22
"""From how many rows on the parts always have headings and blank lines between them."""

# For each part: its heading, the line that replaces lines for which there is no room, with the key
# that shows the whole part, if one does. It is never the key that approves.
_ASKED: Final = ("You asked for", "… {} more lines of your request", "")
_SUMMARY: Final = ("Summary", "… {} more lines of the summary", ": press s")
_CHECKS: Final = ("Checks", "… {} more", "")
_VERDICTS: Final = ("Reviews", "… {} more", "")
_CHANGES: Final = ("Changes", "… {} more files", ": press d")
_GOES: Final = ("An approval does this", "… {} more lines", "")
_LEAST: Final = 2
"""The rows that every other part keeps if a check or a review did not pass."""


class ResultStyle(Enum):
    """How a line of a result looks.

    ``MORE`` is for the line that says how many lines of a part were left out.
    """

    TEXT = "text"
    HEADING = "heading"
    MORE = "more"


@dataclass(frozen=True, slots=True)
class ResultLine:
    """A line of a result, with how it looks.

    Attributes:
        text: The line as plain text.
        style: How it looks.
    """

    text: str
    style: ResultStyle = ResultStyle.TEXT


def result_lines(
    result: ResultView, cols: int, rows: int, *, writes: bool = False
) -> tuple[ResultLine, ...]:
    """Return the lines that show a result: at most ``rows`` lines of at most ``cols`` cells.

    Each part of the result gets an equal share of the rows, but no more than it needs. If a check
    or a review did not pass, these two come first, with all the rows that they need. If there are
    few rows, blank lines and headings are left out, unless everything fits; the line about what an
    approval does then begins with its heading.

    Args:
        result: The result on which the user decides.
        cols: Columns of the terminal.
        rows: The number of rows that are free for it.
        writes: Whether the user is typing a text. Keys are then part of that text, so the lines
            name no keys.
    """
    parts = [
        (_CHECKS, _wrap_lines(result.checks, cols)),
        (_VERDICTS, _wrap_lines(result.verdicts, cols)),
        (_CHANGES, _total_first(result.changes, cols)),
        (_GOES, _wrap_lines(result.goes, cols)),
    ]
    at = 2 * result.has_failed
    parts.insert(at, (_SUMMARY, _wrap_lines(result.summary, cols)))
    parts.insert(at, (_ASKED, _wrap_lines(result.asked, cols)))
    held = [(about, lines) for about, lines in parts if lines]
    first = sum(about in {_CHECKS, _VERDICTS} for about, _ in held) * result.has_failed
    spaced = rows >= _ROOMY or _free(held, rows) >= 2 * len(held) - 1
    if not spaced:
        held = [(about, [*filter(None, lines)]) for about, lines in held if any(lines)]
    headed = spaced or _free(held, rows) >= len(held)
    taken = headed * len(held) + spaced * (len(held) - 1)
    if result.goes and not headed:
        named = (f"{_GOES[0]}: {result.goes[0]}", *result.goes[1:])
        held[-1] = (_GOES, _wrap_lines(named, cols))
    shares = _shares([len(lines) for _, lines in held], rows - taken, first)
    drawn: list[ResultLine] = []
    for ((heading, more, key), lines), share in zip(held, shares, strict=True):
        drawn += [ResultLine("")] if drawn and spaced else []
        if headed and lines[0].rstrip(":") != heading:
            drawn.append(ResultLine(cut(heading, cols), ResultStyle.HEADING))
        drawn += _part(more if writes else f"{more}{key}", lines, share, cols)
    return tuple(drawn[:rows])


_Held = Sequence[tuple[tuple[str, str, str], Sequence[str]]]
"""Each part of a result: its texts, and its lines."""


def _free(held: _Held, rows: int) -> int:
    return rows - sum(len(lines) for _, lines in held)


def _part(more: str, lines: Sequence[str], share: int, cols: int) -> Iterator[ResultLine]:
    shown = lines if len(lines) <= share else lines[: max(share - 1, 0)]
    yield from map(ResultLine, shown)
    if len(shown) < len(lines) and share > 0:
        left = cut(more.format(len(lines) - len(shown)), cols)
        yield ResultLine(left, ResultStyle.MORE)


def _shares(sizes: Sequence[int], room: int, first: int) -> list[int]:
    """Return how many of ``room`` rows each part gets: equal shares, but no more than its size.

    The ``first`` parts get all that they need, as long as the others keep `_LEAST` rows each.
    """
    shares = [0] * len(sizes)
    for at in range(first):
        shares[at] = max(min(sizes[at], room - _LEAST * (len(sizes) - first)), 0)
        room -= shares[at]
    while room > 0 and (hungry := [at for at, size in enumerate(sizes) if shares[at] < size]):
        shares[min(hungry, key=lambda at: (shares[at], at < first))] += 1
        room -= 1
    return shares


def _wrap_lines(lines: Sequence[str], cols: int) -> list[str]:
    return [line for text in lines for line in wrap_indented(text, cols)]


def _total_first(lines: Sequence[str], cols: int) -> list[str]:
    """Return the lines of ``git diff --stat``, with the total, its last line, moved to the top."""
    rows = (*lines[-1:], *(f"  {each}" for each in lines[:-1]))
    return [cut(printable(line), cols) for line in rows]
