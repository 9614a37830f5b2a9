"""The desk's screen about the fleet: its features, pending decisions first, and its hosts."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult, SystemCommand
from textual.content import Content
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from agentmux.core.fleet.board import (
    COLOURS,
    DRAINING,
    NEEDS_YOU,
    SHORT_ID,
    FleetBoard,
    FleetFeature,
    FleetQuestion,
    host_words,
)
from agentmux.core.names.status_labels import Colour
from agentmux.core.terminal.keys.key_commands import DESK, KeyCommand, KeyPlace
from agentmux.core.terminal.text import command_words
from agentmux.core.terminal.text.text_width import clean, width
from agentmux.desk.list.list_lines import SELECTED
from agentmux.desk.screens.dialogs import FailureDialog, TextDialog, TextEntryDialog
from agentmux.desk.screens.widgets import MessageLine, OneLine, Themed, foot_parts
from agentmux.desk.styled import BOLD, DIM, PLAIN, Part, fill, plain
from agentmux.errors import AgentmuxError, data_error_from
from agentmux.threads import in_daemon_thread

if TYPE_CHECKING:
    from agentmux.core.fleet.routing import HostFacts
    from agentmux.core.terminal.keys.key_table import KeyLine
    from agentmux.core.terminal.text.command_words import Words
    from agentmux.desk.tools import DeskTools
    from agentmux.ports.fleet import Fleet

    _Action = Callable[[FleetFeature], Coroutine[None, None, None]]

_LOOK_S: Final = 10.0
"""Seconds between two reads of the fleet, whose database does not report changes."""

_WIDEST: Final = 14
_MOVES: Final = {
    KeyCommand.DOWN: OptionList.action_cursor_down,
    KeyCommand.UP: OptionList.action_cursor_up,
    KeyCommand.PAGE_DOWN: OptionList.action_page_down,
    KeyCommand.PAGE_UP: OptionList.action_page_up,
    KeyCommand.FIRST: OptionList.action_first,
    KeyCommand.LAST: OptionList.action_last,
}
_WORDS: Final = {
    KeyCommand.ATTACH: "open",
    KeyCommand.CHANGES: "changes",
    KeyCommand.SUMMARY: "show",
    KeyCommand.RESTART: "retry",
    KeyCommand.STOP: "cancel",
}
"""What keys of the desk are called here, where they are about features."""

T = TypeVar("T")


class MarkedList(OptionList, Themed):
    """A list of lines in which the selected line is marked as in the list of sessions.

    Every line has to begin with two spaces, which leave room for the mark.
    """

    def show(self, options: Iterable[str | Option], marked: int | None) -> None:
        """Replace the options, and keep the scroll position.

        Args:
            options: The options.
            marked: The index of the option to select; None to select none.
        """
        top = self.scroll_offset.y
        self.clear_options().add_options(options)
        self.scroll_to(y=top, animate=False, force=True, immediate=True)
        self.highlighted = marked

    def render_line(self, y: int) -> Strip:
        """Return the drawn line in the row ``y`` of the widget; every option takes one row."""
        strip = super().render_line(y)
        if self.scroll_offset.y + y != self.highlighted:
            return strip
        # Textual leaves `reverse` out of the styles of an option.
        style = Style(reverse=True) if self.has_focus else Style(bold=True)
        return Strip.join((Strip([Segment(SELECTED)]), strip.crop(1))).apply_style(style)


class FleetScreen(Screen[None]):
    """The screen about the fleet. The fleet is read only while this screen is open."""

    DEFAULT_CSS = """
    FleetScreen { layout: vertical; background: $background; color: $foreground; }
    FleetScreen OptionList {
      height: 1fr; padding: 0; text-wrap: nowrap; text-overflow: ellipsis;
      background: $background; color: $foreground;
      scrollbar-size: 1 1; overflow-x: hidden;
    }
    FleetScreen OptionList, FleetScreen OptionList:focus { border: none; }
    FleetScreen OptionList > .option-list--option { padding: 0; }
    FleetScreen OptionList > .option-list--option-highlighted,
    FleetScreen OptionList:focus > .option-list--option-highlighted {
      color: $foreground; background: $background; text-style: none;
    }
    FleetScreen OptionList > .option-list--option-disabled { color: $foreground; }
    FleetScreen #hosts, FleetScreen #hosts:focus {
      height: auto; max-height: 8; border-top: solid ansi_bright_black;
    }
    FleetScreen Static { height: auto; }
    FleetScreen OneLine { height: 1; }
    """

    def __init__(
        self, tools: DeskTools, fleet: Fleet, in_foreground: Callable[[Path | None, Words], int]
    ) -> None:
        """Create the screen.

        Args:
            tools: Runs commands.
            fleet: Reads the fleet.
            in_foreground: Suspends the desk, runs a command in its terminal, and returns the
                command's exit code.
        """
        super().__init__()
        self._tools, self._fleet, self._in_foreground = tools, fleet, in_foreground
        self._top, self._message, self._foot = OneLine("top"), MessageLine("told"), OneLine("keys")
        self._list, self._hosts = MarkedList(markup=False), MarkedList(markup=False, id="hosts")
        self._trouble = Static("", markup=False)
        self._head: tuple[Part, ...] = ()
        self._board: FleetBoard | None = None
        self._looking = self._busy = False
        self._keys, begin = tools.keys, self._begin
        self._does: Mapping[KeyCommand, Callable[[], object]] = {
            KeyCommand.ATTACH: lambda: begin(self._open, decides=False),
            KeyCommand.APPROVE: lambda: begin(self._approve),
            KeyCommand.CHANGES: lambda: begin(self._change),
            KeyCommand.SUMMARY: lambda: begin(self._shown_of, decides=False),
            KeyCommand.RESTART: lambda: begin(self._retry),
            KeyCommand.STOP: lambda: begin(self._cancel),
            KeyCommand.DRAIN: self._begin_drain,
            KeyCommand.LOOK: self._look_again,
            KeyCommand.FOCUS: lambda: self.set_focus(self._other_list),
            **dict.fromkeys((KeyCommand.BACK, KeyCommand.QUIT, KeyCommand.FLEET), self._leave),
            **{command: partial(self._move, how) for command, how in _MOVES.items()},
        }

    def press(self, key: str) -> bool:
        """Do what a key stands for on this screen; return whether it has a meaning here.

        Call it only while no dialog is open, and before Textual handles the key: else a key that
        acts could take effect before one that selects.

        Args:
            key: The name of the key, as `name_key` returns it.
        """
        does = self._does.get(self._keys.find(key, *DESK, KeyPlace.FLEET))
        if does is not None:
            does()
        return does is not None

    def compose(self) -> ComposeResult:
        """Yield the list of features, and below it the list of hosts."""
        yield self._top
        yield self._list
        yield self._trouble
        yield self._hosts
        yield self._message
        yield self._foot

    def on_mount(self) -> None:
        """Read the fleet now, and again every ten seconds."""
        self._show_head(("reading …", DIM))
        self._list.focus()
        self._read()
        self.set_interval(_LOOK_S, self._read)

    def _look_again(self) -> None:
        """Read the fleet again."""
        self._read(anew=True)

    def _read(self, *, anew: bool = False) -> None:
        """Read the fleet, unless a read is in progress."""
        if not self._looking:
            self._looking = True
            self.run_worker(self._look(anew=anew))

    async def _look(self, *, anew: bool) -> None:
        try:
            if anew:
                await in_daemon_thread(self._fleet.forget)
            board = await in_daemon_thread(self._fleet.board)
        except (AgentmuxError, OSError) as error:
            self._board = None
            known = data_error_from(error) if isinstance(error, OSError) else error
            self._trouble.update("\n".join(map(clean, (known.message, *known.hints))))
            self._show_head(("cannot be read now", Colour.RED.value))
        else:
            self._trouble.update("")
            self._show(board)
        finally:
            self._looking = False

    def _show_error(self, error: AgentmuxError | OSError) -> None:
        known = data_error_from(error) if isinstance(error, OSError) else error
        hint = f" ({known.hints[0]})" if known.hints else ""
        self._message.say(f"{known.message}{hint}", Colour.RED)

    def _show(self, board: FleetBoard) -> None:
        if board == self._board:
            return
        selected = self._list.highlighted_option
        self._board = board
        parts: list[Part] = []
        options: list[Option] = []
        widths = (
            max((len(each.status) for each in board.features), default=0),
            min(max((len(each.listed_phase) for each in board.features), default=0), _WIDEST),
            min(max((len(each.host) for each in board.features), default=0), _WIDEST),
        )
        for group in board.groups:
            style = Colour.YELLOW.value if group.name in NEEDS_YOU else PLAIN
            parts.append((group.count_text, style))
            head = f"{group.name} {group.count}"
            options.append(Option(Content.styled(head, BOLD), disabled=True))
            options += [Option(_line(each, widths), id=each.id) for each in group.shown]
        if not board.features:
            parts.append(("the fleet has no features: agentmux fleet submit …", DIM))
        self._show_head(*parts)
        ids = [each.id for each in options]
        wanted = selected.id if selected is not None else None
        first = next((at for at, each in enumerate(ids) if each is not None), None)
        self._list.show(options, ids.index(wanted) if wanted in ids and wanted else first)
        at = min(self._hosts.highlighted or 0, len(board.hosts) - 1)
        hosts = (f"  {host_words(each)}" for each in board.hosts)
        self._hosts.show(hosts, at if board.hosts else None)

    def _show_head(self, *parts: Part) -> None:
        """Show the first line; the last parts are left out if they do not fit completely."""
        self._head = (("the fleet", BOLD), *((f"  {text}", style) for text, style in parts))
        self._fit_head()

    def _fit_head(self) -> None:
        parts = self._head
        while len(parts) > 1 and width(plain(parts)) > self._top.size.width:
            parts = parts[:-1]
        self._top.show(parts)

    def on_one_line_resized(self, event: OneLine.Resized) -> None:
        """Fit the first line, or that with the keys, into its new width."""
        if event.sender is self._top:
            self._fit_head()
        elif event.sender is self._foot:
            words = {
                each.command: _name_command(each) for each in self._keys.lines_at(KeyPlace.FLEET)
            }
            self._foot.show(
                *foot_parts(words, self._keys, (KeyCommand.BACK,), self._foot.size.width)
            )

    def on_one_line_clicked(self, event: OneLine.Clicked) -> None:
        """Do what the key that was clicked in the last line stands for."""
        event.stop()
        self._does[KeyCommand[event.name]]()

    def _find_selected(self) -> FleetFeature | None:
        at = self._list.highlighted
        if self._board is None or at is None:
            return None
        name = self._list.get_option_at_index(at).id
        return next((each for each in self._board.features if each.id == name), None)

    def commands(self) -> Iterator[SystemCommand]:
        """Yield the entries of Textual's command palette for this screen: one for each key."""
        for each in self._keys.lines_at(KeyPlace.FLEET):
            yield SystemCommand(
                f"{_name_command(each)} ({each.label})", each.says, self._does[each.command]
            )

    # -- keys ----------------------------------------------------------------------------------

    def _leave(self) -> None:
        """Close this screen, and show the sessions again."""
        self.dismiss(None)

    @property
    def _other_list(self) -> MarkedList:
        """The list that does not have the focus."""
        return self._list if self.focused is self._hosts else self._hosts

    def _move(self, how: Callable[[OptionList], None]) -> None:
        """Move the selection in the list that has the focus."""
        how(self._hosts if self.focused is self._hosts else self._list)

    def _begin_drain(self) -> None:
        """Drain the selected host."""
        board, at = self._board, self._hosts.highlighted
        host = board.hosts[at] if board is not None and at is not None else None
        self._begin_with(host, self._drain, "there is no host")

    def _begin(self, action: _Action, *, decides: bool = True) -> None:
        self._begin_with(self._find_selected(), action, "no feature is selected", decides=decides)

    def _begin_with(
        self,
        row: T | None,
        action: Callable[[T], Coroutine[None, None, None]],
        none: str,
        *,
        decides: bool = True,
    ) -> None:
        self._message.say("")
        if row is None:
            reads = "is being read" if self._looking else "cannot be read now"
            self._message.say(none if self._board is not None else f"the fleet {reads}")
        elif decides and self._tools.agent:
            self._message.say(self._tools.agent, Colour.RED)
        elif self._busy:
            self._message.say("the last key is still at work")
        else:
            self._busy = True
            self.run_worker(self._alone(action(row)))

    async def _alone(self, action: Coroutine[None, None, None]) -> None:
        try:
            await action
        except (AgentmuxError, OSError) as error:
            self._show_error(error)
        finally:
            self._busy = False

    async def _question(self, row: FleetFeature) -> FleetQuestion:
        self._message.say("looking at what is to be decided …")
        question = await in_daemon_thread(partial(self._fleet.question, row.id))
        self._message.say("")
        return question

    async def _shown_of(self, row: FleetFeature) -> None:
        asked = await self._question(row)
        lines = (
            f"{asked.feature.status}  {asked.feature.title_with_reason}",
            "",
            *_asked_lines(asked, self._keys.show(KeyCommand.ATTACH)),
        )
        await self.app.push_screen_wait(TextDialog(f"Feature {row.id[:SHORT_ID]}", lines))

    async def _approve(self, row: FleetFeature) -> None:
        title = f"What an approval of {row.id[:SHORT_ID]} would do"
        asked = await self._ask_agreement(row, title, "Approve?", KeyCommand.APPROVE)
        if asked is not None:
            await self._run(command_words.fleet_approve(row.id, asked.digest))

    async def _change(self, row: FleetFeature) -> None:
        title = f"What there is of {row.id[:SHORT_ID]}"
        asked = await self._ask_agreement(row, title, "Ask for changes?", KeyCommand.CHANGES)
        if asked is None:
            return
        title = f"What should change in {row.id[:SHORT_ID]}?"
        answer = await self.app.push_screen_wait(
            TextEntryDialog(title, about=(row.title,), choices=asked.beginnings)
        )
        if answer is not None:
            words = command_words.fleet_request_changes(row.id, answer.choice, asked.digest)
            await self._run(words, text=answer.text)

    async def _ask_agreement(
        self, row: FleetFeature, title: str, question: str, command: KeyCommand
    ) -> FleetQuestion | None:
        """Show the pending decision on a feature, and ask the user to agree.

        Args:
            row: The feature.
            title: The title of the dialog.
            question: The question of the dialog.
            command: The command of the key that opened the dialog, which also means yes.

        Returns:
            The decision that was shown; None if the user did not agree, or the result cannot be
            approved now.
        """
        asked = await self._question(row)
        if not asked.digest:
            self._message.say(asked.block_reason)
            return None
        lines = (row.title, "", *asked.lines)
        agrees = await self._agree(title, lines, question, command)
        return asked if agrees else None

    async def _agree(
        self, title: str, lines: tuple[str, ...], question: str, command: KeyCommand
    ) -> bool | None:
        """Ask the user a question; the key of ``command`` means yes, too."""
        key = self._keys.line_of(command)
        return await self.app.push_screen_wait(TextDialog(title, lines, question, key=key))

    async def _retry(self, row: FleetFeature) -> None:
        if not row.can_be_retried:
            self._message.say("only a feature that has failed is tried again")
            return
        title = f"Go on with {row.id[:SHORT_ID]}"
        lines = (row.title_with_reason,)
        if await self._agree(title, lines, "Go on?", KeyCommand.RESTART):
            await self._run(command_words.fleet_retry(row.id))

    async def _open(self, row: FleetFeature) -> None:
        if not row.session:
            self._message.say("it has no session yet")
            return
        words = command_words.fleet_attach(row.id)
        if code := self._in_foreground(self._tools.here, words):
            self._message.say(f"{row.attach} ended with exit code {code}", Colour.RED)
        self._look_again()

    async def _cancel(self, row: FleetFeature) -> None:
        if not row.can_be_cancelled:
            self._message.say("it has ended already")
            return
        where = f": {row.phase or 'beginning'} on {row.host}" if row.session else ""
        lines = (
            row.title_with_reason,
            f"It is {row.status}{where}.",
            *row.if_cancelled,
        )
        title = f"Cancel {row.id[:SHORT_ID]}"
        if await self._agree(title, lines, "Cancel it?", KeyCommand.STOP):
            await self._run(command_words.fleet_cancel(row.id))

    async def _drain(self, host: HostFacts) -> None:
        if not host.can_be_drained:
            self._message.say(host_words(host))
            return
        lines = (host_words(host), *DRAINING)
        title = f"Drain host {host.name}"
        if await self._agree(title, lines, "Drain it?", KeyCommand.DRAIN):
            await self._run(command_words.fleet_drain(host.name))

    async def _run(self, words: Words, *, text: str | None = None) -> None:
        self._message.say(f"agentmux {' '.join(words[:2])} …")
        reply = await self._tools.commands.run(self._tools.here, words, text=text)
        if reply.is_ok:
            self._message.say(reply.words, Colour.GREEN)
        else:
            self._message.say(reply.words, Colour.RED)
            lines = (reply.words, "", *reply.hints)
            await self.app.push_screen_wait(FailureDialog(" ".join(words), lines, can_ask=False))
        self._look_again()


def _name_command(line: KeyLine) -> str:
    """Return what a key is called in the view of the fleet."""
    return _WORDS.get(line.command, line.command.value)


def _asked_lines(asked: FleetQuestion, opens: str) -> tuple[str, ...]:
    attach = asked.feature.attach
    return (
        *(asked.lines or (asked.block_reason,)),
        *(("", f"its session: {opens} in the list, or {attach}") if attach else ()),
    )


def _line(each: FleetFeature, widths: tuple[int, int, int]) -> Content:
    phase, host = fill(each.listed_phase, widths[1]), fill(each.host, widths[2])
    return Content.assemble(
        f"  {each.id[:SHORT_ID]}  ",
        (fill(each.status, widths[0]), _style(each.status)),
        f"  {phase}  {host}  {clean(each.title_with_reason)}",
    )


def _style(status: str) -> str:
    colour = COLOURS.get(status, Colour.NONE).value
    return f"ansi_{colour}" if colour in {"red", "green", "yellow"} else colour
