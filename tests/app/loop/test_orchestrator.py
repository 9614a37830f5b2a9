"""The orchestrator in this process, on a fake terminal with real agents."""

import asyncio
import errno
import json
import logging
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from agentmux.adapters.config.agent_registry import probe
from agentmux.adapters.disk.lock import SessionLock
from agentmux.adapters.disk.session import session_folders
from agentmux.adapters.disk.session.session_files import FileSession
from agentmux.adapters.pane import delivery, keystrokes
from agentmux.adapters.system.processes.processes import PidWatch, end, is_alive, start_time
from agentmux.adapters.wake.file_changes import wait_until_gone
from agentmux.adapters.wake.pipe import STOP, WakeFifo, poke
from agentmux.app.commands.begin.start import StartRequest, plan_start, start
from agentmux.app.commands.resume.orchestrator_request import (
    OrchestratorReport,
    OrchestratorRequest,
)
from agentmux.app.commands.resume.orchestrator_start import OrchestratorStart
from agentmux.app.commands.resume.resume import plan_resume
from agentmux.app.loop.background_tasks import TRIES
from agentmux.app.loop.dependencies import LoopDependencies
from agentmux.app.loop.process import drive
from agentmux.app.signals.submission import decide
from agentmux.app.world import World
from agentmux.core.agents.spec import AgentSpec, ProbeResult
from agentmux.core.config.settings import (
    CompletionSettings,
    RoleSettings,
    SnapshotSettings,
    StallSettings,
)
from agentmux.core.conversation.launch_policy import EVERY, ORDINARY, LaunchPolicy
from agentmux.core.fleet.lease import LeaseLapsedError
from agentmux.core.fold.acceptance import takes_approval
from agentmux.core.journal.events import Approved, ChangesRequested
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.phase import Phase
from agentmux.core.terminal.keys.console import ANSWER_S, READ_S, REST_S, TextPage
from agentmux.core.terminal.keys.keys import Key, Pressed
from agentmux.errors import AgentmuxError, BlockedError, ExitCode, MissingError
from agentmux.overriding import override
from agentmux.ports.git.repository import ChangeRange, Head
from agentmux.ports.tmux.display import MonitorContent
from agentmux.ports.tmux.terminal import (
    Arranged,
    Client,
    NewPane,
    Pane,
    Panes,
    Screen,
    StatusOption,
    Target,
    TerminalError,
    TypingResult,
)
from agentmux.wiring import build
from tests.app.driver import NotedRepository, _ReadyAtOnce, make_project
from tests.app.invariants import check_journal
from tests.app.programs import AnsweringPrograms
from tests.fakes.bench import Bench as TmuxTerminal
from tests.fakes.bench import Flat
from tests.fakes.notifier import Postbox
from tests.fakes.terminal import FakeOwn, FakeTerminal

DEADLINE_S = 60.0
QUICK: Mapping[str, Any] = {"planner": {"plan": {"parts": 2}}}
CODERS = ["coder-1", "coder-2"]
STAY: Mapping[str, Any] = {"planner": {"silent": True}}
"""The planner never hands in, so a test that waits for planning cannot miss it."""


class Balky(FakeTerminal):
    """A fake terminal that records its calls, and fails where a test wants it to."""

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__(env=env)
        self.calls: list[str] = []
        self.broken: AgentmuxError | None = None
        self.bug: Exception | None = None
        self.stuck: AgentmuxError | None = None
        self.vacated: list[str] = []
        self.went: list[str] = []
        self.asked_in_vain: list[str] = []
        self.shows, self.looks = "", 0
        self.busy: Callable[[], object] | None = None

    @override
    def own(self, target: Target) -> "WatchedOwn":
        return WatchedOwn(self, target)

    @override
    def go_to(self, session: str, pane: str) -> bool:
        self.went.append(pane)
        return super().go_to(session, pane)

    @override
    def capture(self, panes: Sequence[str], *, colours: bool = True) -> Mapping[str, Screen]:
        if self.bug is not None:
            raise self.bug
        self.looks += 1
        found = super().capture(panes, colours=colours)
        if not self.shows:
            return found
        return {
            pane: replace(each, text=self.shows, ansi=self.shows) for pane, each in found.items()
        }

    @override
    def arrange(self, session: str, visible: Sequence[str]) -> Arranged:
        if self.busy is not None:
            self.busy()
        return super().arrange(session, visible)

    @override
    def open_panes(self, session: str, panes: Sequence[NewPane]) -> Mapping[str, str]:
        self.calls.append("open_panes")
        if self.broken is not None:
            raise self.broken
        return super().open_panes(session, panes)

    @override
    def close_panes(self, panes: Sequence[str], *, vacate: Collection[str] = ()) -> None:
        shown = {pane.id: pane for pane in self.panes("$0") if pane.visible}
        if panes:
            self.vacated += [shown[each].seat for each in panes if each in shown and each in vacate]
            self.calls.append("close_panes")
            stuck, self.stuck = self.stuck, None
            if stuck is not None:
                raise stuck
        super().close_panes(panes, vacate=vacate)

    @override
    def kill_session(self, session: str) -> None:
        self.calls.append("kill_session")
        super().kill_session(session)


class WatchedOwn(FakeOwn):
    """A session of a `Balky` terminal, which notes the calls that a frozen server keeps waiting."""

    @override
    def clients(self) -> tuple[Client, ...]:
        self._note("clients")
        return super().clients()

    @override
    def panes(self) -> tuple[Pane, ...]:
        self._note("panes")
        return super().panes()

    @override
    def set_options(
        self, session: Mapping[str, str], panes: Mapping[str, Mapping[str, str]]
    ) -> None:
        self._note("options")
        super().set_options(session, panes)

    def _note(self, call: str) -> None:
        assert isinstance(self._terminal, Balky)
        if self._terminal.frozen:
            self._terminal.asked_in_vain.append(call)


class Silent:
    """A monitor without a user; it keeps the last picture, and what passed since the last key."""

    def __init__(self) -> None:
        self.picture: MonitorContent | None = None
        self.notes: list[str] = []
        self.questions: list[str] = []
        self.rings = 0
        self.shows = 0

    def show(self, picture: MonitorContent) -> None:
        self.picture = picture
        self.notes.append(picture.note)
        self.questions.append(picture.question)
        self.shows += 1

    def ring(self) -> None:
        self.rings += 1

    def fileno(self) -> int | None:
        return None

    def keys(self) -> tuple[Pressed, ...]:
        return ()

    def page(self) -> TextPage:
        return TextPage()

    def limit_size(self, cols: int, rows: int) -> None:
        pass

    def handle_resize(self) -> None:
        pass

    def close(self) -> None:
        pass


class Keyboard(Silent):
    """A monitor with a user who presses keys."""

    def __init__(self) -> None:
        super().__init__()
        self._wakes, self._woken = os.pipe()
        os.set_blocking(self._wakes, False)
        self._pressed: list[Pressed] = []
        self._drawn = threading.Condition()
        self.bug: Exception | None = None
        self.draws = threading.Event()

    def press(self, *keys: Pressed) -> None:
        self.notes, self.questions = [], []
        self._pressed += keys
        os.write(self._woken, b"k")

    @override
    def fileno(self) -> int | None:
        return self._wakes

    @override
    def keys(self) -> tuple[Pressed, ...]:
        with suppress(BlockingIOError):
            os.read(self._wakes, 4096)
        pressed, self._pressed = tuple(self._pressed), []
        return pressed

    @override
    def show(self, picture: MonitorContent) -> None:
        if self.bug is not None:
            raise self.bug
        self.draws.set()
        with self._drawn:
            super().show(picture)
            self._drawn.notify_all()

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """In this block, the thread that draws waits, as for a tmux that hangs."""
        with self._drawn:
            self.draws.clear()
            yield

    def shown(self, is_right: Callable[[MonitorContent], bool]) -> bool:
        """Block this thread until another one has shown such a picture; False if none has."""
        with self._drawn:
            return self._drawn.wait_for(
                lambda: self.picture is not None and is_right(self.picture), DEADLINE_S
            )

    def unplug(self) -> None:
        os.close(self._wakes)
        os.close(self._woken)


def _require_lease(lapsed: bool) -> None:
    if lapsed:
        raise LeaseLapsedError


