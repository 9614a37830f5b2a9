"""The loop that drives one session: probe, decide, act, and wait until it is woken.

It is woken by lines in its pipe (``submit`` writes one after a signal), by ends of processes,
changes of files, keys and the clock. A wake-up carries no information: the loop looks at everything
again. Only the line `STOP_LINE` in the pipe also stops it.
``next_actions`` decides what to do, ``performer`` does it, ``watcher`` looks at the screens.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final

from agentmux.app.loop.background_tasks import AGAIN_S, TRIES, give_way, in_words
from agentmux.app.loop.dependencies import LoopDependencies
from agentmux.app.loop.late_modules import load_late_modules
from agentmux.app.loop.monitor.detach_hint import DetachHint
from agentmux.app.loop.monitor.monitor_keys import MonitorKeys
from agentmux.app.loop.monitor.monitor_thread import MonitorThread
from agentmux.app.loop.monitor.notices import Notices
from agentmux.app.loop.monitor.tmux_options import (
    TmuxOptions,
    is_marked,
    left_options,
    session_options,
)
from agentmux.app.loop.panes.watcher import Watcher
from agentmux.app.loop.performer import Performer
from agentmux.app.loop.work.tree_saver import TreeSaver
from agentmux.app.session.first_messages import SAYS
from agentmux.app.session.search.lookup import short_name
from agentmux.app.session.workplace.clean_protection import protect_from_clean
from agentmux.app.session.workplace.own_worktree import has_lost_worktree, lost_worktree
from agentmux.app.session.writer import Session
from agentmux.app.world import World
from agentmux.core.conversation.launch_policy import ORDINARY, LaunchPolicy
from agentmux.core.decisions.attention import Attention, session_attention
from agentmux.core.decisions.limits import next_wake
from agentmux.core.decisions.next_actions import next_actions
from agentmux.core.decisions.session_trace import SessionTrace, trace_of
from agentmux.core.decisions.workplace import left_branch_notice
from agentmux.core.fold.phase_times import PhaseTimes, blank_before, phase_times
from agentmux.core.journal.events import (
    SessionInterrupted,
)
from agentmux.core.names.end_causes import LOST, STOPPED_BY_USER
from agentmux.core.names.phase import Phase
from agentmux.core.names.words.session_commands import stop_and_resume
from agentmux.errors import AgentmuxError, DataError, InstallationGoneError, SupersededError
from agentmux.ports.tmux.display import MonitorContent, MonitorMessage
from agentmux.ports.tmux.terminal import (
    HiddenServerError,
    ScreensUnreadableError,
    TerminalGoneError,
    TerminalUnreachableError,
)
from agentmux.threads import in_daemon_thread

logger = logging.getLogger(SAYS)

STOP_LINE: Final = b"s"
# After more rounds than this, two decisions must be undoing each other.
_MAX_ROUNDS: Final = 200
_STEP: Final = "a step"
_LOOK: Final = "a look at the screens"
_DRAWING: Final = "the monitor"
# Seconds until the next try if a parked agent that is due could not be woken.
_ALARM_S: Final = 0.2
_LATE_S: Final = 5.0
"""By then the first agents have started, so that loading modules takes no processor from them."""
_MESSAGES: Final = 200
_SERVER_GONE: Final = "the tmux server is gone"
_ENDED_BY: Final = "AgentMux's process in the monitor pane was ended ({})"


class Orchestrator:
    """Drives one session until it is done or stopped, or its tmux session is gone.

    The caller holds the session's lock. ``manner`` says how the panes of a resume are opened.
    """

    def __init__(
        self,
        world: World,
        session: Session,
        tools: LoopDependencies,
        watcher: Watcher,
        manner: LaunchPolicy = ORDINARY,
    ) -> None:
        self._world = world
        self._session = session
        self._tools = tools
        watcher.wake, watcher.answer_keys = self.wake, self.answer_keys
        self._again = asyncio.Event()
        self._ending = asyncio.Event()
        self._cause: str | None = None
        self._kill_session = False
        self._messages = list(tools.past)
        self._times = PhaseTimes()
        self._keys = MonitorKeys(world, session, tools, watcher.sight, self)
        self._monitor = MonitorThread()
        self._main: asyncio.AbstractEventLoop | None = None
        self._handed: deque[Callable[[], object]] = deque()
        self._finished = False
        self._problems, self._given_up = dict[str, str](), dict[str, str]()
        self._unanswered: set[str] = set()
        self._failures: Counter[str] = Counter()
        self._failed_at: dict[str, float] = {}
        self._is_protected = True
        self._trace: SessionTrace | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._watcher = watcher
        self._options = TmuxOptions(tools.terminal)
        self._way_out = DetachHint(tools.terminal, session.state.session_name)
        self._notices = Notices(world, session, tools, self)
        self._saver = TreeSaver(world, session, self, tools.lock.still_mine)
        self._performer = Performer(world, session, tools, watcher, manner, self)
        self._performer.ready = self._saver.before_next
        self._find_name()

    # -- the loop ----------------------------------------------------------------------------

    async def run(self) -> None:
        """Drive the session; return when this process has to stop, for the reason in `cause`."""
        tasks = self._arm()
        self._see_clients()
        try:
            while not self._ending.is_set():
                self._again.clear()
                await self._step()
                self._call_user()
                self.show()
                self._show_in_tmux()
                if not self._ending.is_set():
                    await self._again.wait()
        finally:
            for task in tasks:
                task.cancel()
            self._monitor.do(self._keys.cancel)
            await self._close()

    def wake(self) -> None:
        """Make the loop look at the session again soon."""
        self._again.set()

    def say(self, message: str) -> None:
        """Show the user a message at the monitor, and log it."""
        logger.info("%s", message, extra={"phase": self._session.state.phase})
        entry = MonitorMessage(
            text=message, at=self._world.now().astimezone(self._world.machine.zones(""))
        )
        self._messages = [*self._messages[-_MESSAGES:], entry]

    @property
    def name(self) -> str:
        """The shortest name of the session that commands accept."""
        return self._name

    def end(self, cause: str, *, kill_session: bool = False) -> None:
        """Have `run` stop driving the session and record ``cause``; returns at once.

        ``cause`` is ``done``, or the reason in words; of several calls, the first one's counts.
        ``kill_session`` also has the agents ended, and asks the caller of `run` to kill the tmux
        session (`kills_session`).
        """
        self._cause = self._cause or cause
        self._kill_session = self._kill_session or kill_session
        self._ending.set()
        self.wake()

    async def _step(self) -> None:
        """Perform all actions that are due; exceptions are shown and logged, not raised."""
        if self._has_lost_session():
            return
        with self.reporting(_STEP):
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
        session is killed, too.
        """
        if self._tools.lock.still_mine():
            return False
        if self._ending.is_set():
            return True
        if self._tools.lock.is_deleted():
            self._keep_trace()
            self.end(LOST, kill_session=True)
            self._notices.tell_of_loss()
        else:
            self.end("another process has taken the session over")
        return True

    async def _rounds(self) -> None:
        for _ in range(_MAX_ROUNDS):
            await give_way()
            self._session.catch_up()
            if self._session.state.phase == Phase.DONE:
                await self._finish()
                return
            if self._has_lost_worktree():  # else each agent there would fail
                raise lost_worktree(self._session.state, self._name)
            self._saver.save_if_due()
            facts = self._watcher.probe()
            self._performer.skip_empty_archive()
            self._tools.require_lease()
            self._tools.require_installed(self._name)
            actions = next_actions(self._session.state, facts)
            if not await self._performer.perform(actions, facts):
                self._watcher.write_runtime()
                self._keep_trace()
                self._set_alarm()
                return
        raise AgentmuxError("the session repeats the same actions without end; this is a bug")

    def _keep_trace(self) -> None:
        """Save the trace that describes the session if somebody deletes its directory."""
        before, state = self._trace, self._session.state
        # The value of the first time is kept, because the project may be gone by now.
        shared = before.repository if before is not None else self._repository()
        trace = trace_of(state, str(self._session.files.path), shared)
        if trace == before or not trace.session:
            return
        self._trace = trace  # set first, so a failed write is not retried each time
        with suppress(AgentmuxError, OSError):
            self._world.traces.keep(trace)

    def _repository(self) -> str:
        return str(self._world.repositories.around(self._world.project) or "")

    def _set_alarm(self) -> None:
        """Set a timer that wakes the loop when the next parked agent has to be woken.

        Timers stand still while the machine is suspended, so the alarm is set again after each look
        at the screens.
        """
        due = next_wake(self._session.state.parked)
        if due is None:
            return  # an alarm that is still set does no harm
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
        """Find the shortest name for commands; a new session may have the same slug."""
        path = self._session.files.path
        self._name = path.name
        with suppress(AgentmuxError, OSError):
            self._name = short_name(self._world, path)

    def _protect_again(self) -> None:
        """Restore the protection of the session from ``git clean`` if somebody removed it."""
        if self._is_protected:  # not retried after a failure
            path = self._session.files.path
            self._is_protected = protect_from_clean(self._world, path)

    def _look_at_branch(self) -> None:
        """Warn once if HEAD has left the session's branch, and note it as long as that is so."""
        done = self._session.state.phase == Phase.DONE
        branch = None if done else self._world.repositories.branch_at(self._world.tree)
        mismatch, runtime = left_branch_notice(self._session.state, branch), self._watcher.runtime
        if mismatch and mismatch != runtime.left_branch:
            self.say(f"warning: {mismatch}")
        runtime.left_branch = mismatch

    @contextmanager
    def reporting(self, what: str) -> Iterator[None]:
        """Return a context manager that shows errors in the ``with`` block instead of raising them.

        ``what`` names the work in the block. An error is shown until a block with the same ``what``
        succeeds. Unexpected errors that repeat may end this process.
        """
        try:
            yield
        except (AgentmuxError, OSError) as error:
            self._report(what, error)
        except Exception as error:
            if what not in self._problems:
                logger.exception("%s could not be handled", what)
            self._report(what, error)
            self._end_after(what, error)
        else:
            self._clear_failure(what)

    async def _finish(self) -> None:
        """End the agents of a done session; its tmux session stays while somebody is attached."""
        if not self._finished:
            self._finished = True
            await self._performer.end_all()
            self._session.files.sweep(all_ended=True)
            with suppress(DataError):  # the removal of the session tries again
                self._world.traces.forget(self._session.state.session_id, self._session.files.path)
            with self.reporting("what was delivered"):
                from agentmux.app.delivery.steps.outcome import delivered_lines

                for line in delivered_lines(self._world, self._session.state):
                    self.say(line)
            self.say("done; press any key to close")
        if not self._is_watched():
            self.end("done", kill_session=True)

    def _is_watched(self) -> bool:
        try:
            return self._tools.terminal.count_clients() > 0
        except HiddenServerError:
            return False  # nobody can be attached through that socket

    def _report(self, what: str, error: Exception) -> None:
        if isinstance(error, TerminalGoneError):
            self.end(error.message)
            return
        text = str(error) or type(error).__name__
        if isinstance(error, HiddenServerError | DataError | InstallationGoneError):
            text = "; ".join((text, *error.hints))
        if text != self._problems.get(what):
            logger.error("%s failed: %s", what, text)
            self.say(f"problem: {text}")
        self._problems[what] = text
        self._unanswered.discard(what)
        answered = isinstance(error, ScreensUnreadableError)
        if isinstance(error, TerminalUnreachableError) and not answered:
            self._unanswered.add(what)
        self._show_problem()

    def give_up(self, what: str, error: Exception) -> None:
        """Show that the work named ``what`` failed with ``error`` for good.

        It is not tried again before the session is resumed.
        """
        way_on = f"it is not tried again before: {stop_and_resume(self._name)}"
        text = f"{what}: {in_words(error)}; {way_on}"
        logger.error("%s is not tried again: %s", what, in_words(error))
        self.say(f"problem: {text}")
        self._given_up[what] = text
        self._show_problem()

    def hold_up(self, what: str, why: str) -> None:
        """Show what holds up the work named ``what``, until a call with an empty ``why``."""
        if not why:
            self._clear_failure(what)
            return
        self.say(why)
        self._problems[what] = why
        self._show_problem()

    def _end_after(self, what: str, error: Exception) -> None:
        """End this process if an unexpected error occurs again and again.

        The agents continue, and a resume takes them over.
        """
        now = asyncio.get_running_loop().time()
        if what not in {_STEP, _LOOK} or now - self._failed_at.get(what, -AGAIN_S) < AGAIN_S:
            return
        self._failed_at[what] = now
        self._failures[what] += 1
        if self._failures[what] == TRIES:
            self.end(f"{what} failed {TRIES} times by an unexpected error: {in_words(error)}")

    def _clear_failure(self, what: str) -> None:
        del self._failures[what]
        self._unanswered.discard(what)
        entries = (self._problems.pop(what, None), self._given_up.pop(what, None))
        if any(entries) and not self._ending.is_set():
            self._show_problem()

    def _show_problem(self) -> None:
        """Show the newest problem; work that was given up comes before other problems."""
        shown = {**self._problems, **self._given_up}
        self._watcher.runtime.problem = next(reversed(shown.values()), None)
        with suppress(AgentmuxError, OSError):
            self._watcher.write_runtime()

    def _call_user(self) -> None:
        """Notify the user of what the session needs, unless another process has taken it over."""
        if not self._ending.is_set() or self._cause == "done":
            with self.reporting("a notification"):
                self._notices.look(self._attention())

    def _attention(self) -> Attention:
        """Return what the session needs from its user."""
        seats = self._watcher.sight.statuses
        return session_attention(
            self._session.state,
            {name: seat.status for name, seat in seats.items()},
            troubled=self._watcher.runtime.problem is not None,
            unsent=[name for name, seat in seats.items() if seat.unsent],
        )

    # -- what wakes it -----------------------------------------------------------------------

    def _arm(self) -> list[asyncio.Task[None]]:
        loop = asyncio.get_running_loop()
        loop.add_reader(self._tools.wake.fileno(), self._on_wake)
        self._main, keyboard = loop, self._tools.display.fileno()
        if keyboard is not None:
            self._keys.lost = partial(self._monitor.unplug, keyboard)
        self._monitor.begin(keyboard, self._keys.answer)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with suppress(ValueError, RuntimeError):
                loop.add_signal_handler(number, self.end, _ENDED_BY.format(number.name))
        with suppress(ValueError, RuntimeError):
            loop.add_signal_handler(signal.SIGWINCH, self._tools.display.handle_resize)
        server = self._tools.terminal.target.server
        self._tools.deaths.watch(server.pid, lambda _: self.end(_SERVER_GONE))
        loop.call_later(_LATE_S, in_daemon_thread, load_late_modules)
        return [
            asyncio.create_task(self._hints()),
            asyncio.create_task(self._ticks()),
            asyncio.create_task(self._look_back()),
        ]

    def _on_wake(self) -> None:
        if any(line.strip() == STOP_LINE for line in self._tools.wake.drain()):
            self.end(STOPPED_BY_USER, kill_session=True)
        self._see_clients()  # a client that attaches wakes the loop
        self.wake()

    def hand_over(self, work: Callable[[], object]) -> None:
        """Make the loop run ``work`` soon and show its errors; may be called from any thread."""
        self._handed.append(work)
        self.soon(self.answer_keys)

    def soon(self, work: Callable[[], object]) -> None:
        """Make the loop run ``work`` soon, which must not raise; may be called from any thread."""
        if self._main is not None:
            with suppress(RuntimeError):  # the loop is closed, as the process ends
                self._main.call_soon_threadsafe(work)

    def answer_keys(self) -> None:
        """Do what pressed keys ask of the session, without letting any other work run.

        Keys that only change the monitor's picture do not wait for this: see `MonitorThread`.
        """
        handed = bool(self._handed)
        while self._handed:
            work = self._handed.popleft()
            with self.reporting("a key"):
                work()
        if handed:
            self.show()

    def report_drawing(self, error: Exception | None) -> None:
        """Note that the monitor was drawn (``error`` is None), or the error in drawing it.

        May be called from any thread.
        """
        if error is not None or _DRAWING in self._problems:
            self.soon(partial(self._note_drawn, error))

    def _note_drawn(self, error: Exception | None) -> None:
        with self.reporting(_DRAWING):
            if error is not None:
                raise error

    @property
    def is_finished(self) -> bool:
        """Whether the session is done and only waits to be closed."""
        return self._finished

    async def _hints(self) -> None:
        async for _ in self._tools.hints(self._ending):
            self.wake()

    async def _look_back(self) -> None:
        """Read from the journal how long the session has been in each phase."""
        # A separate object, because the loop reads the journal at the same time.
        files = self._world.files(self._session.files.path)
        blank = blank_before(self._session.state)

        def read() -> PhaseTimes:
            return phase_times(blank, (event for event, _ in files.tail(0)))

        with suppress(AgentmuxError, OSError):  # what cannot be read is not shown
            self._times = await in_daemon_thread(read)
            self.show()

    async def _ticks(self) -> None:
        """Look at the screens at a fixed interval; a late look is skipped."""
        while True:
            await asyncio.sleep(self._watcher.look_s)
            with self.reporting(_LOOK):
                if self._has_lost_session():
                    return
                self._find_name()
                self._protect_again()
                self._look_at_branch()
                await self._watcher.tick()
                self._performer.arrange_again()
                self._set_alarm()
                self._call_user()
            self._see_clients()
            if _STEP in self._problems or self._finished or self._has_lost_worktree():
                self.wake()
            self.show()
            self._show_in_tmux()

    def _is_unanswered(self) -> bool:
        """Return whether tmux did not answer the last step or look; both will ask it again.

        Each call to a hanging server blocks this process until the call's time limit.
        """
        return not self._unanswered.isdisjoint({_STEP, _LOOK})

    def _see_clients(self) -> None:
        """Look which tmux clients show the session, to tell the user how to leave it."""
        if not self._ending.is_set() and not self._is_unanswered():
            with self.reporting("a look at the clients"):
                self._way_out.look()

    def _show_in_tmux(self) -> None:
        """Show the session's phase and status in tmux's status line and in the borders of panes."""
        if self._ending.is_set() or self._is_unanswered():
            return
        sight = self._watcher.sight
        options = session_options(self._session.state, self._attention())
        marks = {
            pane.id: is_marked(self._session.state, pane.seat, sight.statuses.get(pane.seat))
            for pane in sight.panes.values()
        }
        with self.reporting("the status line of tmux"):
            self._options.write({**options, **self._way_out.options}, marks)

    # -- the end -----------------------------------------------------------------------------

    async def _close(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._tools.wake.fileno())
        if self._cause != "done":
            self._note_interruption()
        if self._kill_session:
            await self._performer.end_all()
        else:
            await self._performer.close()
        if (
            not self._has_lost_worktree()
            and self._cause != "done"
            and self._tools.lock.still_mine()
        ):
            unsaved = await self._saver.at_stop()
            if unsaved:
                self._watcher.runtime.tell_unsaved(unsaved)
        await self._saver.close()
        await self._notices.close()
        with suppress(AgentmuxError, OSError):
            self._watcher.write_runtime()
        self._show_left()
        self.show()
        self._monitor.end()
        self._tools.deaths.close()
        self._tools.wake.close()

    def _show_left(self) -> None:
        """Show in tmux's status line that no orchestrator drives the session any more."""
        if not self._kill_session and self._tools.lock.still_mine():
            with suppress(AgentmuxError, OSError):
                self._options.write(left_options(self._session.state), {})

    def _note_interruption(self) -> None:
        """Record why this process stops, unless another process has taken the session over."""
        with suppress(AgentmuxError, OSError):
            if self._tools.lock.still_mine():
                self._session.catch_up()
                self._session.record(SessionInterrupted(cause=self._cause or "unknown"))
                self._keep_trace()

    @property
    def cause(self) -> str | None:
        """Why this process stops: ``done``, or the reason in words; None while it runs."""
        return self._cause

    @property
    def kills_session(self) -> bool:
        """Whether the caller has to kill the tmux session, as the very last step."""
        return self._kill_session

    def show(self) -> None:
        """Have the monitor drawn soon; an error in drawing is shown, not raised."""
        now = self._world.now()
        self._times = self._times.at(self._session.state.phase, now)
        picture = MonitorContent(
            state=self._session.state,
            statuses=dict(self._watcher.sight.statuses),  # another thread reads them
            problem=self._watcher.runtime.problem,
            left_branch=self._watcher.runtime.left_branch,
            messages=tuple(self._messages),
            now=now.astimezone(self._world.machine.zones("")),
            spent_s=self._times.seconds(now),
            last_lines=dict(self._watcher.sight.last_lines),
            name=self._name,
            leave=self._way_out.line,
        )
        self._keys.picture = picture
        self._monitor.do(self._keys.draw)
