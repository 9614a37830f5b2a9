"""The list of sessions at the left of the desk: groups, search, selection and marks. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.names.status_labels import (
    Safety,
    SessionStatus,
    StatusGroup,
    status_label,
)
from agentmux.core.terminal.text.search import matches

if TYPE_CHECKING:
    from agentmux.app.views.rows import SessionRow

_SAFETY_ORDER: Final = (Safety.SAFE, None, Safety.CHOICE, Safety.BLOCKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskRow:
    """One session of the list.

    Attributes:
        path: The session's directory, which identifies the session.
        project: The folder of its project.
        row: The data that every list of sessions shows.
        updated: When the session last changed.
        words: The text that a search looks through, besides the status.
        orchestrator: The pid of its orchestrator; None if none is known.
        live: Whether its tmux session exists; None if tmux does not answer.
        is_done: Whether nothing is left to do.
        decision: Whether it waits for the user to approve or to request changes.
        asks: Whether an agent asks a question.
        holds: Whether it waits for a seat that the user has to start again.
        safety: Whether it can be resumed safely; None if it runs, is done, or was not examined.
        warned: The reason for ``safety``; empty if there is none.
        seen_ns: When its directory had last changed before it was read, in nanoseconds.
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
    asks: bool = False
    holds: bool = False
    safety: Safety | None = None
    warned: str = ""
    seen_ns: int = 0

    @property
    def name(self) -> str:
        """The name of the session."""
        return self.path.name

    @property
    def is_lost(self) -> bool:
        """Whether the session still has its tmux session, but no running orchestrator."""
        held = self.row.status == SessionStatus.INTERRUPTED
        return held and self.live is True and self.orchestrator is None

    @property
    def can_be_resumed(self) -> bool:
        """Whether a resume could bring the session back."""
        return self.row.group is StatusGroup.INTERRUPTED or (
            not self.is_done and self.live is False and self.orchestrator is None
        )


@dataclass(frozen=True, slots=True)
class Heading:
    """The line above the sessions of a group.

    Attributes:
        group: The group.
        count: How many sessions of the group are shown.
    """

    group: StatusGroup
    count: int