class Stage:
    """A project with a started session, which one orchestrator after the other drives."""

    def __init__(
        self,
        root: Path,
        terminal: Flat,
        *,
        stall: StallSettings | None = None,
        interval_s: float = 0.2,
        agent: str | None = "demo",
    ) -> None:
        self.agent = agent
        self.project = make_project(root / "project")
        self.root = root
        env = dict(os.environ)
        self.typed: list[str] = []
        self.waited_s: list[float] = []
        self.terminal = terminal
        self.scenario(QUICK)
        world = build.world(self.project, environ=env)
        settings = replace(
            world.settings,
            stall=stall or StallSettings(),
            snapshots=SnapshotSettings(interval_s=interval_s),
        )
        self.world: World = replace(world, settings=settings, terminal=lambda socket: self.terminal)
        self.display: Silent = Silent()
        self.postbox = Postbox()
        self.path = Path("/nowhere")
        self.worktree = False
        self.pipeline: str | None = None
        self.panes = ORDINARY
        self.lapses: Callable[[], bool] = lambda: False
        self.fails: Callable[[], bool] = lambda: False

    def scenario(self, roles: Mapping[str, Any], seats: Mapping[str, Any] | None = None) -> None:
        said = {"roles": {**QUICK, **roles}, "seats": seats or {}}
        (self.root / "scenario.json").write_text(json.dumps(said))

    def begin(self) -> None:
        asked = StartRequest(
            feature="add a greeting",
            agent=self.agent,
            worktree=self.worktree,
            pipeline=self.pipeline,
        )
        plan = plan_start(self.world, asked, {})
        self.path = plan.path
        argv = (sys.executable, "-c", "import time; time.sleep(1e6)")
        starter = OrchestratorStart(argv=lambda *_: argv, pipe=lambda _: _ReadyAtOnce())
        self.target = start(self.world, starter, plan).target

    @asynccontextmanager
    async def driven(self, mode: str = "start") -> AsyncIterator[asyncio.Task[ExitCode]]:
        """Drive the session; an orchestrator that still runs after the block is cancelled."""
        if mode == "start":
            self.begin()
        wake = WakeFifo(self.path)
        deaths = PidWatch(asyncio.get_running_loop())
        lock = SessionLock(self.path)

        async def type_into(
            panes: Panes,
            pane: str,
            text: str,
            spec: AgentSpec,
            *,
            deadline_s: float,
            once: bool = False,
            begins: Callable[[], object] | None = None,
            keyboard_lock: asyncio.Lock | None = None,
        ) -> TypingResult:
            self.typed.append(text)
            self.waited_s.append(deadline_s)
            if self.fails():
                raise RuntimeError("nobody foresaw this")
            return await delivery.deliver(
                *(panes, pane, text, spec),
                deadline_s=deadline_s,
                once=once,
                begins=begins,
                keyboard_lock=keyboard_lock,
            )

        async def hints(stop: asyncio.Event) -> AsyncIterator[None]:
            await stop.wait()
            if not stop.is_set():
                yield

        tools = LoopDependencies(
            terminal=self.terminal.own(self.target), lock=lock, wake=wake, deaths=deaths,
            type_into=type_into, press=keystrokes.press, display=self.display, hints=hints,
            gone=wait_until_gone, end=partial(end, grace_s=1), notifier=self.postbox,
            require_lease=lambda: _require_lease(self.lapses()),
        )  # fmt: skip
        driving = asyncio.create_task(
            drive(
                self.world,
                self.world.files(self.path),
                OrchestratorRequest(mode=mode, panes=self.panes),  # type: ignore[arg-type]  # one of its words
                tools,
                identity={"pid": os.getpid()},
                report=_no_report,
            )
        )
        try:
            yield driving
        finally:
            driving.cancel()
            with suppress(asyncio.CancelledError):
                await driving
            deaths.close()
            wake.close()
            lock.release()

    async def until(self, condition: Callable[[], object], what: object = "") -> None:
        """Wait until a condition is true, up to a deadline."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + DEADLINE_S
        while not condition():
            if loop.time() > deadline:
                pytest.fail(f"not in time: {what or condition}\n{self.told()}")
            await asyncio.sleep(0.01)

    def told(self) -> str:
        events = [f"{e.fact.kind} {e.seat} {e.fact}"[:150] for e, _ in self.events()]
        picture = self.display.picture
        return "\n".join([*events, *(each.text for each in (picture.messages if picture else ()))])

    def events(self) -> Any:
        return FileSession(self.path).tail(0)

    def facts(self, kind: str, seat: str = "") -> list[Any]:
        found = (e for e, _ in self.events() if not seat or e.seat == seat)
        return [each.fact for each in found if each.fact.kind == kind]

    def state(self) -> SessionState:
        return FileSession(self.path).load().state

    def status(self, seat: str) -> str:
        runtime = json.loads((self.path / layout.RUNTIME).read_text())
        found: str = runtime["statuses"].get(seat, {}).get("status", "")
        return found

    def messages(self) -> str:
        shown = self.display.picture
        return "\n".join(each.text for each in shown.messages) if shown else ""

    def drawn(self, seat: str, *, visible: bool = False) -> bool:
        """Whether the seat's agent has drawn its composer (beside the monitor)."""
        found = [pane for each in self.terminal.sessions() for pane in self.terminal.panes(each.id)]
        wanted = [pane.id for pane in found if pane.seat == seat and (pane.visible or not visible)]
        screens = self.terminal.capture(wanted) if wanted else {}
        composer = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
        return any(composer in screen.text for screen in screens.values())

    def offers(self, seat: str) -> bool:
        """Whether the seat's pane waits for a choice, and shows the menu."""
        seats = self.state().seats
        if seat not in seats or seats[seat].status != "stopped":
            return False
        pane = self.pane(seat).id
        return "arrows and Enter" in self.terminal.capture([pane])[pane].text

    def pane(self, seat: str) -> Pane:
        """The pane of the seat's launch."""
        launch = self.state().seats[seat].launch
        panes = self.terminal.panes(self.terminal.sessions()[0].id)
        return next(pane for pane in panes if pane.launch == launch)


def _no_report(report: OrchestratorReport) -> None:
    assert report.ok, report


@pytest.fixture
def agents(tmp_path: Path, isolated: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the environment of this test's demo agents."""
    monkeypatch.setenv("AGENTMUX_DEMO_HOME", str(tmp_path / "demo"))
    monkeypatch.setenv("AGENTMUX_DEMO_SCENARIO", str(tmp_path / "scenario.json"))
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture
def balky(agents: None) -> Iterator[Balky]:
    terminal = Balky(os.environ)
    yield terminal
    terminal.close()


@pytest.fixture
def stage(tmp_path: Path, balky: Balky) -> Stage:
    return Stage(tmp_path, balky)


@pytest.fixture
def impatient(tmp_path: Path, agents: None, tmux: TmuxTerminal) -> Stage:
    """A stage in real tmux, which typing needs; a quiet agent is soon reminded and reported."""
    stall = StallSettings(nudge_after_s=0.6, report_after_s=1.2)
    return Stage(tmp_path, tmux, stall=stall, interval_s=0.1)


# -- agents that end ----------------------------------------------------------------------------


def test_what_is_true_only_now_is_there_to_read(stage: Stage) -> None:
    stage.scenario({"architect": {"silent": True}})

    async def play() -> None:
        async with stage.driven():
            place = stage.path / layout.RUNTIME

            def shown() -> Any:
                noted = json.loads(place.read_text()) if place.exists() else {"panes": {}}
                return noted["panes"].get("architect", {})

            # The first look after the pane was opened finds it visible.
            await stage.until(lambda: shown().get("visible"))
            pane = stage.pane("architect")
            assert (shown()["pane"], shown()["pid"]) == (pane.id, pane.pid)
            assert shown()["launch"] == pane.launch
            assert shown()["started"] == start_time(pane.pid) > 0

    asyncio.run(play())


@pytest.mark.long
def test_a_crashed_agent_is_launched_once_more_then_the_session_fails(stage: Stage) -> None:
    stage.scenario({}, {"coder-1": {"crash": "before_signal", "kill": 9}, "coder-2": {"think": 1}})

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: stage.state().phase == Phase.FAILED)
            await stage.until(lambda: 2 in stage.state().completed_subplans, "the neighbour")

    asyncio.run(play())
    launched = stage.facts("agent_launched", "coder-1")
    assert [fact.attempt for fact in launched] == [1, 2]
    exits = stage.facts("agent_exited", "coder-1")
    assert [(fact.cause, fact.signal) for fact in exits] == [("crashed", 9)] * 2
    (failed,) = stage.facts("session_failed", "coder-1")
    assert failed.phase == "implementing"
    interruption = stage.state().interruption
    assert interruption is not None
    assert (interruption.seat, interruption.phase) == ("coder-1", "implementing")
    assert interruption.cause == failed.cause
    assert "coder-1" in interruption.cause
    assert "signal 9" in interruption.cause
    assert len(stage.facts("agent_launched", "coder-2")) == 1


def test_an_agent_that_crashes_once_is_brought_back(stage: Stage) -> None:
    stage.scenario({**STAY, "architect": {"crash": "after_write", "kill": 9, "once": True}})

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: stage.state().phase == Phase.PLANNING)

    asyncio.run(play())
    assert [fact.attempt for fact in stage.facts("agent_launched", "architect")] == [1, 2]
    assert [fact.signal for fact in stage.facts("agent_exited", "architect")] == [9]


def test_a_pane_that_the_user_ended_is_not_brought_back(stage: Stage) -> None:
    """Its agent ends slowly, so that the pane is gone long before the exit record exists."""
    stage.scenario({"architect": {"think": 60, "ignore_hup": True}})

    async def play() -> None:
        async with stage.driven() as driving:
            await stage.until(lambda: "architect" in stage.state().seats)
            await stage.until(lambda: stage.state().seats["architect"].reached, "the prompt")
            stage.terminal.close_panes([stage.pane("architect").id])
            await stage.until(lambda: stage.facts("agent_exited"))
            await stage.until(lambda: stage.status("architect") == "ended_by_user")
            assert not driving.done()

    asyncio.run(play())
    assert [fact.cause for fact in stage.facts("agent_exited")] == ["ended_by_user"]
    assert len(stage.facts("agent_launched")) == 1
    assert stage.state().phase == Phase.ARCHITECTING
    assert "architect: was ended by the user" in stage.messages()


def test_an_agent_that_leaves_without_its_artifact_is_reported(stage: Stage) -> None:
    stage.scenario({"architect": {"crash": "before_write", "exit": 0}})

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: stage.facts("agent_exited"))
            await stage.until(lambda: stage.status("architect") == "finished")

    asyncio.run(play())
    assert [fact.cause for fact in stage.facts("agent_exited")] == ["finished"]
    assert len(stage.facts("agent_launched")) == 1
    assert "architect: ended (exit 0)" in stage.messages()
    assert (stage.path / layout.snapshot("architect")).exists()


