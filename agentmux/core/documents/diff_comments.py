"""Comments of a person on lines of a diff, as a part of a request for changes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from agentmux.core.codec.frozen import dataclass

_QUOTED: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class LineComment:
    """What a person says about a line of a diff.

    Attributes:
        text: What is said.
        line: The line as the diff shows it, with its mark: the number of the line changes when an
            agent changes what is above it.
    """

    text: str
    line: str


def change_request(comments: Mapping[str, LineComment], text: str = "") -> str:
    """Return the text of a request for changes: each comment with its line, then ``text``.

    The later lines of a comment are indented. Empty comments are left out.

    Args:
        comments: What is said, by a place that `diff_places` gives; their order is kept.
        text: What is asked for besides; may be empty.
    """
    texts = {at: each.text.strip().replace("\n", "\n  ") for at, each in comments.items()}
    held = (f"{at}{_quote_line(comments[at].line)}: {each}" for at, each in texts.items() if each)
    return "\n".join((*held, *filter(None, (text.strip(),))))


def _quote_line(line: str) -> str:
    """Return a line of a diff as a quotation, short and without its mark; empty for a blank one."""
    text = line[1:].strip()
    short = text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…"
    return f" “{short}”" if short else ""


def diff_places(lines: Iterable[str]) -> Iterator[str]:
    """Yield for each line of a diff of git its place; empty for a line without one.

    A place names one line only: ``calc.py:12`` in the file as it is after the changes, and
    ``calc.py:9 (removed)``, numbered as before them. Only the lines of files have places.
    """
    at = _At()
    for text in lines:
        place = ""
        if text.startswith("diff "):
            at = _At()
        elif text.startswith("@@"):
            at = _At(path=at.path, old=_begins(text, " -"), new=_begins(text, " +"), inside=True)
        elif at.inside:
            place, at = _place_line(at, text)
        elif text.startswith(("+++ ", "--- ")):
            name = text[4:].split("\t")[0].removeprefix('"').removesuffix('"')
            path = at.path if name == "/dev/null" else name.partition("/")[2] or name
            at = _At(path=path)
        yield place


@dataclass(frozen=True, slots=True, kw_only=True)
class _At:
    """Where a walk through a diff is: the numbers of the next lines before and after it."""

    path: str = ""
    old: int = 0
    new: int = 0
    inside: bool = False


def _place_line(at: _At, text: str) -> tuple[str, _At]:
    """Return the place of a line of a hunk, and where the next line is."""
    if not at.path or text.startswith("\\"):
        return "", at
    removed, added = text.startswith("-"), text.startswith("+")
    place = f"{at.path}:{at.old} (removed)" if removed else f"{at.path}:{at.new}"
    return place, _At(
        path=at.path, old=at.old + (not added), new=at.new + (not removed), inside=True
    )


def _begins(hunk: str, sign: str) -> int:
    """Return the first line of the old (`` -``) or new (`` +``) file that a hunk is about."""
    number = hunk.partition(sign)[2].partition(" ")[0].partition(",")[0]
    return int(number) if number.isdecimal() else 0
