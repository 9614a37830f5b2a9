"""The questions of the desk, each a screen above the list. They return what the person said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.events import Key
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Static, TextArea

from agentmux.core.codec.frozen import dataclass
from agentmux.core.terminal.text.text_width import printable

_SHOWN: Final = 5
"""How many choices are shown at once below a text: more would leave no room for it."""

_READ: Final = "\u2191\u2193 PgUp PgDn move"


def _text(lines: Iterable[str], *, id_: str = "") -> Static:
    shown = "\n".join(printable(each) for each in lines)
    return Static(shown, markup=False, id=id_ or None)


class TextDialog(ModalScreen[bool]):
    """A text to read, and a question below it; True after ``y`` or the key that asked.

    Enter agrees to nothing, because it ends lines that are typed elsewhere; it closes a text
    without a question.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,n", "no", "no"),
        Binding("y", "yes", "yes"),
        Binding("enter", "close", "close"),
    ]

    def __init__(
        self, title: str, lines: Iterable[str], question: str = "", *, key: str = ""
    ) -> None:
        """Take the text, the question below it, and the key that asked: once more, it agrees."""
        super().__init__()
        self._title, self._lines, self._question = title, tuple(lines), question
        self._key = key

    def compose(self) -> ComposeResult:
        """Lay out the text above the question."""
        with Vertical(classes="dialog"):
            yield Static(self._title, markup=False, classes="title")
            with VerticalScroll():
                yield _text(self._lines)
            yield Static(self._foot(), markup=False, classes="foot")

    def _foot(self) -> str:
        if not self._question:
            return f"{_READ}, Esc closes"
        return f"{self._question}\n{f'{self._key} or ' * bool(self._key)}y yes, Esc no"

    def on_key(self, event: Key) -> None:
        """Take the key that asked for a yes."""
        if self._key and event.key == self._key:
            event.stop()
            self.action_yes()

    def on_mount(self) -> None:
        """Let keys move the text."""
        self.query_one(VerticalScroll).focus()

    def action_yes(self) -> None:
        """Agree; a text without a question is closed."""
        self.dismiss(bool(self._question))

    def action_close(self) -> None:
        """Close a text without a question."""
        if not self._question:
            self.dismiss(False)

    def action_no(self) -> None:
        """Do not agree."""
        self.dismiss(False)


class Failure(ModalScreen[bool]):
    """What a command said that failed; True: run it in this terminal, where it can ask."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close(False)", "close"),
        Binding("t", "close(True)", "run it in this terminal"),
    ]

    def __init__(self, command: str, lines: Iterable[str], *, can_ask: bool) -> None:
        """Take the command, what it said, and whether it can be run in this terminal."""
        super().__init__()
        self._command, self._lines, self._can_ask = command, tuple(lines), can_ask

    def compose(self) -> ComposeResult:
        """Lay out the error above its hints."""
        with Vertical(classes="dialog"):
            yield Static(f"agentmux {self._command}", markup=False, classes="title")
            with VerticalScroll():
                yield _text(self._lines)
            here = "t runs it in this terminal, where it can ask; " if self._can_ask else ""
            foot = f"{here}Esc closes"
            yield Static(foot, markup=False, classes="foot")

    def action_close(self, again: bool) -> None:
        """Close, and say whether to run the command in this terminal."""
        self.dismiss(again and self._can_ask)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A text that was written, and the choice below it; empty for none."""

    text: str
    choice: str = ""


class WrittenText(TextArea):
    """A text area in which Enter on an empty last line sends, as at the monitor."""

    class Sent(Message):
        """The person wants to send the text."""

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