# -- agents that do nothing ---------------------------------------------------------------------


def test_an_idle_agent_is_nudged_once_then_reported(impatient: Stage) -> None:
    stage = impatient
    stage.scenario({"architect": {"silent": True}})

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: stage.facts("agent_stalled"))
            seen = len(stage.events())
            await stage.until(lambda: stage.status("architect") == "stalled")
            await asyncio.sleep(2.4)  # time in which no further event may come
            assert len(stage.events()) == seen
            assert len(stage.typed) == 1

    asyncio.run(play())
    assert [fact.result for fact in stage.facts("agent_nudged")] == ["submitted"]
    assert len(stage.facts("agent_stalled")) == 1
    assert len(stage.facts("agent_launched")) == 1


@pytest.mark.parametrize("dialog", ["trust", "permission"])
def test_who_asks_its_user_is_left_alone(impatient: Stage, dialog: str) -> None:
    stage = impatient
    stage.scenario({"architect": {"dialog": dialog}})

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: "architect" in stage.state().seats)
            await stage.until(lambda: stage.status("architect") == "waiting_for_user")
            await asyncio.sleep(2.4)  # more than the time to a reminder and a report
            assert stage.typed == []
            assert stage.status("architect") == "waiting_for_user"

    asyncio.run(play())
    # Only who has read its prompt asks for a permission, and can be resumed with that conversation.
    reached = [fact.evidence for fact in stage.facts("prompt_reached", "architect")]
    assert reached == ["prompt on screen, a question below it"] * (dialog == "permission")
    assert stage.facts("agent_nudged") == stage.facts("agent_stalled") == []
    assert not (stage.path / layout.ARCHITECTING / "done").exists()


SOON = StallSettings(nudge_after_s=0.6, report_after_s=1.2)
MUTE = "agents: {mute: {like: demo-paste, ready: null, busy: null, waiting: null, trust: null}}"
"""An agent that takes its prompts through its composer, and of whose screen nothing is known."""


@pytest.mark.parametrize("dialog", ["trust", "unknown"])
def test_a_prompt_waits_until_the_user_has_answered_what_is_in_its_way(
    tmp_path: Path, agents: None, tmux: TmuxTerminal, dialog: str
) -> None:
    stage = Stage(tmp_path, tmux, stall=SOON, interval_s=0.1, agent="demo-paste")
    stage.scenario({"architect": {"dialog": dialog}, **STAY})

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: "architect: its prompt waits: " in stage.messages())
            await stage.until(lambda: stage.status("architect") == "waiting_for_user")
            await asyncio.sleep(1.5)  # the reminder would be due, and the report
            assert stage.facts("prompt_reached") == []
            pane = stage.pane("architect").id
            for key in ("1", "Enter"):  # the user, in the pane
                stage.terminal.press_keys(pane, [key])
            await stage.until(lambda: stage.state().phase == Phase.PLANNING)

    asyncio.run(play())
    assert len(stage.facts("prompt_reached", "architect")) == 1
    assert stage.facts("agent_nudged", "architect") == []
    assert stage.facts("agent_stalled", "architect") == []


@pytest.mark.long
@pytest.mark.usefixtures("agents")
def test_an_agent_of_whose_screen_nothing_is_known_gets_its_prompt_when_a_person_says_so(
    tmp_path: Path, tmux: TmuxTerminal
) -> None:
    user = Path(os.environ["XDG_CONFIG_HOME"]) / "agentmux" / "config.yaml"
    user.parent.mkdir(parents=True)
    user.write_text(f"version: 1\n{MUTE}\n")
    stage = Stage(tmp_path, tmux, stall=SOON, interval_s=0.1, agent="mute")
    stage.scenario({**STAY})
    stage.display = keyboard = Keyboard()

    def seat() -> Any:
        return json.loads((stage.path / layout.RUNTIME).read_text())["statuses"]["architect"]

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: stage.drawn("architect"))
            await stage.until(lambda: "architect: its prompt waits: " in stage.messages())
            await stage.until(lambda: stage.status("architect") == "unknown")
            assert "agents.mute.ready" in seat()["unsent"]
            await asyncio.sleep(1.5)  # as above
            assert stage.facts("prompt_reached") == stage.facts("agent_nudged") == []
            pane = stage.pane("architect").id
            assert "prompt.md" not in stage.terminal.capture([pane])[pane].text
            keyboard.press("p")
            await stage.until(lambda: asked(stage, "press p again"))
            await asyncio.sleep(REST_S)
            keyboard.press("p")
            await stage.until(lambda: stage.state().phase == Phase.PLANNING)

    asyncio.run(play())
    assert len([text for text in stage.typed if "launches" in text]) >= 2
    assert stage.facts("agent_nudged", "architect") == []


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize("failures", [1, 4])
def test_a_prompt_that_fails_to_be_typed_is_tried_again_and_then_the_user_is_called(
    tmp_path: Path, tmux: TmuxTerminal, failures: int
) -> None:
    stage = Stage(tmp_path, tmux, stall=SOON, interval_s=0.1, agent="demo-paste")
    stage.scenario({**STAY})
    stage.fails = lambda: len(stage.typed) <= failures

    def note() -> Any:
        return json.loads((stage.path / layout.RUNTIME).read_text())

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: "its prompt waits: RuntimeError: nobody" in stage.messages())
            if failures > TRIES:
                await stage.until(lambda: "before: agentmux stop" in str(note().get("problem")))
                assert "nobody foresaw this" in note()["statuses"]["architect"]["unsent"]
                assert stage.facts("prompt_reached") == []
                assert len(stage.typed) == TRIES
            else:
                await stage.until(lambda: stage.state().phase == Phase.PLANNING)

    asyncio.run(play())
    assert len(stage.facts("prompt_reached", "architect")) == (failures < TRIES)


TURNS = StallSettings(turn_ended_after_s=0.3)


@pytest.mark.long
@pytest.mark.parametrize("agent", ["demo-hook", "demo"])
@pytest.mark.parametrize("submits", ["when-told", "killed"])
def test_who_ends_its_turn_without_a_signal_is_asked_within_seconds(
    tmp_path: Path, agents: None, tmux: TmuxTerminal, agent: str, submits: str
) -> None:
    stage = Stage(tmp_path, tmux, stall=TURNS, interval_s=0.1, agent=agent)
    stage.scenario({"architect": {"think": 0.5, "submit": submits}, **STAY})

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: stage.state().phase == Phase.PLANNING)

    asyncio.run(play())
    assert [fact.result for fact in stage.facts("agent_nudged", "architect")] == ["submitted"]
    assert len(stage.facts("submit_architecture")) == 1
    assert "reminded" in stage.messages()


def test_a_program_that_draws_late_is_waited_for_with_its_prompt(
    tmp_path: Path, agents: None, tmux: TmuxTerminal
) -> None:
    stage = Stage(tmp_path, tmux, interval_s=0.1, agent="demo-paste")
    stage.scenario(STAY)

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: stage.state().phase == Phase.PLANNING)

    asyncio.run(play())
    assert stage.waited_s[0] >= 120


@pytest.mark.rare("tests/core decides it")
@pytest.mark.long
def test_a_draft_puts_the_question_off_until_it_is_gone(
    tmp_path: Path, agents: None, tmux: TmuxTerminal
) -> None:
    stage = Stage(tmp_path, tmux, stall=TURNS, interval_s=0.1, agent="demo-hook")
    stage.scenario({"architect": {"think": 5, "submit": "when-told"}, **STAY})

    async def play() -> None:
        async with stage.driven():
            # Before its turn ends, for then it is asked.
            await stage.until(lambda: stage.drawn("architect"))
            pane = stage.pane("architect").id
            stage.terminal.paste(pane, "what if")  # the user begins to type
            await stage.until(lambda: stage.typed)
            tried: dict[int, int] = {}

            def rests() -> bool:
                began = tried.setdefault(len(stage.typed), stage.display.shows)
                return stage.display.shows >= began + 15  # each look may try again

            await stage.until(rests)
            assert len(stage.typed) <= 2, "once more if the end of its turn was drawn late"
            assert stage.facts("agent_nudged") == []
            subprocess.run(
                ["tmux", "-S", tmux.socket, "send-keys", "-t", pane, "-N", "7", "BSpace"],
                check=True,
            )
            await stage.until(lambda: stage.state().phase == Phase.PLANNING)

    asyncio.run(play())
    assert [fact.result for fact in stage.facts("agent_nudged")] == ["submitted"]


@pytest.mark.rare("tests/core decides it")
@pytest.mark.long
def test_everybody_who_asked_is_told_of_everything_once(impatient: Stage) -> None:
    stage = impatient
    topics = [{"kind": "code", "topic": "numbers"}, {"kind": "web", "topic": "rounding"}]
    coder = {"research": topics, "submit": "no"}  # a coder that handed in could not be told
    stage.scenario({"coder": coder, "code-researcher": {"think": 1}})

    def told() -> list[list[str]]:
        return [sorted(asked.told) for asked in stage.state().research.values()]

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: told() == [CODERS, CODERS])

    asyncio.run(play())
    events = [event for event, _ in stage.events() if event.fact.kind == "research_told"]
    tellings = [(event.seat, event.fact.topic) for event in events]
    assert tellings
    assert len(tellings) == len(set(tellings))
    for kind, topic in (("code", "numbers"), ("web", "rounding")):
        assert len(stage.facts("agent_launched", f"{kind}-researcher-{topic}")) == 1
        assert sorted(stage.state().research[f"{kind}-{topic}"].owners) == CODERS
    check_journal(stage.path)


