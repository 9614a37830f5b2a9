"""The desk's dialogs. Each is a Textual screen whose result is the user's answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.events import Key
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Static, TextArea

from agentmux.app.views.outlook import SeatOutlook, seat_lines
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.conversations import SeatChoice, next_choice
from agentmux.core.terminal.keys.key_commands import KeyCommand, KeyPlace
from agentmux.core.terminal.keys.key_table import KEYS, KeyLine
from agentmux.core.terminal.text.text_width import printable

_SHOWN: Final = 5
"""How many choices are shown at once below a text; more would leave no room for the text."""

_READ: Final = "\u2191\u2193 PgUp PgDn move"


def name_key(event: Key) -> str:
    """Return the name that `key_table` has for a key.

    It is the character itself, or else Textual's name, such as ``ctrl+c`` or ``space``.
    """
    is_character = event.is_printable and event.character != " "
    return event.character or "" if is_character else event.key


def find_box_line(command: KeyCommand) -> KeyLine:
    """Return the line of the key table with the keys that a dialog has for ``command``."""
    return next(each for each in KEYS.lines_at(KeyPlace.BOX) if each.command is command)


def bind_box(command: KeyCommand, action: str) -> Binding:
    """Return the binding of an action of a dialog to the keys that the table has for it there."""
    line = find_box_line(command)
    return Binding(",".join(line.keys), action, line.says)


def _text(lines: Iterable[str], *, id_: str = "") -> Static:
    shown = "\n".join(printable(each) for each in lines)
    return Static(shown, markup=False, id=id_ or None)


class TextDialog(ModalScreen[bool]):
    """A dialog with a text, and a yes/no question below it. Its result is True for yes, else False.

    ``y`` means yes, and so does the key that opened the dialog. Enter never means yes, because the
    user may still be typing a line that ends with it; it closes a dialog without a question.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        bind_box(KeyCommand.NO, "no"),
        bind_box(KeyCommand.YES, "yes"),
        Binding("enter", "close", "close"),
    ]

    def __init__(
        self, title: str, lines: Iterable[str], question: str = "", *, key: KeyLine | None = None
    ) -> None:
        """Create the dialog.

        Args:
            title: The title.
            lines: The text.
            question: The question; empty for a text that is only to be read.
            key: The keys that opened the dialog, which also mean yes; None for none.
        """
        super().__init__()
        self._title, self._lines, self._question = title, tuple(lines), question
        self._key = key

    def compose(self) -> ComposeResult:
        """Yield the text, and below it the question."""
        with Vertical(classes="dialog"):
            yield Static(self._title, markup=False, classes="title")
            with VerticalScroll():
                yield _text(self._lines)
            yield Static(self._foot(), markup=False, classes="foot")

    def _foot(self) -> str:
        if not self._question:
            return f"{_READ}, Esc closes"
        own = f"{self._key.label} or " if self._key is not None else ""
        return f"{self._question}\n{own}y yes, Esc no"

    def on_key(self, event: Key) -> None:
        """Treat the key that opened the dialog as a yes."""
        if self._key is not None and name_key(event) in self._key.keys:
            event.stop()
            self.action_yes()

    def on_mount(self) -> None:
        """Focus the text, so that keys scroll it."""
        self.query_one(VerticalScroll).focus()

    def action_yes(self) -> None:
        """Close the dialog; the result is True if there is a question."""
        self.dismiss(bool(self._question))

    def action_close(self) -> None:
        """Close the dialog if it has no question."""
        if not self._question:
            self.dismiss(False)

    def action_no(self) -> None:
        """Close the dialog; the result is False."""
        self.dismiss(False)