class Writing(ModalScreen["Written | None"]):
    """A text to write, and a choice; None: given up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Without priority: they wait for what was typed before.
        Binding("escape", "give_up", "give up"),
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
        """Make the dialog.

        Args:
            title: What is written.
            text: What is there already.
            about: What to know, above the text.
            choices: Names, each with what it means.
            may_be_empty: Whether an empty text can be sent.
        """
        super().__init__()
        self._title, self._begun, self._about = title, text, tuple(about)
        self._choices, self._may_be_empty = choices, may_be_empty
        self._at = 0

    def compose(self) -> ComposeResult:
        """Lay out the text above the choice."""
        with Vertical(classes="dialog"):
            yield Static(self._title, markup=False, classes="title")
            if self._about:
                yield _text(self._about)
            yield WrittenText(self._begun, id="text", soft_wrap=True, compact=True)
            yield Static(self._foot(), markup=False, classes="foot")

    def on_mount(self) -> None:
        """Begin behind the text that is there already."""
        area = self.query_one(TextArea)
        area.cursor_blink = False
        area.focus()
        area.move_cursor(area.document.end)

    def _foot(self) -> str:
        keys = "Enter twice or Ctrl-S sends, Esc gives up"
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
        """Take the next choice."""
        if self._choices:
            self._at = (self._at + 1) % len(self._choices)
            self.query_one(".foot", Static).update(self._foot())

    def on_written_text_sent(self) -> None:
        """Send, after Enter on an empty last line."""
        self.action_send()

    def action_send(self) -> None:
        """Return what was written."""
        text = self.query_one(TextArea).text.strip()
        if text or self._may_be_empty:
            choice = self._choices[self._at][0] if self._choices else ""
            self.dismiss(Written(text=text, choice=choice))

    def action_give_up(self) -> None:
        """Return nothing."""
        self.dismiss(None)


class Asking(ModalScreen["str | None"]):
    """A line to write, such as the keys of an answer; None: given up."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", "give up")]

    def __init__(self, title: str, about: Iterable[str], hint: str, *, empty: str = "") -> None:
        """Take the title, what is known, a hint, and what an empty line means; empty: nothing."""
        super().__init__()
        self._title, self._about, self._hint = title, tuple(about), hint
        self._empty = empty

    def compose(self) -> ComposeResult:
        """Lay out what is known above the line."""
        with Vertical(classes="dialog"):
            yield Static(self._title, markup=False, classes="title")
            with VerticalScroll():
                yield _text(self._about)
            yield Input(placeholder=self._hint, id="line", compact=True)
            empty = f" (nothing written: the key {self._empty})" * bool(self._empty)
            foot = f"Enter sends what is written{empty}, Esc gives up"
            yield Static(foot, markup=False, classes="foot")

    def on_mount(self) -> None:
        """Show the end of what is known: there is the question."""
        line = self.query_one(Input)
        line.cursor_blink = False
        line.focus()
        self.query_one(VerticalScroll).scroll_end(animate=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the line."""
        if line := event.value.strip() or self._empty:
            self.dismiss(line)

    def action_give_up(self) -> None:
        """Return nothing."""
        self.dismiss(None)


class Choosing(ModalScreen["frozenset[str] | None"]):
    """A plan to read, and things to choose by their number; None: do nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,n", "no", "no"),
        Binding("y", "yes", "yes"),
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
        """Make the dialog.

        Args:
            title: What it is about.
            lines: The plan.
            choices: What can be chosen; the first nine by their number.
            question: What ``y`` does.
            single: A number chooses at once, and closes.
        """
        super().__init__()
        self._title, self._lines, self._choices = title, tuple(lines), choices[:9]
        self._question, self._single = question, single
        self._chosen: frozenset[str] = frozenset()

    def compose(self) -> ComposeResult:
        """Lay out the plan above the choices."""
        with Vertical(classes="dialog"):
            yield Static(self._title, markup=False, classes="title")
            with VerticalScroll():
                yield _text(self._lines)
            yield Static(self._list_choices(), markup=False, id="choices")
            yield Static(self._question, markup=False, classes="foot")

    def on_mount(self) -> None:
        """Let keys move the text."""
        self.query_one(VerticalScroll).focus()

    def _list_choices(self) -> str:
        return "\n".join(
            f"{number} {'' if self._single else self._box(each)}{each}"
            for number, each in enumerate(self._choices, start=1)
        )

    def _box(self, name: str) -> str:
        return "[x] " if name in self._chosen else "[ ] "

    def key_is(self, key: str) -> bool:
        """Take a number; return whether it is one of a choice."""
        if not key.isdecimal() or not 0 < int(key) <= len(self._choices):
            return False
        self._chosen ^= {self._choices[int(key) - 1]}
        if self._single:
            self.dismiss(self._chosen)
        else:
            self.query_one("#choices", Static).update(self._list_choices())
        return True

    def on_key(self, event: Key) -> None:
        """Take a number."""
        if self.key_is(event.key):
            event.stop()

    def action_yes(self) -> None:
        """Agree with what is chosen."""
        if not self._single:
            self.dismiss(self._chosen)

    def action_no(self) -> None:
        """Do nothing."""
        self.dismiss(None)