# -- late signals -------------------------------------------------------------------------------


def test_a_signal_of_an_earlier_launch_changes_nothing(stage: Stage) -> None:
    again = [{"when": {"launch": 2}, "think": 60}]
    stage.scenario({"architect": {"crash": "after_write", "once": True, "attempts": again}})

    async def play() -> dict[str, Any]:
        async with stage.driven():
            await stage.until(lambda: len(stage.facts("agent_launched")) == 2)
            await stage.until(lambda: stage.state().seats["architect"].reached, "the second one")
            old = stage.events()[2][0]
            assert (old.fact.kind, old.seat) == ("agent_launched", "architect")
            folder = stage.path / layout.launch(old.launch)
            env = json.loads((folder / "launch.json").read_text())["env"]
            before = stage.state()
            answer = await submitted(stage, env, "architecture")
            await stage.until(lambda: stage.state().revision > before.revision, "it is journaled")
            after = stage.state()
            assert (after.phase, after.seats) == (before.phase, before.seats)
            assert after.signals == before.signals
            return answer

    answer = asyncio.run(play())
    assert answer["result"] == "ignored"
    assert "belongs to launch" in answer["reason"]


async def submitted(stage: Stage, env: Mapping[str, str], *words: str) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "agentmux", "submit", *words, "--json",
        env={**os.environ, **env}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    said, _ = await process.communicate()
    found: dict[str, Any] = json.loads(said)
    return found


# -- failures outside the agents ----------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        TerminalError("no space for a new pane"),
        BlockedError("no space for a new pane: the journal is held", reason="locked"),
    ],
    ids=["terminal", "journal"],
)
def test_a_failed_step_is_shown_and_tried_again(
    stage: Stage, balky: Balky, caplog: pytest.LogCaptureFixture, error: AgentmuxError
) -> None:
    stage.scenario(STAY)
    balky.broken = error

    async def play() -> None:
        async with stage.driven() as driving:
            with caplog.at_level(logging.ERROR, logger="agentmux"):
                await stage.until(lambda: problem(stage))
            assert not driving.done()
            assert "no space for a new pane" in (problem(stage) or "")
            assert "no space for a new pane" in stage.messages()
            balky.broken = None
            await stage.until(lambda: stage.state().phase == Phase.PLANNING, "it goes on")
            await stage.until(lambda: not problem(stage))

    asyncio.run(play())
    assert "no space for a new pane" in caplog.text
    assert len(stage.facts("agent_launched", "architect")) == 1


def test_a_server_that_does_not_answer_is_asked_once_at_each_look(
    stage: Stage, balky: Balky
) -> None:
    """Each call to a hung server blocks the loop for some seconds."""
    stage.scenario(STAY)

    async def play() -> None:
        async with stage.driven() as driving:
            await stage.until(lambda: stage.state().phase == Phase.PLANNING)
            asked = balky.asked_in_vain
            balky.frozen = True
            poke(stage.path)
            await stage.until(lambda: len(asked) > 20)
            poke(stage.path)
            await stage.until(lambda: len(asked) > 40)
            assert set(asked[10:]) == {"panes"}
            assert not driving.done()
            balky.frozen = False
            await stage.until(lambda: not problem(stage))

    asyncio.run(play())


def problem(stage: Stage) -> str | None:
    path = stage.path / layout.RUNTIME
    found: str | None = json.loads(path.read_text())["problem"] if path.exists() else None
    return found


def test_a_worktree_that_is_gone_is_told_once_and_no_agent_fails_for_it(stage: Stage) -> None:
    stage.worktree = True
    stage.scenario({"architect": {"silent": True}})

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: stage.facts("agent_launched", "architect"))
            await stage.until(lambda: stage.drawn("architect"))
            place = Path(str(stage.state().worktree))
            away = place.rename(place.with_name("away"))
            await stage.until(lambda: problem(stage))
            assert problem(stage) == (
                "the worktree is gone; to make it again: agentmux stop add-a-greeting && agentmux"
                f" resume add-a-greeting (from its last checkpoint, at {place})"
            )
            os.kill(stage.pane("architect").pid, signal.SIGKILL)
            for _ in range(3):  # a look that began before may still end
                await stage.until(partial(_is_drawn_anew, stage, stage.display.picture))
            assert not stage.facts("agent_exited")
            assert stage.messages().count("the worktree is gone") == 1
            away.rename(place)
            await stage.until(lambda: stage.facts("agent_exited", "architect"))
            await stage.until(lambda: not problem(stage))

    asyncio.run(play())


def test_a_worktree_that_cannot_be_read_ends_no_looks_and_no_stop(stage: Stage) -> None:
    stage.worktree = True
    stage.scenario({"architect": {"silent": True}})

    async def play() -> None:
        async with stage.driven() as driving:
            await stage.until(lambda: stage.drawn("architect"))
            pointer = Path(str(stage.state().worktree), ".git")
            pointer.rename(pointer.with_name("away"))
            pointer.symlink_to("x" * 300)  # too long a name: neither there nor away
            for _ in range(3):  # a look that began before may still end
                await stage.until(partial(_is_drawn_anew, stage, stage.display.picture))
            assert poke(stage.path, STOP)
            assert await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S) is ExitCode.FAILED

    asyncio.run(play())
    lock = SessionLock(stage.path)
    lock.acquire(0, {})  # the lock is free
    lock.release()


def _is_drawn_anew(stage: Stage, before: MonitorContent | None) -> bool:
    return stage.display.picture is not before


def test_a_bug_in_a_look_at_the_screens_is_reported_and_ends_no_looks(
    stage: Stage, balky: Balky, caplog: pytest.LogCaptureFixture
) -> None:
    stage.scenario({"architect": {"think": 60}})

    async def play() -> None:
        async with stage.driven() as driving:
            await stage.until(lambda: "architect" in stage.state().seats)
            await stage.until(lambda: stage.status("architect") == "busy")
            with caplog.at_level(logging.ERROR, logger="agentmux"):
                balky.bug = ZeroDivisionError("a screen of no width")
                await stage.until(lambda: "a screen of no width" in stage.messages())
            balky.bug = None
            snapshot = stage.path / layout.snapshot("architect")
            snapshot.unlink()
            await stage.until(snapshot.exists, "its clock goes on, and so does the looking")
            await stage.until(lambda: not problem(stage))
            assert not driving.done()

    asyncio.run(play())
    traced = [each.getMessage() for each in caplog.records if each.exc_info]
    assert "a look at the screens could not be handled" in traced


@pytest.mark.long
def test_a_snapshot_that_cannot_be_written_is_logged_and_stalls_nothing(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    async def play() -> None:
        stage.begin()
        snapshot = stage.path / layout.snapshot("architect")
        (snapshot / "in the way").mkdir(parents=True)
        async with stage.driven("reattach"):
            with caplog.at_level(logging.WARNING, logger="agentmux"):
                await stage.until(lambda: stage.state().phase == Phase.COMPLETING)
            await stage.until((stage.path / layout.snapshot("planner")).exists)
            assert snapshot.is_dir()

    asyncio.run(play())
    assert "could not keep a screen" in caplog.text
    assert "architect.json" in caplog.text
    assert "problem" not in stage.messages()


@pytest.mark.long
def test_who_is_followed_by_another_leaves_the_place_beside_the_monitor(
    stage: Stage, balky: Balky
) -> None:
    """Each agent goes on when it is shown: a quicker one could end before it has a place."""
    seats = ("architect", "planner", *CODERS, "reviewer_logic")
    stage.scenario({}, seats={seat: {"silent": "until-told"} for seat in seats})

    async def play() -> None:
        stage.begin()
        async with stage.driven("reattach"):
            for seat in seats:
                await stage.until(partial(stage.drawn, seat, visible=True), seat)
                pane = stage.pane(seat).id
                balky.paste(pane, "go on")
                balky.press_enter(pane)
            await stage.until(lambda: stage.state().phase == Phase.COMPLETING)
            await stage.until(lambda: "reviewer_logic" in balky.vacated)

    asyncio.run(play())
    assert balky.vacated[:2] == ["architect", "planner"]
    assert {"coder-1", "reviewer_logic"} <= set(balky.vacated)


def test_a_program_that_is_being_asked_holds_up_only_its_launch(stage: Stage) -> None:
    answers = threading.Event()
    ask = stage.world.agents.programs.ask

    def slow(spec: AgentSpec) -> ProbeResult:
        answers.wait(0.5)
        return ask(spec)

    stage.scenario(STAY)

    async def play() -> None:
        stage.begin()
        programs = AnsweringPrograms(stage.world.agents.programs, ask=slow)
        agents = replace(stage.world.agents, programs=programs)
        stage.world = replace(stage.world, agents=agents)
        async with stage.driven("reattach"):
            await stage.until(lambda: stage.display.picture, "the first look is over")
            assert not stage.facts("agent_launched")
            answers.set()
            await stage.until(lambda: stage.state().phase == Phase.PLANNING)

    asyncio.run(play())
    assert len(stage.facts("agent_launched", "architect")) == 1


def robot(root: Path, *, says: str, knows: str = "") -> str:
    """Make a variant of the demo agent.

    ``says`` is what it runs for ``--help``, ``knows`` what it runs first for ``--session-id``.
    """
    path = root / "bin" / "agentmux-demo-agent"
    path.parent.mkdir()
    real = Path(sys.executable).with_name(path.name)
    cases = f"*' --help '*) {says};;\n*' --session-id '*) {knows or ':'};;\n"
    path.write_text(f'#!/bin/sh\ncase " $* " in\n{cases}esac\nexec "{real}" "$@"\n')
    path.chmod(0o755)
    return str(path)


def test_a_prompt_that_a_lapsed_lease_kept_back_is_typed_once_it_holds(
    tmp_path: Path, balky: Balky
) -> None:
    stage = Stage(tmp_path, balky, agent="demo-paste")
    stage.scenario({"architect": {"think": 60}})
    renewed: list[bool] = []
    stage.lapses = lambda: bool(stage.facts("agent_launched")) and not renewed

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: "problem: the prompt of architect" in stage.messages())
            assert stage.facts("prompt_reached") == []
            renewed.append(True)
            await stage.until(lambda: stage.facts("prompt_reached", "architect"))

    asyncio.run(play())
    assert len(stage.facts("agent_launched")) == 1