ListLine: TypeAlias = "Heading | DeskRow"
"""A line of the list of sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionListing:
    """The list of sessions, with its search, its selection and its marks. It is immutable.

    Attributes:
        rows: All sessions, by directory.
        search_text: The text of the search; empty to show all sessions.
        selected_path: The directory of the selected session; None if no session is shown.
        marked: The directories of the marked sessions.
        lines: The lines to show: headings, and below each the sessions that match the search.
        has_projects: Whether the sessions belong to more than one project.
    """

    rows: Mapping[Path, DeskRow] = field(default_factory=dict)
    search_text: str = ""
    selected_path: Path | None = None
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
        return self.rows.get(self.selected_path) if self.selected_path is not None else None

    @property
    def has_no_match(self) -> bool:
        """Whether there are sessions, of which none matches the search."""
        return bool(self.rows) and not self.lines

    @property
    def chosen(self) -> tuple[DeskRow, ...]:
        """The marked sessions, or if there are none, the selected one; may be empty."""
        marked = tuple(each for each in self.rows.values() if each.path in self.marked)
        return marked or ((self.selected_row,) if self.selected_row is not None else ())

    @property
    def place(self) -> int:
        """The index of the selected session in ``lines``; 0 if there is none."""
        at = self.selected_path
        return next(
            (n for n, e in enumerate(self.lines) if isinstance(e, DeskRow) and e.path == at), 0
        )


def with_rows(
    listing: SessionListing, rows: Iterable[DeskRow], gone: Iterable[Path] = ()
) -> SessionListing:
    """Return the list with new or changed sessions added, and without those that are gone.

    Args:
        listing: The list.
        rows: The new or changed sessions; a row replaces an earlier one with the same directory.
        gone: The directories of the sessions to leave out.
    """
    left = set(gone)
    sessions = {path: each for path, each in listing.rows.items() if path not in left}
    sessions |= {each.path: each for each in rows}
    projects = {str(each.project) for each in sessions.values()}
    marked = listing.marked & sessions.keys()
    several = len(projects) > 1
    return _settle_listing(replace(listing, rows=sessions, marked=marked, has_projects=several))


def with_examined(listing: SessionListing, rows: Iterable[DeskRow]) -> SessionListing:
    """Return the list with the ``safety`` and ``warned`` of these rows, which were examined.

    Rows of sessions that have changed since, or that a resume could not bring back, do not count.
    """
    known = ((each, listing.rows.get(each.path)) for each in rows)
    return with_rows(
        listing,
        (
            replace(now, safety=each.safety, warned=each.warned)
            for each, now in known
            if now is not None and now.updated == each.updated and now.can_be_resumed
        ),
    )


def kept_safety(listing: SessionListing, rows: Iterable[DeskRow]) -> Iterator[DeskRow]:
    """Yield the rows, which were just read, with the ``safety`` that the list knows for them.

    Only rows that a resume could bring back, and that have no ``safety`` yet, get the known one.
    """
    for each in rows:
        old = listing.rows.get(each.path)
        if old is not None and each.can_be_resumed and each.safety is None:
            yield replace(each, safety=old.safety, warned=old.warned)
        else:
            yield each


def search(listing: SessionListing, sought: str) -> SessionListing:
    """Return the list with another search text, which shows only matching sessions.

    If ``sought`` is empty, it shows all sessions. If the selected session is not shown any more,
    another one is selected.
    """
    return _settle_listing(replace(listing, search_text=sought))


def select(listing: SessionListing, path: Path) -> SessionListing:
    """Return the list with the session ``path`` selected; unchanged if it is not shown."""
    shown = any(each.path == path for each in listing.shown_rows)
    return replace(listing, selected_path=path) if shown else listing


def move(listing: SessionListing, steps: int) -> SessionListing:
    """Return the list with the selection moved by ``steps`` sessions, at most to the last one.

    Negative steps move it up, at most to the first one.
    """
    shown = [each.path for each in listing.shown_rows]
    if not shown:
        return listing
    place = shown.index(listing.selected_path) if listing.selected_path in shown else 0
    return replace(listing, selected_path=shown[min(max(place + steps, 0), len(shown) - 1)])


def next_in_need(listing: SessionListing) -> SessionListing:
    """Return the list with the next session selected that needs its user.

    After the last such session, the first one follows. Unchanged if no session needs its user.
    """
    needy = [each.path for each in listing.shown_rows if each.row.group is StatusGroup.NEEDS_YOU]
    if not needy:
        return listing
    place = needy.index(listing.selected_path) + 1 if listing.selected_path in needy else 0
    return replace(listing, selected_path=needy[place % len(needy)])


def mark(listing: SessionListing) -> SessionListing:
    """Return the list with the mark of the selected session added, or removed if it has one.

    Unchanged if no session is selected.
    """
    at = listing.selected_path
    return listing if at is None else replace(listing, marked=listing.marked ^ {at})


def unmark(listing: SessionListing, paths: Collection[Path] | None = None) -> SessionListing:
    """Return the list without the marks of these sessions; if ``paths`` is None, without marks."""
    return replace(
        listing, marked=frozenset() if paths is None else listing.marked.difference(paths)
    )


def _settle_listing(listing: SessionListing) -> SessionListing:
    """Return the list with its lines computed, and the selection on a session that is shown."""
    lines = tuple(_lines(listing.rows.values(), listing.search_text))
    shown = [each.path for each in lines if isinstance(each, DeskRow)]
    at = listing.selected_path
    if at not in shown:
        before = [each.path for each in listing.shown_rows]
        place = before.index(at) if at in before else 0
        at = shown[min(place, len(shown) - 1)] if shown else None
    return replace(listing, lines=lines, selected_path=at)


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
    """Return the text of the status for a search, without the end of a usage limit."""
    return f"{status_label(row.row.status)} {row.row.label if row.row.doubt else ''}"


def _order_rows(group: StatusGroup, rows: Iterable[DeskRow]) -> list[DeskRow]:
    """Return the sessions of a group in order, newest first.

    Interrupted sessions that are safe to resume come before the others. The time of the start
    counts, so that running sessions do not change places.
    """
    sessions = sorted(rows, key=lambda each: f"{each.row.session}\0{each.path}", reverse=True)
    if group is StatusGroup.INTERRUPTED:
        sessions.sort(key=lambda each: _SAFETY_ORDER.index(each.safety))
    return sessions
