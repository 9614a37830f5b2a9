"""A person's comments on lines of a diff, as text of a request for changes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from agentmux.core.codec.frozen import dataclass

_QUOTED: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class LineComment:
    """A person's comment on one line of a diff.

    Attributes:
        text: The comment.
        line: The line as the diff shows it, with its mark (``+``, ``-`` or space). It is quoted
            because its number changes as soon as an agent edits the lines above it.
    """

    text: str
    line: str


def change_request(comments: Mapping[str, LineComment], text: str = "") -> str:
    """Return the text of a request for changes: each comment after its place, then ``text``.

    The line that a comment is about is quoted, too. All lines of a comment after the first are
    indented. Empty comments are left out.

    Args:
        comments: The comments by place, as `diff_places` yields it; their order is kept.
        text: The rest of the request; may be empty.
    """
    texts = {at: each.text.strip().replace("\n", "\n  ") for at, each in comments.items()}
    held = (f"{at}{_quote_line(comments[at].line)}: {each}" for at, each in texts.items() if each)
    return "\n".join((*held, *filter(None, (text.strip(),))))


def _quote_line(line: str) -> str:
    """Return a line of a diff in quotation marks, cut, without its mark; empty if it is blank."""
    text = line[1:].strip()
    short = text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…"
    return f" “{short}”" if short else ""


def diff_places(lines: Iterable[str]) -> Iterator[str]:
    """Yield the place of each line of a git diff; an empty text for headers and other lines.

    A place identifies a single line: ``calc.py:12`` is line 12 of the file after the changes, and
    ``calc.py:9 (removed)`` is line 9 of the file before the changes. ``lines`` are the lines of the
    diff without line ends.
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
    """The position in a diff: the file, and the next line numbers before and after the changes.

    ``inside`` says whether the position is in a hunk.
    """

    path: str = ""
    old: int = 0
    new: int = 0
    inside: bool = False


def _place_line(at: _At, text: str) -> tuple[str, _At]:
    """Return the place of the line ``text`` of a hunk, and the position of the next line."""
    if not at.path or text.startswith("\\"):
        return "", at
    removed, added = text.startswith("-"), text.startswith("+")
    place = f"{at.path}:{at.old} (removed)" if removed else f"{at.path}:{at.new}"
    return place, _At(
        path=at.path, old=at.old + (not added), new=at.new + (not removed), inside=True
    )


def _begins(hunk: str, sign: str) -> int:
    """Return the number of the first line of a hunk in the old (`` -``) or new (`` +``) file."""
    number = hunk.partition(sign)[2].partition(" ")[0].partition(",")[0]
    return int(number) if number.isdecimal() else 0
