"""Looks at the panes of a session: which agents live, what they show, which have gone quiet."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Final

from agentmux.app.loop.dependencies import LoopDependencies
from agentmux.app.loop.panes.limit_watch import LimitWatch
from agentmux.app.loop.panes.observed_panes import LastLook, ObservedPanes
from agentmux.app.loop.panes.quiet_agents import QuietAgents
from agentmux.app.loop.panes.runtime_note import RuntimeNote
from agentmux.app.session.snapshot import save_snapshot, snapshot
from agentmux.app.session.writer import Session, stamp
from agentmux.app.world import World
from agentmux.core.agents.screens import (
    ScreenReading,
    ScreenState,
    ends_with_rejection,
    last_line,
    shows_prompt,
    switches_shown,
)
from agentmux.core.agents.spec import AgentSpec, StrategyKind
from agentmux.core.codec.frozen import replace
from agentmux.core.codec.times import time_of
from agentmux.core.decisions.limits import is_parked
from agentmux.core.decisions.next_actions import Facts, LaunchFact
from agentmux.core.decisions.stall import QuietResponse
from agentmux.core.journal.events import AgentStalled, ConversationLearned, PromptReached
from agentmux.core.journal.state import AGENT_MODES, NATIVE, Seat
from agentmux.core.names.phase import BASE, CHECK, SETUP
from agentmux.core.names.statuses import (
    BUSY,
    CHECKING,
    IDLE,
    LAUNCHED,
    LIMIT,
    SETTING_UP,
    STALLED,
    STARTING,
    STOPPED,
    UNKNOWN,
    WAITING,
)
from agentmux.core.names.turn import Turn
from agentmux.ports.tmux.display import SeatStatus
from agentmux.ports.tmux.terminal import Pane, Screen, ScreensUnreadableError, TerminalError

# Seconds between looks at panes that have changed, and so the delay until a question is noticed.
_LOOK_S: Final = 5.0
# Seconds between looks at a new launch's screen for proof that its prompt arrived.
_LOOKS_S: Final = (0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
# For how many seconds after its start an agent may show nothing that is recognised. It is shorter
# than the looks above take together, so one of them notices if that lasts longer.
_STARTS_S: Final = 3.0
# Seconds without a change after which a refusal on the screen counts as the agent's last word.
_LAST_WORD_S: Final = 1.0
_MARKS: Final[Mapping[ScreenState, str]] = {
    ScreenState.BUSY: BUSY,
    ScreenState.READY: IDLE,
    ScreenState.WAITING: WAITING,
    ScreenState.TRUST: WAITING,
    ScreenState.LIMIT: LIMIT,
}

# The marks on a screen that prove that the prompt arrived, and the evidence to record.
_ARRIVED: Final[Mapping[ScreenState, str]] = {
    ScreenState.BUSY: "its screen shows that it works",
    ScreenState.LIMIT: "usage limit below the prompt on screen",
}

_NOTHING_READ: Final = ScreenReading(mark=ScreenState.UNKNOWN)


def command_status(role: str) -> str:
    """Return the status of a seat that runs a command: ``setting_up`` or ``checking``.

    ``role`` is the role of the seat; the result is empty if an agent plays that role.
    """
    return {SETUP: SETTING_UP, CHECK: CHECKING, BASE: CHECKING}.get(role, "")


def _status_of(reading: ScreenReading) -> str:
    """Return the status of an agent with this screen; a needed log-in counts as waiting."""
    return WAITING if reading.needs_login else _MARKS.get(reading.mark, UNKNOWN)


def _nobody() -> None:
    """Do nothing; the default until the loop has begun."""


class Watcher:
    """Reads the panes of a session, and records what they show.

    Attributes:
        wake: Wakes the loop; does nothing until the orchestrator replaces it.
        answer_keys: Answers the keys pressed meanwhile; called during long looks at many panes.
            Does nothing until it is replaced, too.
        sight: What was last seen of the panes.
        quiet: Finds the agents that have gone quiet.
        runtime: The runtime note.
        tree: The id of the current files of the work tree, on which checks run; None if they were
            not looked at yet.
    """

    def __init__(
        self,
        world: World,
        session: Session,
        tools: LoopDependencies,
        *,
        identity: Mapping[str, object],
    ) -> None:
        """Take the session; look at nothing yet.

        Args:
            world: The outside world.
            session: The session.
            tools: The parts of the outside world that only the loop needs.
            identity: The fields of the runtime note that describe this process; see `RuntimeNote`.
        """
        self._world = world
        self._session = session
        self._tools = tools
        self.wake: Callable[[], None] = _nobody
        self.answer_keys: Callable[[], None] = _nobody
        self.sight = ObservedPanes()
        self.runtime = RuntimeNote(session, tools, self.sight, identity)
        self.quiet = QuietAgents(world, session, self.sight, self.spec)
        self._limits = LimitWatch(world, session, self.sight, self._wake_loop)
        self._switches: dict[str, int] = {}
        self._saving: set[asyncio.Future[None]] = set()
        self._last_tick = 0.0
        self._save_from = float("-inf")
        self._last_tick_at: float | None = None
        self.tree: str | None = None
        self._running: set[str] = set()
        self._refused: set[str] = set()

    def _wake_loop(self) -> None:
        self.wake()

    # -- who lives ---------------------------------------------------------------------------

    def probe(self) -> Facts:
        """Read panes, exit records and artifacts once, and return the facts that they show.

        Unlike `AgentProbes`, this runs no agent's program. It also looks at the screens of the
        parked seats that are due to be woken, and records what they show. The loop is woken when a
        program in one of the panes ends.

        Raises:
            TerminalGoneError: The tmux session is gone.
            TerminalUnreachableError: The tmux server does not answer.
        """
        panes = self._tools.terminal.panes()
        self.sight.see(panes)
        held = [seat.launch for seat in self._session.state.seats.values()]
        launches = dict.fromkeys((*held, *self.sight.panes))
        facts = {launch: self._launch_fact(launch) for launch in launches}
        for launch, pane in self.sight.panes.items():
            if facts[launch].alive and launch not in self._running:
                self._running.add(launch)
                self._tools.deaths.watch(pane.pid, partial(self._note_end, launch))
        due = self._due()
        return Facts(
            artifacts=self._session.artifacts(),
            launches=facts,
            tree=self.tree,
            to_wake=due,
            busy=frozenset(name for name in due if self.sight.is_busy(name)),
        )

    def _due(self) -> tuple[str, ...]:
        """Return the parked seats to wake now, after a look at their screens."""
        seats, due = self._session.state.seats, self._limits.due()
        if not due:
            return ()
        self.look_at(tuple(seats[name].launch for name in due if name in seats), final=False)
        return self._limits.due()  # a screen may show a later limit

    def find_pane(self, launch: str) -> str:
        """Return the id of a launch's pane, also if the user moved it to another tmux session.

        ``launch`` is the id of the launch. Empty if the pane is gone.
        """
        return self.sight.pane_id(launch) or self._tools.terminal.find_pane(launch)

    def _note_end(self, launch: str, _pid: int) -> None:
        self._running.discard(launch)
        self.wake()

    def _launch_fact(self, launch: str) -> LaunchFact:
        pane = self.sight.panes.get(launch)
        record = self._session.files.launch_record(launch)
        # A closed pane is gone before its program ends, which then writes the exit record.
        runs = launch in self._running or (pane is not None and not pane.dead)
        fact = LaunchFact(
            pane=pane.id if pane else None,
            alive=runs and record.exit is None,
            started=record.started,
            exit=record.exit,
            choice=record.choice,
        )
        name, seat = self._seat_of(launch)
        if seat is None or seat.status != LAUNCHED or seat.mode != NATIVE:
            return fact
        if not fact.alive and fact.exit is None:
            return fact
        refusal = launch in self._refused if fact.alive else self._refuses(name, fact.pane)
        return replace(fact, early=self._is_early(seat), refuses=refusal)

    def _is_early(self, seat: Seat) -> bool:
        lived = self._world.now() - datetime.fromisoformat(seat.since)
        return lived.total_seconds() <= self._world.settings.resume.reject_after_s

    def _refuses(self, name: str, pane: str | None) -> bool:
        if pane is None:
            return False
        with suppress(ScreensUnreadableError):
            screen = self._tools.terminal.capture([pane], colours=False).get(pane)
            return screen is not None and ends_with_rejection(self.spec(name), screen.text)
        return False

    def _seat_of(self, launch: str) -> tuple[str, Seat | None]:
        for name, seat in self._session.state.seats.items():
            if seat.launch == launch:
                return name, seat
        return "", None

    def spec(self, seat: str) -> AgentSpec:
        """Return the description of the agent that plays the seat, by the seat's name.

        If no agent was launched for the seat, it is the description of an unknown agent.
        """
        record = self._session.state.agents.get(seat, {})
        return self._world.agents.spec(str(record.get("agent", "")) or "none")

    def typing_spec(self, seat: str) -> AgentSpec:
        """Return the description of the agent that plays the seat, as needed for typing to it.

        Unless the seat is parked, this description recognises no usage limit: a limit that is still
        on the screen is over.
        """
        spec = self.spec(seat)
        return spec if is_parked(self._session.state, seat) else replace(spec, limit=None)

    # -- what the screens say ----------------------------------------------------------------

    @property
    def look_s(self) -> float:
        """Seconds from one `tick` to the next, even if screens are saved more rarely."""
        return min(_LOOK_S, self._world.settings.snapshots.interval_s)

    async def tick(self) -> None:
        """Look at the panes with activity: save their screens, note agents that have gone quiet.

        It does this once, and writes the runtime note; the loop calls it every `look_s` seconds.

        Raises:
            TerminalError: tmux fails; then the next call looks at these panes again.
        """
        now, began = asyncio.get_running_loop().time(), self._world.now().timestamp()
        self._forgive_pause(now)
        self.sight.see(self._tools.terminal.panes())
        # If the clock was set back, tmux's times do not show what has changed since.
        set_back, looked_at = began < self._last_tick, self.sight.last_looks
        saves = now >= self._save_from
        moved = [
            pane
            for pane in self.sight.panes.values()
            if set_back
            or pane.activity >= self._last_tick - 1
            or pane.id not in looked_at
            or (saves and not looked_at[pane.id].saved)
        ]
        self._look(moved, now, saves=saves)
        self._last_tick = began  # after a failed look, the next tick looks again
        if saves:
            self._save_from = now + self._world.settings.snapshots.interval_s
        self._check_patience(now)
        self.write_runtime()

    def _forgive_pause(self, now: float) -> None:
        """Do not count the time in which this process did not run as silence of the agents.

        A suspended machine suspends the agents, too: they could not show anything.
        """
        interval_s = self.look_s
        before, self._last_tick_at = self._last_tick_at, now
        pause_s = 0.0 if before is None else now - before - interval_s
        if pause_s > interval_s:
            self.sight.forgive(pause_s)

    def look_at(self, launches: tuple[str, ...], *, final: bool = True) -> None:
        """Look at the panes of the launches with these ids now, if their screens can be read.

        ``final`` says that the panes are about to be closed: their screens are saved even if they
        have not changed, and no usage limit is recorded.
        """
        panes = [self.sight.panes[launch] for launch in launches if launch in self.sight.panes]
        with suppress(ScreensUnreadableError):  # the next tick reports it
            self._look(panes, asyncio.get_running_loop().time(), final=final)

    def _look(
        self, panes: list[Pane], now: float, *, final: bool = False, saves: bool = True
    ) -> None:
        """Look at these panes; with ``saves``, save screens that changed since the last save."""
        if not panes:
            return
        try:
            screens = self._tools.terminal.capture([pane.id for pane in panes])
        except TerminalError:
            self._note_unseen(panes)
            raise
        for pane in panes:
            screen = screens.get(pane.id)
            if screen is None:
                continue
            digest = hashlib.blake2b(screen.ansi.encode(), digest_size=16).hexdigest()
            last_look = self.sight.last_looks.get(pane.id)
            if last_look is None or last_look.digest != digest:
                last_look = self.sight.last_looks[pane.id] = LastLook(digest, now)
                if pane.launch in self.sight.unsent:
                    self.wake()  # the screen may now show where to type
            if final or (saves and not last_look.saved):
                self._keep(pane, screen)
                last_look.saved = True
            self._note_status(pane, screen, final=final)
            self._note_refusal(pane, screen, now)
            self.answer_keys()

    def _note_unseen(self, panes: list[Pane]) -> None:
        """Set agents whose panes cannot be read now to the status unknown.

        That time does not count as silence of the agents.
        """
        for pane in panes:
            self.sight.last_looks.pop(pane.id, None)
            name, seat = self._seat_of(pane.launch)
            if seat is not None and seat.status == LAUNCHED and seat.mode in AGENT_MODES:
                self.set_status(name, UNKNOWN, "screen")

    def _note_status(self, pane: Pane, screen: Screen, *, final: bool) -> None:
        name, seat = self._seat_of(pane.launch)
        if seat is None:
            return
        self.sight.last_lines[name] = last_line(self.spec(name), screen.text)
        status, source = seat.status, "journal" if seat.status == STOPPED else "exit record"
        reading = _NOTHING_READ
        if seat.status == LAUNCHED and seat.mode not in AGENT_MODES:
            status, source = command_status(seat.role) or seat.mode, "journal"
        elif seat.status == LAUNCHED:
            reading = self._limits.read(self.spec(name), name, seat, screen.text)
            mark = reading.mark
            status, source = _status_of(reading), "screen"
            if mark is ScreenState.BUSY:
                self.sight.worked.add(seat.launch)
                self._limits.note_work(name, seat)
            if status == UNKNOWN and not seat.reached and self._starts(name):
                status, source = STARTING, "journal"
            status = STALLED if seat.stalled and status != BUSY else status
            if not seat.reached and not reading.needs_login:
                self._note_arrival(name, seat, mark, screen)
            if mark is ScreenState.LIMIT and not final:
                self._limits.note_limit(name, seat, reading.resets)
            self._note_switch(name, seat, screen)
        self.set_status(name, status, source, resets=reading.resets, trouble=reading.trouble)

    def _starts(self, name: str) -> bool:
        """Whether the seat's agent started so recently that its screen may still show nothing."""
        before = self.sight.statuses.get(name)
        if before is not None and before.unsent:
            return False
        began = time_of(before.since) if before is not None and before.status == STARTING else None
        return began is not None and (self._world.now() - began).total_seconds() < _STARTS_S

    def _note_refusal(self, pane: Pane, screen: Screen, now: float) -> None:
        """Note if a screen says that the agent does not know the conversation to resume.

        Then the loop is woken, and the next `probe` reports it.
        """
        name, seat = self._seat_of(pane.launch)
        if seat is None or seat.mode != NATIVE or seat.reached or pane.launch in self._refused:
            return
        still_s = now - self.sight.last_looks[pane.id].still_since
        if still_s >= _LAST_WORD_S and ends_with_rejection(self.spec(name), screen.text):
            self._refused.add(pane.launch)
            self.wake()

    def _note_switch(self, name: str, seat: Seat, screen: Screen) -> None:
        """Record that the user changed the conversation, if the screen shows it.

        Not for an agent that reports its conversation itself.
        """
        spec = self.spec(name)
        shown, before = switches_shown(spec, screen.text), self._switches.get(seat.launch, 0)
        self._switches[seat.launch] = shown
        # Before the prompt arrived, an empty conversation is the one that AgentMux started.
        if shown > before and seat.reached and not self._tells_conversation(name, seat):
            fact = ConversationLearned(conversation="", source="screen")
            self._session.record(fact, seat=name, launch=seat.launch)

    def _tells_conversation(self, name: str, seat: Seat) -> bool:
        """Return whether the agent itself reports its conversation, for example by hooks."""
        strategy = self._session.state.agents.get(name, {}).get("strategy")
        heard = self._session.files.turn(seat.launch) is not Turn.UNKNOWN
        return heard or strategy != StrategyKind.ASSIGN

    def _note_arrival(self, name: str, seat: Seat, mark: ScreenState, screen: Screen) -> None:
        unsent = self.sight.unsent.get(seat.launch)
        # A prompt that was not typed yet has not arrived, whatever the agent does.
        evidence = _ARRIVED.get(mark, "") if unsent is None or unsent.typed else ""
        # A question may stand over a prompt that was typed and not sent.
        asks = mark is ScreenState.WAITING
        if (not asks or unsent is None) and shows_prompt(self.spec(name), screen.text, seat.launch):
            evidence = f"prompt on screen, {'a question below it' if asks else 'composer empty'}"
        if evidence:
            fact = PromptReached(evidence=evidence)
            self._session.record(fact, seat=name, launch=seat.launch)

    def set_status(
        self, seat: str, status: str, source: str, *, resets: str = "", trouble: str = ""
    ) -> None:
        """Set the status of a seat, as seen now; its ``since`` stays unless ``status`` changes.

        The arguments are fields of `SeatStatus`; ``status`` is a word such as ``busy`` or ``idle``.
        ``source`` says where the status comes from, such as ``screen``; ``resets`` is when a usage
        limit ends, and ``trouble`` the last message about the agent's service, both in the agent's
        words.
        """
        state = self._session.state
        until = state.parked[seat].until if status == LIMIT and is_parked(state, seat) else ""
        held = state.seats.get(seat)
        why = "" if held is None else self.sight.why_unsent(held)
        since = stamp(self._world.now())
        self.sight.note(seat, SeatStatus(status=status, source=source, since=since, resets=resets,
                                         until=until, trouble=trouble, unsent=why))  # fmt: skip

    def _keep(self, pane: Pane, screen: Screen) -> None:
        text = snapshot(self._session, pane, screen)
        if text is not None:
            loop = asyncio.get_running_loop()
            saving = loop.run_in_executor(None, save_snapshot, self._session.files, pane.seat, text)
            self._saving.add(saving)
            saving.add_done_callback(self._saving.discard)

    async def wait_until_saved(self) -> None:
        """Wait until all screens that are being saved are on the disk."""
        if self._saving:
            await asyncio.wait(tuple(self._saving))

    async def confirm(self, seat: str, launch: str) -> None:
        """Look at a launch's screen until it proves that the prompt arrived; that is then recorded.

        This looks again after growing pauses, for about 20 seconds in all. Nothing is recorded if
        the prompt does not arrive in that time, or if the seat has another launch by then.

        Args:
            seat: The name of the seat.
            launch: The id of the launch.
        """
        for pause_s in _LOOKS_S:
            await asyncio.sleep(pause_s)
            current = self._session.state.seats.get(seat)
            if current is None or current.launch != launch or current.reached:
                return
            pane = self.sight.panes.get(launch)
            if pane is not None and current.status == LAUNCHED:
                self._look([pane], asyncio.get_running_loop().time())

    # -- patience ----------------------------------------------------------------------------

    def _check_patience(self, now: float) -> None:
        for name, seat in self._session.state.seats.items():
            quiet_s = self.quiet.quiet_s(name, seat, now)
            if is_parked(self._session.state, name):
                self._limits.note_rest(name, seat, quiet_s)
                continue
            due = self.quiet.patience(name, seat, quiet_s)
            if due is QuietResponse.NUDGE and name not in self.quiet.to_nudge:
                self.quiet.to_nudge.append(name)
                self.wake()
            elif due is QuietResponse.REPORT:
                self._report(name, seat, quiet_s)

    def _report(self, name: str, seat: Seat, quiet_s: float) -> None:
        """Record that a reminded agent stays quiet."""
        self._session.record(AgentStalled(idle_s=int(quiet_s)), seat=name, launch=seat.launch)
        self.set_status(name, STALLED, "screen", trouble=self.sight.statuses[name].trouble)
        self.wake()

    # -- the runtime note --------------------------------------------------------------------

    def write_runtime(self) -> None:
        """Write the runtime note if it has changed, without seats that no longer exist."""
        self.sight.forget_all_but(frozenset(self._session.state.seats))
        self.runtime.write()