SLOW = "sleep 2"
HANGS = "exec sleep 300"
KNOWS_NO_ID = "echo 'error: unknown option --session-id' >&2; exit 2"


def test_a_program_that_has_not_answered_yet_keeps_its_conversation(
    balky: Balky, tmp_path: Path
) -> None:
    stage = Stage(tmp_path, balky, agent=robot(tmp_path, says=SLOW))
    stage.scenario({"architect": {"think": 60}})

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: stage.facts("prompt_reached", "architect"))
            assert stage.state().agents["architect"]["strategy"] == "assign"
            assert " --help` did not end within 1 s" in stage.messages()
            os.kill(stage.pane("architect").pid, signal.SIGKILL)
            await stage.until(lambda: len(stage.facts("agent_launched", "architect")) == 2)

    asyncio.run(play())
    assert [fact.mode for fact in stage.facts("agent_launched", "architect")] == ["fresh", "native"]
    balky.close()
    # With an empty cache, the plan is the same before the agent's probe has answered.
    elsewhere = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "elsewhere")}
    world = build.world(stage.project, environ=elsewhere, read_only=True)
    (planned,) = plan_resume(world, world.files(stage.path)).panes
    assert planned.player.probe.is_open
    assert (planned.mode, "--resume" in planned.argv) == ("native", True), planned.why


def test_a_program_that_knows_less_than_it_was_taken_for_is_launched_without_it(
    balky: Balky, tmp_path: Path
) -> None:
    stage = Stage(tmp_path, balky, agent=robot(tmp_path, says=HANGS, knows=KNOWS_NO_ID))
    # After the failure, the launch waits for the probe; here for 1.5 s instead of 10 s.
    ask = partial(probe, path_env=os.environ["PATH"], cache_dir=None, timeout_s=1.5)
    stage.world = replace(
        stage.world,
        agents=replace(
            stage.world.agents, programs=AnsweringPrograms(stage.world.agents.programs, ask=ask)
        ),
    )
    stage.scenario(STAY)

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: stage.state().phase == Phase.PLANNING)

    asyncio.run(play())
    assert [fact.status for fact in stage.facts("agent_exited", "architect")] == [2]
    first, second = stage.facts("agent_launched", "architect")
    assert (first.record["strategy"], second.record["strategy"]) == ("assign", "none")
    # The strategy that failed is not chosen for this seat again.
    again = plan_resume(stage.world, stage.world.files(stage.path), phase="architecting").panes
    assert ["--session-id" in plan.argv for plan in again] == [False]


def test_a_program_that_answers_too_late_is_launched_again_as_it_says(
    balky: Balky, tmp_path: Path
) -> None:
    says = "sleep 2; echo '  -c, --continue'; exit 0"
    agent = robot(tmp_path, says=says, knows=KNOWS_NO_ID)
    stage = Stage(tmp_path, balky, agent=agent)
    stage.scenario({"architect": {"think": 60}})
    spec, known = stage.world.agents.spec(agent), stage.world.agents.spec("demo-continue")
    both = replace(spec, strategies=(*spec.strategies, *known.strategies))
    stage.world = replace(stage.world, agents=replace(stage.world.agents, spec=lambda _: both))

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: len(stage.facts("agent_launched", "architect")) == 2)

    asyncio.run(play())
    kinds = [fact.record["strategy"] for fact in stage.facts("agent_launched", "architect")]
    assert kinds == ["assign", "continue"]


def test_every_program_is_asked_at_once_before_its_turn_comes(stage: Stage) -> None:
    asked: list[str] = []
    ask = stage.world.agents.programs.ask

    def noted(spec: AgentSpec) -> ProbeResult:
        asked.append(spec.name)
        return ask(spec)

    stage.scenario({"architect": {"think": 60}})
    settings = replace(
        stage.world.settings,
        defaults=replace(stage.world.settings.defaults, agent="demo"),
        roles={"reviewer_expert": RoleSettings(agent="demo-learn")},
    )
    programs = AnsweringPrograms(stage.world.agents.programs, ask=noted)
    stage.world = replace(
        stage.world, settings=settings, agents=replace(stage.world.agents, programs=programs)
    )
    stage.agent = None

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: stage.facts("agent_launched", "architect"))
            await stage.until(lambda: "demo-learn" in asked)

    asyncio.run(play())


# -- keys ---------------------------------------------------------------------------------------


@pytest.fixture
def keyboard(stage: Stage) -> Iterator[Keyboard]:
    stage.display = keyboard = Keyboard()
    yield keyboard
    keyboard.unplug()


@contextmanager
def full_disk(stage: Stage) -> Iterator[None]:
    """In this block, nothing can be appended to the journal."""
    size = (stage.path / layout.JOURNAL).stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def no_room(stage: Stage) -> Iterator[None]:
    """In this block, no file of the session can be created; existing files can be overwritten."""
    real = os.open

    def full(path: Any, flags: int, *more: Any, **other: Any) -> int:
        if flags & os.O_CREAT and str(path).startswith(str(stage.path)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return real(path, flags, *more, **other)

    os.open = full
    try:
        yield
    finally:
        os.open = real


def test_a_full_disk_is_told_to_whoever_asks_for_the_status(stage: Stage) -> None:
    def problem() -> str:
        noted = session_folders.runtime(stage.path)
        return str(noted.get("problem") or "") if noted else "half a note"

    async def play() -> None:
        stage.scenario({"architect": {"think": 0.3}})
        async with stage.driven():
            await stage.until(lambda: session_folders.runtime(stage.path).get("statuses"))
            with no_room(stage):
                await stage.until(lambda: "no space left on device" in problem())
            await stage.until(lambda: not problem())
            await stage.until(lambda: stage.facts("submit_architecture"))

    asyncio.run(play())


def draft(stage: Stage) -> str | None:
    return stage.display.picture.draft if stage.display.picture else None


def question(stage: Stage) -> str:
    return stage.display.picture.question if stage.display.picture else ""


def asked(stage: Stage, text: str) -> bool:
    """Whether the monitor has asked this since the last key; the question may be over by now."""
    return any(text in each for each in stage.display.questions)


def noted(stage: Stage, text: str) -> bool:
    """Whether the monitor has said this since the last key; it says it for a while."""
    return any(text in each for each in stage.display.notes)


async def approve_by_keys(stage: Stage, keyboard: Keyboard) -> None:
    keyboard.press("a")
    await stage.until(lambda: asked(stage, "press a again"))
    keyboard.press("a")


async def to_the_decision(stage: Stage) -> None:
    await stage.until(lambda: stage.state().summary_submitted)
    size = (stage.path / layout.JOURNAL).stat().st_size
    await stage.until(lambda: stage.state().applied_offset == size)


@pytest.mark.long
def test_what_agents_and_user_said_stands_among_the_messages(
    stage: Stage, keyboard: Keyboard
) -> None:
    async def play() -> None:
        async with stage.driven() as driving:
            await to_the_decision(stage)
            await approve_by_keys(stage, keyboard)
            await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S)

    asyncio.run(play())
    said = stage.messages().splitlines()
    seats = ("architect", "planner", "coder-1", "coder-2", "reviewer_logic", "user")
    told = [line for line in said if "handed in" in line or "approved" in line]
    assert sorted({line.partition(":")[0] for line in told}) == sorted(seats)
    assert told[0] == "architect: handed in the architecture"
    assert "reviewer_logic: handed in a review: pass" in told
    assert told[-1] == "user: approved"


@pytest.mark.long
def test_changes_that_cannot_be_recorded_stay_in_the_composer(
    stage: Stage, keyboard: Keyboard, caplog: pytest.LogCaptureFixture
) -> None:
    stage.pipeline = "quick"

    async def play() -> None:
        async with stage.driven():
            await to_the_decision(stage)
            with full_disk(stage), caplog.at_level(logging.ERROR, logger="agentmux"):
                keyboard.press("c", *"more", Key.ENTER, Key.ENTER)
                await stage.until(lambda: "problem: " in stage.messages())
                assert draft(stage) == "more"
            assert not stage.facts("request_changes")
            stage.scenario({"architect": {"think": 60}})
            keyboard.press(Key.ENTER, Key.ENTER)
            await stage.until(lambda: stage.state().cycle == 2)
            await stage.until(lambda: draft(stage) is None)

    asyncio.run(play())
    assert "file too large" in caplog.text
    assert [fact.text for fact in stage.facts("request_changes")] == ["more"]


@pytest.mark.rare("tests/core decides it")
@pytest.mark.long
def test_changes_that_come_too_late_stay_in_the_composer(stage: Stage, keyboard: Keyboard) -> None:
    stage.pipeline = "quick"

    async def play() -> None:
        async with stage.driven():
            await to_the_decision(stage)
            keyboard.press("c", *"more")
            await stage.until(lambda: draft(stage) == "more")
            files = stage.world.files(stage.path)
            now = "2026-01-01T00:00:00.000Z"
            decide(files, Approved(), at=now, new_id=stage.world.new_id, poke=lambda _: True)
            keyboard.press(Key.ENTER, Key.ENTER)
            await stage.until(lambda: "user: asked for changes (ignored: " in stage.messages())
            assert draft(stage) == "more"

    asyncio.run(play())


