"""Reads the pages that the desk's tabs show about a session, without changing anything.

The functions read files and run git, so the desk calls them in threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from agentmux.adapters.disk.files import read_limited
from agentmux.app.session.search.lookup import SessionEntry, entry_at
from agentmux.app.views.session.documents import documents
from agentmux.app.views.status import look
from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.core.documents.diff_comments import diff_places
from agentmux.core.documents.diff_files import DiffFile, diff_files
from agentmux.core.terminal.keys.key_commands import KeyCommand
from agentmux.core.terminal.keys.key_table import KEYS, KeyTable
from agentmux.core.terminal.text.text_width import printable_line
from agentmux.desk.session.code_colours import CodeColours
from agentmux.desk.session.live_screens import LiveScreens
from agentmux.desk.session.overview import (
    OverviewFacts,
    head_lines,
    more_lines,
    place_lines,
)
from agentmux.desk.session.stake import StakeReader, blank_screen
from agentmux.desk.styled import BOLD, DIM, PLAIN, Line, line
from agentmux.errors import AgentmuxError, data_error_from

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from agentmux.app.result import SessionProblem
    from agentmux.app.views.session.last_screens import LastScreen
    from agentmux.app.world import Site
    from agentmux.desk.list.listing import DeskRow
    from agentmux.desk.list.reading import SessionReader
    from agentmux.ports.tmux.display import ResultView

SUMMARY: Final = "summary.md"
"""The name of the document that `KeyCommand.SUMMARY` shows."""
TEXT_MAX: Final = 1 << 20
"""The most bytes of a document that is shown."""
_EVENTS: Final = 400
OVERVIEW: Final = "overview"
"""The tab that is shown first."""
_OF_MESSAGES: Final = (OVERVIEW, "why")
_ABSENT: Final = "nothing yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage:
    """The page of one tab about a session: lines, a Markdown text, or a screen.

    Attributes:
        lines: The lines of text; empty for a Markdown text or a screen.
        markdown: The Markdown text to render; empty for lines or a screen.
        screen: The rows of a terminal's screen, with SGR sequences; empty if there is none.
        result: The result that the user has to decide on; None if there is none.
        more: The lines below a screen or a result. Then these get the room between ``lines`` and
            the bottom of the view: of a screen the last rows, of a result the shortest version.
        parts: The names of the parts of the tab, such as documents or seats; the page shows one.
        at: The index of the part that the page shows.
        note: The text above the page; may be empty.
        shown: The captured screen that ``screen`` shows; None if the page shows no screen.
        is_live: Whether ``shown`` is a current capture rather than the last saved screen.
        places: For each line of a diff, its file and line number; empty if the page is no diff.
        whole: For each line, the full line, which is shown while that line is selected; the others
            are cut. Empty if all lines are shown in full.
        files: The files of a diff; empty if the page is no diff.
        colours: Colours the code of a diff; None if the page is no diff.
    """

    lines: tuple[Line, ...] = ()
    markdown: str = ""
    screen: tuple[str, ...] = ()
    result: ResultView | None = None
    more: tuple[Line, ...] = ()
    parts: tuple[str, ...] = ()
    at: int = 0
    note: str = ""
    shown: LastScreen | None = None
    is_live: bool = False
    places: tuple[str, ...] = field(default=())
    whole: tuple[Line, ...] = ()
    files: tuple[DiffFile, ...] = ()
    colours: CodeColours | None = field(default=None, compare=False)

    @property
    def is_only_screen(self) -> bool:
        """Whether the page shows a screen and nothing else."""
        return bool(self.screen) and not self.lines

    @property
    def is_of_lines(self) -> bool:
        """Whether the page has lines only: no Markdown text, screen or result, nor lines below."""
        return not (self.markdown or self.screen or self.result or self.more)

    @property
    def has_cursor(self) -> bool:
        """Whether the page's lines can be selected."""
        return bool(self.places or self.whole)


def as_page(text: str, style: str = DIM) -> SessionPage:
    """Return a page that shows only ``text``, in ``style`` (`DIM`, or another style of a line)."""
    return SessionPage(lines=(line(text, style),))


def _trouble(found: AgentmuxError | SessionProblem) -> SessionPage:
    hints = (line(f"  {each}", DIM) for each in found.hints)
    return SessionPage(lines=(line(found.message, "red"), *hints))


