"""The files that a git diff changes, and where each begins in it. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from agentmux.core.codec.frozen import dataclass

_HEADER: Final = "diff --git "
_NAMES: Final = ("+++ ", "--- ", "rename to ")
_REMOVED: Final = "(removed)"
_KINDS: Final = {"new file": "A", "deleted file": "D", "rename to": "R"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffFile:
    """A file in a diff.

    Attributes:
        path: Its path, relative to the top of the repository; of a deleted file, the path that it
            had.
        at: The index of its first line (``diff --git …``) in the lines of the diff, from 0.
        kind: ``A`` if the file is new, ``D`` deleted, ``R`` renamed, or else ``M`` modified.
        added: How many lines were added.
        removed: How many lines were removed.
    """

    path: str
    at: int
    kind: str
    added: int
    removed: int


def diff_files(lines: Sequence[str], places: Sequence[str]) -> tuple[DiffFile, ...]:
    """Return the files of a diff, in its order.

    Args:
        lines: The lines of the diff.
        places: The place of each line, as `diff_comments.diff_places` yields it.
    """
    begins = [
        at
        for at, (text, place) in enumerate(zip(lines, places, strict=True))
        if text.startswith(_HEADER) and not place
    ]
    return tuple(
        _file(lines[at:end], places[at:end], at) for at, end in pairwise((*begins, len(lines)))
    )


def file_at(files: Sequence[DiffFile], line: int) -> int:
    """Return the index in ``files`` of the file to which a line of the diff belongs.

    It is 0 for a line before all files, and if there are none. ``line`` is the index of the line in
    the lines of the diff, from 0.
    """
    return max(bisect_right(files, line, key=lambda each: each.at) - 1, 0)


def line_at(files: Sequence[DiffFile], places: Sequence[str], line: int) -> int:
    """Return the number, from 1, that a line of the diff has in the changed file.

    For a removed line or a header, it is the number of the next line of the diff that the changed
    file contains; 0 if no such line follows in the same file.

    Args:
        files: The files of the diff.
        places: The place of each line of the diff, as `diff_comments.diff_places` yields it.
        line: The index of the line in the lines of the diff, from 0.
    """
    at = file_at(files, line) + 1
    ends = files[at].at if at < len(files) else len(places)
    now = (each for each in places[line:ends] if each and not each.endswith(_REMOVED))
    return int(next(now, ":0").rpartition(":")[2])


def _file(lines: Sequence[str], places: Sequence[str], at: int) -> DiffFile:
    marks = [text[:1] for text, place in zip(lines, places, strict=True) if place]
    inside = next((index for index, text in enumerate(lines) if text.startswith("@@")), len(lines))
    head = lines[:inside]
    kinds = (kind for text in head for start, kind in _KINDS.items() if text.startswith(start))
    return DiffFile(
        path=_path(head),
        at=at,
        kind=next(kinds, "M"),
        added=marks.count("+"),
        removed=marks.count("-"),
    )


def _path(head: Sequence[str]) -> str:
    """Return the path that the header of a file names.

    A file without lines, such as a picture, is named in the first line alone, twice.
    """
    for start in _NAMES:
        for text in head:
            name = text.removeprefix(start).split("\t")[0]
            if text.startswith(start) and name != "/dev/null":
                return _bare(name) if start != "rename to " else name
    both = head[0].removeprefix(_HEADER)
    return _bare(both[: len(both) // 2])


def _bare(name: str) -> str:
    """Return a path without quotation marks, and without ``a/`` or ``b/`` before it."""
    text = name.removeprefix('"').removesuffix('"')
    return text.partition("/")[2] or text
