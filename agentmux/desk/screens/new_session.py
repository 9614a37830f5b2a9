"""The dialog for a new session: what to build, in which project, by which agent, and so on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click, DescendantFocus, Key, Resize
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from agentmux.core.codec.frozen import dataclass
from agentmux.core.terminal.text.text_width import clean, printable
from agentmux.desk.screens.dialogs import WrittenText
from agentmux.desk.screens.widgets import Themed, strip_of
from agentmux.desk.styled import BOLD, DIM, PLAIN
from agentmux.threads import in_daemon_thread

if TYPE_CHECKING:
    from textual.strip import Strip

    from agentmux.app.commands.begin.start_offer import StartOffer

Named = tuple[str, str]
"""The name of a choice, and its description."""

_USUAL: Final[Named] = ("as configured", "")
_TITLE_COLS: Final = 10
_FOOT: Final = (
    "Enter twice or Ctrl-S starts it, Esc cancels\n"
    "Tab goes to the lines above, \u2190 \u2192 take another"
)
_LOOKS: Final = "looking which agents are installed \u2026"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """The new session that the user has described.

    Attributes:
        text: What to build.
        project: The project's folder.
        agent: The name of the agent; empty for the one that is configured.
        pipeline: The name of the pipeline; empty for the one that is configured.
        place: Where the session works: ``worktree`` for one of its own, ``no-worktree`` for the
            checkout; empty as it is configured.
    """

    text: str
    project: Path
    agent: str = ""
    pipeline: str = ""
    place: str = ""


class ChoiceField(Themed, can_focus=True):
    """A one-line widget that shows the selected one of several choices.

    \u2190 and \u2192, a click, or the first letter of a choice's name select another one.

    Attributes:
        choices: The choices.
        at: The index of the selected choice.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space", "turn(1)", "the next one"),
        Binding("left", "turn(-1)", "the one before"),
        Binding("down", "app.focus_next", "the next line"),
        Binding("up", "app.focus_previous", "the line before"),
        Binding("enter", "screen.send", "send"),
    ]

    class Turned(Message):
        """The message that another choice was selected.

        Attributes:
            field: The widget.
        """

        def __init__(self, field: ChoiceField) -> None:
            super().__init__()
            self.field = field

    def __init__(self, title: str, choices: Sequence[Named]) -> None:
        super().__init__(classes="choice")
        self._title = title
        self.choices = tuple(choices)
        self.at = 0

    def offer(self, choices: Sequence[Named], name: str = "") -> None:
        """Replace the choices, and select the one with this name; the first if there is none.

        A choice is a pair of name and description; there must be at least one.
        """
        self.choices = tuple(choices)
        self.at = next((at for at, (each, _) in enumerate(choices) if each == name), 0)
        self.refresh()

    @property
    def chosen(self) -> str:
        """The name of the selected choice; empty for the first one, which is the default."""
        return self.choices[self.at][0] if self.at else ""

    def action_turn(self, steps: int) -> None:
        """Select the choice that is ``steps`` further; after the last comes the first."""
        self.at = (self.at + steps) % len(self.choices)
        self.refresh()
        self.post_message(self.Turned(self))

    def on_key(self, event: Key) -> None:
        """Select the next choice whose name begins with the letter that was typed."""
        letter = (event.character or "").lower() if event.is_printable else ""
        if not letter.strip():
            return
        event.stop()
        count = len(self.choices)
        steps = (n for n in range(1, count) if self._find_label(n).lower().startswith(letter))
        self.action_turn(next(steps, 0))

    def _find_label(self, steps: int) -> str:
        return self.choices[(self.at + steps) % len(self.choices)][0]

    def on_click(self, _: Click) -> None:
        """Select the next choice."""
        self.action_turn(1)

    def on_resize(self, _: Resize) -> None:
        """Draw the line again in its new width."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the drawn line."""
        del y
        count = len(self.choices)
        of = f"{self.at + 1} of {count}  " if count > 1 else ""
        style = "bold reverse" if self.has_focus else BOLD
        head = f"{self._title:<{_TITLE_COLS}}"
        chosen = f"\u2039 {clean(self._find_label(0))} \u203a"
        about = clean(self.says)
        parts = ((head, PLAIN), (chosen, style), (f"  {of}", DIM), (about, PLAIN))
        return strip_of(parts, self.size.width)

    @property
    def says(self) -> str:
        """The description of the selected choice."""
        return self.choices[self.at][1]


