"""The list of sessions at the left of the desk: groups, search, selection and marks. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.names import layout
from agentmux.core.names.status_labels import (
    Colour,
    Safety,
    SessionStatus,
    StatusGroup,
    age,
    status_colour,
    status_label,
)
from agentmux.core.terminal.text.search import matches
from agentmux.core.terminal.text.text_width import clean, width
from agentmux.desk.styled import BOLD, DIM, PLAIN, Line, cut, fill, fit_parts

if TYPE_CHECKING:
    from agentmux.app.views.rows import SessionRow

# With fewer columns the list has no room for the whole status, or for the phase.
_ROOMY: Final = 44
_WIDE: Final = 64
_AGE_COLS: Final = 4
_STATE_COLS: Final = 7
_LABEL_COLS: Final = 15
_WIDE_LABEL_COLS: Final = 19
_PHASE_COLS: Final = 14
MARKED: Final = "*"
SELECTED: Final = ">"

_SAFETY_COLOURS: Final = {
    Safety.SAFE: Colour.GREEN,
    Safety.CHOICE: Colour.YELLOW,
    Safety.UNSAFE: Colour.RED,
}
_SAFETY_ORDER: Final = (Safety.SAFE, None, Safety.CHOICE, Safety.UNSAFE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskRow:
    """One session of the list.

    Attributes:
        path: The session's directory, by which it is known.
        project: The directory of its project.
        words: What a search looks in, besides the status.
        orchestrator: Pid of its orchestrator; None where none is known.
        live: Whether its tmux session runs; None where nobody can tell.
        is_done: Whether nothing is left to do.
        decision: Whether it waits for the user to approve or to request changes.
        safety: Whether it can be resumed; None where it runs, is done, or was not examined.
        warned: The reason for ``safety``; empty if there is none to give.
        seen_ns: When something in its directory had changed last, before it was read.
    """

    path: Path
    project: Path
    row: SessionRow
    updated: datetime
    words: str
    orchestrator: int | None = None
    live: bool | None = False
    is_done: bool = False
    decision: bool = False
    safety: Safety | None = None
    warned: str = ""
    seen_ns: int = 0

    @property
    def name(self) -> str:
        """The name of the session, as commands take it."""
        return self.path.name

    @property
    def is_lost(self) -> bool:
        """Whether its agents live, but its orchestrator does not: nobody drives them."""
        held = self.row.status == SessionStatus.INTERRUPTED
        return held and self.live is True and self.orchestrator is None

    @property
    def rests(self) -> bool:
        """Whether a resume could bring the session back."""
        return self.row.group is StatusGroup.INTERRUPTED or (
            not self.is_done and self.live is False and self.orchestrator is None
        )


@dataclass(frozen=True, slots=True)
class Heading:
    """The line above the sessions of a group."""

    group: StatusGroup
    count: int


ListLine: TypeAlias = "Heading | DeskRow"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionListing:
    """The list as it is now.

    Attributes:
        rows: All sessions, by path.
        sought: The text of the search.
        at: The path of the selected session; None if no session is shown.
        marked: The paths of the sessions that are marked.
        lines: What is shown: headings, and below each the sessions that match the search.
        has_projects: Whether the sessions are of several projects.
    """

    rows: Mapping[Path, DeskRow] = field(default_factory=dict)
    sought: str = ""
    at: Path | None = None
    marked: frozenset[Path] = frozenset()
    lines: tuple[ListLine, ...] = ()
    has_projects: bool = False

    @property
    def shown_rows(self) -> tuple[DeskRow, ...]:
        """The sessions that match the search, in the order of the list."""
        return tuple(each for each in self.lines if isinstance(each, DeskRow))

    @property
    def selected_row(self) -> DeskRow | None:
        """The selected session; None if no session is shown."""
        return self.rows.get(self.at) if self.at is not None else None

    @property
    def chosen(self) -> tuple[DeskRow, ...]:
        """The marked sessions, else the selected one."""
        marked = tuple(each for each in self.rows.values() if each.path in self.marked)
        return marked or ((self.selected_row,) if self.selected_row is not None else ())

    @property
    def place(self) -> int:
        """The index of the selected session in ``lines``; 0 if there is none."""
        at = self.at
        return next(
            (n for n, e in enumerate(self.lines) if isinstance(e, DeskRow) and e.path == at), 0
        )


def with_rows(
    listing: SessionListing, rows: Iterable[DeskRow], gone: Iterable[Path] = ()
) -> SessionListing:
    """Return the list with new or changed sessions, and without those that are gone."""
    left = set(gone)
    sessions = {path: each for path, each in listing.rows.items() if path not in left}
    sessions |= {each.path: each for each in rows}
    projects = {str(each.project) for each in sessions.values()}
    marked = listing.marked & sessions.keys()
    several = len(projects) > 1
    return _settle_listing(replace(listing, rows=sessions, marked=marked, has_projects=several))


def with_examined(listing: SessionListing, rows: Iterable[DeskRow]) -> SessionListing:
    """Return the list with what a resume of these sessions would do, unless they have changed."""
    known = ((each, listing.rows.get(each.path)) for each in rows)
    return with_rows(
        listing,
        (
            replace(now, safety=each.safety, warned=each.warned)
            for each, now in known
            if now is not None and now.updated == each.updated and now.rests
        ),
    )


def kept_safety(listing: SessionListing, rows: Iterable[DeskRow]) -> Iterator[DeskRow]:
    """Yield rows that were read anew, at rest with what was known of their resume before."""
    for each in rows:
        old = listing.rows.get(each.path)
        if old is not None and each.rests and each.safety is None:
            yield replace(each, safety=old.safety, warned=old.warned)
        else:
            yield each


def search(listing: SessionListing, sought: str) -> SessionListing:
    """Return the list of the sessions that match a text."""
    return _settle_listing(replace(listing, sought=sought))


def select(listing: SessionListing, path: Path) -> SessionListing:
    """Return the list with another session selected; unchanged if that one is not shown."""
    shown = any(each.path == path for each in listing.shown_rows)
    return replace(listing, at=path) if shown else listing


def move(listing: SessionListing, steps: int) -> SessionListing:
    """Return the list with the selection moved by so many sessions, as far as there are any."""
    shown = [each.path for each in listing.shown_rows]
    if not shown:
        return listing
    place = shown.index(listing.at) if listing.at in shown else 0
    return replace(listing, at=shown[min(max(place + steps, 0), len(shown) - 1)])


def next_in_need(listing: SessionListing) -> SessionListing:
    """Return the list with the next session selected that needs its user; it begins anew."""
    needy = [each.path for each in listing.shown_rows if each.row.group is StatusGroup.NEEDS_YOU]
    if not needy:
        return listing
    place = needy.index(listing.at) + 1 if listing.at in needy else 0
    return replace(listing, at=needy[place % len(needy)])


def mark(listing: SessionListing) -> SessionListing:
    """Return the list with the selected session marked, or not marked any more."""
    at = listing.at
    return listing if at is None else replace(listing, marked=listing.marked ^ {at})


def unmark(listing: SessionListing, paths: Collection[Path] | None = None) -> SessionListing:
    """Return the list without the marks of these sessions; None: without any."""
    return replace(
        listing, marked=frozenset() if paths is None else listing.marked.difference(paths)
    )


def _settle_listing(listing: SessionListing) -> SessionListing:
    """Return the list with its lines, and with a session selected that is shown."""
    lines = tuple(_lines(listing.rows.values(), listing.sought))
    shown = [each.path for each in lines if isinstance(each, DeskRow)]
    at = listing.at
    if at not in shown:
        before = [each.path for each in listing.shown_rows]
        place = before.index(at) if at in before else 0
        at = shown[min(place, len(shown) - 1)] if shown else None
    return replace(listing, lines=lines, at=at)


def _lines(rows: Iterable[DeskRow], sought: str) -> Iterator[ListLine]:
    groups: dict[StatusGroup, list[DeskRow]] = {group: [] for group in StatusGroup}
    for each in rows:
        if not sought or matches(sought, f"{each.words} {_status(each)} {each.safety or ''}"):
            groups[each.row.group].append(each)
    for group, held in groups.items():
        if held:
            yield Heading(group, len(held))
            yield from _order_rows(group, held)


def _status(row: DeskRow) -> str:
    """Return the status as a search finds it: without the time until which a session is parked."""
    return f"{status_label(row.row.status)} {row.row.label if row.row.doubt else ''}"


def _order_rows(group: StatusGroup, rows: Iterable[DeskRow]) -> list[DeskRow]:
    """Return the sessions of a group: what is safe to resume first, then the newest.

    It is the time of the start that counts, so that a session at work does not jump about.
    """
    sessions = sorted(rows, key=lambda each: f"{each.row.session}\0{each.path}", reverse=True)
    if group is StatusGroup.INTERRUPTED:
        sessions.sort(key=lambda each: _SAFETY_ORDER.index(each.safety))
    return sessions


# -- how a line looks ----------------------------------------------------------------------------


def heading_line(heading: Heading, cols: int) -> Line:
    """Return the line above a group."""
    return fit_parts(((f"{heading.group} ", BOLD), (str(heading.count), DIM)), cols)


def row_line(listing: SessionListing, row: DeskRow, cols: int, now: datetime) -> Line:
    """Return the line of a session in ``cols`` cells: its name, and what it does since when."""
    state, colour = _state(row, roomy=cols >= _ROOMY)
    ago = age(max(0.0, (now - row.updated).total_seconds()), least="m")
    sign = SELECTED if row.path == listing.at else " "
    sign += MARKED if row.path in listing.marked else " "
    usual = _WIDE_LABEL_COLS if cols >= _WIDE else _LABEL_COLS
    usual = usual if cols >= _ROOMY else _STATE_COLS
    state_cols = min(max(usual, width(state)), cols // 2)  # a name is cut before a status
    phase = f"{fill(_phase(row), _PHASE_COLS)} " if cols >= _WIDE else ""
    room = cols - 2 - width(phase) - state_cols - _AGE_COLS - 2
    slug = layout.slug_of(row.name)
    name, project = cut(slug, room), clean(row.project.name)
    fits = listing.has_projects and width(name) + width(project) + 1 <= room
    beside = project if fits else ""
    gap = " " * (room - width(name) - width(beside) - bool(beside) + 1)
    return fit_parts(
        (
            (sign, BOLD),
            (name, PLAIN),
            (f" {beside}" if beside else "", DIM),
            (gap, PLAIN),
            (phase, DIM),
            (fill(state, state_cols), colour),
            (f" {ago:>{_AGE_COLS}}", DIM),
        ),
        cols,
    )


def _phase(row: DeskRow) -> str:
    """Return the phase of a session without what its status says: ``cycle 2`` if it is done."""
    phase, label = row.row.phase, row.row.label
    return "" if phase == label else phase.removeprefix(f"{label}, ")


def _state(row: DeskRow, *, roomy: bool) -> tuple[str, str]:
    """Return the words for what a session does, and their colour; there always are some."""
    shown = row.row
    if row.is_lost:
        return ("to reattach" if roomy else "reattach"), Colour.YELLOW.value
    if shown.group is StatusGroup.INTERRUPTED and row.safety is not None:
        word = row.safety.value if roomy else row.safety.name.lower()
        return word, _SAFETY_COLOURS[row.safety].value
    colour = status_colour(shown.status).value
    if roomy:
        return shown.label, colour
    return shown.mark or shown.label, colour
