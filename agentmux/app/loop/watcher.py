"""Look at the panes of a session: which agents live, what they show, which have gone quiet."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Final

from agentmux.app.loop.tools import Tools
from agentmux.app.session.snapshot import keep, snapshot
from agentmux.app.session.writer import Session, stamp
from agentmux.app.world import World
from agentmux.core.agents.screens import (
    Reading,
    ScreenMark,
    read,
    refuses,
    shows_prompt,
    switches_shown,
)
from agentmux.core.agents.spec import AgentSpec, StrategyKind, TurnEnd
from agentmux.core.codec.frozen import replace
from agentmux.core.decisions.next_actions import Facts, LaunchFact
from agentmux.core.decisions.stall import Patience, nudge_after, patience
from agentmux.core.journal.events import AgentStalled, ConversationLearned, PromptReached
from agentmux.core.journal.state import AGENT_MODES, NATIVE, Seat
from agentmux.core.names import layout
from agentmux.core.names.phase import CHECK, SETUP, ResearchKind
from agentmux.core.names.statuses import (
    BUSY,
    CHECKING,
    IDLE,
    LAUNCHED,
    LIMIT,
    RESEARCHED,
    SETTING_UP,
    STALLED,
    STOPPED,
    UNKNOWN,
    WAITING,
)
from agentmux.core.names.turn import Turn
from agentmux.core.pipeline.work import is_under_way
from agentmux.errors import AgentmuxError, DataError
from agentmux.ports.display import SeatStatus
from agentmux.ports.terminal import Pane, Screen, ScreensUnreadableError, TerminalError

_NOTE_ROOM: Final = 2048
"""Minimum size of the runtime note in bytes: the report of a full disk can be written over it."""

_PROBLEM_MAX: Final = 800

# Seconds between looks at a new launch's screen for proof that its prompt arrived.
_LOOKS_S: Final = (0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
# Seconds without a change after which a refusal on the screen counts as the agent's last word.
_LAST_WORD_S: Final = 1.0
_MARKS: Final[Mapping[ScreenMark, str]] = {
    ScreenMark.BUSY: BUSY,
    ScreenMark.READY: IDLE,
    ScreenMark.WAITING: WAITING,
    ScreenMark.TRUST: WAITING,
    ScreenMark.LIMIT: LIMIT,
}

_NOTHING_READ: Final = Reading(mark=ScreenMark.UNKNOWN)


@dataclass(slots=True)
class _LastLook:
    """Digest of a pane's last screen, and since when it is unchanged, in monotonic seconds."""

    digest: str
    still_since: float


def command_status(role: str) -> str:
    """Return the status of a running command that no agent plays; empty for an agent's role."""
    return {SETUP: SETTING_UP, CHECK: CHECKING}.get(role, "")


def _nobody() -> None:
    """Do nothing: the loop has not begun."""


