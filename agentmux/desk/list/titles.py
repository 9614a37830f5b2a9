"""The names of sessions in the list: cut to the width of the list, and no two alike. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from agentmux.core.names import layout
from agentmux.core.terminal.text.text_width import clean, cut_middle, find_difference, width
from agentmux.desk.styled import cut

if TYPE_CHECKING:
    from agentmux.desk.list.listing import DeskRow

Title: TypeAlias = tuple[str, str]
"""The name of a session and of its project; the latter is empty if there is only one project."""

_PROJECT_COLS: Final = 8
"""How many columns the name of a project has at least, unless it is shorter."""

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
        title = _title(_name(_slug(row), 0), row, room, projects)
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
        row.path: _title(_name(_slug(row), 0, str(number)), row, room, projects)
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
    """Return titles that differ for sessions whose usual titles are alike.

    Where the names differ, that part is shown; only what is then still alike shows a time.
    """
    slugs = {row.path: _slug(row) for row, _ in places}
    part = find_difference(set(slugs.values()))
    titles: dict[Path, Title] = {}
    left = places
    for shown in ("", *_TIMES):
        timed = {
            row.path: _title(_name(slugs[row.path], part, _start(row, shown)), row, room, projects)
            for row, room in left
        }
        titles |= timed
        if len(set(timed.values())) == len(left):
            break
        if not shown:
            count = Counter(timed.values())
            left = [place for place in left if count[timed[place[0].path]] > 1]
    return titles


def _slug(row: DeskRow) -> str:
    return clean(layout.slug_of(row.name))


def _start(row: DeskRow, shown: str) -> str:
    start = layout.stamp_of(row.name)
    return start.strftime(shown) if start is not None else ""


def _name(slug: str, part: int, end: str = "") -> _Name:
    """Return the name that keeps what stands in the slug from ``part`` on, and ends with ``end``.

    It has no end if there is no room for one.
    """

    def name(cols: int) -> str:
        room = cols - width(end) - 1
        if not end or room <= 0:
            return cut_middle(slug, cols, part)
        return f"{cut_middle(slug, room, part)} {end}"

    return name
