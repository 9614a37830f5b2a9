"""The names of sessions in the list: cut to the width of the list, and no two alike. Pure."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from agentmux.core.names import layout
from agentmux.core.terminal.text.text_width import ELLIPSIS, clean, width
from agentmux.desk.styled import cut

if TYPE_CHECKING:
    from agentmux.desk.list.listing import DeskRow

Title: TypeAlias = tuple[str, str]
"""The name of a session and of its project; the latter is empty if there is only one project."""

_PROJECT_COLS: Final = 8
"""How many columns the name of a project has at least, unless it is shorter."""

_HEAD_COLS: Final = 5
"""How many columns the beginning of a name has at least if the name is shortened in its middle."""

_TIMES: Final = ("%m-%d", "%H:%M", "%m-%d %H:%M", "%H:%M:%S", "%y%m%d-%H%M%S")
"""How the start of sessions is shown; the first format in which they all differ is used."""

_Place: TypeAlias = tuple["DeskRow", int]
"""A session, and how many columns its title has."""
_Name: TypeAlias = Callable[[int], str]
"""Returns the name of a session in at most this many columns."""


def draw_titles(places: Iterable[_Place], *, has_projects: bool) -> dict[Path, Title]:
    """Return the titles of sessions by their directory: each fits, and no two are alike.

    A title is a pair: the name of the session, and that of its project, which may be empty.
    Sessions whose names are alike, or would be alike where they are cut, are told apart by the part
    in which their names differ, else by the time at which they were started.

    Args:
        places: The sessions, each with the number of columns for its title.
        has_projects: Whether to name the projects.
    """
    rows = tuple(places)
    projects = _project_names({row.project for row, _ in rows}) if has_projects else {}
    groups: dict[Title, list[_Place]] = {}
    for row, room in rows:
        title = _title(_cut_name(row), row, room, projects)
        groups.setdefault(title, []).append((row, room))
    titles: dict[Path, Title] = {}
    for title, alike in groups.items():
        titles |= {alike[0][0].path: title} if len(alike) == 1 else _tell_apart(alike, projects)
    return titles | _number(rows, titles, projects)


def _number(
    places: Sequence[_Place], titles: Mapping[Path, Title], projects: Mapping[Path, str]
) -> dict[Path, Title]:
    """Return titles with numbers for the sessions that still have the title of another one."""
    count = Counter(titles.values())
    left = ((row, room) for row, room in places if count[titles[row.path]] > 1)
    return {
        row.path: _title(_end_with(layout.slug_of(row.name), str(number)), row, room, projects)
        for number, (row, room) in enumerate(left, start=1)
    }


def _project_names(projects: Iterable[Path]) -> Mapping[Path, str]:
    """Return the name of each project; with its parent folder if others have the same name."""
    every = tuple(projects)
    count = Counter(each.name for each in every)
    return {
        each: clean(each.name if count[each.name] == 1 else f"{each.parent.name}/{each.name}")
        for each in every
    }


def _title(name: _Name, row: DeskRow, room: int, projects: Mapping[Path, str]) -> Title:
    """Return the title of a session; a name that is too long is cut before its project is."""
    project = projects.get(row.project, "")
    if not project:
        return name(room), ""
    spare = room - 1 - width(name(room))
    cols = max(spare, min(_PROJECT_COLS, room // 2))
    shown = cut(project, cols)
    return name(room - 1 - width(shown)), shown


def _tell_apart(places: Sequence[_Place], projects: Mapping[Path, str]) -> dict[Path, Title]:
    """Return titles that differ for sessions whose usual titles are alike."""
    titles: dict[Path, Title] = {}
    for names in _ways([row for row, _ in places]):
        pairs = zip(names, places, strict=True)
        titles = {row.path: _title(name, row, room, projects) for name, (row, room) in pairs}
        if len(set(titles.values())) == len(places):
            break
    return titles


def _ways(rows: Sequence[DeskRow]) -> Iterator[list[_Name]]:
    """Yield the ways to name sessions so that they may differ, the best first."""
    slugs = [layout.slug_of(row.name) for row in rows]
    alike = itertools.takewhile(lambda chars: len(set(chars)) == 1, zip(*slugs, strict=False))
    differs_at = "".join(chars[0] for chars in alike).rfind("-") + 1
    if len(set(slugs)) == len(slugs):
        yield [_shorten_middle(slug, differs_at) for slug in slugs]
    starts = [layout.stamp_of(row.name) for row in rows]
    for shown in _TIMES:
        ends = [each.strftime(shown) if each is not None else "" for each in starts]
        yield [_end_with(slug, end) for slug, end in zip(slugs, ends, strict=True)]


def _cut_name(row: DeskRow) -> _Name:
    slug = layout.slug_of(row.name)
    return lambda cols: cut(slug, cols)


def _shorten_middle(slug: str, differs_at: int) -> _Name:
    """Return the name that keeps the beginning of the slug, and the part from ``differs_at``."""

    def name(cols: int) -> str:
        tail = cut(slug[differs_at:], max(cols - _HEAD_COLS - 1, 1))
        head = slug[: max(cols - width(tail) - 1, 0)]
        return cut(f"{head}{ELLIPSIS}{tail}" if len(head) < differs_at else slug, cols)

    return name


def _end_with(slug: str, end: str) -> _Name:
    """Return the name that ends with ``end``, if that leaves room for the beginning."""

    def name(cols: int) -> str:
        room = cols - width(end) - 1
        return f"{cut(slug, room)} {end}" if room > 0 else cut(slug, cols)

    return name
