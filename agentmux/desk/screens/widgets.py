"""The widgets of the desk. They draw lines of styled text, only those that are visible."""

from __future__ import annotations

import functools
import itertools
import operator
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from agentmux.app.views.session.result_lines import ResultStyle, result_lines
from agentmux.core.documents.diff_files import file_at
from agentmux.core.names.status_labels import Colour
from agentmux.core.terminal.keys.key_commands import TABS, KeyCommand
from agentmux.core.terminal.keys.key_table import KeyTable
from agentmux.core.terminal.text.text_width import clean, printable, printable_line, width, wrap
from agentmux.desk.list.list_lines import heading_line, row_line, titles_of
from agentmux.desk.list.listing import DeskRow, Heading, ListLine, SessionListing
from agentmux.desk.list.titles import Title
from agentmux.desk.session.pages import SessionPage
from agentmux.desk.styled import BOLD, DIM, PLAIN, Line, Part, fit_parts, line, plain

WIDEST: Final = 100
"""The most columns that a text uses, because longer lines are hard to read."""

NO_MATCH: Final = "nothing matches: Esc ends it"
"""What the list says if no session matches the search."""

_REVERSE: Final = Style(reverse=True)
_LEAST_ROWS: Final = 6
"""The fewest rows in which a screen or a result is shown below the lines of a page."""

_RESULT_STYLES: Final = {
    ResultStyle.TEXT: PLAIN,
    ResultStyle.HEADING: BOLD,
    ResultStyle.MORE: DIM,
}

_RULED: Final = re.compile(r"[\s\u2500-\u259f_=-]*.?")
"""A row that consists of lines and the edges of boxes."""

_MESSAGE_ROWS: Final = 3
"""The most rows of a message above the keys."""

_MOST_LINES: Final = 400
"""The most rows into which one line of a page is broken."""


@functools.cache
def _style(words: str) -> Style:
    return Style.parse(words) if words else Style()


def strip_of(parts: Line, cols: int, *, base: Style | None = None) -> Strip:
    """Convert a line to a Textual strip of exactly ``cols`` columns.

    ``parts`` are the line's pairs of text and style; what does not fit is cut. ``base`` is a style
    to add to all parts and to the empty rest of the line; None to add no style.
    """
    segments = [
        Segment(text, _style(style) + base if base is not None else _style(style))
        for text, style in fit_parts(parts, cols)
        if text
    ]
    return Strip(segments).adjust_cell_length(cols, base or Style())


class Themed(Widget):
    """A widget whose text has the colours of the theme, unless it has colours of its own."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the drawn lines of a part of the widget."""
        strips = super().render_lines(crop)
        if self.app.native_ansi_color:
            return strips
        return [each.apply_style(self.rich_style) for each in strips]


