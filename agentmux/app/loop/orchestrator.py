"""The loop that drives one session: probe, decide, act, and wait until it is woken.

It is woken by other processes through its pipe (``submit`` writes to it after a signal), by ends of
processes, changes of files, keys and the clock; a wake only says that it has to look again.
The line `STOP_LINE` in the pipe also stops it.
``next_actions`` decides what to do, ``performer`` does it, ``watcher`` looks at the screens.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from agentmux.app.commands.stop import STOPPED_BY_USER
from agentmux.app.delivery.approval_question import approval_question
from agentmux.app.launch.stopped_pane import PaneManner
from agentmux.app.loop.background_tasks import BackgroundTasks
from agentmux.app.loop.performer import Performer
from agentmux.app.loop.tmux_options import TmuxOptions, session_options, waits
from agentmux.app.loop.tools import Tools
from agentmux.app.loop.tree_saver import TreeSaver
from agentmux.app.loop.watcher import Watcher
from agentmux.app.session.lookup import short_name
from agentmux.app.session.own_worktree import has_lost_worktree, lost_worktree
from agentmux.app.session.writer import Session, stamp
from agentmux.app.signals.submission import decide
from agentmux.app.world import World
from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.limits import next_wake
from agentmux.core.decisions.next_actions import next_actions
from agentmux.core.fold.acceptance import Answer, takes_decision, working_phase
from agentmux.core.journal.events import (
    Approved,
    ChangesRequested,
    SessionInterrupted,
    UserDecision,
)
from agentmux.core.journal.signal_messages import words_for
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.registry import pipeline_of
from agentmux.core.terminal.console import ANSWER_S, Console, Wish, ask, press
from agentmux.core.terminal.keys import Pressed
from agentmux.errors import AgentmuxError, DataError, SupersededError
from agentmux.ports.display import Picture
from agentmux.ports.terminal import HiddenServerError, TerminalGoneError
from agentmux.threads import in_daemon_thread

logger = logging.getLogger(__name__)

STOP_LINE: Final = b"s"
# More rounds than this mean that two decisions undo each other.
_MAX_ROUNDS: Final = 200
_STEP: Final = "a step"
# Seconds until the next try if a parked agent that is due could not be woken.
_ALARM_S: Final = 0.2
_MESSAGES: Final = 200
_SERVER_GONE: Final = "the tmux server is gone"
_WITHIN: Final = f"within {ANSWER_S:g} s"
_AGAIN: Final = {
    Wish.END: f"Ctrl-C again {_WITHIN} to end the orchestrator; the agents go on without it",
    Wish.CHANGE: f"Enter again {_WITHIN} to ask for these changes",
}
_LOOKS: Final = Console(question="looking at what would be delivered …", until_s=float("inf"))
_ORDINARY: Final = PaneManner()


class Orchestrator:
    """Drives one session until it is done or stopped, or its tmux session is gone."""

    def __init__(
        self,
        world: World,
        session: Session,
        tools: Tools,
        watcher: Watcher,
        manner: PaneManner = _ORDINARY,
    ) -> None:
        self._world = world
        self._session = session
        self._tools = tools
        watcher.wake = self.wake
        self._again = asyncio.Event()
        self._ending = asyncio.Event()
        self._cause: str | None = None
        self._kill_session = False
        self._messages: list[str] = []
        self._console = Console()
        self._approval: Approved | None = None
        self._background = BackgroundTasks(self)
        self._keyboard: int | None = None
        self._finished = False
        self._problems: dict[str, str] = {}
        self._alarm: asyncio.TimerHandle | None = None
        self._watcher = watcher
        self._options = TmuxOptions(tools.terminal)
        self._saver = TreeSaver(world, session, self, tools.lock.still_mine)
        self._performer = Performer(world, session, tools, watcher, manner, self)
        self._performer.ready = self._saver.before_next
        self._find_name()

    # -- the loop ----------------------------------------------------------------------------

    async def run(self) -> None:
        """Drive the session; return when this process has to stop."""
        tasks = self._arm()
        try:
            while not self._ending.is_set():
                self._again.clear()
                await self._step()
                self._show()
                self._show_in_tmux()
                if not self._ending.is_set():
                    await self._again.wait()
        finally:
            for task in tasks:
                task.cancel()
            self._background.cancel()
            await self._close()

    def wake(self) -> None:
        """Make the loop look again soon."""
        self._again.set()

    def say(self, message: str) -> None:
        """Show the user a message at the monitor, and log it."""
        logger.info("%s", message, extra={"phase": self._session.state.phase})
        self._messages = [*self._messages[-_MESSAGES:], message]

    def end(self, cause: str, *, kill_session: bool = False) -> None:
        """Stop driving the session; ``cause`` is recorded.

        With ``kill_session`` the tmux session is killed at the end, too.
        """
        self._cause = self._cause or cause
        self._kill_session = self._kill_session or kill_session
        self._ending.set()
        self.wake()

    async def _step(self) -> None:
        """Perform all actions that are due; an exception is shown and logged, not raised."""
        if self._has_lost_session():
            return
        with self._reporting(_STEP):
            try:
                await self._rounds()
            except TerminalGoneError as error:
                self.end(error.message)
            except SupersededError as error:
                self._cause = self._cause or error.message
                self._ending.set()

    def _has_lost_session(self) -> bool:
        """Return whether the session no longer belongs to this process.

        If so, this process stops driving it; if the session's directory was deleted, the tmux
        session is ended, too.
        """
        if self._tools.lock.still_mine():
            return False
        if self._tools.lock.is_deleted():
            self.end("the session's directory was deleted", kill_session=True)
        else:
            self.end("another process has taken the session over")
        return True

    async def _rounds(self) -> None:
        for _ in range(_MAX_ROUNDS):
            self._session.catch_up()
            if self._session.state.phase == Phase.DONE:
                await self._finish()
                return
            if self._has_lost_worktree():  # agents would fail there one by one
                raise lost_worktree(self._session.state, self._name)
            self._saver.save_if_due()
            facts = self._watcher.probe()
            self._performer.skip_empty_archive()
            actions = next_actions(self._session.state, facts)
            if not await self._performer.perform(actions, facts):
                self._watcher.write_runtime()
                self._set_alarm()
                return
        raise AgentmuxError("the session repeats the same actions without end; this is a bug")

    def _set_alarm(self) -> None:
        """Wake the loop when the next parked agent is to be woken.

        The clock of timers stands still while the machine is suspended: after each look at the
        screens the alarm is set again.
        """
        due = next_wake(self._session.state.parked)
        if due is None:
            return  # an alarm that is set does no harm
        loop = asyncio.get_running_loop()
        wait_s = max(_ALARM_S, (due - self._world.now()).total_seconds())
        when = loop.time() + wait_s
        if self._alarm is not None and loop.time() < self._alarm.when() <= when:
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = loop.call_at(when, self.wake)

    def _has_lost_worktree(self) -> bool:
        return has_lost_worktree(self._session.state)

    def _find_name(self) -> None:
        """Find the shortest name for commands to type: another session may have the same slug."""
        path = self._session.files.path
        self._name = path.name
        with suppress(AgentmuxError, OSError):
            self._name = short_name(self._world, path)

    @contextmanager
    def _reporting(self, what: str) -> Iterator[None]:
        """Show an error in the ``with`` block instead of raising it.

        It is shown until a block with the same ``what`` (the name of the work) succeeds.
        """
        try:
            yield
        except (AgentmuxError, OSError) as error:
            self._report(what, error)
        except Exception as error:
            if what not in self._problems:
                logger.exception("%s could not be handled", what)
            self._report(what, error)
        else:
            self._resolved(what)

    async def _finish(self) -> None:
        """End the agents of a done session; the tmux session stays while somebody is attached."""
        if not self._finished:
            self._finished = True
            await self._performer.end_all()
            self._session.files.sweep(all_ended=True)
            self.say("done; press any key to close")
        if not self._is_watched():
            self.end("done", kill_session=True)

    def _is_watched(self) -> bool:
        try:
            return self._tools.terminal.attached() > 0
        except HiddenServerError:
            return False  # nobody can be attached through that socket

    def _report(self, what: str, error: Exception) -> None:
        if isinstance(error, TerminalGoneError):
            self.end(error.message)
            return
        text = str(error) or type(error).__name__
        if isinstance(error, HiddenServerError | DataError):
            text = "; ".join((text, *error.hints))
        if text != self._problems.get(what):
            logger.error("%s failed: %s", what, text)
            self.say(f"problem: {text}")
        self._problems[what] = text
        self._show_problem()

    def _resolved(self, what: str) -> None:
        if self._problems.pop(what, None) is not None and not self._ending.is_set():
            self._show_problem()

    def _show_problem(self) -> None:
        self._watcher.runtime.problem = next(reversed(self._problems.values()), None)
        with suppress(AgentmuxError, OSError):
            self._watcher.write_runtime()

    # -- what wakes it -----------------------------------------------------------------------

    def _arm(self) -> list[asyncio.Task[None]]:
        loop = asyncio.get_running_loop()
        loop.add_reader(self._tools.wake.fileno(), self._on_wake)
        self._keyboard = self._tools.display.fileno()
        if self._keyboard is not None:
            loop.add_reader(self._keyboard, self._on_keys)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with suppress(ValueError, RuntimeError):
                loop.add_signal_handler(number, self.end, f"the orchestrator got {number.name}")
        with suppress(ValueError, RuntimeError):
            loop.add_signal_handler(signal.SIGWINCH, self._tools.display.resized)
        server = self._tools.terminal.target.server
        self._tools.deaths.watch(server.pid, lambda _: self.end(_SERVER_GONE))
        return [
            asyncio.create_task(self._hints()),
            asyncio.create_task(self._ticks()),
        ]

    def _on_wake(self) -> None:
        if any(line.strip() == STOP_LINE for line in self._tools.wake.drain()):
            self.end(STOPPED_BY_USER, kill_session=True)
        self.wake()

    def _on_keys(self) -> None:
        pressed = self._tools.display.keys()
        if self._tools.display.fileno() is None:
            self._unplug()
        for key in pressed:
            with self._reporting("a key"):
                self._on_key(key)
        self._show()

    def _unplug(self) -> None:
        """Wait for no more keys: a terminal that is gone is readable for ever."""
        if self._keyboard is not None:
            asyncio.get_running_loop().remove_reader(self._keyboard)
        self._keyboard = None

    def _on_key(self, key: Pressed) -> None:
        if self._finished:
            self.end("done", kill_session=True)
            return
        before, now_s = self._console, asyncio.get_running_loop().time()
        decides = takes_decision(self._session.state)
        self._console, wish = press(before, key, now_s=now_s, decides=decides)
        match wish:
            case Wish.ASK:
                self._ask_again()
            case Wish.APPROVE:
                self._decide(self._approval or Approved())
            case Wish.CHANGE:
                self._request_changes(before)
            case Wish.END:
                self.end("Ctrl-C at the monitor")
            case Wish.NOTHING:
                pass
        self.wake()

    def _ask_again(self) -> None:
        """Show what another press of the same key would do."""
        if self._console.wish is Wish.APPROVE:
            self._console = replace(_LOOKS)  # no other press has this very object
            self._background.run("the approval", self._ask_approval())
        else:
            text, state = f"press {_AGAIN[self._console.wish]}", self._session.state
            if self._console.wish is Wish.CHANGE:
                text += f"; the next cycle begins in {pipeline_of(state).again(state)}"
            self._ask(self._console, text)

    async def _ask_approval(self) -> None:
        """Ask whether to approve, once git has said what would be delivered.

        Any other key in the meantime, or another decision, takes the wish back. Git is asked again
        if the key was pressed again since, or the session is not the same.
        """
        with self._reporting("a key"):
            while self._console == _LOOKS and takes_decision(self._session.state):
                await self._look()
        if self._console == _LOOKS:
            self._console = Console()

    async def _look(self) -> None:
        """Make the question whether to approve, and ask it if it is about what is there now."""
        pressed, state, files = self._console, self._session.state, self._session.files
        look = functools.partial(approval_question, self._world, files, state)
        made = await in_daemon_thread(look)
        if self._console is pressed and self._session.state == state:
            self._approval = made.approval
            wish = Wish.APPROVE if made.approval is not None else Wish.NOTHING
            self._ask(Console(wish=wish, preview=made.lines), made.text)

    def _ask(self, console: Console, question: str) -> None:
        loop = asyncio.get_running_loop()
        self._console = ask(console, question, loop.time())
        loop.call_later(self._console.until_s - loop.time(), self._show)  # to remove the question
        self._show()

    def _request_changes(self, written: Console) -> None:
        """Submit the request for changes that the user has written at the monitor.

        The text stays in the monitor's input field until the request is recorded; ``written`` has
        this text as its draft.
        """
        self._console = written
        about = working_phase(self._session.state)
        if self._decide(ChangesRequested(text=written.draft or "", of_phase=about)):
            self._console = Console()

    def _decide(self, decision: UserDecision) -> bool:
        made = decide(
            self._session.files,
            decision,
            at=stamp(self._world.now()),
            new_id=self._world.new_id,
            poke=lambda _: True,
            cycle=self._session.state.cycle,
        )
        if made.result == Answer.ACCEPTED:
            return True
        self.say(f"user: {words_for(decision)} ({made.result}: {made.reason})")
        return False

    async def _hints(self) -> None:
        async for _ in self._tools.hints(self._ending):
            self.wake()

    async def _ticks(self) -> None:
        """Look at the screens at a fixed interval; late ticks are dropped."""
        while True:
            await asyncio.sleep(self._world.settings.snapshots.interval_s)
            with self._reporting("a look at the screens"):
                if self._has_lost_session():
                    return
                self._find_name()
                await self._watcher.tick()
                self._set_alarm()
            if _STEP in self._problems or self._finished or self._has_lost_worktree():
                self.wake()
            with self._reporting("the monitor"):
                self._show()
            self._show_in_tmux()

    def _show_in_tmux(self) -> None:
        """Have tmux's status line and the borders of panes show what the session is at."""
        if self._ending.is_set():
            return
        sight, state = self._watcher.sight, self._session.state
        options = session_options(state, sight.statuses, self._watcher.runtime.problem)
        marks = {
            pane.id: pane.seat in sight.statuses and waits(sight.statuses[pane.seat])
            for pane in sight.panes.values()
        }
        with self._reporting("tmux's status line"):
            self._options.write(options, marks)

    # -- the end -----------------------------------------------------------------------------

    async def _close(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._tools.wake.fileno())
        self._unplug()
        if self._cause != "done":
            self._note_interruption()
        if self._kill_session:
            await self._performer.end_all()
        if (
            not self._has_lost_worktree()
            and self._cause != "done"
            and self._tools.lock.still_mine()
        ):
            await self._saver.at_stop()
        await self._saver.close()
        with suppress(AgentmuxError, OSError):
            self._watcher.write_runtime()
        self._show()
        self._tools.deaths.close()
        self._tools.wake.close()

    def _note_interruption(self) -> None:
        """Record why this process stops, unless another process has the session now."""
        with suppress(AgentmuxError, OSError):
            if self._tools.lock.still_mine():
                self._session.catch_up()
                self._session.record(SessionInterrupted(cause=self._cause or "unknown"))

    @property
    def cause(self) -> str | None:
        """Why this process stops: ``done``, or in words; None while it drives."""
        return self._cause

    @property
    def kills_session(self) -> bool:
        """Whether the tmux session has to be killed, as the very last step."""
        return self._kill_session

    def _show(self) -> None:
        if self._console.preview and not takes_decision(self._session.state):
            self._console = Console()  # it was decided elsewhere
        self._tools.display.show(
            Picture(
                state=self._session.state,
                statuses=self._watcher.sight.statuses,
                problem=self._watcher.runtime.problem,
                messages=tuple(self._messages),
                now=self._world.now().astimezone(self._world.zones("")),
                draft=self._console.draft,
                preview=self._console.preview,
                page=self._console.page,
                question=self._console.asks(asyncio.get_running_loop().time()),
                name=self._name,
            )
        )
