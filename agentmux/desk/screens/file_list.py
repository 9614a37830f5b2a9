"""The list of the changed files, beside the diff, and as a dialog where there is no room for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import OptionList, Static

from agentmux.core.documents.diff_files import DiffFile
from agentmux.core.terminal.text.text_width import cut_start, printable, width
from agentmux.desk.screens.widgets import Themed, strip_of
from agentmux.desk.styled import PLAIN, Line, plain

_WIDEST: Final = 40
_LEAST_BESIDE: Final = 50
"""How many columns must be left for the diff; with fewer, the list is not shown beside it."""

_ROOM: Final = 70
"""The width of a line in the dialog."""

_KINDS: Final = {"A": "green", "D": "red", "R": "cyan"}


def file_line(file: DiffFile, cols: int) -> Line:
    """Return the line of a file, in at most ``cols`` columns: how it changed, its path, its counts.

    How it changed is a letter: ``A`` added, ``D`` deleted, ``R`` renamed, ``M`` modified. The
    counts are those of added and removed lines. A path that is too long loses its beginning.
    """
    added = f" +{file.added}" * bool(file.added)
    removed = f" -{file.removed}" * bool(file.removed)
    room = max(cols - 2 - len(added) - len(removed), 2)
    path = cut_start(printable(file.path), room)
    kind = (f"{file.kind} ", _KINDS.get(file.kind, PLAIN))
    return (kind, (path, PLAIN), (added, "green"), (removed, "red"))


class FileList(ScrollView, Themed):
    """The widget with the list of the changed files.

    It is hidden if there are fewer than two, or if it would leave too little room for the diff.

    Attributes:
        files: The files.
        at: The index of the file in which the diff is.
    """

    class Picked(Message):
        """The message that a file was clicked.

        Attributes:
            at: The index of the file.
        """

        def __init__(self, at: int) -> None:
            super().__init__()
            self.at = at

    def __init__(self) -> None:
        super().__init__(id="files")
        self.files: tuple[DiffFile, ...] = ()
        self.at = 0
        self.display = False

    def show(self, files: tuple[DiffFile, ...], at: int, room: int) -> None:
        """Show these files, if there are several, and room for them; otherwise hide the list.

        Args:
            files: The files.
            at: The index of the file in which the diff is.
            room: The width of the list and the diff together, in columns.
        """
        cols = min(max((width(plain(file_line(e, _WIDEST))) for e in files), default=0), _WIDEST)
        self.display = len(files) > 1 and room - cols - 1 >= _LEAST_BESIDE
        if self.display:
            self.files, self.at = files, at
            self.styles.width = cols + 1
            self.virtual_size = Size(cols, len(files))
            self.scroll_to_region(Region(0, at, 1, 1), animate=False, force=True)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the drawn line in the row ``y`` of the widget."""
        cols, place = self.size.width, y + self.scroll_offset.y
        if place >= len(self.files):
            return Strip.blank(cols, Style())
        base = Style(reverse=True) if place == self.at else None
        return strip_of(file_line(self.files[place], cols - 1), cols - 1, base=base)

    def on_click(self, event: Click) -> None:
        """Report a click on a file with `Picked`."""
        place = event.y + self.scroll_offset.y
        if 0 <= place < len(self.files):
            self.post_message(self.Picked(place))


class FileChoice(ModalScreen["int | None"]):
    """The dialog in which to choose a changed file.

    Its result is the index of the file, from 0; None if the user closed it without a choice.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,v", "close", "close"),
        Binding("j", "move('cursor_down')", "a line down"),
        Binding("k", "move('cursor_up')", "a line up"),
    ]

    def __init__(self, files: Sequence[DiffFile], at: int) -> None:
        """Create the dialog for these files; the one with the index ``at`` is selected."""
        super().__init__()
        self._files, self._at = files, at

    def compose(self) -> ComposeResult:
        """Yield the list, and the keys below it."""
        lines = (file_line(each, _ROOM) for each in self._files)
        with Vertical(classes="dialog"):
            yield Static(f"{len(self._files)} changed files", markup=False, classes="title")
            yield OptionList(*(Text.assemble(*line) for line in lines), compact=True)
            yield Static("\u2191\u2193 move, Enter goes there, Esc closes", classes="foot")

    def on_mount(self) -> None:
        """Select the current file."""
        self.query_one(OptionList).highlighted = self._at

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Close the dialog with the chosen file."""
        self.dismiss(event.option_index)

    def action_move(self, way: str) -> None:
        """Move the selection by a line; ``way`` is ``cursor_down`` or ``cursor_up``."""
        getattr(self.query_one(OptionList), f"action_{way}")()

    def action_close(self) -> None:
        """Close the dialog without a result."""
        self.dismiss(None)
