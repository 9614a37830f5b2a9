"""What the monitor shows and what its keys do; all of it runs in the `MonitorThread`.

Git and files are read in further threads. What changes the session is handed over to the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final, Protocol, TypeVar

from agentmux.app.loop.background_tasks import BackgroundTasks, Loop
from agentmux.app.loop.dependencies import LoopDependencies
from agentmux.app.loop.monitor.tmux_options import waits
from agentmux.app.loop.panes.observed_panes import ObservedPanes
from agentmux.app.session.writer import Session, stamp
from agentmux.app.signals.submission import decide
from agentmux.app.world import World
from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.seat_needs import (
    list_restartable_seats,
    list_skippable_seats,
    list_stopped_seats,
)
from agentmux.core.definitions.definition import Kind
from agentmux.core.fold.acceptance import Answer, takes_approval, takes_decision
from agentmux.core.fold.signals.table import words_for
from agentmux.core.journal.events import Approved, ChangesRequested, UserDecision
from agentmux.core.journal.state import Seat, SessionState
from agentmux.core.launch.writing import planned_key
from agentmux.core.names import statuses
from agentmux.core.names.words.listing import join_names
from agentmux.core.pipeline.beginnings import beginning_choices
from agentmux.core.pipeline.registry import pipeline_of, working_phase
from agentmux.core.terminal.keys.console import ANSWER_S, READ_S, REST_S, Console, ask, press
from agentmux.core.terminal.keys.key_commands import KeyCommand
from agentmux.core.terminal.keys.keys import Pressed
from agentmux.core.terminal.keys.monitor_keys import DETACH, help_lines
from agentmux.ports.session.session_files import SessionFiles
from agentmux.ports.tmux.display import DisplayedText, MonitorContent, ResultView
from agentmux.threads import in_daemon_thread

_BY_KEY: Final = "Ctrl-C at the monitor"
_WITHIN: Final = f"within {ANSWER_S:g} s"
_END: Final = f"press Ctrl-C again {_WITHIN} to end the orchestrator; the agents go on without it"
_LOOKS: Final = Console(question="looking at what would be delivered …", until_s=float("inf"))
_SENDS: Final = "looking whether the result is still the one that you saw …"
_RECORDS: Final = "recording your request …"
_CHANGED: Final = "the result is not the one that you saw: look at it again, then send"
_EXPIRED: Final = "the question has expired: press a to ask again"
_LOADS: Final = ("looking …",)
_TITLES: Final = {
    KeyCommand.DIFF: "Every change so far",
    KeyCommand.SUMMARY: "The summary",
    KeyCommand.KEYS: "All keys of the monitor",
    KeyCommand.APPROVE: "What an approval would do",
}


T = TypeVar("T")


class MonitorLoop(Loop, Protocol):
    """The part of the orchestrator's loop that `MonitorKeys` calls."""

    def hand_over(self, work: Callable[[], object]) -> None:
        """Make the loop run ``work`` soon and show its errors; may be called from any thread."""

    def soon(self, work: Callable[[], object]) -> None:
        """Make the loop run ``work`` soon, which must not raise; may be called from any thread."""

    def end(self, cause: str, *, kill_session: bool = False) -> None:
        """Stop driving the session, and record ``cause``: why, in words.

        ``kill_session`` also has its tmux session killed, after everything else.
        """

    def report_drawing(self, error: Exception | None) -> None:
        """Note that the monitor was drawn (``error`` is None), or the error in drawing it.

        May be called from any thread.
        """

    @property
    def is_finished(self) -> bool:
        """Whether the session is done and only waits to be closed."""