class Watcher:
    """Reads the panes, records what they show, and lists the quiet agents to remind."""

    def __init__(
        self,
        world: World,
        session: Session,
        tools: Tools,
        *,
        identity: Mapping[str, object],
    ) -> None:
        """``identity`` describes the process that drives the session: pids, start times, socket."""
        self._world = world
        self._session = session
        self._tools = tools
        self._identity = identity
        self.wake: Callable[[], None] = _nobody
        self.problem: str | None = None
        self._last_looks: dict[str, _LastLook] = {}
        self._switches: dict[str, int] = {}
        self._last_tick = 0.0
        self._last_tick_at: float | None = None
        self.statuses: dict[str, SeatStatus] = {}
        self.panes: dict[str, Pane] = {}
        self.to_nudge: list[str] = []
        self.tree: str | None = None
        self._running: set[str] = set()
        self._refused: set[str] = set()
        self._worked: set[str] = set()
        self._put_off: dict[str, str] = {}
        self._runtime: object = None
        self._started: dict[tuple[str, int], int] = {}

    # -- who lives ---------------------------------------------------------------------------

    def probe(self) -> Facts:
        """Read panes, exit records and artifacts once, and return what they say.

        Raises:
            TerminalGoneError: The tmux session is gone.
            TerminalUnreachableError: The tmux server does not answer.
        """
        found = self._tools.terminal.panes()
        self.panes = {pane.launch: pane for pane in found if pane.launch}
        held = [seat.launch for seat in self._session.state.seats.values()]
        launches = dict.fromkeys((*held, *self.panes))
        facts = {launch: self._launch_fact(launch) for launch in launches}
        for launch, pane in self.panes.items():
            if facts[launch].alive and launch not in self._running:
                self._running.add(launch)
                self._tools.deaths.watch(pane.pid, partial(self._ended, launch))
        return Facts(artifacts=self._session.artifacts(), launches=facts, tree=self.tree)

    def pane_id(self, launch: str) -> str:
        """Return the id of a launch's pane; empty where none was seen."""
        pane = self.panes.get(launch)
        return "" if pane is None else pane.id

    def _ended(self, launch: str, _pid: int) -> None:
        self._running.discard(launch)
        self.wake()

    def _launch_fact(self, launch: str) -> LaunchFact:
        pane = self.panes.get(launch)
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
        said = launch in self._refused if fact.alive else self._refuses(name, fact.pane)
        return replace(fact, early=self._is_early(seat), refuses=said)

    def _is_early(self, seat: Seat) -> bool:
        lived = self._world.now() - datetime.fromisoformat(seat.since)
        return lived.total_seconds() <= self._world.settings.resume.reject_after_s

    def _refuses(self, name: str, pane: str | None) -> bool:
        if pane is None:
            return False
        with suppress(ScreensUnreadableError):
            screen = self._tools.terminal.capture([pane], colours=False).get(pane)
            return screen is not None and refuses(self.spec(name), screen.text)
        return False

    def _seat_of(self, launch: str) -> tuple[str, Seat | None]:
        for name, seat in self._session.state.seats.items():
            if seat.launch == launch:
                return name, seat
        return "", None

    def spec(self, seat: str) -> AgentSpec:
        """Return the agent that plays this seat."""
        record = self._session.state.agents.get(seat, {})
        return self._world.spec(str(record.get("agent", "")) or "none")

    # -- what the screens say ----------------------------------------------------------------

    async def tick(self) -> None:
        """Look at the panes with activity: save the screens, note agents that have gone quiet."""
        now, began = asyncio.get_running_loop().time(), self._world.now().timestamp()
        self._forgive_pause(now)
        found = self._tools.terminal.panes()
        self.panes = {pane.launch: pane for pane in found if pane.launch}
        # Where the clock went back, tmux's times do not show what has changed since.
        set_back = began < self._last_tick
        moved = [
            pane
            for pane in self.panes.values()
            if set_back or pane.activity >= self._last_tick - 1 or pane.id not in self._last_looks
        ]
        self._look(moved, now)
        self._last_tick = began  # after a failed look, the next tick looks again
        self._check_patience(now)
        self.write_runtime()

    def _forgive_pause(self, now: float) -> None:
        """Subtract the time in which this process did not run from the silence of every agent.

        A suspended machine suspends the agents, too: they could not show anything.
        """
        interval_s = self._world.settings.snapshots.interval_s
        before, self._last_tick_at = self._last_tick_at, now
        pause_s = 0.0 if before is None else now - before - interval_s
        if pause_s > interval_s:
            for last_look in self._last_looks.values():
                last_look.still_since += pause_s

    def look_at(self, launches: tuple[str, ...]) -> None:
        """Save the screens of these launches now, since their panes are about to be closed."""
        panes = [self.panes[launch] for launch in launches if launch in self.panes]
        with suppress(ScreensUnreadableError):  # the next tick reports it
            self._look(panes, asyncio.get_running_loop().time(), final=True)

    def _look(self, panes: list[Pane], now: float, *, final: bool = False) -> None:
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
            last_look = self._last_looks.get(pane.id)
            if last_look is None or last_look.digest != digest:
                self._last_looks[pane.id] = _LastLook(digest, now)
                self._keep(pane, screen)
            elif final:
                self._keep(pane, screen)
            self._note_status(pane, screen)
            self._note_refusal(pane, screen, now)

    def _note_unseen(self, panes: list[Pane]) -> None:
        """Set the status of agents to unknown whose panes cannot be read now.

        That time does not count as silence of the agents.
        """
        for pane in panes:
            self._last_looks.pop(pane.id, None)
            name, seat = self._seat_of(pane.launch)
            if seat is not None and seat.status == LAUNCHED and seat.mode in AGENT_MODES:
                self.note(name, UNKNOWN, "screen")

    def _note_status(self, pane: Pane, screen: Screen) -> None:
        name, seat = self._seat_of(pane.launch)
        if seat is None:
            return
        status, source = seat.status, "journal" if seat.status == STOPPED else "exit record"
        reading = _NOTHING_READ
        if seat.status == LAUNCHED and seat.mode not in AGENT_MODES:
            status, source = command_status(seat.role) or seat.mode, "journal"
        elif seat.status == LAUNCHED:
            reading = read(self.spec(name), screen.text)
            mark = reading.mark
            status, source = _MARKS.get(mark, UNKNOWN), "screen"
            if mark is ScreenMark.BUSY:
                self._worked.add(seat.launch)
            status = STALLED if seat.stalled and status != BUSY else status
            if not seat.reached:
                self._note_arrival(name, seat, mark, screen)
            self._note_switch(name, seat, screen)
        self.note(name, status, source, resets=reading.resets, trouble=reading.trouble)

    def _note_refusal(self, pane: Pane, screen: Screen, now: float) -> None:
        """Remember it if a screen says that the agent does not know the conversation to resume.

        The loop is woken then; the next `probe` reports it.
        """
        name, seat = self._seat_of(pane.launch)
        if seat is None or seat.mode != NATIVE or seat.reached or pane.launch in self._refused:
            return
        still_s = now - self._last_looks[pane.id].still_since
        if still_s >= _LAST_WORD_S and refuses(self.spec(name), screen.text):
            self._refused.add(pane.launch)
            self.wake()

    def _note_switch(self, name: str, seat: Seat, screen: Screen) -> None:
        """Record that the user changed the conversation, if the screen shows it.

        Not for an agent that reports its conversation itself.
        """
        spec = self.spec(name)
        shown, before = switches_shown(spec, screen.text), self._switches.get(seat.launch, 0)
        self._switches[seat.launch] = shown
        # Before its prompt arrived, an empty conversation is the one that we started.
        if shown > before and seat.reached and not self._tells_conversation(name, seat):
            fact = ConversationLearned(conversation="", source="screen")
            self._session.record(fact, seat=name, launch=seat.launch)

    def _tells_conversation(self, name: str, seat: Seat) -> bool:
        """Return whether the agent itself reports its conversation, for example by hooks."""
        strategy = self._session.state.agents.get(name, {}).get("strategy")
        heard = self._session.files.turn(seat.launch) is not Turn.UNKNOWN
        return heard or strategy != StrategyKind.ASSIGN

    def _note_arrival(self, name: str, seat: Seat, mark: ScreenMark, screen: Screen) -> None:
        evidence = "busy mark on screen" if mark is ScreenMark.BUSY else ""
        if shows_prompt(self.spec(name), screen.text, seat.launch):
            evidence = "prompt on screen, composer empty"
        if evidence:
            fact = PromptReached(evidence=evidence)
            self._session.record(fact, seat=name, launch=seat.launch)

    def note(
        self, seat: str, status: str, source: str, *, resets: str = "", trouble: str = ""
    ) -> None:
        """Set the status of a seat; its ``since`` stays unless ``status`` changes.

        The arguments are the fields of `SeatStatus`.
        """
        known = self.statuses.get(seat)
        if known is None or known.status != status:
            since = stamp(self._world.now())
            known = SeatStatus(status=status, source=source, since=since)
        self.statuses[seat] = replace(known, resets=resets, trouble=trouble)

    def _keep(self, pane: Pane, screen: Screen) -> None:
        text = snapshot(self._session, pane, screen)
        if text is not None:
            loop = asyncio.get_running_loop()
            loop.run_in_executor(None, keep, self._session.files, pane.seat, text)

    async def confirm(self, seat: str, launch: str) -> None:
        """Look a few times, at growing intervals, for proof that the prompt arrived."""
        for pause_s in _LOOKS_S:
            await asyncio.sleep(pause_s)
            current = self._session.state.seats.get(seat)
            if current is None or current.launch != launch or current.reached:
                return
            pane = self.panes.get(launch)
            if pane is not None and current.status == LAUNCHED:
                self._look([pane], asyncio.get_running_loop().time())

    # -- patience ----------------------------------------------------------------------------

    def _check_patience(self, now: float) -> None:
        stall = self._world.settings.stall
        for name, seat in self._session.state.seats.items():
            quiet_s = self._quiet_s(name, seat, now)
            due = patience(
                quiet_s,
                nudged=seat.nudged,
                stalled=seat.stalled,
                nudge_after_s=nudge_after(
                    self._turn(name, seat),
                    turn_ended_after_s=stall.turn_ended_after_s,
                    nudge_after_s=stall.nudge_after_s,
                ),
                report_after_s=stall.report_after_s,
            )
            if due is Patience.NUDGE and name not in self.to_nudge:
                self.to_nudge.append(name)
                self.wake()
            elif due is Patience.REPORT:
                self._session.record(
                    AgentStalled(idle_s=int(quiet_s)), seat=name, launch=seat.launch
                )
                trouble = self.statuses[name].trouble
                self.note(name, STALLED, "screen", trouble=trouble)
                self.wake()

    def _quiet_s(self, name: str, seat: Seat, now: float) -> float:
        pane = self.panes.get(seat.launch)
        status = self.statuses.get(name)
        if pane is None or pane.dead or seat.status != LAUNCHED or status is None:
            return 0.0
        if seat.mode not in AGENT_MODES:
            return 0.0
        if status.status in {BUSY, WAITING, LIMIT} or self._awaits_research(name):
            return 0.0
        last_look = self._last_looks.get(pane.id)
        return now - last_look.still_since if last_look is not None else 0.0

    def _turn(self, name: str, seat: Seat) -> Turn:
        """Return what is known about the turn of a quiet agent, from its hooks or its screen."""
        if seat.nudged or self._is_put_off(seat):
            return Turn.UNKNOWN
        spec, status = self.spec(name), self.statuses.get(name)
        # Where its service failed, an early reminder does not help.
        if status is not None and status.trouble:
            return Turn.UNKNOWN
        if spec.turn_end is not TurnEnd.SCREEN:
            return self._session.files.turn(seat.launch)
        rests = status is not None and status.status == _MARKS[ScreenMark.READY]
        return Turn.LOOKS_ENDED if rests and seat.launch in self._worked else Turn.UNKNOWN

    def _is_put_off(self, seat: Seat) -> bool:
        """Return whether the seat's reminder was put off, and its screen is still the same."""
        pane = self.panes.get(seat.launch)
        last_look = None if pane is None else self._last_looks.get(pane.id)
        return last_look is not None and self._put_off.get(seat.launch) == last_look.digest

    def put_off(self, seat: str) -> bool:
        """Put off the reminder of a seat, which could not be typed, until its screen changes.

        Returns:
            False if the seat has been quiet for too long: the reminder then counts as given.
        """
        held = self._session.state.seats.get(seat)
        pane = None if held is None else self.panes.get(held.launch)
        last_look = None if pane is None else self._last_looks.get(pane.id)
        if held is None or last_look is None:
            return False
        quiet_s = asyncio.get_running_loop().time() - last_look.still_since
        self._put_off[held.launch] = last_look.digest
        return quiet_s < self._world.settings.stall.nudge_after_s

    def _awaits_research(self, seat: str) -> bool:
        """Return whether research that the seat asked for runs, or is done but not yet reported."""
        state = self._session.state
        asked = (
            (kind, topic, status, seat in known.told)
            for kind in ResearchKind
            for topic, status in state.tasks(kind).items()
            if (known := state.research.get(f"{kind}-{topic}")) and seat in known.owners
        )
        return any(
            is_under_way(state, kind, topic) or (status == RESEARCHED and not told)
            for kind, topic, status, told in asked
        )

    # -- the runtime note --------------------------------------------------------------------

    def write_runtime(self) -> None:
        """Write the runtime note, if it changed: what is true only while this process runs."""
        held = self._session.state.seats
        self.statuses = {name: s for name, s in self.statuses.items() if name in held}
        fields = {
            **self._identity,
            "session": self._tools.terminal.target.session,
            "panes": {
                pane.seat: {
                    "pane": pane.id,
                    "pid": pane.pid,
                    "started": self._start_of(pane),
                    "launch": launch,
                    "visible": pane.visible,
                }
                for launch, pane in self.panes.items()
            },
            "statuses": {name: asdict(status) for name, status in self.statuses.items()},
            "problem": self.problem,
        }
        if fields != self._runtime:
            try:
                text = json.dumps(fields, indent=1).ljust(_NOTE_ROOM)
                self._session.files.write(layout.RUNTIME, text)
            except DataError:
                self._say_in_place()
                raise
            self._runtime = fields

    def processes(self) -> tuple[tuple[int, int], ...]:
        """Return pid and start time of the programs that ran in the panes at the last look.

        Programs without a known start time are left out: their pid may be another program's by now.
        """
        found = ((pane.pid, self._start_of(pane)) for pane in self.panes.values() if not pane.dead)
        return tuple((pid, started) for pid, started in found if started)

    def leave_behind(self, problem: str) -> None:
        """Note that all agents ended, but their tmux server still runs and cannot be reached.

        ``problem`` tells the user what to do.
        """
        self._identity = {**self._identity, "server_pid": 0, "server_started": 0}
        self.panes, self.problem = {}, problem
        self.write_runtime()

    def _say_in_place(self) -> None:
        """Report in the existing note that nothing can be written: that needs no disk space."""
        self._runtime = None
        if self.problem is None:
            return
        problem = self.problem[:_PROBLEM_MAX]
        fields = {
            **self._identity,
            "session": self._tools.terminal.target.session,
            "problem": problem,
        }
        with suppress(AgentmuxError, OSError):
            self._session.files.write_over(layout.RUNTIME, json.dumps(fields))

    def _start_of(self, pane: Pane) -> int:
        """Return when a pane's program started, 0 if unknown; asks the system once per program."""
        key = (pane.id, pane.pid)
        if key not in self._started:
            self._started[key] = self._tools.deaths.start_time(pane.pid)
        return self._started[key]