class SessionPages:
    """Reads the pages of sessions."""

    def __init__(
        self,
        reader: SessionReader,
        locate: Callable[[str, Path | None], str],
        keys: KeyTable = KEYS,
    ) -> None:
        """Set how sessions are read.

        Args:
            reader: Reads the sessions.
            locate: Changes the commands in a message about a project so that they work in any
                directory.
            keys: The keys of the desk.
        """
        self._reader = reader
        self._locate = locate
        self._keys = keys
        self._live = LiveScreens()
        self._stakes = StakeReader(reader, self._live)
        self._makers: Mapping[str, Callable[[DeskRow, int, str], SessionPage]] = {
            OVERVIEW: self._overview,
            "screens": self._screens,
            "documents": self._documents,
            "diff": self._diff,
            "why": self._why,
            "journal": self._journal,
        }

    def page(self, row: DeskRow, tab: str, at: int = 0, name: str = "") -> SessionPage:
        """Return the page of a tab about a session. If it cannot be read, it shows the error.

        It reads files and may run git and tmux, so call it in a thread.

        Args:
            row: The session.
            tab: One of `key_commands.TABS`.
            at: The index of the part of the tab, such as a document or a seat, modulo the number of
                parts.
            name: The name of the part, which is preferred to ``at`` if it exists, because the
                indexes may have changed; empty to use ``at``.
        """
        return self._read(row, tab, partial(self._makers[tab], row, at, name))

    def _read(self, row: DeskRow, tab: str, read: Callable[[], SessionPage]) -> SessionPage:
        try:
            result = read()
            return self._with_project(result, row.project) if tab in _OF_MESSAGES else result
        except (AgentmuxError, OSError) as error:
            known = data_error_from(error) if isinstance(error, OSError) else error
            return self._with_project(_trouble(known), row.project)

    def _with_project(self, page: SessionPage, project: Path) -> SessionPage:
        lines, more = (
            tuple(tuple((self._locate(text, project), style) for text, style in e) for e in part)
            for part in (page.lines, page.more)
        )
        result = page.result and replace(
            page.result, checks=tuple(self._locate(each, project) for each in page.result.checks)
        )
        return replace(page, lines=lines, more=more, result=result)

    def _entry(self, row: DeskRow) -> tuple[Site, SessionEntry]:
        site = self._reader.site(row.project)
        return site, entry_at(site, row.path)

    def whole_overview(self, row: DeskRow) -> SessionPage:
        """Return the whole page of the tab `OVERVIEW`, also with what has to wait for git and tmux.

        That is a result to decide on, an outcome, the plan of a resume, the output of what failed,
        or a screen. The page that `page` returns for the tab has only what is read quickly. Call it
        in a thread.
        """
        return self._read(row, OVERVIEW, partial(self._overview, row, is_whole=True))

    def _overview(self, row: DeskRow, *_: object, is_whole: bool = False) -> SessionPage:
        site, entry = self._entry(row)
        (view,) = look(site, (entry,)).data
        facts = OverviewFacts(
            view=view,
            title=entry.title,
            project=row.project,
            row=row,
            now=site.now(),
            keys=self._keys,
        )
        if entry.problem is None:
            facts = facts.with_journal(site.files(row.path))
        page = SessionPage(lines=tuple(head_lines(facts)), more=tuple(more_lines(facts)))
        if not is_whole:
            return page
        stake = self._stakes.stake(row, site, entry, view)
        if stake.lines:  # the plan of a resume has the warning, too
            page = replace(page, lines=tuple(head_lines(facts.without_warning())))
        first = ((), *stake.lines) if stake.lines else ()
        page = replace(page, lines=(*page.lines, *first), result=stake.result, screen=stake.output)
        if stake.screen is None:
            return page
        return with_screen(page, stake.screen, site.now(), is_live=stake.is_live)

    # -- screens -----------------------------------------------------------------------------

    def _screens(self, row: DeskRow, at: int, name: str) -> SessionPage:
        from agentmux.app.views.session.last_screens import readable_screens

        site, entry = self._entry(row)
        seats = self._live.seats(site, entry) if row.live else ()
        held = entry.fields.get("agents")
        seats = tuple(dict.fromkeys((*seats, *(held if isinstance(held, dict) else ()))))
        kept = {each.seat: each for each in readable_screens(row.path, seats, read_limited)}
        shown = {seat: kept.get(seat) or blank_screen(entry, seat) for seat in seats}
        if not shown:
            return as_page(_ABSENT)
        at = _place(seats, at, name)
        last = shown[seats[at]]
        now = self._live.screen(row.path, last, site.now()) if row.live else None
        page = SessionPage(parts=seats, at=at)
        return with_screen(page, now or last, site.now(), is_live=now is not None)

    def screen_again(self, row: DeskRow, page: SessionPage) -> SessionPage | None:
        """Return the page with its live screen captured again; waits for tmux.

        None if ``page`` shows no live screen, or the screen cannot be captured any more.
        """
        if page.shown is None or not page.is_live:
            return None
        now = self._reader.site(row.project).now()
        live_screen = self._live.screen(row.path, page.shown, now)
        if live_screen is None:
            return None
        return with_screen(page, live_screen, now, is_live=True)

    def end_live(self) -> None:
        """End the tmux clients; call this when no screen is shown any more."""
        self._live.close()

    # -- documents ---------------------------------------------------------------------------

    def _documents(self, row: DeskRow, at: int, name: str) -> SessionPage:
        names = tuple(documents(row.path))
        if name == SUMMARY and not any(each.endswith(f"/{SUMMARY}") for each in names):
            return as_page("there is no summary yet")
        if not names:
            return as_page(_ABSENT)
        at = _place(names, at, name)
        data = read_limited(row.path / names[at], TEXT_MAX)
        if data is None:
            return SessionPage(lines=(line("it cannot be read", "red"),), parts=names, at=at)
        text = data.decode("utf-8", "replace")
        if names[at].endswith(".md"):
            return SessionPage(markdown=text, parts=names, at=at, note=names[at])
        lines = tuple(line(each) for each in text.splitlines())
        return SessionPage(lines=lines, parts=names, at=at, note=names[at])

    # -- diff --------------------------------------------------------------------------------

    def _diff(self, row: DeskRow, *_: object) -> SessionPage:
        from agentmux.app.delivery.approval.result_view import every_change

        world, state = self._reader.place_row(row)
        changes = every_change(world, world.files(row.path), state)
        texts, places = tuple(map(printable_line, changes)), tuple(diff_places(changes))
        files = diff_files(changes, places)
        return SessionPage(
            lines=tuple(line(each, _diff_style(each)) for each in texts),
            places=places,
            files=files,
            colours=CodeColours(texts, places, files),
        )

    # -- why, journal ------------------------------------------------------------------------

    def _why(self, row: DeskRow, *_: object) -> SessionPage:
        from agentmux.app.views.explanation import explanation

        site, entry = self._entry(row)
        if entry.problem is not None:
            return _trouble(entry.problem)
        lines = explanation(self._reader.world(row.project), site, entry, explain=True)
        (view,) = look(site, (entry,)).data
        return SessionPage(
            lines=(
                *(line(e, PLAIN if e.startswith(" ") else BOLD) for e in lines),
                *place_lines(view, row.project),
            )
        )

    def _journal(self, row: DeskRow, *_: object) -> SessionPage:
        from agentmux.desk.session.journal_lines import journal_lines, whole_lines

        site, _entry = self._entry(row)
        events = site.files(row.path).tail(0)
        newest, now = [event for event, _ in events[-_EVENTS:]], site.now()
        if not newest:
            return as_page(_ABSENT)
        focus, up, down = map(self._keys.show, (KeyCommand.FOCUS, KeyCommand.UP, KeyCommand.DOWN))
        older = f"the newest {_EVENTS} of {len(events)} events; " * (len(events) > _EVENTS)
        return SessionPage(
            lines=tuple(journal_lines(newest, now)),
            whole=tuple(whole_lines(newest, now)),
            note=f"{older}{focus}, then {up}{down}: one with all its values",
        )


