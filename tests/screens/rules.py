"""What every screen must keep to, measured on its lines of text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from agentmux.core.terminal.text.text_width import ELLIPSIS, width

_LEAST: Final = 4
_EDGES: Final = "()[]`“”\"',.;:!│─▏\\"


def wrapped_ids(lines: Sequence[str], ids: Iterable[str]) -> list[str]:
    """Return the ids that begin at the end of a line, and go on in the next one."""
    return [
        each
        for each in ids
        for above, below in pairwise(lines)
        for place in range(_LEAST, len(each) - _LEAST + 1)
        if above.rstrip().endswith(each[:place]) and below.lstrip().startswith(each[place:])
    ]


def too_wide(lines: Iterable[str], cols: int) -> list[str]:
    """Return the lines that a terminal of this width breaks, except those of a single long word.

    A path stays whole, because only then a terminal copies it as it is.
    """
    return [line for line in lines if width(line.rstrip()) > cols and " " in line.strip()]


def equal_rows(rows: Iterable[str]) -> list[str]:
    """Return the rows of a list that say the same as an earlier one, but for the selection."""
    seen: set[str] = set()
    twice = []
    for row in rows:
        said = " ".join(row.strip("> *").split())
        twice += [row] * (said in seen)
        seen.add(said)
    return twice


def cut_words(lines: Iterable[str], texts: Iterable[str], cols: int) -> Iterator[str]:
    """Yield the words that are cut: neither in the texts, nor marked as the end of what is shown.

    A word that is wider than the screen may be broken.

    Args:
        lines: The lines of a screen.
        texts: All that may be shown: the same screen, so wide that nothing is cut.
        cols: The width of the screen.
    """
    known = {word for text in texts for word in _words(text)}
    long = [word for word in known if width(word) > cols - 4]
    for line in lines:
        for word in _words(line):
            if (
                ELLIPSIS not in word
                and word not in known
                and not any(word in each for each in long)
            ):
                yield word


def _words(text: str) -> Collection[str]:
    words = (each.strip(_EDGES) for each in re.split(r"[\s/]+", text))
    return [each for each in words if re.search(r"[^\W\d_]{2}", each)]


def beyond_first_screen(lines: Sequence[str], rows: int, wanted: Iterable[str]) -> list[str]:
    """Return which of the texts are not in the first rows, however these break them."""
    shown = _joined(lines[:rows])
    return [each for each in wanted if _joined([each]) not in shown]


def _joined(lines: Iterable[str]) -> str:
    return " ".join(" ".join(lines).split())