@pytest.mark.long
def test_an_approval_that_cannot_be_recorded_is_reported(
    stage: Stage, keyboard: Keyboard, caplog: pytest.LogCaptureFixture
) -> None:
    stage.pipeline = "quick"

    async def play() -> None:
        async with stage.driven() as driving:
            await to_the_decision(stage)
            keyboard.press("a")
            await stage.until(lambda: asked(stage, "a again"))
            with full_disk(stage), caplog.at_level(logging.ERROR, logger="agentmux"):
                keyboard.press("a")
                await stage.until(lambda: problem(stage), "status tells it, too")
            await stage.until(lambda: "file too large" in stage.messages())
            await approve_by_keys(stage, keyboard)
            await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S)

    asyncio.run(play())
    assert "file too large" in caplog.text
    assert len(stage.facts("approve")) == 1


class Elsewhere(NotedRepository):
    """A repository whose HEAD can move, and whose folders can be nested repositories."""

    branch = "main"
    inside: tuple[str, ...] = ()

    @override
    def head(self) -> Head:
        return replace(super().head(), branch=self.branch)

    @override
    def list_nested(self) -> tuple[str, ...]:
        return self.inside


def test_a_key_approves_nothing_that_cannot_be_committed_and_names_what_will_not(
    stage: Stage, keyboard: Keyboard
) -> None:
    stage.pipeline = "quick"
    repository = Elsewhere(stage.project)
    repository.begin()

    async def play() -> None:
        async with stage.driven() as driving:
            await to_the_decision(stage)
            repository.branch = "elsewhere"
            keyboard.press("a")
            await stage.until(lambda: asked(stage, "not approved: HEAD moved"))
            assert asked(stage, "git switch --no-recurse-submodules --no-overwrite-ignore main")
            repository.branch, repository.inside = "main", ("app/",)
            keyboard.press("a")
            await stage.until(lambda: asked(stage, "`app/` is a git repository of its own"))
            keyboard.press("a")
            assert await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S) is ExitCode.OK

    stage.world = replace(stage.world, repository=repository)
    asyncio.run(play())
    assert len(stage.facts("approve")) == 1


def test_a_slow_git_holds_nothing_up_and_only_a_question_that_was_shown_is_answered(
    stage: Stage, keyboard: Keyboard
) -> None:
    stage.pipeline = "quick"
    answers = threading.Event()

    class Slow(Elsewhere):
        @override
        def result_tree(self, paths: Collection[str]) -> str:
            assert answers.wait(DEADLINE_S)
            return super().result_tree(paths)

    async def play() -> None:
        async with stage.driven() as driving:
            await to_the_decision(stage)
            keyboard.press("a", "a")
            await stage.until(lambda: asked(stage, "looking at what"))
            keyboard.press("c")
            await stage.until(lambda: draft(stage) == "")
            await stage.until(lambda: not question(stage))
            repository.branch = "elsewhere"  # the look that was given up has not seen that
            keyboard.press(Key.ESCAPE, "a")
            await stage.until(lambda: asked(stage, "looking at what"))
            answers.set()
            await stage.until(lambda: "looking at what" not in question(stage))
            assert asked(stage, "HEAD moved")
            repository.branch = "main"
            keyboard.press("a")
            await stage.until(lambda: asked(stage, "press a again"))
            keyboard.press("a")
            assert await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S) is ExitCode.OK

    repository = Slow(stage.project)
    repository.begin()
    stage.world = replace(stage.world, repository=repository)
    asyncio.run(play())
    assert len(stage.facts("approve")) == 1


def test_a_request_that_is_taken_back_while_git_looks_can_be_sent_again(
    stage: Stage, keyboard: Keyboard
) -> None:
    stage.pipeline = "quick"
    answers = threading.Event()
    answers.set()

    class Slow(NotedRepository):
        @override
        def result_tree(self, paths: Collection[str]) -> str:
            assert answers.wait(DEADLINE_S)
            return super().result_tree(paths)

    async def play() -> None:
        async with stage.driven():
            await to_the_decision(stage)
            await stage.until(lambda: keyboard.picture and keyboard.picture.result)
            answers.clear()
            keyboard.press("c", *"Rename it.", Key.ENTER, Key.ENTER)
            await stage.until(lambda: asked(stage, "looking whether"))
            keyboard.press(*"..", Key.ENTER, Key.ENTER)
            await stage.until(
                lambda: "looking whether" in question(stage) and draft(stage) == "Rename it..."
            )
            answers.set()
            stage.scenario({"architect": {"think": 60}})
            await stage.until(lambda: stage.state().cycle == 2)

    repository = Slow(stage.project)
    repository.begin()
    stage.world = replace(stage.world, repository=repository)
    asyncio.run(play())
    assert [fact.text for fact in stage.facts("request_changes")] == ["Rename it..."]


@pytest.mark.long
def test_an_approval_is_about_the_cycle_that_the_question_was_about(
    stage: Stage, keyboard: Keyboard
) -> None:
    """Also if the monitor was held up meanwhile, and has not seen that it was decided elsewhere."""
    stage.pipeline = "quick"

    async def play() -> None:
        async with stage.driven():
            await to_the_decision(stage)
            keyboard.press("a")
            await stage.until(lambda: asked(stage, "press a again"))
            with keyboard.held_up():
                poke(stage.path)
                await stage.until(keyboard.draws.is_set)
                files, request = stage.world.files(stage.path), ChangesRequested(text="Rename it.")
                now = "2026-01-01T00:00:00.000Z"
                decide(files, request, at=now, new_id=stage.world.new_id, poke=poke)
                await stage.until(lambda: stage.state().cycle == 2)
                await to_the_decision(stage)
                keyboard.press("a")
            await stage.until(lambda: "changes were asked for meanwhile" in stage.messages())
            assert takes_approval(stage.state())

    asyncio.run(play())


def test_a_monitor_that_cannot_be_drawn_is_a_problem_until_it_can(
    stage: Stage, keyboard: Keyboard, caplog: pytest.LogCaptureFixture
) -> None:
    stage.scenario({"architect": {"think": 60}})

    async def play() -> None:
        async with stage.driven():
            await at_work(stage, "architect")
            keyboard.bug = RuntimeError("no such style")
            keyboard.press("?")
            await stage.until(lambda: problem(stage) == "no such style")
            keyboard.bug = None
            keyboard.press("?")
            await stage.until(lambda: problem(stage) is None)

    asyncio.run(play())
    assert "Traceback" in caplog.text  # a bug is found by that


def test_a_git_that_hangs_keeps_no_orchestrator_from_ending(
    stage: Stage, keyboard: Keyboard
) -> None:
    stage.pipeline = "quick"
    answers, answered = threading.Event(), threading.Event()

    class Hanging(NotedRepository):
        @override
        def result_tree(self, paths: Collection[str]) -> str:
            answers.wait(DEADLINE_S)
            answered.set()
            return ""

    async def play() -> None:
        async with stage.driven() as driving:
            await to_the_decision(stage)
            keyboard.press("a")
            await stage.until(lambda: asked(stage, "looking at what"))
            keyboard.press(Key.INTERRUPT)
            await stage.until(lambda: asked(stage, "Ctrl-C again"))
            keyboard.press(Key.INTERRUPT)
            await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S)

    repository = Hanging(stage.project)
    repository.begin()
    stage.world = replace(stage.world, repository=repository)
    asyncio.run(play())
    assert not answered.is_set()
    answers.set()
    assert answered.wait(DEADLINE_S)


@pytest.mark.long
def test_what_git_cannot_show_keeps_nobody_from_deciding(stage: Stage, keyboard: Keyboard) -> None:
    stage.pipeline = "quick"

    class Broken(NotedRepository):
        @override
        def stat(self, found: ChangeRange) -> tuple[str, ...]:
            raise MissingError("git diff did not answer within 30 s")

    async def play() -> None:
        async with stage.driven() as driving:
            await to_the_decision(stage)
            keyboard.press("a")
            await stage.until(lambda: asked(stage, "press a again"))
            picture = keyboard.picture
            assert picture is not None
            assert picture.reading is not None
            said = picture.reading.lines
            assert any("is not known: git diff did not answer within 30 s" in each for each in said)
            assert "  demo_part_1.py" in said
            keyboard.press("a")
            assert await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S) is ExitCode.OK

    repository = Broken(stage.project)
    repository.begin()
    stage.world = replace(stage.world, repository=repository)
    asyncio.run(play())


@pytest.mark.long
def test_what_a_commit_leaves_out_is_not_approved_by_itself(stage: Stage) -> None:
    repository = Elsewhere(stage.project)
    repository.begin()
    settings = replace(stage.world.settings, completion=CompletionSettings(require_approval=False))
    stage.world = replace(stage.world, repository=repository, settings=settings)

    async def play() -> None:
        async with stage.driven() as driving:
            await stage.until(lambda: "reviewer_logic" in stage.state().seats)
            repository.inside = ("app/",)
            await stage.until(
                lambda: "not approved automatically: the commit leaves out app/" in stage.messages()
            )
            assert stage.state().phase == Phase.COMPLETING
            assert not stage.facts("approve")
            repository.inside = ()
            poke(stage.path)
            assert await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S) is ExitCode.OK

    asyncio.run(play())