def _place(names: tuple[str, ...], at: int, name: str) -> int:
    ends = (n for n, each in enumerate(names) if name in {each, each.rpartition("/")[2]})
    return next(ends, at % len(names))


def with_screen(
    page: SessionPage, shown: LastScreen, now: datetime, *, is_live: bool
) -> SessionPage:
    """Return the page with a screen, and with a note above it that says whose screen it is.

    Args:
        page: The page without the screen, or with an earlier one.
        shown: The screen.
        now: The current time.
        is_live: Whether the screen was captured just now.
    """
    from agentmux.app.views.session.last_screens import heading

    whose = ", ".join(filter(None, (shown.seat, shown.agent)))
    return replace(
        page,
        screen=shown.paint_rows() or ("",),
        note=f"live: {whose}" if is_live else heading(shown, now),
        shown=shown,
        is_live=is_live,
    )


_DIFF_STYLES: Final = (
    (("diff ", "+++", "---"), BOLD),
    (("index ", "new file", "deleted file", "similarity", "rename"), DIM),
    (("old mode", "new mode", "copy "), DIM),
    (("@@",), "cyan"),
    (("+",), "green"),
    (("-",), "red"),
)


def _diff_style(text: str) -> str:
    return next((style for starts, style in _DIFF_STYLES if text.startswith(starts)), PLAIN)