class FailureDialog(ModalScreen[bool]):
    """A dialog with the error of a failed command.

    Its result is True if the user wants to run the command in this terminal, where it can ask.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close(False)", "close"),
        bind_box(KeyCommand.TERMINAL, "close(True)"),
    ]

    def __init__(self, command: str, lines: Iterable[str], *, can_ask: bool) -> None:
        """Create the dialog.

        Args:
            command: The command, without ``agentmux``.
            lines: The command's error and hints.
            can_ask: Whether to offer to run the command in this terminal.
        """
        super().__init__()
        self._command, self._lines, self._can_ask = command, tuple(lines), can_ask

    def compose(self) -> ComposeResult:
        """Yield the command, its error, and the keys."""
        with Vertical(classes="dialog"):
            yield Static(f"agentmux {self._command}", markup=False, classes="title")
            with VerticalScroll():
                yield _text(self._lines)
            here = "t runs it in this terminal, where it can ask; " if self._can_ask else ""
            foot = f"{here}Esc closes"
            yield Static(foot, markup=False, classes="foot")

    def action_close(self, again: bool) -> None:
        """Close the dialog; the result is ``again`` if the command can be run in this terminal."""
        self.dismiss(again and self._can_ask)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEntry:
    """The result of `TextEntryDialog`.

    Attributes:
        text: The text that the user wrote.
        choice: The name of the selected choice; empty if there were no choices.
    """

    text: str
    choice: str = ""


class WrittenText(TextArea):
    """A text area in which Enter on an empty last line sends the text, as in the monitor."""

    class Sent(Message):
        """The message that the user wants to send the text."""

    async def _on_key(self, event: Key) -> None:
        if event.key == "enter" and self._is_at_an_empty_end and self.text.strip():
            event.stop()
            event.prevent_default()
            self.post_message(self.Sent())
            return
        await super()._on_key(event)

    @property
    def _is_at_an_empty_end(self) -> bool:
        row, _ = self.cursor_location
        return row == self.document.line_count - 1 and not self.document.get_line(row).strip()


class TextEntryDialog(ModalScreen["TextEntry | None"]):
    """A dialog in which to write a text and select a choice.

    Its result is a `TextEntry`; None if the user cancelled.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # Without priority, so that keys that were typed before are handled first.
        Binding("escape", "give_up", "cancel"),
        Binding("ctrl+s", "send", "send"),
        Binding("tab", "choose", "choose", priority=True),
    ]

    def __init__(
        self,
        title: str,
        *,
        text: str = "",
        about: Iterable[str] = (),
        choices: tuple[tuple[str, str], ...] = (),
        may_be_empty: bool = False,
    ) -> None:
        """Create the dialog.

        Args:
            title: The title.
            text: The text to begin with.
            about: Lines of information to show above the text.
            choices: The choices, each with a name and a description; may be empty.
            may_be_empty: Whether an empty text can be sent.
        """
        super().__init__()
        self._title, self._begun, self._about = title, text, tuple(about)
        self._choices, self._may_be_empty = choices, may_be_empty
        self._at = 0

    def compose(self) -> ComposeResult:
        """Yield the text area, and below it the selected choice."""
        with Vertical(classes="dialog"):
            yield Static(self._title, markup=False, classes="title")
            if self._about:
                yield _text(self._about)
            yield WrittenText(self._begun, id="text", soft_wrap=True, compact=True)
            yield Static(self._foot(), markup=False, classes="foot")

    def on_mount(self) -> None:
        """Focus the text area, with the cursor at the end of the text."""
        area = self.query_one(TextArea)
        area.cursor_blink = False
        area.focus()
        area.move_cursor(area.document.end)

    def _foot(self) -> str:
        keys = "Enter twice or Ctrl-S sends, Esc cancels"
        count = len(self._choices)
        first = max(0, min(self._at - _SHOWN // 2, count - _SHOWN))
        chosen = (
            f"{'>' if at == self._at else ' '} {name}: {says}"
            for at, (name, says) in enumerate(self._choices)
            if first <= at < first + _SHOWN
        )
        of = f" ({self._at + 1} of {count})" * (count > _SHOWN)
        other = (f"Tab takes another of these{of}",) * (count > 1)
        return "\n".join((*chosen, *other, keys))

    def action_choose(self) -> None:
        """Select the next choice."""
        if self._choices:
            self._at = (self._at + 1) % len(self._choices)
            self.query_one(".foot", Static).update(self._foot())

    def on_written_text_sent(self) -> None:
        """Send the text, after Enter on an empty last line."""
        self.action_send()

    def action_send(self) -> None:
        """Close the dialog with the text; nothing happens if it is empty and may not be empty."""
        text = self.query_one(TextArea).text.strip()
        if text or self._may_be_empty:
            choice = self._choices[self._at][0] if self._choices else ""
            self.dismiss(TextEntry(text=text, choice=choice))

    def action_give_up(self) -> None:
        """Close the dialog; the result is None."""
        self.dismiss(None)


class LineEntryDialog(ModalScreen["str | None"]):
    """A dialog in which to write one line, such as the keys of an answer.

    Its result is the line; None if the user cancelled.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", "cancel")]

    def __init__(self, title: str, about: Iterable[str], hint: str, *, empty: str = "") -> None:
        """Create the dialog.

        Args:
            title: The title.
            about: Lines of information to show above the input field.
            hint: The placeholder of the input field.
            empty: The result for an empty line; empty if an empty line cannot be sent.
        """
        super().__init__()
        self._title, self._about, self._hint = title, tuple(about), hint
        self._empty = empty

    def compose(self) -> ComposeResult:
        """Yield the information, and below it the input field."""
        with Vertical(classes="dialog"):
            yield Static(self._title, markup=False, classes="title")
            with VerticalScroll():
                yield _text(self._about)
            yield Input(placeholder=self._hint, id="line", compact=True)
            empty = f" (nothing written: the key {self._empty})" * bool(self._empty)
            foot = f"Enter sends what is written{empty}, Esc cancels"
            yield Static(foot, markup=False, classes="foot")

    def on_mount(self) -> None:
        """Focus the input field, and scroll the information to its end, where the question is."""
        line = self.query_one(Input)
        line.cursor_blink = False
        line.focus()
        self.query_one(VerticalScroll).scroll_end(animate=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close the dialog with the line, or for a blank line with what that stands for.

        If a blank line stands for nothing, nothing happens.
        """
        if line := event.value.strip() or self._empty:
            self.dismiss(line)

    def action_give_up(self) -> None:
        """Close the dialog; the result is None."""
        self.dismiss(None)


class ResumeDialog(ModalScreen["Mapping[int, SeatChoice] | None"]):
    """A dialog with what a resume would do. Typing a seat's number changes how it is started.

    Its result is what the user chose for each seat, by its index in the list of seats, from 0; None
    for a no.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        bind_box(KeyCommand.NO, "no"),
        bind_box(KeyCommand.YES, "yes"),
        bind_box(KeyCommand.SEND, "yes"),
        bind_box(KeyCommand.FRESH, "fresh"),
        *(
            Binding(key, f"change({int(key) - 1})", line.says)
            for line in (find_box_line(KeyCommand.CHOICE),)
            for key in line.keys
        ),
    ]

    def __init__(
        self, title: str, lines: Iterable[str], seats: tuple[SeatOutlook, ...], *, key: KeyLine
    ) -> None:
        """Create the dialog.

        Args:
            title: The title.
            lines: The text.
            seats: How each seat would be started.
            key: The keys that opened the dialog, which also mean yes.
        """
        super().__init__()
        self._title, self._lines, self._seats, self._key = title, tuple(lines), seats, key
        self._chosen = dict.fromkeys(range(len(seats)), SeatChoice.PLANNED)
        self._natives = [at for at, each in enumerate(seats) if SeatChoice.FRESH in each.digests]

    def compose(self) -> ComposeResult:
        """Yield the text and the seats, and below them the keys."""
        with Vertical(classes="dialog"):
            yield Static(self._title, markup=False, classes="title")
            with VerticalScroll():
                yield _text(self._lines)
                yield _text(self._list_seats(), id_="choices")
            yield Static(self._foot(), markup=False, classes="foot")

    def _foot(self) -> str:
        """Return what the keys do now; a key that could change nothing is left out."""
        seats = " · 1-9 next choice" * any(len(each.digests) > 1 for each in self._seats)
        new = f" · f {'as planned' if self._are_new() else 'all new'}" * bool(self._natives)
        return f"Enter resume{seats}{new} · Esc leave"

    def _are_new(self) -> bool:
        return all(self._chosen[place] is SeatChoice.FRESH for place in self._natives)

    def on_mount(self) -> None:
        """Focus the text, so that keys scroll it."""
        self.query_one(VerticalScroll).focus()

    def on_key(self, event: Key) -> None:
        """Treat the key that opened the dialog as a yes."""
        if name_key(event) in self._key.keys:
            event.stop()
            self.action_yes()

    def _list_seats(self) -> Iterable[str]:
        longest = max((len(each.seat) for each in self._seats), default=0)
        chosen = zip(self._seats, self._chosen.values(), strict=True)
        return (f"{mark} {seat:<{longest}}  {about}" for mark, seat, about in seat_lines(chosen))

    def _choose(self, chosen: Mapping[int, SeatChoice]) -> None:
        self._chosen.update(chosen)
        shown = "\n".join(printable(each) for each in self._list_seats())
        self.query_one("#choices", Static).update(shown)
        self.query_one(".foot", Static).update(self._foot())

    def action_change(self, place: int) -> None:
        """Take the next choice for the seat with the index ``place``; none for an unknown index."""
        if place < len(self._seats):
            offered = tuple(self._seats[place].digests)
            self._choose({place: next_choice(offered, self._chosen[place])})

    def action_fresh(self) -> None:
        """Choose new conversations for all seats that can have one.

        If that was chosen for all of them already, go back to the plan.
        """
        choice = SeatChoice.PLANNED if self._are_new() else SeatChoice.FRESH
        self._choose(dict.fromkeys(self._natives, choice))

    def action_yes(self) -> None:
        """Close the dialog with what was chosen."""
        self.dismiss(self._chosen)

    def action_no(self) -> None:
        """Close the dialog; the result is None."""
        self.dismiss(None)


class ChoiceDialog(ModalScreen["frozenset[str] | None"]):
    """A dialog with a text, and choices to select by their number.

    Its result is the set of the selected choices, as their texts; None if the user cancelled.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        bind_box(KeyCommand.NO, "no"),
        bind_box(KeyCommand.YES, "yes"),
    ]

    def __init__(
        self,
        title: str,
        lines: Iterable[str],
        choices: tuple[str, ...],
        question: str,
        *,
        single: bool = False,
    ) -> None:
        """Create the dialog.

        Args:
            title: The title.
            lines: The text.
            choices: The choices; only the first nine are offered.
            question: The last line, which says what the keys do.
            single: Whether a number selects one choice and closes the dialog at once.
        """
        super().__init__()
        self._title, self._lines, self._choices = title, tuple(lines), choices[:9]
        self._question, self._single = question, single
        self._chosen: frozenset[str] = frozenset()

    def compose(self) -> ComposeResult:
        """Yield the text, and below it the choices."""
        with Vertical(classes="dialog"):
            yield Static(self._title, markup=False, classes="title")
            with VerticalScroll():
                yield _text(self._lines)
            yield Static(self._list_choices(), markup=False, id="choices")
            yield Static(self._question, markup=False, classes="foot")

    def on_mount(self) -> None:
        """Focus the text, so that keys scroll it."""
        self.query_one(VerticalScroll).focus()

    def _list_choices(self) -> str:
        return "\n".join(
            f"{number} {'' if self._single else self._box(each)}{each}"
            for number, each in enumerate(self._choices, start=1)
        )

    def _box(self, name: str) -> str:
        return "[x] " if name in self._chosen else "[ ] "

    def key_is(self, key: str) -> bool:
        """Select or deselect the choice with this number; return whether there is one.

        Numbers begin with ``1``. If only one choice can be selected, the dialog closes with it.
        """
        if not key.isdecimal() or not 0 < int(key) <= len(self._choices):
            return False
        self._chosen ^= {self._choices[int(key) - 1]}
        if self._single:
            self.dismiss(self._chosen)
        else:
            self.query_one("#choices", Static).update(self._list_choices())
        return True

    def on_key(self, event: Key) -> None:
        """Handle the number of a choice."""
        if self.key_is(event.key):
            event.stop()

    def action_yes(self) -> None:
        """Close the dialog with the selected choices.

        Nothing happens in a dialog in which a number selects one choice and closes it.
        """
        if not self._single:
            self.dismiss(self._chosen)

    def action_no(self) -> None:
        """Close the dialog; the result is None."""
        self.dismiss(None)