def test_a_bug_behind_a_key_is_reported(
    stage: Stage, keyboard: Keyboard, caplog: pytest.LogCaptureFixture
) -> None:
    stage.pipeline = "quick"

    class Broken(NotedRepository):
        @override
        def result_tree(self, paths: object) -> str:
            raise ZeroDivisionError("no work tree")

    stage.world = replace(stage.world, repository=Broken(stage.project))

    async def play() -> None:
        async with stage.driven() as driving:
            await to_the_decision(stage)
            with caplog.at_level(logging.ERROR, logger="agentmux"):
                keyboard.press("a")
                await stage.until(lambda: "problem: no work tree" in stage.messages())
            assert not driving.done()

    asyncio.run(play())
    assert any(each.exc_info for each in caplog.records)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MissingError("git is not here", hints=("install git",)), "git is not here; install git"),
        (OSError(errno.EROFS, "Read-only file system", ".git/x"), ".git/x: read-only file system"),
        (OSError(errno.ENOSPC, "No space left on device"), "no space left on device"),
    ],
)
def test_whatever_keeps_a_commit_from_being_made_leaves_the_decision_open(
    stage: Stage, keyboard: Keyboard, error: Exception, reason: str
) -> None:
    stage.pipeline = "quick"

    class Broken(NotedRepository):
        calls = 0

        @override
        def find_commit(self, *args: Any, **more: Any) -> str | None:
            self.calls += 1
            if self.calls == 1:
                raise error
            return super().find_commit(*args, **more)

    repository = Broken(stage.project)
    repository.begin()
    stage.world = replace(stage.world, repository=repository)

    async def play() -> None:
        async with stage.driven() as driving:
            await to_the_decision(stage)
            await approve_by_keys(stage, keyboard)
            await stage.until(lambda: stage.facts("commit_failed"))
            await stage.until(lambda: reason in stage.messages())
            assert stage.state().phase == Phase.COMPLETING
            await approve_by_keys(stage, keyboard)
            assert await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S) is ExitCode.OK

    asyncio.run(play())
    assert [fact.reason for fact in stage.facts("commit_failed")] == [reason]
    assert len(stage.facts("approve")) == 2
    assert len(repository.commits()) == 2


def test_whoever_was_taken_over_ends_and_touches_nothing(stage: Stage, balky: Balky) -> None:
    stage.scenario({"architect": {"think": 60}})

    async def play() -> None:
        async with stage.driven() as driving:
            await stage.until(lambda: "architect" in stage.state().seats)
            await stage.until(lambda: stage.status("architect") == "busy")
            (stage.path / layout.LOCK).unlink()
            other = SessionLock(stage.path)
            other.acquire(0, {"pid": 1})
            journal = (stage.path / layout.JOURNAL).read_bytes()
            state = (stage.path / layout.STATE).read_bytes()
            await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S)
            assert (stage.path / layout.JOURNAL).read_bytes() == journal
            assert (stage.path / layout.STATE).read_bytes() == state
            assert json.loads((stage.path / layout.LOCK_HOLDER).read_text()) == {"pid": 1}
            assert "kill_session" not in balky.calls
            assert "close_panes" not in balky.calls
            other.release()

    asyncio.run(play())


def test_a_commit_of_another_ends_it(stage: Stage, balky: Balky) -> None:
    """The state has a later revision: another orchestrator wrote it while this one slept."""
    stage.scenario({"architect": {"think": 60}})

    async def play() -> None:
        async with stage.driven() as driving:
            await stage.until(lambda: "architect" in stage.state().seats)
            await stage.until(lambda: stage.state().seats["architect"].reached)
            fields = json.loads((stage.path / layout.STATE).read_text())
            fields["revision"] += 1
            (stage.path / layout.STATE).write_text(json.dumps(fields))
            state = (stage.path / layout.STATE).read_bytes()
            stage.terminal.close_panes([stage.pane("architect").id])
            await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S)
            assert (stage.path / layout.STATE).read_bytes() == state
            assert "kill_session" not in balky.calls

    asyncio.run(play())


def test_it_ends_with_its_server(stage: Stage, balky: Balky) -> None:
    stage.scenario({"architect": {"think": 60}})

    async def play() -> None:
        async with stage.driven() as driving:
            await stage.until(lambda: "architect" in stage.state().seats)
            balky.kill_server()
            assert await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S) is not ExitCode.OK

    asyncio.run(play())
    interruption = stage.state().interruption
    assert interruption is not None
    assert "tmux" in interruption.cause
    assert stage.state().phase == Phase.ARCHITECTING


# -- how it ends --------------------------------------------------------------------------------


def test_no_key_is_waited_for_after_its_end(stage: Stage, keyboard: Keyboard) -> None:
    """The terminal is gone then, and a terminal that is gone is readable for ever."""

    async def play() -> None:
        async with stage.driven() as driving:
            await stage.until(lambda: stage.state().seats)
            poke(stage.path, STOP)
            await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S)
            assert not asyncio.get_running_loop().remove_reader(keyboard.fileno() or -1)

    asyncio.run(play())


def test_sigterm_leaves_the_agents_alone_and_a_new_one_adopts_them(
    stage: Stage, balky: Balky
) -> None:
    stage.scenario({**STAY, "architect": {"think": 1.5}})

    async def play() -> None:
        async with stage.driven() as driving:
            await stage.until(lambda: "architect" in stage.state().seats)
            await stage.until(lambda: stage.state().seats["architect"].reached)
            pid = stage.pane("architect").pid
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S)
            assert is_alive(pid)
        options = balky.options("$0")
        assert options[StatusOption.STATUS] == "interrupted"
        assert not options[StatusOption.NEEDS_YOU]
        assert "close_panes" not in balky.calls
        assert "kill_session" not in balky.calls
        interruption = stage.state().interruption
        assert interruption is not None
        ended = "AgentMux's process in the monitor pane was ended (SIGTERM)"
        assert interruption.cause == ended
        async with stage.driven("reattach"):
            assert stage.pane("architect").pid == pid
            await stage.until(lambda: stage.state().phase == Phase.PLANNING)

    asyncio.run(play())
    assert len(stage.facts("agent_launched", "architect")) == 1
    check_journal(stage.path)


def test_stop_keeps_the_screens_ends_the_agents_and_then_the_session(
    stage: Stage, balky: Balky
) -> None:
    stage.scenario({"architect": {"think": 60}})

    async def play() -> str:
        async with stage.driven() as driving:
            await stage.until(lambda: "architect" in stage.state().seats)
            await stage.until(lambda: stage.state().seats["architect"].reached)
            launch = stage.state().seats["architect"].launch
            (stage.path / layout.snapshot("architect")).unlink(missing_ok=True)
            assert poke(stage.path, STOP)
            await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S)
            return launch

    launch = asyncio.run(play())
    calls = [call for call in balky.calls if call != "open_panes"]
    assert calls[:2] == ["close_panes", "kill_session"]
    record = json.loads((stage.path / layout.launch(launch) / "exit.json").read_text())
    assert record["hup"] is True
    screen = json.loads((stage.path / layout.snapshot("architect")).read_text())
    assert screen["seat"] == "architect"
    assert "interrupt" in screen["ansi"]
    interruption = stage.state().interruption
    assert interruption is not None
    assert "stopped" in interruption.cause
    assert stage.state().phase == Phase.ARCHITECTING


def test_a_stop_whose_first_half_fails_still_ends_the_session_and_names_its_cause(
    stage: Stage, balky: Balky
) -> None:
    stage.scenario({"architect": {"think": 60}})

    async def play() -> None:
        async with stage.driven() as driving:
            await stage.until(lambda: "architect" in stage.state().seats)
            await stage.until(lambda: stage.state().seats["architect"].reached)
            balky.stuck = TerminalError("tmux refused: no")
            assert poke(stage.path, STOP)
            await asyncio.wait_for(asyncio.shield(driving), DEADLINE_S)

    asyncio.run(play())
    assert "kill_session" in balky.calls
    interruption = stage.state().interruption
    assert interruption is not None
    assert "stopped" in interruption.cause
    lock = SessionLock(stage.path)
    lock.acquire(0, {})  # the lock is free
    lock.release()


# -- reading and getting about by keys -----------------------------------------------------------


def reading(stage: Stage) -> str:
    picture = stage.display.picture
    found = picture.reading if picture else None
    return "\n".join((found.title, *found.lines)) if found else ""


def note(stage: Stage) -> str:
    return stage.display.picture.note if stage.display.picture else ""


async def at_work(stage: Stage, *seats: str) -> None:
    await stage.until(lambda: stage.state().seats.keys() >= set(seats))
    await stage.until(lambda: all(stage.status(each) == "busy" for each in seats))


def is_new(keyboard: Keyboard, before: MonitorContent | None) -> bool:
    return keyboard.picture is not before


def test_keys_show_texts_and_go_to_panes(stage: Stage, balky: Balky, keyboard: Keyboard) -> None:
    stage.scenario({"architect": {"think": 60}})

    async def says(key: Pressed, shown: Callable[[], object]) -> None:
        keyboard.press(key)
        await stage.until(shown, key)

    async def play() -> None:
        async with stage.driven():
            await at_work(stage, "architect")
            await says("?", lambda: "go to the seat that waits for you" in reading(stage))
            await says("d", lambda: "nothing has changed" in reading(stage))
            await says("s", lambda: "there is no summary yet" in reading(stage))
            await says(Key.ESCAPE, lambda: not reading(stage))
            await says("z", lambda: noted(stage, "`z` does nothing here: ? shows all keys"))
            await says("2", lambda: noted(stage, "there is no seat 2 now"))
            await says("o", lambda: noted(stage, "no seat waits for you"))
            await says("R", lambda: noted(stage, "no pane waits for your choice"))
            await says("r", lambda: noted(stage, "no seat has failed or ended"))
            await says("w", lambda: noted(stage, "there is no check that could not run"))
            await says("x", lambda: noted(stage, "no agent asks you anything"))
            await says("1", lambda: not note(stage))
            assert balky.went == [stage.pane("architect").id]
            picture = keyboard.picture
            assert picture is not None
            await stage.until(lambda: picture.last_lines.get("architect"))
            assert picture.spent_s["architecting"] > 0

    asyncio.run(play())


