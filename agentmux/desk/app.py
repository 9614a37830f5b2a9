"""The desk's Textual application: a list of sessions, and a page about the selected session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from textual.app import App, ComposeResult, SystemCommand
from textual.containers import Horizontal, Vertical
from textual.events import DescendantFocus, Event, Key, Paste
from textual.worker import WorkerFailed

from agentmux.core.names import layout
from agentmux.core.names.status_labels import Colour, StatusGroup
from agentmux.core.terminal.keys.key_commands import DESK, DESK_HELP, TABS, KeyCommand, KeyPlace
from agentmux.core.terminal.text.command_words import Words
from agentmux.core.terminal.text.text_width import width
from agentmux.desk.actions import Actions
from agentmux.desk.list import listing as lists
from agentmux.desk.list.listing import DeskRow, SessionListing
from agentmux.desk.repeated import Repeated
from agentmux.desk.screens.dialogs import TextDialog, name_key
from agentmux.desk.screens.file_list import FileChoice, FileList, file_line
from agentmux.desk.screens.widgets import (
    MessageLine,
    OneLine,
    PageView,
    SessionList,
    foot_parts,
    tab_parts,
)
from agentmux.desk.session.overview import command_words, offer_commands
from agentmux.desk.session.pages import OVERVIEW, SUMMARY, SessionPage, SessionPages
from agentmux.desk.styled import BOLD, DIM, PLAIN, Line, Part, line, plain
from agentmux.desk.tools import DeskTools
from agentmux.threads import in_daemon_thread

if TYPE_CHECKING:
    from textual.screen import Screen

    from agentmux.core.documents.diff_comments import LineComment
    from agentmux.core.terminal.keys.key_table import KeyLine
    from agentmux.desk.screens.fleet_screen import FleetScreen
    from agentmux.desk.session.code_colours import CodeColours

T = TypeVar("T")

_CSS: Final = """
Screen { layout: vertical; background: $background; color: $foreground; }
#head, #foot, #tabs, #note { height: 1; }
#body { height: 1fr; }
#list { width: 40%; min-width: 32; overflow-x: hidden; }
SessionList, PageView, VerticalScroll {
  scrollbar-size: 1 1;
  scrollbar-color: ansi_bright_black; scrollbar-color-hover: ansi_bright_black;
  scrollbar-color-active: ansi_bright_black; scrollbar-background: $background;
  scrollbar-background-hover: $background; scrollbar-background-active: $background;
  scrollbar-corner-color: $background;
}
#body.widened #list { display: none; }
#body.widened #right { border-left: none; padding-left: 0; }
#right { width: 1fr; border-left: solid ansi_bright_black; padding-left: 1; }
#right:focus-within { border-left: heavy ansi_bright_black; }
#beside { height: 1fr; }
#files { height: 1fr; scrollbar-size: 0 0; }
#page { width: 1fr; height: 1fr; }
ModalScreen { align: center middle; background: transparent; }
.dialog {
  width: 100%; max-width: 104; height: auto; max-height: 100%;
  border: round ansi_bright_black; padding: 0 1; background: $background;
}
.dialog VerticalScroll { height: auto; max-height: 70vh; }
.dialog TextArea { height: 8; background: $background; }
.title { text-style: bold; }
.foot { height: auto; text-style: bold; color: ansi_yellow; }
#choices { height: auto; }
.choice { height: 1; }
.about { height: auto; max-height: 4; }
"""

_UNSOUGHT: Final = tuple(each for each in DESK if each is not KeyPlace.FOUND)
"""The places whose keys always count."""
_CURSOR: Final = "\u258f"
_FILE_COLS: Final = 30
"""The most columns of a file's path above the diff."""

_REDRAW_S: Final = 20.0
_SCREEN_S: Final = 1.0
"""Seconds between two captures of a live screen while it is shown."""

_SETTLE_S: Final = 0.05
"""How many seconds a session must stay selected before its page is read.

So a key that is held down does not read the page of every session that it passes.
"""