class NewSessionDialog(ModalScreen["NewSession | None"]):
    """The dialog for a new session. Its result is the `NewSession`; None if the user cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "cancel"),
        Binding("ctrl+s", "send", "send"),
        # With priority, so that what is typed afterwards goes to the next line.
        Binding("tab", "app.focus_next", "the next line", priority=True),
        Binding("shift+tab", "app.focus_previous", "the line before", priority=True),
    ]

    def __init__(
        self,
        projects: Sequence[Path],
        offer: Callable[[Path], StartOffer | None],
        *,
        draft: NewSession | None = None,
        trouble: str = "",
    ) -> None:
        """Create the dialog.

        Args:
            projects: The folders of the projects to choose from; the first one is selected.
            offer: Returns the choices for a project; None if the project cannot be read. It is
                called in threads.
            draft: What to begin with; None for an empty text and the defaults.
            trouble: Why ``draft`` was not started; empty if that was not tried.
        """
        super().__init__()
        self._projects, self._offer = tuple(projects), offer
        self._draft, self._trouble = draft, trouble
        self._of: Path | None = None
        self._offered: StartOffer | None = None
        self._sends = False
        self._fields = tuple(
            ChoiceField(title, choices)
            for title, choices in (
                ("project", [(each.name, str(each)) for each in self._projects]),
                ("agent", (_USUAL,)),
                ("pipeline", (_USUAL,)),
                ("work in", (_USUAL,)),
            )
        )
        if draft is not None and draft.project in self._projects:
            self._fields[0].at = self._projects.index(draft.project)

    def compose(self) -> ComposeResult:
        """Yield the text area, and below it the choices."""
        with Vertical(classes="dialog"):
            yield Static("What should be built? A sentence or two.", markup=False, classes="title")
            text = self._draft.text if self._draft is not None else ""
            yield WrittenText(text, id="text", soft_wrap=True, compact=True)
            yield from self._fields
            yield Static("", markup=False, classes="about")
            yield Static(_FOOT, markup=False, classes="foot")

    def on_mount(self) -> None:
        """Focus the text area, and read the choices for the selected project."""
        area = self.query_one(TextArea)
        area.cursor_blink = False
        area.focus()
        area.move_cursor(area.document.end)
        self.run_worker(self._look())

    def on_descendant_focus(self, _: DescendantFocus) -> None:
        """Show the full description of the selected choice of the focused line."""
        self._tell()

    def _tell(self, text: str = "") -> None:
        """Show ``text``, or else what the user should know about the focused line."""
        field = self.focused
        own = self._trouble or self._find_advice()
        says = field.says if isinstance(field, ChoiceField) else own
        self.query_one(".about", Static).update(printable(text or says))

    def _find_advice(self) -> str:
        """Return what to know of the project, and how to get an agent if none is installed."""
        known = self._offered
        return "" if known is None else "; ".join(filter(None, (known.warning, known.advice)))

    async def on_choice_field_turned(self, event: ChoiceField.Turned) -> None:
        """Show the description of the new choice; for another project, read its choices."""
        self._tell()
        if event.field is self._fields[0]:
            self.run_worker(self._look(), exclusive=True)

    @property
    def _project(self) -> Path:
        return self._projects[self._fields[0].at]

    async def _look(self) -> None:
        project = self._project
        try:
            offered = await in_daemon_thread(partial(self._offer, project))
        except asyncio.CancelledError:
            return
        if project == self._project:
            self._of, self._offered = project, offered
            self._show_choices(offered)
            self._tell()
            if self._sends:
                self.action_send()

    def _show_choices(self, offered: StartOffer | None) -> None:
        _, agent, pipeline, place = self._fields
        draft = self._draft
        if offered is None:  # the start command reports the error
            for field in (agent, pipeline, place):
                field.offer((_USUAL,))
            return
        usual = ((_USUAL[0], offered.configured),) if offered.configured else ()
        agents = ((each.name, each.says) for each in offered.agents)
        agent.offer((*usual, *agents), draft.agent if draft is not None else "")
        pipeline.offer(offered.pipelines or (_USUAL,), draft.pipeline if draft is not None else "")
        place.offer(offered.places, draft.place if draft is not None else "")

    def on_written_text_sent(self) -> None:
        """Close the dialog with its result, after Enter on an empty last line."""
        self.action_send()

    def action_send(self) -> None:
        """Close the dialog with its result, as soon as it is known which agents are installed.

        If the text is empty, or the agent is not installed, the dialog says so and stays open.
        """
        text = self.query_one(TextArea).text.strip()
        if not text:
            self.query_one(TextArea).focus()
            return
        if self._of != self._project:
            self._sends = True
            self._tell(_LOOKS)
            return
        self._sends = False
        _, agent, pipeline, place = self._fields
        name = agent.choices[agent.at][0] if agent.choices[agent.at][0] != _USUAL[0] else ""
        if self._offered is not None and self._offered.is_missing(name):
            agent.focus()
            self._tell(f"{name} is {agent.says}")
            return
        self.dismiss(
            NewSession(
                text=text,
                project=self._project,
                agent=name,
                pipeline=pipeline.chosen,
                place=place.chosen,
            )
        )

    def action_cancel(self) -> None:
        """Close the dialog without a result."""
        self.dismiss(None)
