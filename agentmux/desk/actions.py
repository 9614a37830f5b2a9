"""The desk's actions on sessions: each asks the user what is needed, then runs a command."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from agentmux.adapters.disk.files import read_limited
from agentmux.adapters.system.processes.command_runs import CommandEnd
from agentmux.app.session.search.lookup import entry_at, live, short_name
from agentmux.core.codec.frozen import dataclass
from agentmux.core.conversation.launch_policy import ORDINARY, LaunchPolicy
from agentmux.core.documents.diff_comments import LineComment, change_request
from agentmux.core.names import layout
from agentmux.core.names.conversations import SeatChoice
from agentmux.core.names.status_labels import Colour, StatusGroup
from agentmux.core.terminal.keys.key_commands import KeyCommand
from agentmux.core.terminal.text import command_words
from agentmux.core.terminal.text.command_words import Words
from agentmux.desk.screens.dialogs import (
    ChoiceDialog,
    FailureDialog,
    LineEntryDialog,
    ResumeDialog,
    TextDialog,
    TextEntryDialog,
)
from agentmux.desk.screens.new_session import NewSession, NewSessionDialog
from agentmux.errors import AgentmuxError, ConfigError, NotFoundError, data_error_from
from agentmux.threads import in_daemon_thread
from agentmux.wiring import machine

if TYPE_CHECKING:
    from textual.screen import Screen

    from agentmux.app.commands.begin.start_offer import StartOffer
    from agentmux.app.delivery.approval.approval_question import ApprovalQuestion
    from agentmux.app.views.outlook import Outlook
    from agentmux.app.views.session.last_screens import LastScreen
    from agentmux.desk.list.listing import DeskRow, SessionListing
    from agentmux.desk.screens.widgets import PageView
    from agentmux.desk.session.pages import SessionPage
    from agentmux.desk.tools import DeskTools

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Changes:
    """The data for a request for changes.

    Attributes:
        beginnings: The phases in which the next cycle may begin, each with a description.
        digest: The digest of the result as it is now.
    """

    beginnings: tuple[tuple[str, str], ...]
    digest: str


class Desk(Protocol):
    """What the actions use of the desk's application; implemented by `app.DeskApp`.

    Attributes:
        listing: The list of sessions, with the selected session.
        comments: The comments on lines of diffs, by the session's directory, then by the place of
            the line, such as ``calc.py:12``.
        tab: The name of the tab that is shown.
        tools: Reads sessions and runs commands.
        view: The page of the selected session.
    """

    listing: SessionListing
    comments: dict[Path, dict[str, LineComment]]
    tab: str
    tools: DeskTools
    view: PageView

    def select_soon(self, path: Path) -> None:
        """Select the session at ``path``, as soon as it is in the list."""

    def unmark(self, paths: Collection[Path]) -> None:
        """Remove the marks of the sessions with these directories."""

    def say(self, text: str, colour: Colour = Colour.NONE) -> None:
        """Show a message above the keys, and return at once.

        It stays until the next message, or until the user presses a key that has a meaning. Empty
        text removes the message.
        """

    def ask(self, screen: Screen[T]) -> Awaitable[T | None]:
        """Show a dialog, and return its result once the user has closed it.

        Call it in an action that `in_background` runs. What the result is, and whether it is None
        after a cancel, depends on the dialog.
        """

    def in_background(self, action: Coroutine[None, None, None]) -> None:
        """Run an action as a task of the application; it may show dialogs."""

    def in_foreground(self, project: Path | None, words: Words, *, waits: bool = False) -> int:
        """Suspend the desk, run a command in its terminal, and return the command's exit code.

        Args:
            project: The project in which the command works; None if it needs none.
            words: The arguments after ``agentmux``.
            waits: Whether to wait for Enter after the command also if it succeeded, so that its
                output can be read. After another exit code than 0, this always waits.
        """

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


class Actions:
    """Runs the actions of one desk, one at a time.

    Attributes:
        COMMANDS: The commands of the desk that are actions on sessions.
    """

    COMMANDS: ClassVar[frozenset[KeyCommand]] = frozenset(
        {
            KeyCommand.ATTACH, KeyCommand.APPROVE, KeyCommand.CHANGES, KeyCommand.ANSWER,
            KeyCommand.NEW, KeyCommand.RESUME, KeyCommand.RESTART, KeyCommand.STOP,
            KeyCommand.REMOVE, KeyCommand.COMMENT, KeyCommand.TELL, KeyCommand.UNPARK,
            KeyCommand.EDIT, KeyCommand.PAGER,
        }
    )  # fmt: skip

    def __init__(self, app: Desk) -> None:
        self._app, self._keys = app, app.tools.keys
        self._busy = False
        self._locate = app.tools.commands.locate
        self._do: Mapping[KeyCommand, Callable[[DeskRow], Coroutine[None, None, None]]] = {
            KeyCommand.ATTACH: self._attach,
            KeyCommand.APPROVE: self._approve,
            KeyCommand.CHANGES: self._change,
            KeyCommand.ANSWER: self._answer,
            KeyCommand.TELL: self._tell,
            KeyCommand.RESUME: self._resume,
            KeyCommand.RESTART: self._restart,
            KeyCommand.UNPARK: self._unpark,
            KeyCommand.STOP: self._stop,
            KeyCommand.REMOVE: self._remove,
            KeyCommand.COMMENT: self._comment,
            KeyCommand.EDIT: self._edit,
            KeyCommand.PAGER: self._page,
        }

    def start_action(self, command: KeyCommand) -> None:
        """Start an action as a task of the application, and return at once.

        The action is about the selected session; only `KeyCommand.NEW` needs none. If no session is
        selected, or another action is under way, a message says so instead.

        Args:
            command: One of `COMMANDS`.
        """
        row = self._app.listing.selected_row
        if self._busy:
            self._app.say("the last key is still at work")
        elif command is KeyCommand.NEW:
            self._app.in_background(self._alone(self._new(), self._app.tools.here))
        elif row is None:
            self._app.say("no session is selected")
        else:
            self._app.in_background(self._alone(self._do[command](row), row.project))

    async def _alone(self, action: Coroutine[None, None, None], project: Path | None) -> None:
        self._busy = True
        try:
            await action
        except (AgentmuxError, OSError) as error:
            known = data_error_from(error) if isinstance(error, OSError) else error
            hint = f" ({known.hints[0]})" if known.hints else ""
            self._app.say(self._locate(f"{known.message}{hint}", project), Colour.RED)
        finally:
            self._busy = False

    # -- running -------------------------------------------------------------------------------

    async def _run(
        self, project: Path, words: Words, doing: str, *, text: str | None = None
    ) -> bool:
        """Run a command, and show its result. If it failed, offer to run it in this terminal.

        Returns:
            Whether the command succeeded.
        """
        self._app.say(f"{doing} …")
        reply = await self._app.tools.commands.run(project, words, text=text)
        if reply.is_ok:
            self._app.say(reply.words, Colour.GREEN)
        else:
            await self._show_failure(project, words, reply, can_ask=text is None)
        self._app.tools.feed.look_for_projects()
        return reply.is_ok

    async def _show_failure(
        self, project: Path, words: Words, said: CommandEnd, *, can_ask: bool
    ) -> None:
        self._app.say(said.words, Colour.RED)
        lines = (said.words, "", *said.hints)
        if await self._app.ask(FailureDialog(shlex.join(words), lines, can_ask=can_ask)):
            self._here(project, words)

    def _here(self, project: Path, words: Words) -> None:
        """Suspend the desk, and run a command in its terminal."""
        code = self._app.in_foreground(project, words)
        self._app.tools.feed.look_for_projects()
        if code:
            self._app.say(f"agentmux {words[0]} ended with exit code {code}", Colour.RED)

    # -- deciding ------------------------------------------------------------------------------

    async def _approve(self, row: DeskRow) -> None:
        self._app.say("looking at what would be delivered …")
        asked = await in_daemon_thread(partial(self._question, row))
        self._app.say("")
        if asked is None:
            self._app.say("nothing is to be decided now")
        elif isinstance(asked, str):
            self._app.say(f"not approved: {asked}", Colour.RED)
        else:
            title = f"What an approval of {row.name} would do"
            key = self._keys.line_of(KeyCommand.APPROVE)
            if await self._app.ask(TextDialog(title, asked.lines, f"{asked.effect}?", key=key)):
                words = command_words.approve(row.name, asked.approval.digest)
                await self._run(row.project, words, "approving")

    def _question(self, row: DeskRow) -> ApprovalQuestion | str | None:
        from agentmux.app.delivery.approval.approval_question import question_or_obstacle
        from agentmux.core.fold.acceptance import takes_approval

        world, state = self._app.tools.reader.place_row(row)
        if not takes_approval(state):
            return None
        return question_or_obstacle(world, world.files(row.path), state)

    async def _change(self, row: DeskRow) -> None:
        known = await in_daemon_thread(partial(self._changes, row))
        if known is None:
            self._app.say("nothing is to be decided now")
            return
        text = change_request(self._app.comments.get(row.path, {}))
        title = f"What should change in {row.name}?"
        answer = await self._app.ask(
            TextEntryDialog(title, text=f"{text}\n" if text else "", choices=known.beginnings)
        )
        if answer is not None:
            words = command_words.request_changes(row.name, answer.choice, known.digest)
            if await self._run(row.project, words, "asking for changes", text=answer.text):
                self._app.comments.pop(row.path, None)

    def _changes(self, row: DeskRow) -> _Changes | None:
        from agentmux.app.delivery.approval.result_view import digest_now
        from agentmux.core.fold.acceptance import takes_decision
        from agentmux.core.pipeline.beginnings import beginning_choices

        world, state = self._app.tools.reader.place_row(row)
        if not takes_decision(state):
            return None
        digest = digest_now(world, world.files(row.path), state)
        return _Changes(beginnings=beginning_choices(state), digest=digest)

    async def _comment(self, row: DeskRow) -> None:
        view = self._app.view
        place = view.place
        if self._app.tab != "diff" or not place:
            keys = map(self._keys.show, (KeyCommand.DIFF, KeyCommand.FOCUS, KeyCommand.WIDEN))
            self._app.say("select a line of the diff first ({}, then {} or {})".format(*keys))
            return
        held = self._app.comments.setdefault(row.path, {})
        line = view.page.lines[view.cursor]
        shown = "".join(text for text, _ in line)
        about = (shown, *([held[place].text] if place in held else ()))
        text = await self._app.ask(LineEntryDialog(f"Comment on {place}", about, "a comment"))
        if text is not None:
            held[place] = LineComment(text=text.strip(), line=shown)
            view.commented = frozenset(held)
            view.refresh()
            sends = self._keys.show(KeyCommand.CHANGES)
            self._app.say(f"{len(held)} in the next request for changes: {sends} sends it")

    async def _edit(self, row: DeskRow) -> None:
        """Open what is shown in the user's editor: a changed file, a document, or the folder."""
        view = self._app.view
        argv = await in_daemon_thread(
            partial(self._editor_argv, row, self._app.tab, view.page, view.cursor)
        )
        if self._app.run_program(argv):
            self._app.say(f"{argv[0]} has failed", Colour.RED)

    def _editor_argv(self, row: DeskRow, tab: str, page: SessionPage, cursor: int) -> Words:
        """Return the command line that opens what a tab shows.

        Raises:
            NotFoundError: The file or the worktree does not exist.
            MissingError: The editor is not installed.
        """
        from agentmux.core.documents.diff_files import file_at, line_at
        from agentmux.desk.session.editor import EditedPlace, editor_argv

        world, _ = self._app.tools.reader.place_row(row)
        top = world.repository.top_level() or world.tree
        place = EditedPlace(path=top)
        if tab == "documents" and page.parts:
            place = EditedPlace(path=row.path / page.parts[page.at])
        elif tab == "diff" and page.files:
            file = page.files[file_at(page.files, cursor)]
            place = EditedPlace(path=top / file.path, line=line_at(page.files, page.places, cursor))
        if not place.path.exists():
            raise NotFoundError(f"{place.path} does not exist any more")
        environ = self._app.tools.commands.environ
        return editor_argv(place, environ, world.agents.programs.find)

    async def _page(self, row: DeskRow) -> None:
        """Show the diff in git's pager; a pager ends at once if the diff fits on the screen."""
        count = await in_daemon_thread(partial(self._count_lines, row))
        waits = count < self._app.view.app.size.height
        code = self._app.in_foreground(row.project, command_words.diff(row.name), waits=waits)
        if code:
            self._app.say(f"the diff cannot be shown in the pager (exit code {code})", Colour.RED)

    def _count_lines(self, row: DeskRow) -> int:
        """Return how many lines the diff of a session has."""
        from agentmux.app.delivery.approval.result_view import every_change

        world, state = self._app.tools.reader.place_row(row)
        return len(every_change(world, world.files(row.path), state))

    async def _answer(self, row: DeskRow) -> None:
        asking = await in_daemon_thread(partial(self._asking, row))
        if not asking:
            self._app.say("no agent of this session asks a question now")
            return
        shown = await self._one_of(asking)
        if shown is None:
            return
        hint = "the keys to press there, such as 2, y, or Down Enter; or a text"
        title = f"{shown.seat} of {row.name} asks"
        typed = await self._app.ask(LineEntryDialog(title, shown.text(), hint, empty="Enter"))
        if typed is not None:
            keys = tuple(_words(typed))
            words = command_words.answer(row.name, shown.seat, keys, shown.digest)
            await self._run(row.project, words, "answering")

    async def _tell(self, row: DeskRow) -> None:
        seats = await in_daemon_thread(partial(self._tellable, row)) if row.live else ()
        if not seats:
            self._app.say("no agent of this session can be told anything now")
            return
        chosen: Iterable[str] | None = seats
        if len(seats) > 1:
            question = "a number chooses, Esc closes"
            title = f"Whom in {row.name}?"
            chosen = await self._app.ask(ChoiceDialog(title, (), seats, question, single=True))
        for seat in chosen or ():
            answer = await self._app.ask(TextEntryDialog(f"What to tell {seat} of {row.name}?"))
            if answer is not None:
                words = command_words.tell(row.name, seat)
                await self._run(row.project, words, f"telling {seat}", text=answer.text)

    def _tellable(self, row: DeskRow) -> tuple[str, ...]:
        from agentmux.app.views.session.seat_screens import asking_seats
        from agentmux.core.decisions.seat_needs import list_messageable_seats

        world, state = self._app.tools.reader.place_row(row)
        asking = asking_seats(world, entry_at(world, row.path))  # they must be answered first
        return tuple(each for each in list_messageable_seats(state) if each not in asking)

    async def _one_of(self, screens: tuple[LastScreen, ...]) -> LastScreen | None:
        """Let the user choose one of several screens; return a single one without asking."""
        if len(screens) == 1:
            return screens[0]
        names = tuple(each.seat for each in screens)
        chosen = await self._app.ask(
            ChoiceDialog(
                "Several agents ask", (), names, "a number chooses, Esc closes", single=True
            )
        )
        return next((each for each in screens if each.seat in (chosen or ())), None)

    def _asking(self, row: DeskRow) -> tuple[LastScreen, ...]:
        from agentmux.app.views.session.last_screens import readable_screens
        from agentmux.app.views.session.seat_screens import asking_seats

        site = self._app.tools.reader.site(row.project)
        seats = sorted(asking_seats(site, entry_at(site, row.path)))
        return readable_screens(row.path, seats, read_limited)

    # -- running sessions ----------------------------------------------------------------------

    async def _attach(self, row: DeskRow) -> None:
        if row.is_lost:
            if await self._reattach(row):
                self._here(row.project, command_words.attach(row.name))
        elif row.live:
            self._here(row.project, command_words.attach(row.name))
        elif row.can_be_resumed:
            await self._resume(row)
        else:
            self._app.say(f"session {row.name} is not live")

    async def _resume(self, row: DeskRow) -> None:
        if self._app.listing.marked:
            await self._resume_marked()
            return
        if row.live and row.orchestrator is None:
            await self._reattach(row)
            return
        if row.live:
            attach = self._keys.show(KeyCommand.ATTACH)
            self._app.say(f"{row.name} is at work; nothing has to be resumed. {attach} attaches.")
            return
        from agentmux.app.views.outlook import MISSING

        name, lines, seen = await in_daemon_thread(partial(self._plan, row))
        if seen.refused:
            here: Words = ("resume", row.name)
            can_ask = seen.kind == MISSING  # a person can get a shell in place of the agent
            if await self._app.ask(FailureDialog(shlex.join(here), lines, can_ask=can_ask)):
                self._here(row.project, here)
            return
        title = f"What a resume of {name} would do"
        key = self._keys.line_of(KeyCommand.RESUME)
        chosen = await self._app.ask(ResumeDialog(title, lines, seen.seats, key=key))
        if chosen is not None:
            choices = {seen.seats[place].seat: each for place, each in chosen.items()}
            words = command_words.resume(row.name, seen.agree(choices).options)
            await self._run(row.project, words, "resuming")

    async def _reattach(self, row: DeskRow) -> bool:
        """Offer to start a new orchestrator for live agents; return whether that succeeded."""
        lines = (
            "Its orchestrator is gone. Its agents live, but no orchestrator drives them, so",
            "nothing goes on when they are ready.",
            "A new orchestrator takes them over as they are: nothing is started again.",
            self._locate(f"The same as: agentmux resume --reattach {row.name}", row.project),
        )
        asked = TextDialog(f"Reattach {row.name}", lines, "Start a new orchestrator for them?")
        if not await self._app.ask(asked):
            return False
        words = command_words.reattach(row.name)
        return await self._run(row.project, words, "reattaching")

    def _plan(self, row: DeskRow) -> tuple[str, tuple[str, ...], Outlook]:
        """Return the session's short name, lines on a resume without its seats, and its outlook."""
        from agentmux.app.views.explanation import explanation
        from agentmux.app.views.outlook import outlook

        world = self._app.tools.reader.world(row.project)
        site = self._app.tools.reader.site(row.project)
        entry = entry_at(site, row.path)
        _, *lines = explanation(world, site, entry, explain=False, seats=False)
        named = (each.removeprefix(f"{entry.name} ") for each in lines)
        shown = tuple(self._locate(each, row.project) for each in named)
        lives = live(site, (entry,))[entry.path]
        name = short_name(site, row.path)
        return name, shown, outlook(world, entry, lives, read_limited, is_attended=False)

    async def _resume_marked(self) -> None:
        rows = [each for each in self._app.listing.chosen if each.can_be_resumed]
        if not rows:
            self._app.say("none of the marked sessions is at rest")
            return
        plans = [await in_daemon_thread(partial(self._marked_plan, row)) for row in rows]
        lines = [line for shown, _ in plans for line in shown]
        title, key = f"Resume {len(rows)} sessions", self._keys.line_of(KeyCommand.RESUME)
        if await self._app.ask(ResumeDialog(title, lines, (), key=key)) is None:
            return
        failed: list[tuple[DeskRow, CommandEnd]] = []
        for number, (row, (_, panes)) in enumerate(zip(rows, plans, strict=True), start=1):
            self._app.say(f"resuming {row.name} ({number} of {len(rows)}) …")
            words = command_words.resume(row.name, panes.options)
            reply = await self._app.tools.commands.run(row.project, words)
            failed += [] if reply.is_ok else [(row, reply)]
        self._app.unmark({row.path for row in rows} - {row.path for row, _ in failed})
        self._app.say(f"resumed {len(rows) - len(failed)} of {len(rows)}")
        if failed:
            told = [f"{row.name}: {reply.words}" for row, reply in failed]
            await self._app.ask(TextDialog("Not resumed", told))

    def _marked_plan(self, row: DeskRow) -> tuple[tuple[str, ...], LaunchPolicy]:
        """Return what a resume of one of several sessions would do, and what that agrees to."""
        from agentmux.app.views.outlook import seat_lines

        try:
            *_, seen = self._plan(row)
        except AgentmuxError as error:
            return (_row_words(row), f"  {error.message}"), ORDINARY  # its resume reports the error
        seats = tuple((each, SeatChoice.PLANNED) for each in seen.seats)
        shown = (f"  {' '.join(each)}" for each in seat_lines(seats, numbered=False))
        return (_row_words(row), *shown), seen.agree({})

    async def _restart(self, row: DeskRow) -> None:
        seats = await in_daemon_thread(partial(self._restartable, row))
        if not seats:
            self._app.say("no seat of this session has failed or ended")
            return
        question = "a number starts that seat again, Esc closes"
        chosen = await self._app.ask(
            ChoiceDialog(f"Start a seat of {row.name} again", (), seats, question, single=True)
        )
        for seat in chosen or ():
            await self._run(
                row.project, command_words.restart(row.name, seat), f"restarting {seat}"
            )

    def _restartable(self, row: DeskRow) -> tuple[str, ...]:
        from agentmux.core.decisions.seat_needs import list_restartable_seats

        return list_restartable_seats(self._app.tools.reader.place_row(row)[1])

    async def _unpark(self, row: DeskRow) -> None:
        if row.row.group is not StatusGroup.PARKED:
            self._app.say("no agent of this session waits for a usage limit")
            return
        lines = (
            "Its agents wait until their usage limits end.",
            "Do this if you know that a limit is over: agents of one account go on one by one.",
        )
        if await self._app.ask(TextDialog(f"Unpark {row.name}", lines, "Let them go on now?")):
            await self._run(row.project, command_words.unpark(row.name), "unparking")

    async def _stop(self, row: DeskRow) -> None:
        if row.live is False and row.orchestrator is None:
            self._app.say("this session does not run: there is nothing to stop")
            return
        lines = (
            "Its last screens are kept, its agents are ended, and its tmux session is killed.",
            "A resume brings it back.",
        )
        asked = TextDialog(f"Stop {row.name}", lines, "Stop it?")
        if await self._app.ask(asked):
            await self._run(row.project, command_words.stop(row.name), "stopping")

    async def _remove(self, row: DeskRow) -> None:
        lines = (
            f"{row.row.title}",
            f"It is {row.row.label}. Its history and its conversations are deleted.",
            "A worktree of its own goes too, unless it has work that is nowhere else;",
            "files that git ignores, such as .env, count as none, and go with it.",
        )
        asked = TextDialog(f"Remove {row.name}", lines, "Remove it for good?")
        if await self._app.ask(asked):
            await self._run(row.project, command_words.remove(row.name), "removing")

    async def _new(self) -> None:
        here = self._app.tools.here
        first = () if here is None else (here,)
        rows = self._app.listing.rows.values()
        known = tuple(dict.fromkeys((*first, *(each.project for each in rows))))
        if not known:
            self._app.say("no project is known here: go to yours, and open the desk there")
            return
        draft, trouble = None, ""
        while True:
            dialog = NewSessionDialog(known, self._offer, draft=draft, trouble=trouble)
            draft = await self._app.ask(dialog)
            if draft is None:
                return
            trouble = await self._start(draft)
            if not trouble:
                return

    def _offer(self, project: Path) -> StartOffer | None:
        """Return the choices for a new session in a project; None if it cannot be read."""
        from agentmux.adapters.config.layers import names_an_agent
        from agentmux.app.commands.begin.start_offer import start_offer

        config = self._app.tools.commands.config
        try:
            world = self._app.tools.reader.own_world(project)
            user = machine.config_dir(world.environment)
            return start_offer(world, is_configured=names_an_agent(user, project, config))
        except (AgentmuxError, OSError):  # the start command reports the error
            return None

    async def _start(self, new: NewSession) -> str:
        """Start a session without leaving the desk; return why not, empty if it has started."""
        from agentmux.app.commands.begin.start_offer import read_reply
        from agentmux.app.session.search.lookup import sessions_dir

        planned = await self._run_start(new, dry_run=True)
        if not planned.is_ok:
            return _trouble(planned)
        asks = read_reply(planned.out).asks
        title = "Before it starts"
        if asks and not await self._app.ask(TextDialog(title, asks, "Start anyway?")):
            return "nothing was started"
        reply = await self._run_start(new)
        if not reply.is_ok and await self._trust(new.project, reply):
            reply = await self._run_start(new)
        if not reply.is_ok:
            return _trouble(reply)
        begun = read_reply(reply.out)
        self._app.select_soon(sessions_dir(new.project) / begun.session)
        told = "".join(f"; {each}" for each in begun.warnings[:1])
        self._app.say(f"{layout.slug_of(begun.session)} has started{told}", Colour.GREEN)
        self._app.tools.feed.look_for_projects()
        return ""

    async def _run_start(self, new: NewSession, *, dry_run: bool = False) -> CommandEnd:
        self._app.say("looking at what would be started …" if dry_run else "starting …")
        words = command_words.start_described(
            agent=new.agent, pipeline=new.pipeline, place=new.place, dry_run=dry_run
        )
        reply = await self._app.tools.commands.run(new.project, words, text=new.text)
        self._app.say("")
        return reply

    async def _trust(self, project: Path, refused: CommandEnd) -> bool:
        """Ask the user to trust the project's files if that may be why a start was refused.

        Returns:
            Whether the user trusts them now.
        """
        from agentmux.app.commands.look.trust import keep, part_lines, untrusted_parts

        world = self._app.tools.reader.own_world(project)
        parts = untrusted_parts(world)
        if not parts or refused.code != ConfigError.exit_code:
            return False
        lines = (refused.words, "", *part_lines(world, parts))
        title, question = "What the files of this project run", f"Trust this in {project}?"
        if not await self._app.ask(TextDialog(title, lines, question)):
            return False
        keep(world, parts)
        return True


def _trouble(reply: CommandEnd) -> str:
    return "\n".join((reply.words, *reply.hints))


def _row_words(row: DeskRow) -> str:
    safety = f"{row.safety}{f': {row.warned}' if row.warned else ''}" if row.safety else ""
    return f"{row.name}  {safety or row.row.label}"


def _words(typed: str) -> list[str]:
    """Split a line into words as a shell does; a line with an unclosed quote is one word."""
    try:
        return shlex.split(typed)
    except ValueError:
        return [typed]