_ACTING: Final = frozenset({*Actions.COMMANDS})
_ALWAYS_SHOWN: Final = (KeyCommand.KEYS, KeyCommand.QUIT)
"""The commands that always have room at the end of the screen's last line."""

_WELCOME: Final = """AgentMux takes a feature through a team of coding agents in tmux: architecture,
plan, code, review. You watch, answer their questions, and approve the result.

{begin}
"""
"""The page that is shown if there are no sessions, in Markdown."""
_ELSEWHERE: Final = "This folder is in no project: go to the folder of yours, and run `agentmux`."


class DeskApp(App[int]):
    """The Textual application of the desk. Its result is the exit code."""

    CSS = _CSS
    TITLE = "agentmux"
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, tools: DeskTools) -> None:
        super().__init__(ansi_color=True if tools.theme is None else None)
        self.theme = tools.theme or "ansi-dark"
        self.tools, has_fleet = tools, tools.fleet is not None
        self.keys = tools.keys if has_fleet else tools.keys.without(KeyCommand.FLEET)
        self.pages = SessionPages(tools.reader, tools.commands.locate, self.keys)
        self._fleet: FleetScreen | None = None
        self.sessions, self.view, self.files = SessionList(tools.now), PageView(), FileList()
        self._lines = {name: OneLine(name) for name in ("head", "tabs", "note", "foot")}
        self._message = MessageLine("said")
        self.listing = SessionListing()
        self.searching = False
        self._seeks_page = False
        self.on_page = False
        self.is_widened = False
        self.tab = TABS[0]
        self.part = 0
        self.comments: dict[Path, dict[str, LineComment]] = {}
        self._shown: tuple[Path | None, str, int] = (None, "", 0)
        self._turns = 0
        self._wanted_part = ""
        self._is_watching = False
        self._actions = Actions(self)
        self._pages_read = Repeated(self, self._load_page)
        self._overviews_read = Repeated(self, self._load_overview)
        self._is_touched = False
        self._wanted: Path | None = None
        self._looking = False
        self._stale: set[Path] = set()
        self._does: Mapping[KeyCommand, Callable[[], object]] = {
            KeyCommand.SEARCH: self._begin_search,
            KeyCommand.MARK: self._mark,
            KeyCommand.BACK: self._escape,
            KeyCommand.NEEDY: self._go_to_needy,
            KeyCommand.NEXT_TAB: lambda: self._next_tab(1),
            KeyCommand.LAST_TAB: lambda: self._next_tab(-1),
            KeyCommand.NEXT_PART: lambda: self._next_part(1),
            KeyCommand.LAST_PART: lambda: self._next_part(-1),
            KeyCommand.FILES: self._choose_file,
            KeyCommand.NEXT_HIT: lambda: self._go_to_hit(1),
            KeyCommand.LAST_HIT: lambda: self._go_to_hit(-1),
            KeyCommand.FOCUS: self._other_side,
            KeyCommand.WIDEN: lambda: self._widen(is_widened=not self.is_widened),
            KeyCommand.DIFF: lambda: self._read_on("diff"),
            KeyCommand.SUMMARY: lambda: self._read_on("documents", SUMMARY),
            KeyCommand.FLEET: self._show_fleet,
            KeyCommand.KEYS: self._show_keys,
            KeyCommand.PALETTE: self.action_command_palette,
            KeyCommand.QUIT: self.leave,
        }

    @property
    def failure(self) -> Exception | None:
        """The error that ended the desk; None if the user left it."""
        error = self._exception
        if isinstance(error, WorkerFailed) and isinstance(error.error, Exception):
            return error.error
        return error

    def _print_error_renderables(self) -> None:
        """Print nothing: the caller of `run` reports `failure` like the error of a command."""
        self._exit_renderables.clear()

    def compose(self) -> ComposeResult:
        """Yield the widgets of the desk."""
        yield self._lines["head"]
        with Horizontal(id="body"):
            yield self.sessions
            with Vertical(id="right"):
                yield self._lines["tabs"]
                yield self._lines["note"]
                with Horizontal(id="beside"):
                    yield self.files
                    yield self.view
        yield self._message
        yield self._lines["foot"]

    def on_mount(self) -> None:
        """Show the sessions that were read before the application started."""
        self.sessions.focus()
        self.tools.feed.attach(self._take)
        self._take()
        self.set_interval(_REDRAW_S, self._redraw)
        self._pulse = self.set_interval(_SCREEN_S, self._look_at_screen, pause=True)
        self._show_all()

    def _line(self, name: str) -> OneLine:
        return self._lines[name]

    # -- sessions ------------------------------------------------------------------------------

    def select_soon(self, path: Path) -> None:
        """Select the session at ``path``, as soon as it is in the list."""
        self._wanted = path
        self._select_wanted()
        self._show_all()

    def _select_wanted(self) -> None:
        if self._wanted is not None and self._wanted in self.listing.rows:
            self.listing = lists.select(self.listing, self._wanted)
            self._wanted, self._is_touched = None, True

    def _take(self) -> None:
        """Update the list with the sessions that the feed has read."""
        readings = self.tools.feed.take()
        rows = [row for each in readings for row in each.rows]
        gone = [path for each in readings for path in each.gone if path in self.listing.rows]
        examined = [row for each in readings for row in each.examined]
        changed = bool(rows or gone)
        if changed:
            kept = lists.kept_safety(self.listing, rows)
            self.listing = lists.with_rows(self.listing, kept, gone)
            self._stale |= {row.path for row in rows if row.can_be_resumed}
            if not self._is_touched:
                self.listing = lists.move(self.listing, _MOVES[KeyCommand.FIRST])
        self._select_wanted()
        if examined:
            self.listing = lists.with_examined(self.listing, examined)
            self._stale -= {row.path for row in examined}
        for problem in (each for read in readings for each in read.problems if not each.session):
            self.say(problem.message, Colour.RED)
        if readings and self.tools.feed.is_complete and (changed or not self._shown[1]):
            self.tools.feed.follow(self.listing.rows)
            self.tools.feed.examine(self._at_rest())
        if readings:
            self._show_all()

    def _at_rest(self) -> Iterator[DeskRow]:
        """Yield the interrupted sessions for which it is not known what a resume would do.

        The selected session comes first.
        """
        selected = self.listing.selected_row
        known = self.listing.shown_rows
        known = known if selected is None else (selected, *known)
        resting = (each for each in known if each.row.group is StatusGroup.INTERRUPTED)
        unknown = (e for e in resting if e.safety is None or e.path in self._stale)
        yield from {each.path: each for each in unknown}.values()

    def _redraw(self) -> None:
        self.sessions.refresh()
        self.tools.feed.look_for_projects()
        self.tools.feed.check(self.listing.rows)
        self._load_soon()

    def _show_all(self) -> None:
        if not self.is_running or not self.screen_stack:
            return
        self.sessions.show(self.listing)
        self._show_head()
        self._show_foot()
        self._load_soon()

    def _show_head(self) -> None:
        shown = self.listing.rows.values()
        counts = {group: sum(each.row.group is group for each in shown) for group in StatusGroup}
        parts: list[Part] = [("agentmux  ", BOLD)]
        for group, count in counts.items():
            if count:
                style = Colour.YELLOW.value if group is StatusGroup.NEEDS_YOU else PLAIN
                several = group is StatusGroup.NEEDS_YOU and count > 1
                parts.append((f"{count} {'need you' if several else group.value}  ", style))
        if not shown:
            reading = not self.tools.feed.is_complete
            none = f"no sessions: {self.keys.show(KeyCommand.NEW)} starts one"
            none = none if self._can_begin else "no sessions"
            parts.append(("reading …" if reading else none, DIM))
        if self.tools.fleet is not None:
            parts += [(self.keys.show(KeyCommand.FLEET), BOLD), (" the fleet  ", DIM)]
        if self.is_widened and self.listing.selected_row is not None:
            parts.append((layout.slug_of(self.listing.selected_row.name), BOLD))
        is_typed = self.searching and not self._seeks_page
        if self.listing.search_text or is_typed:
            cursor = _CURSOR if is_typed else ""
            parts.append((f"/{self.listing.search_text}{cursor}", BOLD))
        self._line("head").show(tuple(parts))

    def _show_foot(self) -> None:
        row = self.listing.selected_row
        commands = dict.fromkeys((*self._offer_commands(), KeyCommand.SEARCH, *_ALWAYS_SHOWN))
        words = {each: each.value if row is None else command_words(row, each) for each in commands}
        if self.on_page and not self.is_widened:
            words = {KeyCommand.FOCUS: "list", **words}
        cols = self._line("foot").size.width
        self._line("foot").show(*foot_parts(words, self.keys, _ALWAYS_SHOWN, cols))

    def _offer_commands(self) -> Iterator[KeyCommand]:
        row = self.listing.selected_row
        if row is not None:
            yield from offer_commands(row)
        if self.listing.marked:
            yield KeyCommand.RESUME
        if self._can_begin:
            yield KeyCommand.NEW

    @property
    def _can_begin(self) -> bool:
        """Whether a project is known in which a session can be started."""
        return self.tools.here is not None or bool(self.listing.rows)

    def unmark(self, paths: Collection[Path]) -> None:
        """Remove the marks of the sessions with these directories."""
        self.listing = lists.unmark(self.listing, paths)
        self._show_all()

    def say(self, text: str, colour: Colour = Colour.NONE) -> None:
        """Show a message above the keys, and return at once.

        It stays until the next message, or until the user presses a key that has a meaning. Empty
        text removes the message.
        """
        self._message.say(text, colour)

    # -- what the actions need -----------------------------------------------------------------

    async def ask(self, screen: Screen[T]) -> T | None:
        """Show a dialog, and return its result once the user has closed it.

        Call it in an action that `in_background` runs. What the result is, and whether it is None
        after a cancel, depends on the dialog.
        """
        return await self.push_screen_wait(screen)

    def in_background(self, action: Coroutine[None, None, None]) -> None:
        """Run an action as a task of the application; it may show dialogs."""
        self.run_worker(action)

    def in_foreground(self, project: Path | None, words: Words, *, waits: bool = False) -> int:
        """Suspend the desk, run a command in its terminal, and return the command's exit code.

        Args:
            project: The project in which the command works; None if it needs none.
            words: The arguments after ``agentmux``.
            waits: Whether to wait for Enter after the command also if it succeeded, so that its
                output can be read. After another exit code than 0, this always waits.
        """
        return self.run_program(self.tools.commands.argv(project, words), waits=waits)

    def run_program(self, argv: tuple[str, ...], *, waits: bool = False) -> int:
        """Suspend the desk, run a program in its terminal, and return the program's exit code.

        The code is 128 + N if signal N ended the program.

        Args:
            argv: The command line, the program first.
            waits: Whether to wait for Enter after the program also if it succeeded, so that its
                output can be read. After another exit code than 0, this always waits.

        Raises:
            MissingError: The program cannot be started.
        """
        with self.suspend():
            code = self.tools.foreground(argv, waits)
        self.refresh(layout=True)
        return code

    # -- the page ------------------------------------------------------------------------------

    def _load_soon(self) -> None:
        self._pages_read.again()

    async def _load_page(self) -> None:
        """Read the page of the selected session; of the overview, first what is read quickly."""
        await asyncio.sleep(_SETTLE_S)
        row, tab, part = self.listing.selected_row, self.tab, self.part
        if row is None:
            self.view.show(self._empty_page(), keeps_place=False)
            self._show_tabs(SessionPage())
            return
        shown = self.view.page if self._shown == (row.path, tab, part) else SessionPage()
        name = shown.parts[shown.at] if shown.parts else self._wanted_part
        if tab == OVERVIEW and self._shown == (row.path, tab, part):
            self._overviews_read.again()
            return
        turns = self._turns
        page = await in_daemon_thread(partial(self.pages.page, row, tab, part, name))
        if turns == self._turns:  # else a key has asked for another part, maybe of the same number
            self.show_page(row, tab, part, page)
        if tab == OVERVIEW:
            self._overviews_read.again()

    def _empty_page(self) -> SessionPage:
        """Return the page that is shown while no session is selected."""
        if self.listing.has_no_match:
            sought = f"No session matches the search \u201c{self.listing.search_text}\u201d."
            how = "Esc ends the search, Backspace erases a letter, Ctrl-U all."
            return SessionPage(lines=((), line(sought, BOLD), line(how)))
        is_empty = self.tools.feed.is_complete and not self.listing.rows
        begin = f"Press **{self.keys.show(KeyCommand.NEW)}** to start a feature in this project."
        welcome = _WELCOME.format(begin=begin if self._can_begin else _ELSEWHERE)
        return SessionPage(markdown=welcome) if is_empty else SessionPage()

    async def _load_overview(self) -> None:
        """Read the whole overview of the selected session, which may wait for git and tmux."""
        row, tab, part, turns = self.listing.selected_row, self.tab, self.part, self._turns
        if row is None or tab != OVERVIEW:
            return
        page = await in_daemon_thread(partial(self.pages.whole_overview, row))
        if turns == self._turns:
            self.show_page(row, tab, part, page)

    def show_page(self, row: DeskRow, tab: str, part: int, page: SessionPage) -> None:
        """Show a page, unless another session, tab or part was selected while it was read.

        Args:
            row: The session that the page is about.
            tab: The tab that the page belongs to.
            part: The index of the part of the tab.
            page: The page.
        """
        selected = self.listing.selected_row
        if selected is None or (selected.path, self.tab, self.part) != (row.path, tab, part):
            return
        key = (row.path, tab, part)
        self.view.commented = frozenset(self.comments.get(row.path, ()))
        self.view.show(page, keeps_place=key == self._shown)
        self._watch_screen(is_live=page.is_live)
        self._shown = key
        self._show_tabs(page)
        if page.colours is not None and page is self.view.page:
            self.run_worker(self._colour(page.colours))

    async def _colour(self, colours: CodeColours) -> None:
        """Colour the code of a diff that is shown, once what is needed for it is loaded."""
        await in_daemon_thread(colours.load)
        if self.view.page.colours is colours:
            self.view.redraw()

    def _watch_screen(self, *, is_live: bool) -> None:
        """Capture the shown screen each second while it is live, and end the capture after that."""
        if is_live is not self._is_watching:
            self._is_watching = is_live
            (self._pulse.resume if is_live else self._pulse.pause)()
            if not is_live:
                in_daemon_thread(self.pages.end_live)

    def _show_tabs(self, page: SessionPage) -> None:
        parts, names = tab_parts(self.tab, self._line("tabs").size.width)
        self._line("tabs").show(parts, names)
        self._show_note(page)

    def _show_note(self, page: SessionPage) -> None:
        """Show the line above a page, and beside it the list of files, if there is room."""
        self.files.show(page.files, self.view.file, self._line("tabs").size.width)
        self._line("note").show(tuple(self._note_parts(page)))

    def _note_parts(self, page: SessionPage) -> Iterator[Part]:
        is_typed, show = self.searching and self._seeks_page, self.keys.show
        next_ = show(KeyCommand.NEXT_PART)
        if self.view.sought or is_typed:
            yield (f"/{self.view.sought}{_CURSOR * is_typed}", BOLD)
            yield from self._hit_parts()
        elif page.files:
            several = f"{self.view.file + 1} of {len(page.files)} ({next_} next)  "
            about = (several if len(page.files) > 1 else "", DIM)
            parts = (about, *file_line(page.files[self.view.file], _FILE_COLS), ("  ", PLAIN))
            yield from parts
            yield from self._diff_keys(self._line("note").size.width - width(plain(parts)))
        else:
            several = f"{page.at + 1} of {len(page.parts)} ({next_} next)  "
            several *= len(page.parts) > 1
            yield (f"{several}{page.note}", DIM)

    def _diff_keys(self, cols: int) -> Line:
        """Return the keys for what can be done with a diff, those that fit into ``cols``."""
        words = {
            KeyCommand.WIDEN: "list" if self.is_widened else "wide",
            KeyCommand.FILES: "files",
            KeyCommand.EDIT: "edit",
            KeyCommand.COMMENT: "comment",
        }
        return foot_parts(words, self.keys, (), cols)[0]

    def _hit_parts(self) -> Iterator[Part]:
        """Yield the part of the line that says how many lines a search in the page has found."""
        view = self.view
        if view.hits:
            keys = f"{self.keys.show(KeyCommand.NEXT_HIT)} {self.keys.show(KeyCommand.LAST_HIT)}"
            yield (f"  {view.hit} of {len(view.hits)} lines  {keys} go on, Esc ends", DIM)
        elif view.sought:
            yield ("  no line here has it", Colour.YELLOW.value)

    def on_page_view_line_moved(self) -> None:
        """Show in which file of the diff, or at which hit of a search, the page is now."""
        self._show_note(self.view.page)

    async def _look_at_screen(self) -> None:
        """Capture the live screen that is shown, and draw it if it has changed."""
        row, page = self.listing.selected_row, self.view.page
        if row is None or not page.is_live or self._looking or len(self.screen_stack) > 1:
            return
        self._looking, turns = True, self._turns
        try:
            new_page = await in_daemon_thread(partial(self.pages.screen_again, row, page))
        finally:
            self._looking = False
        if turns != self._turns:
            return
        if new_page is None:
            self._load_soon()
        elif new_page.screen != page.screen:
            self.show_page(row, self.tab, self.part, new_page)

    def turn_to(self, tab: str, part: int = 0, name: str = "") -> None:
        """Show a tab of the selected session.

        Args:
            tab: One of `key_commands.TABS`.
            part: The index, from 0, of the part to show, such as a document or a seat.
            name: The name of the part, which is preferred to ``part``; empty to use ``part``.
        """
        self._turns += 1
        self.tab, self.part, self._shown = tab, part, (None, "", 0)
        self._wanted_part = name
        self._show_tabs(SessionPage())
        self._load_soon()

    def _read_on(self, tab: str, name: str = "") -> None:
        """Show a tab with something to read, and let the keys move in it; Esc is the way back."""
        self.turn_to(tab, name=name)
        self._go_to_side(on_page=True)

    # -- keys ----------------------------------------------------------------------------------

    async def on_event(self, event: Event) -> None:
        """Handle the desk's keys before Textual does, so that they take effect in their order.

        Other events, and keys without a meaning for the desk, are left to Textual. A key that a
        dialog has passed on comes here a second time, and is then left to Textual, too.
        """
        if not (isinstance(event, Key) and not event.is_forwarded and self._press(event)):
            await super().on_event(event)

    def _press(self, event: Key) -> bool:
        """Handle a key unless a dialog is open; return whether it has a meaning."""
        key = name_key(event)
        if self._fleet is not None and self.screen is self._fleet:
            return self._fleet.press(key)
        if len(self.screen_stack) != 1:
            return False
        if self.searching and self._type_search(event):
            return True
        first = (KeyPlace.FOUND,) * (self.on_page and bool(self.view.sought))
        command = self.keys.find(key, *first, *_UNSOUGHT, KeyPlace.FOUND)
        if command is not KeyCommand.NOTHING:
            self._run_command(command, key)
        return command is not KeyCommand.NOTHING

    def _type_search(self, event: Key) -> bool:
        """Handle a key while the user types a search; return whether the key belongs to it."""
        if event.key == "backspace":
            self._search(self._sought[:-1])
        elif event.key == "ctrl+u":
            self._search("")
        elif event.key == "enter":
            self.searching = False
            self._show_head()
            self._show_note(self.view.page)
        elif event.is_printable and event.character:
            self._search(self._sought + event.character)
        else:
            return False
        return True

    def on_paste(self, event: Paste) -> None:
        """Append a pasted text to the search, in one line; begin a search if there is none."""
        if len(self.screen_stack) == 1:
            if not self.searching:
                self._begin_search()
            self._search(self._sought + " ".join(event.text.split()))

    @property
    def _sought(self) -> str:
        return self.view.sought if self._seeks_page else self.listing.search_text

    def _search(self, text: str) -> None:
        if self._seeks_page:
            self.view.search(text)
            self._show_note(self.view.page)
        else:
            self.listing = lists.search(self.listing, text)
            self._show_all()

    def _go_to_hit(self, steps: int) -> None:
        if self.view.sought:
            self.view.go_to_hit(steps)
        else:
            keys = map(self.keys.show, (KeyCommand.SEARCH, KeyCommand.FOCUS, KeyCommand.WIDEN))
            self.say("{} searches in what is shown, after {} or {}".format(*keys))

    def _show_fleet(self) -> None:
        """Show the fleet, if one is set up."""
        from agentmux.desk.screens.fleet_screen import FleetScreen

        tools = self.tools
        if tools.fleet is not None:
            self._fleet = FleetScreen(tools, tools.fleet, self.in_foreground)
            self.push_screen(self._fleet)

    def _run_command(self, command: KeyCommand, key: str) -> None:
        """Run what a key of the desk stands for."""
        self._is_touched = True
        self.say("")
        self.do(command, key)

    def do(self, command: KeyCommand, key: str = "") -> None:
        """Run a command of the desk on the list, the page or the selected session.

        Args:
            command: The command.
            key: For `KeyCommand.TAB`, the number of the tab, from ``1``; else unused.
        """
        if command in _ACTING:
            if self.tools.agent and self.keys.line_of(command).decides:
                self.say(self.tools.agent, Colour.RED)
            else:
                self._actions.start_action(command)
        elif command in _MOVES:
            self._move(command)
        elif command is KeyCommand.TAB:
            self.turn_to(TABS[int(key) - 1])
        else:
            self._does[command]()
        if command in _LISTS:
            self._show_all()

    def _move(self, command: KeyCommand) -> None:
        on_page = self.on_page
        rows = max((self.view if on_page else self.sessions).size.height - 2, 1)
        steps = _MOVES[command]
        steps = steps * rows if command in {KeyCommand.PAGE_DOWN, KeyCommand.PAGE_UP} else steps
        if on_page:
            self.view.move(steps)
        else:
            self.listing = lists.move(self.listing, steps)
            self.part = 0
            self._show_all()

    def _next_tab(self, steps: int) -> None:
        if self.on_page and self.tab == "screens":
            self.view.scroll_relative(x=8 * steps, animate=False)
            return
        self.turn_to(TABS[(TABS.index(self.tab) + steps) % len(TABS)])

    def _next_part(self, steps: int) -> None:
        count = len(self.view.page.parts)
        if self.view.page.files:
            self.view.go_to_file(self.view.file + steps)
        elif count > 1:
            self.turn_to(self.tab, (self.view.page.at + steps) % count)

    def _choose_file(self) -> None:
        if self.view.page.files:
            self.in_background(self._ask_file())
        else:
            diff = self.keys.show(KeyCommand.DIFF)
            self.say(f"no changed files are shown: {diff} shows the diff")

    async def _ask_file(self) -> None:
        at = await self.ask(FileChoice(self.view.page.files, self.view.file))
        if at is not None and at < len(self.view.page.files):
            self.view.go_to_file(at)
            self._go_to_side(on_page=True)

    def on_file_list_picked(self, event: FileList.Picked) -> None:
        """Go to a file of the diff that was clicked."""
        self.view.go_to_file(event.at)
        self._go_to_side(on_page=True)

    def _other_side(self) -> None:
        self._go_to_side(on_page=not self.on_page)

    def _go_to_side(self, *, on_page: bool) -> None:
        """Give the focus to the page (``on_page``) or to the list."""
        self.on_page = on_page
        if not on_page and self.is_widened:
            self._widen(is_widened=False)
            return
        self.view.activate(is_active=on_page)
        self.sessions.is_active = not on_page
        (self.view if on_page else self.sessions).focus()
        self.sessions.refresh()
        self._show_foot()

    def _widen(self, *, is_widened: bool) -> None:
        """Hide the list to widen the page (``is_widened``), or show it again.

        The focus goes to the page while the list is hidden, and back to the list afterwards.
        """
        self.is_widened = is_widened
        self.query_one("#body").set_class(is_widened, "widened")
        self._go_to_side(on_page=is_widened)
        self.call_after_refresh(self._show_all)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Let keys go to the page or to the list after a click on it."""
        if event.widget in {self.view, self.sessions}:
            on_page = event.widget is self.view
            if on_page is not self.on_page and event.widget.mouse_hover:
                self._go_to_side(on_page=on_page)

    def _escape(self) -> None:
        if self.on_page and (self.view.sought or (self.searching and self._seeks_page)):
            self.searching, self._seeks_page = False, True
            self._search("")
        elif self.searching or self.listing.search_text:
            self.searching = False
            self.listing = lists.search(self.listing, "")
        elif self.on_page:
            self._other_side()
        else:
            self.listing = lists.unmark(self.listing)

    def _begin_search(self) -> None:
        """Search the side that has the focus."""
        self.searching, self._seeks_page = True, self.on_page
        if self.on_page:
            self._search("")

    def _mark(self) -> None:
        self.listing = lists.move(lists.mark(self.listing), 1)

    def _go_to_needy(self) -> None:
        self.listing = lists.next_in_need(self.listing)
        selected = self.listing.selected_row
        if selected is None or selected.row.group is not StatusGroup.NEEDS_YOU:
            self.say("no session needs you")

    def _show_keys(self) -> None:
        fleet = (KeyPlace.FLEET,) * (self.tools.fleet is not None)
        self.push_screen(
            TextDialog("All keys of the desk", self.keys.help_lines(*DESK_HELP, *fleet))
        )

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Yield the entries of Textual's command palette: the commands of ``screen``."""
        if self._fleet is not None and screen is self._fleet:
            yield from self._fleet.commands()
            return
        for each in self._listed_keys():
            does = partial(self.do, each.command)
            yield SystemCommand(f"{each.command.value} ({each.label})", each.says, does)
        for tab in TABS:
            yield SystemCommand(f"show {tab}", f"the tab {tab}", partial(self.turn_to, tab))

    def _listed_keys(self) -> Iterator[KeyLine]:
        """Yield the keys that the palette lists: all but those that move the selection."""
        unlisted = {*_MOVES, KeyCommand.TAB, KeyCommand.PALETTE}
        return (each for each in self.keys.lines_at(*DESK) if each.command not in unlisted)

    # -- the mouse -----------------------------------------------------------------------------

    def on_session_list_picked(self, event: SessionList.Picked) -> None:
        """Select a session that was clicked; attach to it after a double click."""
        self._is_touched = True
        self.listing = lists.select(self.listing, event.path)
        self.part = 0
        self._show_all()
        if event.twice:
            self.do(KeyCommand.ATTACH)

    def on_one_line_clicked(self, event: OneLine.Clicked) -> None:
        """Run the command that was clicked in the last line, or show the tab that was clicked."""
        if event.name in TABS:
            self.turn_to(event.name)
        elif event.name in KeyCommand.__members__:
            self.do(KeyCommand[event.name])

    def on_one_line_resized(self, event: OneLine.Resized) -> None:
        """Fit the keys or the tabs into the new width of their line."""
        if event.sender is self._line("foot"):
            self._show_foot()
        elif event.sender is self._line("tabs"):
            self._show_tabs(self.view.page)

    def leave(self) -> None:
        """End the desk; the sessions keep running."""
        self.tools.feed.close()
        in_daemon_thread(self.pages.end_live)
        self.exit(0)


_MOVES: Final = {
    KeyCommand.DOWN: 1,
    KeyCommand.UP: -1,
    KeyCommand.PAGE_DOWN: 1,
    KeyCommand.PAGE_UP: -1,
    KeyCommand.FIRST: -1_000_000,
    KeyCommand.LAST: 1_000_000,
}
_LISTS: Final = frozenset({KeyCommand.SEARCH, KeyCommand.MARK, KeyCommand.BACK, KeyCommand.NEEDY})