class Advanced(asyncio.SelectorEventLoop):
    """An event loop whose clock can be put forward, together with those of all others."""

    ahead_s = 0.0
    made: ClassVar[list["Advanced"]] = []

    def __init__(self) -> None:
        super().__init__()
        self.made.append(self)

    @override
    def time(self) -> float:
        return super().time() + Advanced.ahead_s


def put_forward(seconds: float) -> None:
    Advanced.ahead_s += seconds
    for loop in Advanced.made:
        with suppress(RuntimeError):  # that thread has just ended
            loop.call_soon_threadsafe(str)  # it looks at its clock again


@pytest.fixture
def advanced(monkeypatch: pytest.MonkeyPatch) -> Iterator[asyncio.Runner]:
    """An event loop whose clock can be put forward, as can those of threads that it starts."""
    monkeypatch.setattr(Advanced, "ahead_s", 0.0)
    monkeypatch.setattr(Advanced, "made", [])
    monkeypatch.setattr(asyncio, "new_event_loop", Advanced)
    with asyncio.Runner(loop_factory=Advanced) as runner:
        yield runner


def test_a_key_is_answered_while_the_loop_waits_for_tmux(
    stage: Stage, balky: Balky, keyboard: Keyboard
) -> None:
    stage.scenario({"architect": {"think": 60}})
    answered: list[bool] = []

    def wait() -> None:
        """Let the loop wait until the key is answered, as it waits for a slow tmux."""
        balky.busy = None
        keyboard.press("?")
        answered.append(keyboard.shown(lambda picture: picture.reading is not None))

    async def play() -> None:
        balky.busy = wait
        async with stage.driven():
            await stage.until(lambda: answered)

    asyncio.run(play())
    assert answered == [True]


QUESTION = "Do you want to proceed?\n \u276f 1. Yes\n   2. No\n"


def test_a_question_is_noticed_however_seldom_screens_are_saved(
    tmp_path: Path, balky: Balky, advanced: asyncio.Runner
) -> None:
    stage = Stage(tmp_path, balky, interval_s=3600)
    stage.display = keyboard = Keyboard()
    stage.scenario({"architect": {"think": 60}})

    async def play() -> None:
        async with stage.driven():
            await at_work(stage, "architect")
            await stage.until(lambda: stage.facts("prompt_reached"))
            saved = stage.path / layout.SNAPSHOTS / "architect.json"
            looks = balky.looks
            put_forward(5)
            await stage.until(lambda: balky.looks > looks and saved.exists())
            balky.shows = QUESTION
            put_forward(5)
            await stage.until(lambda: stage.status("architect") == "waiting_for_user")
            assert "proceed" not in saved.read_text()
            keyboard.press("x")
            await stage.until(lambda: balky.went == [stage.pane("architect").id])
            put_forward(3600)
            await stage.until(lambda: "proceed" in saved.read_text())

    advanced.run(play())
    keyboard.unplug()


def test_what_a_key_could_not_do_is_not_said_for_ever(
    stage: Stage, keyboard: Keyboard, advanced: asyncio.Runner
) -> None:
    stage.scenario({"architect": {"think": 60}})

    async def play() -> None:
        async with stage.driven():
            await at_work(stage, "architect")
            keyboard.press("r")
            await stage.until(lambda: noted(stage, "no seat has failed or ended"))
            put_forward(ANSWER_S)
            await stage.until(lambda: not note(stage))

    advanced.run(play())


def test_a_question_whose_time_is_over_says_so(
    stage: Stage, keyboard: Keyboard, advanced: asyncio.Runner
) -> None:
    stage.pipeline = "quick"

    async def play() -> None:
        async with stage.driven():
            await to_the_decision(stage)
            keyboard.press("a")
            await stage.until(lambda: asked(stage, "press a again"))
            put_forward(READ_S)
            await stage.until(
                lambda: noted(stage, "the question has expired: press a to ask again")
            )
            await stage.until(lambda: not question(stage))
            assert reading(stage)
            keyboard.press("a")
            await stage.until(lambda: asked(stage, "press a again"))
            await stage.until(lambda: not note(stage))

    advanced.run(play())
    assert not stage.facts("approve")


def test_a_key_starts_a_seat_again_that_has_ended(stage: Stage, keyboard: Keyboard) -> None:
    stage.scenario({"architect": {"crash": "before_write", "exit": 0}})

    async def play() -> None:
        async with stage.driven():
            await stage.until(lambda: stage.facts("agent_exited"))
            stage.scenario({"architect": {"think": 60}})
            keyboard.press("r")
            await stage.until(lambda: asked(stage, "r again within 10 s to start architect"))
            keyboard.press("r")  # too soon: the word that was typed may have the letter twice
            await asyncio.sleep(REST_S)
            assert not stage.facts("seat_restarted")
            keyboard.press("r")
            await stage.until(lambda: len(stage.facts("agent_launched", "architect")) == 2)

    asyncio.run(play())
    assert "user: starts architect again" in stage.messages()


@pytest.mark.long
def test_a_key_is_answered_while_agents_are_launched(
    stage: Stage, balky: Balky, keyboard: Keyboard
) -> None:
    """The step is long then; the key comes while tmux opens the panes of all coders."""
    stage.scenario({"coder": {"think": 60}})
    opens = balky.open_panes
    shown: list[tuple[str, ...]] = []

    def opened(session: str, panes: Sequence[NewPane]) -> Mapping[str, str]:
        if [pane.seat for pane in panes] == CODERS:
            keyboard.press("?")
        return opens(session, panes)

    def show(picture: MonitorContent) -> None:
        keyboard.picture = picture
        if picture.reading is not None:
            shown.append(tuple(message.text for message in picture.messages))

    balky.open_panes, keyboard.show = opened, show  # type: ignore[method-assign]

    async def play() -> None:
        async with stage.driven():
            await at_work(stage, *CODERS)
            await stage.until(lambda: shown)

    asyncio.run(play())
    assert not any("coder-1" in message for message in shown[0])


@pytest.mark.long
def test_one_key_resumes_all_panes_that_wait(
    stage: Stage, balky: Balky, keyboard: Keyboard
) -> None:
    stage.scenario({"coder": {"think": 60}})

    async def play() -> None:
        async with stage.driven():
            await at_work(stage, *CODERS)
        stage.terminal.close_panes([stage.pane(each).id for each in CODERS])
        stage.panes = LaunchPolicy(stopped=(EVERY,))
        async with stage.driven("resume"):
            await stage.until(lambda: all(map(stage.offers, CODERS)))
            keyboard.press("x")  # only to one that asks, which none does here
            await stage.until(lambda: noted(stage, "no agent asks you anything"))
            keyboard.press("o", "o")  # to the first that waits, then to the next
            await stage.until(lambda: len(balky.went) == 2)
            seats = {pane.id: pane.seat for pane in stage.terminal.panes("$0")}
            assert [seats[each] for each in balky.went] == CODERS
            keyboard.press("R")
            await stage.until(lambda: asked(stage, "to resume coder-1 and coder-2"))
            await asyncio.sleep(REST_S)
            keyboard.press("R")
            await stage.until(lambda: len(stage.facts("launch_chosen")) == 2)

    asyncio.run(play())
    assert [fact.choice for fact in stage.facts("launch_chosen")] == ["resume", "resume"]


def test_where_a_small_change_begins_is_chosen_by_a_key(stage: Stage, keyboard: Keyboard) -> None:
    stage.pipeline = "quick"

    async def play() -> None:
        async with stage.driven():
            await to_the_decision(stage)
            await stage.until(lambda: keyboard.picture and keyboard.picture.result)
            stage.scenario({"coder": {"think": 60}})
            keyboard.press("c", *"less")
            await stage.until(lambda: draft(stage) == "less")
            chosen = "the next cycle begins in fixing"
            while chosen not in (keyboard.picture.begins if keyboard.picture else ""):
                before = keyboard.picture
                keyboard.press(Key.TAB)
                await stage.until(partial(is_new, keyboard, before))
            keyboard.press(Key.ENTER, Key.ENTER)
            await stage.until(lambda: stage.state().cycle == 2)

    asyncio.run(play())
    (asked,) = stage.facts("request_changes")
    assert (asked.text, asked.phase, asked.of_phase) == ("less", "fixing", "completing")
    assert asked.digest


@pytest.mark.long
def test_changes_to_a_result_that_is_another_one_by_now_are_not_sent(
    stage: Stage, keyboard: Keyboard
) -> None:
    stage.pipeline = "quick"

    async def play() -> None:
        async with stage.driven():
            await to_the_decision(stage)
            await stage.until(lambda: keyboard.picture and keyboard.picture.result)
            (stage.project / "demo_part_1.py").write_text("another\n")
            keyboard.press("c", *"less", Key.ENTER, Key.ENTER)
            await stage.until(lambda: noted(stage, "is not the one that you saw"))
            assert draft(stage) == "less"
            assert not stage.facts("request_changes")

    asyncio.run(play())