class SessionList(ScrollView, Themed, can_focus=True):
    """The widget with the list of sessions.

    Attributes:
        listing: The list that is shown.
        is_active: Whether keys go to the list rather than to the page.
    """

    class Picked(Message):
        """The message that a session was clicked.

        Attributes:
            path: The session's directory.
            twice: Whether it was a double click.
        """

        def __init__(self, path: Path, *, twice: bool) -> None:
            super().__init__()
            self.path, self.twice = path, twice

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__(id="list")
        self.listing = SessionListing()
        self.is_active = True
        self._now = now
        self._drawn: tuple[tuple[tuple[ListLine, ...], int], Mapping[Path, Title]] | None = None

    def show(self, listing: SessionListing) -> None:
        """Show a list, scrolled so that its selected session is visible."""
        moved = (
            listing.place != self.listing.place
            or listing.selected_path != self.listing.selected_path
        )
        self.listing = listing
        self.virtual_size = Size(self.size.width, len(listing.lines))
        if moved and listing.selected_path is not None:
            place = listing.place
            top = 0 if place <= 1 else place
            self.scroll_to_region(Region(0, top, 1, place - top + 1), animate=False, force=True)
        self.refresh()

    def on_resize(self, _: Resize) -> None:
        """Keep the selected session visible."""
        self.call_after_refresh(self._refresh_sight)

    def _refresh_sight(self) -> None:
        self.virtual_size = Size(self.size.width, len(self.listing.lines))
        self.scroll_to_region(Region(0, self.listing.place, 1, 1), animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        """Return the drawn line in the row ``y`` of the widget."""
        cols = self.scrollable_content_region.width
        place = y + self.scroll_offset.y
        if place >= len(self.listing.lines):
            none = line(NO_MATCH if y == 0 and self.listing.has_no_match else "", DIM)
            return strip_of(none, cols)
        shown = self.listing.lines[place]
        if isinstance(shown, Heading):
            return strip_of(heading_line(shown, cols), cols)
        selected = shown.path == self.listing.selected_path
        base = None
        if selected:
            base = _REVERSE if self.is_active else Style(bold=True)
        title = self._titles(cols)[shown.path]
        return strip_of(row_line(self.listing, shown, title, cols, self._now()), cols, base=base)

    def _titles(self, cols: int) -> Mapping[Path, Title]:
        """Return the titles of all sessions, made again if a line or the width has changed."""
        key = self.listing.lines, cols
        if self._drawn is None or self._drawn[0][0] is not key[0] or self._drawn[0][1] != cols:
            self._drawn = key, titles_of(self.listing, cols)
        return self._drawn[1]

    def on_click(self, event: Click) -> None:
        """Report a click on a session with `Picked`."""
        place = event.y + self.scroll_offset.y
        lines = self.listing.lines
        entry = lines[place] if 0 <= place < len(lines) else None
        if isinstance(entry, DeskRow):
            self.post_message(self.Picked(entry.path, twice=event.chain > 1))


class PageView(ScrollView, Themed, can_focus=True):
    """The widget with the page of the selected tab. In a diff and a journal, one line is selected.

    Attributes:
        page: The page that is shown.
        cursor: The index of the selected line.
        is_active: Whether keys go to the page rather than to the list.
        commented: The places of the diff, such as ``calc.py:12``, that have a comment.
        sought: The text of the search in the page; empty without a search.
        hits: The indexes of the lines that contain the searched text.
    """

    class LineMoved(Message):
        """The message that another line was selected, or that the page shows another search hit."""

    def __init__(self) -> None:
        super().__init__(id="page")
        self.page = SessionPage()
        self.cursor = 0
        self.is_active = False
        self.commented: frozenset[str] = frozenset()
        self.sought = ""
        self.hits: tuple[int, ...] = ()
        self._strips: list[Strip | None] = []
        self._hit = -1
        self._line_of: list[int] = []
        self._spans: list[tuple[int, int]] = []
        self._texts: list[str] = []  # what a search looks at
        self._cols = 0

    def show(self, page: SessionPage, *, keeps_place: bool) -> None:
        """Show a page.

        Args:
            page: The page.
            keeps_place: Whether to keep the position, because it is a new version of the same page;
                otherwise the page is shown from its beginning.
        """
        if page == self.page and self._cols == self.size.width:
            return
        newer = len(page.whole) - len(self.page.whole)
        self.page = page
        if not keeps_place:
            self.cursor = 0
        elif page.whole and self.cursor:
            self.cursor += newer  # the newest come first
        self._lay_out()
        if not keeps_place:
            bottom = len(self._strips) if page.is_only_screen else 0
            self.scroll_to(y=bottom, animate=False, force=True)

    def _lay_out(self) -> None:
        self._cols = self.size.width
        cols = max(self._cols - 1, 1)  # the scroll bar comes and goes
        self._spans, self._texts = [], []
        if self.page.places:
            self._lay_out_code(cols)
        else:
            self._lay_out_text(cols)
        self.cursor = min(self.cursor, max(len(self.page.lines) - 1, 0))
        widest = max((each.cell_length for each in self._strips if each), default=0)
        wide = widest if self.page.is_only_screen else cols
        self.virtual_size = Size(wide, len(self._strips))
        self.hits = tuple(self._find_hits())
        self.refresh()

    def _lay_out_text(self, cols: int) -> None:
        if self.page.markdown:
            self._strips = list(
                self._render_strips(_markdown(self.page.markdown), min(cols, WIDEST))
            )
            self._line_of = list(range(len(self._strips)))
        elif self.page.is_only_screen:
            self._strips = [_screen_row(row) for row in self.page.screen]
            self._line_of = list(range(len(self._strips)))
        else:
            broken = [
                (number, part)
                for number, each in enumerate(self.page.lines)
                for part in self._rows_of(number, each, cols)
            ]
            self._strips = [strip_of(part, max(cols, 1)) for _, part in broken]
            self._line_of = [number for number, _ in broken]
            if not self.page.is_of_lines:
                self._strips += self._middle(cols)
                more = (e for each in self.page.more for e in _broken(each, min(cols, WIDEST)))
                self._strips += [strip_of(part, cols) for part in more]
                self._line_of = list(range(len(self._strips)))

    def _middle(self, cols: int) -> list[Strip]:
        """Return the rows of a screen or a result that have room below the lines of the page."""
        page, room = self.page, max(self.size.height - len(self._strips) - 1, _LEAST_ROWS)
        if page.result is not None:
            lines = result_lines(page.result, min(cols, WIDEST), room)
            shown = [strip_of(line(e.text, _RESULT_STYLES[e.style]), cols) for e in lines]
        else:
            rows = list(itertools.dropwhile(_is_blank, map(_screen_text, page.screen)))
            shown = [part for row in rows for part in _wrapped_row(row, cols)][-room:]
        return [Strip.blank(cols, Style()), *shown] if shown else []

    def _lay_out_code(self, cols: int) -> None:
        """Break the lines of a diff, which may have many, without drawing them."""
        rows = [
            (number, span)
            for number, each in enumerate(self.page.lines)
            for span in _spans(plain(each), cols)
        ]
        self._line_of = [number for number, _ in rows]
        self._spans = [span for _, span in rows]
        self._strips = [None] * len(rows)

    def redraw(self) -> None:
        """Draw the lines of a diff again, because their code can be coloured now.

        Only for a diff: other pages lose their rows and cannot be drawn any more.
        """
        self._strips = [None] * len(self._strips)
        self.refresh()

    def _strip(self, place: int) -> Strip:
        """Return the strip of a row; one of a diff is drawn when it is needed first."""
        strip = self._strips[place]
        if strip is None:
            number = self._line_of[place]
            colours = self.page.colours
            parts = (colours.parts(number) if colours is not None else None) or self.page.lines[
                number
            ]
            start, end = self._spans[place]
            inner = tuple(_slice(parts, start, end))
            strip = strip_of(((_HANG, PLAIN), *inner) if start else inner, self._cols)
            self._strips[place] = strip
        return strip

    def _rows_of(self, number: int, shown: Line, cols: int) -> Iterator[Line]:
        """Yield the rows on which one line of the page is drawn.

        In a page with ``whole`` lines, only the selected line has more than one row.
        """
        whole = self.page.whole
        if not whole:
            yield from _broken(shown, min(cols, WIDEST))
        elif number == self.cursor and self.is_active:
            yield from _broken(whole[number], cols)
        else:
            yield fit_parts(((printable(text), style) for text, style in shown), cols)

    def activate(self, *, is_active: bool) -> None:
        """Set whether keys go to the page rather than to the list."""
        self.is_active = is_active
        self._move_to(self.cursor)

    def _render_strips(self, renderable: RenderableType, cols: int) -> Iterator[Strip]:
        options = self.app.console.options.update(width=cols, height=None)
        for each in self.app.console.render_lines(renderable, options, pad=False):
            yield Strip([Segment(text, style or Style()) for text, style, _ in each])

    def on_resize(self, _: Resize) -> None:
        """Break the lines for the new width."""
        if self.size.width != self._cols or not self.page.is_of_lines:
            self._lay_out()

    def render_line(self, y: int) -> Strip:
        """Return the drawn line in the row ``y`` of the widget."""
        cols, place = self.size.width, y + self.scroll_offset.y
        if place >= len(self._strips):
            return Strip.blank(cols, Style())
        strip = self._strip(place)
        number = self._line_of[place]
        places = self.page.places
        if places and number < len(places) and places[number] in self.commented:
            strip = strip.apply_style(Style(bold=True, underline=True))
        selected = self.page.has_cursor and number == self.cursor and self.is_active
        if selected:
            strip = strip.apply_style(_REVERSE)
        if self.sought:
            strip = _with_hits(strip, self.sought, Style(bold=True, reverse=not selected))
        left = self.scroll_offset.x
        return strip.crop_extend(left, left + cols, Style())

    def move(self, steps: int) -> None:
        """Move the selection by ``steps`` lines; scroll a page that has no selected line.

        Negative steps move up. The selection stops at the first and the last line.
        """
        if not self.page.has_cursor:
            self.scroll_relative(y=steps, animate=False, force=True)
            return
        last = len(self.page.lines) - 1
        self._move_to(min(max(self.cursor + steps, 0), max(last, 0)))
        self._see_cursor()

    def _move_to(self, cursor: int) -> None:
        self.cursor = cursor
        if self.page.whole:
            self._lay_out()
        self.refresh()
        self.post_message(self.LineMoved())

    def _see_cursor(self) -> None:
        if self.cursor in self._line_of:
            place = self._line_of.index(self.cursor)
            rows = self._line_of.count(self.cursor)
            self.scroll_to_region(Region(0, place, 1, rows), animate=False, force=True)

    def on_click(self, event: Click) -> None:
        """Select the line that was clicked, if lines of the page can be selected."""
        place = event.y + self.scroll_offset.y
        if self.page.has_cursor and 0 <= place < len(self._line_of):
            self._move_to(self._line_of[place])

    @property
    def place(self) -> str:
        """The file and line number of the selected line of a diff, such as ``calc.py:12``.

        Empty if the line is of no file, or if the page is no diff.
        """
        places = self.page.places
        return places[self.cursor] if self.cursor < len(places) else ""

    # -- the files of a diff -------------------------------------------------------------------

    @property
    def file(self) -> int:
        """The index in ``page.files`` of the file of the diff in which the selected line is.

        It is 0 before the first file, and if the page is no diff.
        """
        return file_at(self.page.files, self.cursor)

    def go_to_file(self, at: int) -> None:
        """Select the first line of a file of the diff, and show it at the top.

        ``at`` is the index of the file, modulo the number of files. The page must be a diff.
        """
        self._move_to(self.page.files[at % len(self.page.files)].at)
        place = self._line_of.index(self.cursor)
        self.scroll_to(y=place, animate=False, force=True)

    # -- the search ----------------------------------------------------------------------------

    def search(self, text: str) -> None:
        """Show which lines contain ``text``, and go to the next of them; after the last, the first.

        Nothing moves if the current line contains it, or no line does. Case is ignored. Empty text
        ends the search.
        """
        self.sought = text
        self.hits = tuple(self._find_hits())
        if self.hits and self._here not in self.hits:
            self.go_to_hit(1)
        self.refresh()

    def go_to_hit(self, steps: int) -> None:
        """Go to the next line that contains the searched text (``steps`` 1) or the one before (-1).

        After the last such line comes the first. Nothing happens if there is none.
        """
        if not self.hits:
            return
        here = self._here
        at = bisect_right(self.hits, here) if steps > 0 else bisect_left(self.hits, here) - 1
        self._hit = self.hits[at % len(self.hits)]
        if self.page.has_cursor:
            self._move_to(self._hit)
            self._see_cursor()
            return
        place = self._line_of.index(self._hit)
        self.scroll_to(y=max(place - self.size.height // 2, 0), animate=False, force=True)
        self.post_message(self.LineMoved())

    @property
    def hit(self) -> int:
        """The number, from 1, of the last line up to the current one that the search has found.

        0 if there is none.
        """
        return bisect_right(self.hits, self._here)

    @property
    def _here(self) -> int:
        """The line from which the next hit is sought."""
        return self.cursor if self.page.has_cursor else self._hit

    def _find_hits(self) -> Iterator[int]:
        """Yield the indexes of the lines that contain the sought text; case is ignored."""
        if not self.sought:
            return
        pattern = _pattern(self.sought)
        if not self._texts and not self.page.is_of_lines:
            self._texts = [each.text for each in self._strips if each is not None]
        elif not self._texts:
            self._texts = [plain(each) for each in self.page.whole or self.page.lines]
        yield from (number for number, text in enumerate(self._texts) if pattern.search(text))


_HANG: Final = "  "


def _spans(text: str, cols: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each row of a line of code, broken where the row is full."""
    if len(text) <= cols and text.isascii():
        yield 0, len(text)
        return
    start, room = 0, cols
    for _ in range(_MOST_LINES):
        end = _fits(text, start, room)
        yield start, end
        start, room = end, max(cols - len(_HANG), 1)
        if start >= len(text):
            return


def _slice(parts: Line, start: int, end: int) -> Iterator[Part]:
    """Yield the parts of a line between two characters."""
    at = 0
    for text, style in parts:
        inner = text[max(start - at, 0) : max(end - at, 0)]
        at += len(text)
        if inner:
            yield inner, style


@functools.lru_cache(maxsize=4)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(re.escape(text), re.IGNORECASE)


def _with_hits(strip: Strip, sought: str, style: Style) -> Strip:
    """Return a row in which each piece of text that was sought has ``style``."""
    cells = [
        (cell_len(strip.text[: hit.start()]), cell_len(strip.text[: hit.end()]))
        for hit in _pattern(sought).finditer(strip.text)
    ]
    if not cells:
        return strip
    pieces, at = [], 0
    for start, end in cells:
        pieces += [strip.crop(at, start), _apply_style(strip.crop(start, end), style)]
        at = end
    return Strip.join([*pieces, strip.crop(at)])


def _apply_style(strip: Strip, style: Style) -> Strip:
    return Strip([Segment(text, (own or Style()) + style) for text, own, _ in strip])


def _broken(parts: Line, cols: int) -> Iterator[Line]:
    """Yield the rows of a line, broken between words if it is wider than ``cols`` columns."""
    text = "".join(each for each, _ in parts)
    if width(printable(text)) <= cols:
        yield tuple((printable(each), style) for each, style in parts)
        return
    if len(parts) != 1:
        yield from _broken_parts(parts, cols)
        return
    style = parts[0][1]
    inner = printable(text).lstrip()
    deep = min(len(text) - len(text.lstrip()), cols // 2)
    for each in wrap(inner, cols - deep, _MOST_LINES, indent="  "):
        yield line(" " * deep + each, style)


def _broken_parts(parts: Line, cols: int) -> Iterator[Line]:
    """Yield the rows of a styled line, broken between words; all but the first are indented."""
    clear = tuple((printable(each), style) for each, style in parts)
    text = "".join(each for each, _ in clear)
    styles = [style for each, style in clear for _ in each]
    deep = min(len(text) - len(text.lstrip()) + 2, cols // 2)
    start, hang = 0, 0
    for _ in range(_MOST_LINES):
        room = cols - hang
        end = _fits(text, start, room)
        if end < len(text):
            space = text.rfind(" ", start, end + 1)
            end = space if text[start : max(space, start)].strip() else end
        pieces = [(text[at], styles[at]) for at in range(start, end)]
        grouped = itertools.groupby(pieces, key=operator.itemgetter(1))
        runs = tuple(("".join(char for char, _ in run), style) for style, run in grouped)
        yield ((" " * hang, PLAIN), *runs) if hang else runs
        rest = text[end:]
        start, hang = end + len(rest) - len(rest.lstrip()), deep
        if start >= len(text):
            return


def _fits(text: str, start: int, cols: int) -> int:
    """Return the end index of the text from ``start`` that fits into ``cols`` columns.

    At least one character always counts as fitting.
    """
    end, used = start, 0
    while end < len(text):
        used += width(text[end])
        if used > cols:
            break
        end += 1
    return max(end, min(start + 1, len(text)))


def _screen_text(row: str) -> Text:
    return Text.from_ansi(row, no_wrap=True, end="")


def _is_blank(row: Text) -> bool:
    return not row.plain.strip()


def _screen_row(row: str) -> Strip:
    return _text_strip(_screen_text(row))


def _text_strip(text: Text) -> Strip:
    parts = text.render(_console())
    return Strip([Segment(each, style or Style()) for each, style, control in parts if not control])


def _wrapped_row(row: Text, cols: int) -> Iterator[Strip]:
    """Yield the rows of a row of a screen in ``cols`` columns; a ruled line is cut."""
    row.rstrip()
    if _RULED.fullmatch(row.plain):
        row.truncate(cols)
    row.no_wrap = False
    for each in row.wrap(_console(), cols):
        each.rstrip()
        yield _text_strip(each).adjust_cell_length(cols, Style())


@functools.cache
def _console() -> Console:
    return Console()


def _markdown(text: str) -> RenderableType:
    from rich.markdown import Markdown

    shown = "\n".join(map(printable_line, text.splitlines()))
    return Markdown(shown, hyperlinks=False, code_theme="ansi_dark")


class OneLine(Themed):
    """A widget with one line of several parts, such as the line with the keys.

    It reports clicks on its parts with `Clicked`.
    """

    class Clicked(Message):
        """The message that a part of a line was clicked.

        Attributes:
            sender: The widget.
            name: The name of the part.
        """

        def __init__(self, sender: OneLine, name: str) -> None:
            super().__init__()
            self.sender, self.name = sender, name

    class Resized(Message):
        """The message that a line has a new width, so that its parts have to be fitted again.

        Attributes:
            sender: The widget.
        """

        def __init__(self, sender: OneLine) -> None:
            super().__init__()
            self.sender = sender

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self._parts: Line = ()
        self._names: tuple[str, ...] = ()

    def show(self, parts: Line, names: tuple[str, ...] = ()) -> None:
        """Show these parts.

        Args:
            parts: The parts.
            names: The name of each part, for `Clicked`; a part whose name is empty or missing
                reports no click.
        """
        parts = tuple((printable(text), style) for text, style in parts)
        if (parts, names) != (self._parts, self._names):
            self._parts, self._names = parts, names
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the drawn line."""
        cols = self.size.width
        return strip_of(self._parts, cols) if y == 0 else Strip.blank(cols, Style())

    def on_resize(self, _: Resize) -> None:
        """Report the new width with `Resized`, because only this widget knows when it has it."""
        self.post_message(self.Resized(self))

    def on_click(self, event: Click) -> None:
        """Report with `Clicked` which part was clicked."""
        left = 0
        for (text, _), name in zip(self._parts, self._names, strict=False):
            left += Segment(text).cell_length
            if event.x < left:
                if name:
                    self.post_message(self.Clicked(self, name))
                return


class MessageLine(OneLine):
    """A message above the keys; a long one takes up to three rows, so that its end can be read."""

    def say(self, text: str, colour: Colour = Colour.NONE) -> None:
        """Show a message in place of the one before; empty text removes the message."""
        self.show(((clean(text), colour.value),))
        self._fit()

    def render_line(self, y: int) -> Strip:
        """Return one drawn row of the message."""
        row = tuple((text, self._parts[0][1]) for text in self._rows()[y : y + 1])
        return strip_of(row, self.size.width)

    def on_resize(self, event: Resize) -> None:
        """Take as many rows as the message needs in the new width."""
        super().on_resize(event)
        self._fit()

    def _rows(self) -> tuple[str, ...]:
        return wrap(plain(self._parts), self.size.width, _MESSAGE_ROWS)

    def _fit(self) -> None:
        self.styles.height = max(len(self._rows()), 1)


_NAMES: Final = {each: {"documents": "docs", "journal": "log"}.get(each, each) for each in TABS}
"""The names of the tabs, short enough for a terminal of 80 columns, and the same in a wide one."""


def tab_parts(tab: str, cols: int) -> tuple[Line, tuple[str, ...]]:
    """Return the line with the tabs, and the name of each of its parts.

    The name of a part is that of its tab; it is empty for the gaps. If the line is too long for
    ``cols`` columns, it has only the name of the selected tab ``tab``, and the numbers of the
    others.
    """
    gap, words = " ", [(n, each, "") for n, each in enumerate(TABS, start=1)]
    for gap, shown in (
        ("  ", _NAMES),
        (" ", _NAMES),
        (" ", {tab: _NAMES[tab]}),
    ):
        tried = [(n, each, shown.get(each, "")) for n, each in enumerate(TABS, start=1)]
        if sum(1 + bool(word) + len(word) for _, _, word in tried) + 5 * len(gap) <= cols:
            words = tried
            break
    parts, names = [], []
    for number, each, word in words:
        style = f"{BOLD} underline" if each == tab else PLAIN
        parts += [(str(number), DIM if word else style), (" " * bool(word), PLAIN), (word, style)]
        parts.append((gap if number < len(TABS) else "", PLAIN))
        names += [each, each, each, ""]
    return tuple(parts), tuple(names)


def foot_parts(
    words: Mapping[KeyCommand, str], keys: KeyTable, always: Collection[KeyCommand], cols: int
) -> tuple[Line, tuple[str, ...]]:
    """Return the line with the keys of commands, and the name of each of its parts.

    The name of a part is the ``name`` of its `KeyCommand`; it is empty for the gaps.

    Args:
        words: The commands in their order, each with the text to show beside its key.
        keys: The keys of the desk.
        always: The commands that get room first.
        cols: The number of columns. Commands that do not fit completely are left out.
    """
    shown = {command: (keys.show(command), f" {text}") for command, text in words.items()}
    sizes = {command: width(key) + width(text) + 2 for command, (key, text) in shown.items()}
    left, kept = cols + 2, set()
    for command in (*(w for w in words if w in always), *(w for w in words if w not in always)):
        if sizes[command] <= left:
            kept.add(command)
            left -= sizes[command]
    parts: list[Part] = []
    names: list[str] = []
    for command in (each for each in words if each in kept):
        gap = ("", PLAIN) if not parts else ("  ", PLAIN)
        parts += [gap, (shown[command][0], BOLD), (shown[command][1], DIM)]
        names += ["", command.name, command.name]
    return tuple(parts), tuple(names)