class MonitorKeys:
    """Handles the keys of one monitor, and keeps what the user has begun there.

    Attributes:
        picture: The current picture of the session; None until the loop has made the first one.
        lost: Called when the keyboard is gone; does nothing until the orchestrator replaces it.
    """

    def __init__(
        self,
        world: World,
        session: Session,
        tools: LoopDependencies,
        sight: ObservedPanes,
        loop: MonitorLoop,
    ) -> None:
        self._world = world
        self._session = session
        self._tools = tools
        self._sight = sight
        self._loop = loop
        self.picture: MonitorContent | None = None
        self.lost: Callable[[], None] = _nothing
        self._console = Console()
        self._background = BackgroundTasks(self)
        self._approval: tuple[Approved, int] | None = None
        self._unsent: tuple[Console, Console, str] | None = None
        self._named: tuple[str, ...] = ()
        self._texts: dict[KeyCommand, tuple[str, ...]] = {}
        self._result: ResultView | None = None
        self._result_of = -1
        self._went = ""
        self._do: Final[dict[KeyCommand, Callable[[Pressed], None]]] = {
            KeyCommand.ASK: lambda _: self._ask_again(),
            KeyCommand.APPROVE: lambda _: self._approve(),
            KeyCommand.END: lambda _: self._hand_over(partial(self._loop.end, _BY_KEY)),
            KeyCommand.DIFF: lambda _: self._read(KeyCommand.DIFF, _every_change),
            KeyCommand.SUMMARY: lambda _: self._read(KeyCommand.SUMMARY, _summary),
            KeyCommand.GO: lambda key: self._go_to(int(str(key))),
            KeyCommand.ANSWER: lambda _: self._go_to_next(self._asks, "no agent asks you anything"),
            KeyCommand.NEEDY: lambda _: self._go_to_next(self._waits, "no seat waits for you"),
            KeyCommand.RESUME: lambda _: self._hand_over(partial(self._resume, self._named)),
            KeyCommand.RESTART: lambda _: self._hand_over(partial(self._restart, self._named)),
            KeyCommand.SKIP: lambda _: self._hand_over(partial(self._skip, self._named)),
            KeyCommand.TYPE: lambda _: self._hand_over(partial(self._type, self._named)),
        }

    def cancel(self) -> None:
        """Cancel the background work that keys have begun, such as reading a diff; do not wait."""
        self._background.cancel()

    def answer(self) -> None:
        """Handle the keys that were pressed, and draw what they changed."""
        display = self._tools.display
        pressed = display.keys()
        if display.fileno() is None:
            self.lost()
        for key in pressed:
            self._answer(key)
        if pressed:
            self.draw()

    def _answer(self, key: Pressed) -> None:
        """Do what a key asks for; an error is handed to the loop, which shows it."""
        if self._loop.is_finished:
            self._loop.hand_over(partial(self._loop.end, "done", kill_session=True))
            return
        self._loop.hand_over(_nothing)  # clears the problem of an earlier key
        with self._errors_handed_over():
            self._on_key(key)

    @contextmanager
    def _errors_handed_over(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 (the loop raises, logs and shows it)
            self._loop.hand_over(partial(_fail, error))

    def _on_key(self, key: Pressed) -> None:
        before, now_s = self._console, asyncio.get_running_loop().time()
        self._console, command = press(
            before, key, now_s=now_s, decides=self._decides, page=self._tools.display.page()
        )
        if command is KeyCommand.SEND:
            self._send(before)
        elif command in self._do:
            self._do[command](key)
        self._fade()

    def _hand_over(self, work: Callable[[], object]) -> None:
        """Make the loop run ``work``, which changes the session, and look at the session again."""

        def run() -> None:
            work()
            self._loop.wake()

        self._loop.hand_over(run)

    def _done_by_loop(self, work: Callable[[], bool]) -> asyncio.Future[bool]:
        """Make the loop run ``work``; return a future of the result, which is False after an error.

        The loop shows the error.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[bool] = loop.create_future()

        def settle(made: bool) -> None:
            if not done.done():
                done.set_result(made)

        def run() -> None:
            result = False
            try:
                result = work()
            finally:
                with suppress(RuntimeError):  # the monitor has ended
                    loop.call_soon_threadsafe(settle, result)

        self._hand_over(run)
        return done

    def wake(self) -> None:
        """Make the orchestrator's loop look at the session again soon."""
        self._loop.soon(self._loop.wake)

    def say(self, message: str) -> None:
        """Show the user a message."""
        self._loop.soon(partial(self._loop.say, message))

    def draw(self) -> None:
        """Draw the current picture of the session, with what the user has begun at the monitor.

        An error is reported to the loop, not raised.
        """
        failed: Exception | None = None
        try:
            if self.picture is not None:
                self._tools.display.show(self._on(self.picture))
        except Exception as error:  # noqa: BLE001 (the loop is told of it)
            failed = error
        self._loop.report_drawing(failed)

    def _on(self, picture: MonitorContent) -> MonitorContent:
        """Return the picture with what the user has begun at the monitor."""
        self._keep_up()
        console = self._console
        return replace(
            picture,
            draft=console.draft,
            begins=self._begins(console) if console.draft is not None else "",
            question=console.asks(asyncio.get_running_loop().time()),
            note=console.note,
            reading=self._reading(console, picture.leave or DETACH),
            result=self._result,
        )

    @property
    def _decides(self) -> bool:
        return takes_decision(self._session.state)

    def _fade(self) -> None:
        """Remove the current note after a while, unless a key removes it first."""
        noted = self._console

        def remove() -> None:
            if self._console is noted:
                self._console = replace(noted, note="")
                self.draw()

        if noted.note:
            asyncio.get_running_loop().call_later(ANSWER_S, remove)

    # -- texts -------------------------------------------------------------------------------

    def _keep_up(self) -> None:
        """Look at a new result that the user has to decide on; forget a result that was decided."""
        state = self._session.state
        if not self._decides and self._console.reads is KeyCommand.APPROVE:
            self._console = Console()  # the decision was made elsewhere
        if not takes_approval(state):
            self._result, self._result_of = None, -1
        elif self._result_of != state.revision:
            self._background.run("the result", self._see_result(), give_up=self._show_no_result)

    def _show_no_result(self, _error: Exception) -> None:
        """Show no result until the state changes."""
        self._result, self._result_of = None, self._session.state.revision

    async def _see_result(self) -> None:
        """Look at the result; repeat that if the state has changed meanwhile."""
        from agentmux.app.delivery.approval.result_view import result_view

        while takes_approval(self._session.state):
            looks_at = self._session.state.revision
            result = await in_daemon_thread(self._of_session(result_view))
            self._result, self._result_of = result, looks_at
            if looks_at == self._session.state.revision:
                break
        self.draw()

    def _of_session(self, work: Callable[..., T]) -> Callable[[], T]:
        session = self._session
        return partial(work, self._world, session.files, session.state)

    def _read(self, command: KeyCommand, work: Callable[..., tuple[str, ...]]) -> None:
        self._texts.setdefault(command, _LOADS)
        self._background.run(f"reading {command.value}", self._load(command, work))

    async def _load(self, command: KeyCommand, work: Callable[..., tuple[str, ...]]) -> None:
        self._texts[command] = await in_daemon_thread(self._of_session(work))
        self.draw()

    def _reading(self, console: Console, leave: str) -> DisplayedText | None:
        if console.reads is KeyCommand.NOTHING:
            return None
        keys = console.reads is KeyCommand.KEYS
        return DisplayedText(
            title=_TITLES[console.reads],
            lines=help_lines(leave) if keys else self._texts.get(console.reads, ()),
            top=console.top,
            is_diff=console.reads is KeyCommand.DIFF,
        )

    # -- what is asked for twice -------------------------------------------------------------

    def _ask_again(self) -> None:
        """Show what a second press of the same key would do."""
        command, state = self._console.command, self._session.state
        match command:
            case KeyCommand.APPROVE:
                self._console = replace(_LOOKS)  # a new object tells presses apart
                self._background.run("the approval", self._ask_approval())
            case KeyCommand.END:
                self._ask(self._console, _END)
            case KeyCommand.SEND:
                name, _ = self._beginning(self._console, state)
                hint = f"press Enter again {_WITHIN} to ask for these changes"
                self._ask(self._console, f"{hint}; the next cycle begins in {name}")
            case KeyCommand.RESUME:
                self._ask_about(
                    "R", list_stopped_seats(state), "resume {}", "no pane waits for your choice"
                )
            case KeyCommand.RESTART:
                none = "no seat has failed or ended"
                self._ask_about("r", list_restartable_seats(state), "start {} again", none)
            case KeyCommand.TYPE:
                none = "no prompt waits for an input field that is not recognised"
                does = "type the prompt of {} at the cursor, and Enter: look at the pane first"
                self._ask_about("p", self._find_untyped(), does, none)
            case _:
                none = "there is no check that could not run"
                self._ask_about("w", list_skippable_seats(state), "go on without {}", none)

    def _ask_about(self, key: str, seats: tuple[str, ...], does: str, none: str) -> None:
        if not seats:
            self._console = Console(note=none)
            return
        self._named = seats
        text = f"press {key} again {_WITHIN} to {does.format(join_names(seats))}"
        self._ask(self._console, text, rest_s=REST_S)

    def _ask(self, console: Console, question: str, *, rest_s: float = 0.0) -> None:
        now_s = asyncio.get_running_loop().time()
        self._console = ask(console, question, now_s, rest_s=rest_s)
        self._expire()

    def _expire(self) -> None:
        """Keep the question until its time is over; then note that, if a text is shown about it."""
        loop, console = asyncio.get_running_loop(), self._console
        left_s = console.until_s - loop.time()
        if 0 < left_s < float("inf"):
            loop.call_later(left_s, self._expire)
        elif console.reads is KeyCommand.APPROVE and console.question:
            self._console = replace(console, question="", note=_EXPIRED)
        self.draw()

    async def _ask_approval(self) -> None:
        """Ask whether to approve, once git has said what would be delivered.

        Any other key or another decision meanwhile cancels this. Git is asked again if the key was
        pressed again since, or if the session has changed.
        """
        with self._errors_handed_over():
            while self._console == _LOOKS and self._decides:
                await self._look()
        if self._console == _LOOKS:
            self._console = Console()

    async def _look(self) -> None:
        """Prepare the question whether to approve; ask it if key and state are still the same."""
        from agentmux.app.delivery.approval.approval_question import question_or_obstacle

        pressed, state = self._console, self._session.state
        question = await in_daemon_thread(self._of_session(question_or_obstacle))
        if self._console is not pressed or self._session.state != state:
            return
        if isinstance(question, str):
            self._texts[KeyCommand.APPROVE] = ()
            self._ask(Console(), f"not approved: {question}")
            return
        self._texts[KeyCommand.APPROVE] = question.lines
        self._approval = question.approval, state.cycle
        again = f"press a again within {READ_S:g} s to {question.effect}"
        self._ask(Console(command=KeyCommand.APPROVE, reads=KeyCommand.APPROVE), again)

    # -- the decision ------------------------------------------------------------------------

    def _beginning(self, console: Console, state: SessionState) -> tuple[str, str]:
        """Return the phase in which the next cycle would begin, and a description of it."""
        choices = beginning_choices(state)
        return choices[console.beginning % len(choices)]

    def _begins(self, console: Console) -> str:
        state = self._session.state
        if not takes_decision(state):
            return ""
        name, what = self._beginning(console, state)
        other, _ = self._beginning(replace(console, beginning=console.beginning + 1), state)
        more = f"; Tab: {other} instead" if other != name else ""
        return f"the next cycle begins in {name} ({what}){more}".replace("_", " ")

    def _approve(self) -> None:
        """Approve the result that the question was about, in the cycle that it was about."""
        if self._approval is not None:
            self._hand_over(partial(self._decide, *self._approval))
            self._approval = None

    def _send(self, written: Console) -> None:
        """Submit the request for changes that the user has written at the monitor.

        The text stays in the monitor's input field until the request is recorded; ``written`` has
        this text as its draft. Nothing is sent if the result is no longer the one that was shown.
        """
        kept = Console(draft=written.draft, beginning=written.beginning)
        seen = self._result.digest if self._result is not None else ""
        self._console = replace(kept, question=_SENDS if seen else _RECORDS, until_s=float("inf"))
        self._unsent = self._console, kept, seen
        self._background.run("the request", self._send_all())

    async def _send_all(self) -> None:
        """Send the written request; if the user cancels and sends it again meanwhile, send that."""
        while self._unsent is not None:
            (pressed, kept, seen), self._unsent = self._unsent, None
            left = kept
            with self._errors_handed_over():
                left = await self._send_text(pressed, kept, seen)
            if self._console is pressed:
                self._console = left
                self._fade()
            self.draw()

    async def _send_text(self, pressed: Console, kept: Console, seen: str) -> Console:
        """Send the written request, unless the digest of the result is no longer ``seen``.

        Any other key cancels it until it is recorded. Return the console to show afterwards.
        """
        from agentmux.app.delivery.approval.result_view import digest_now

        now = await in_daemon_thread(self._of_session(digest_now)) if seen else ""
        if now not in {"", seen}:
            self._result_of = -1
            return replace(kept, note=_CHANGED)
        state = self._session.state
        decision = self._request(kept, state, now)

        def record() -> bool:
            return self._console is pressed and self._decide(decision, state.cycle)

        return Console() if await self._done_by_loop(record) else kept

    def _request(self, written: Console, state: SessionState, digest: str) -> ChangesRequested:
        from agentmux.app.delivery.approval.conflict_request import with_conflicts

        begins, _ = self._beginning(written, state)
        text = written.draft or ""
        if pipeline_of(state)[begins].kind is Kind.FIX:
            text = with_conflicts(state, text)
        about = working_phase(state)
        return ChangesRequested(text=text, phase=begins, of_phase=about, digest=digest)

    def _decide(self, decision: UserDecision, cycle: int) -> bool:
        """Record a decision about the result of ``cycle``; return whether it counts."""
        answer = decide(
            self._session.files,
            decision,
            at=stamp(self._world.now()),
            new_id=self._world.new_id,
            poke=_nobody,
            cycle=cycle,
        )
        if answer.result == Answer.ACCEPTED:
            return True
        self._loop.say(f"user: {words_for(decision)} ({answer.result}: {answer.reason})")
        return False

    # -- seats -------------------------------------------------------------------------------

    def _go_to(self, number: int) -> None:
        seats = tuple(self._session.state.seats.items())
        if number > len(seats):
            self._console = replace(self._console, note=f"there is no seat {number} now")
        else:
            self._go(*seats[number - 1])

    def _go_to_next(self, needs_user: Callable[[str, Seat], bool], none: str) -> None:
        """Go to a seat that needs the user; each press goes to the next of several."""
        seats = self._session.state.seats
        waiting = [name for name, seat in seats.items() if needs_user(name, seat)]
        if not waiting:
            note = "it is your turn here" if self._decides else none
            self._console = replace(self._console, note=note)
            return
        after = waiting.index(self._went) + 1 if self._went in waiting else 0
        self._went = waiting[after % len(waiting)]
        self._go(self._went, seats[self._went])

    def _asks(self, name: str, _: Seat) -> bool:
        seen = self._sight.statuses.get(name)
        return seen is not None and seen.status == statuses.WAITING

    def _waits(self, name: str, seat: Seat) -> bool:
        seen = self._sight.statuses.get(name)
        return seat.status == statuses.STOPPED or (seen is not None and waits(seen))

    def _go(self, name: str, seat: Seat) -> None:
        pane = self._sight.pane_id(seat.launch)
        if not pane or not self._tools.terminal.go_to(pane):
            self._console = replace(self._console, note=f"{name} has no pane now")

    # The following methods act only on seats that the question has named.

    def _resume(self, named: tuple[str, ...]) -> None:
        """Choose Resume in each pane that waits, as its own key does."""
        seats = self._session.state.seats
        for name in _still(list_stopped_seats(self._session.state), named):
            launch = seats[name].launch
            pane = self._sight.pane_id(launch)
            if pane and self._session.files.launch_record(launch).choice is None:
                self._tools.terminal.press_keys(pane, [planned_key(seats[name].mode)])

    def _restart(self, named: tuple[str, ...]) -> None:
        from agentmux.app.commands.resume.restart import restart

        for name in _still(list_restartable_seats(self._session.state), named):
            restart(self._world, self._session.files, name, fresh=None, poke=_listening)
            self._loop.say(f"user: starts {name} again")

    def _find_untyped(self) -> tuple[str, ...]:
        """Return the seats whose prompts wait, and whose screens show nothing recognised."""
        return tuple(
            name
            for name, seat in self._session.state.seats.items()
            if self._sight.is_untyped(seat) and self._sight.status(name) == statuses.UNKNOWN
        )

    def _type(self, named: tuple[str, ...]) -> None:
        """Have the prompts of these seats typed although no input field was recognised."""
        for name in _still(self._find_untyped(), named):
            self._sight.at_once.add(self._session.state.seats[name].launch)
            self._loop.say(f"user: has the prompt of {name} typed")

    def _skip(self, named: tuple[str, ...]) -> None:
        from agentmux.app.commands.resume.restart import skip

        for name in _still(list_skippable_seats(self._session.state), named):
            skip(self._world, self._session.files, name, poke=_listening)
            self._loop.say(f"user: goes on without {name}")


def _still(now: tuple[str, ...], named: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in now if name in named)


def _nothing() -> None:
    """Do nothing."""


def _fail(error: Exception) -> None:
    raise error


def _nobody(_: object) -> bool:
    return True


def _listening() -> bool:
    return True  # this process is the orchestrator


def _every_change(world: World, files: SessionFiles, state: SessionState) -> tuple[str, ...]:
    from agentmux.app.delivery.approval.result_view import every_change

    return every_change(world, files, state)


def _summary(_: World, files: SessionFiles, state: SessionState) -> tuple[str, ...]:
    from agentmux.app.delivery.steps.summary import summary_lines

    return tuple(summary_lines(files, state)) or ("there is no summary yet",)
