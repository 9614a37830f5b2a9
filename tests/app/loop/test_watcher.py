"""What the watcher concludes from panes, on a terminal whose screens the test sets."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentmux.adapters.wake.file_changes import wait_until_gone
from agentmux.adapters.wake.pipe import WakeFifo
from agentmux.app.loop.dependencies import LoopDependencies
from agentmux.app.loop.panes.observed_panes import Unsent
from agentmux.app.loop.panes.watcher import Watcher
from agentmux.app.session.writer import Session
from agentmux.core.config.settings import StallSettings
from agentmux.core.journal.events import (
    AgentExited,
    AgentLaunched,
    AgentNudged,
    CodeResearchDispatched,
    ResearchDone,
    ResearchTold,
)
from agentmux.core.names.phase import Phase
from agentmux.core.names.turn import Turn
from agentmux.overriding import override
from agentmux.ports.tmux.terminal import (
    Pane,
    Screen,
    ScreensUnreadableError,
    TerminalError,
    TmuxSession,
    TypingResult,
)
from agentmux.wiring import build
from tests.app.driver import NobodyDies, SimTerminal, ends_nobody, no_hints
from tests.app.loop.test_orchestrator import Silent
from tests.app.on_disk import OnDisk
from tests.fakes.notifier import Postbox

BUSY, IDLE = "* Thinking… (esc to interrupt)\n", "\u276f \n"

DIALOG = "Do you want to proceed?\n \u276f 1. Yes\n"
AT_ONCE = 1e-6
ARCHITECT = "launch-architect"
PROMPT = f"> Read the file /s/{ARCHITECT}/prompt.md\n"
LIMIT = f"{PROMPT}You have reached your usage limit\n\u276f \n"
SOON = StallSettings(nudge_after_s=AT_ONCE)
TURNS = StallSettings(turn_ended_after_s=AT_ONCE)


class OnePane(SimTerminal):
    """The architect's pane; ``shows`` is its screen, ``moved`` the time of the last change."""

    shows = IDLE
    moved = 0
    slow = False
    unread = False

    @override
    def panes(self) -> tuple[Pane, ...]:
        return (
            Pane(
                id="%1", window="@0", pid=os.getpid(), dead=False, seat="architect",
                launch=ARCHITECT, visible=True, activity=self.moved,
            ),
        )  # fmt: skip

    @override
    def capture(self, panes: Sequence[str], *, colours: bool = True) -> Mapping[str, Screen]:
        if self.slow:
            raise TerminalError("tmux did not answer within 5 s")
        if self.unread:
            raise ScreensUnreadableError("0 of 1 panes are in the answer")
        screen = Screen(
            ansi=self.shows, text=self.shows, cols=80, rows=24, cursor_row=0, cursor_col=0
        )
        return dict.fromkeys(panes, screen)


class Looking:
    """A session whose architect the watcher looks at; the test moves the clock."""

    def __init__(
        self,
        path: Path,
        *,
        agent: str = "demo",
        strategy: str = "none",
        stall: StallSettings = SOON,
    ) -> None:
        self.terminal = OnePane()
        self.terminal.session = TmuxSession(id="$0", name="agentmux-x", uuid="u")
        disk = OnDisk(path, feature="f")
        disk.launch("architect", record={"agent": agent, "strategy": strategy})
        disk.commit()
        self._now = datetime(2026, 1, 1, tzinfo=UTC)
        world = build.world(path.parents[2], environ=dict(os.environ))
        settings = replace(world.settings, stall=stall)
        world = replace(world, now=lambda: self._now, settings=settings)
        self.session = Session(world.files(path), now=world.now, new_id=world.new_id)
        tools = LoopDependencies(
            terminal=self.terminal, lock=world.locks.session(path), wake=WakeFifo(path),
            deaths=NobodyDies(), type_into=never_typed, press=never_typed, display=Silent(),
            hints=no_hints, gone=wait_until_gone, end=ends_nobody, notifier=Postbox(),
        )  # fmt: skip
        self.watcher = Watcher(world, self.session, tools, identity={})

    def show(self, text: str) -> None:
        """Change the screen, two seconds before the next look."""
        self.terminal.shows, self.terminal.moved = text, int(self._now.timestamp())
        self._now += timedelta(seconds=2)

    def set_clock(self, *, hours: int) -> None:
        """Move the machine's clock, as a user may."""
        self._now += timedelta(hours=hours)

    def look(self) -> str:
        """Let the watcher look, then let three seconds pass; return the architect's status."""
        try:
            asyncio.run(self.watcher.tick())
        finally:
            self._now += timedelta(seconds=3)
        return self.watcher.sight.statuses["architect"].status


async def never_typed(*words: object, **more: object) -> TypingResult:
    raise AssertionError("a look types nothing")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / ".agentmux" / ".sessions" / "20260101-101500-x"


@pytest.fixture
def looking(place: Path) -> Looking:
    return Looking(place)


def test_an_agent_that_is_logged_out_needs_its_user(looking: Looking) -> None:
    looking.show(f"{PROMPT}● API error: 401 Unauthorized\n{IDLE}")
    assert looking.look() == "waiting_for_user"
    assert not looking.session.state.seats["architect"].reached
    assert looking.watcher.quiet.to_nudge == []
    assert "401" in looking.watcher.sight.statuses["architect"].trouble
    looking.show(f"{PROMPT}● API error: 401 Unauthorized\n> /login\nLogin successful\n{IDLE}")
    assert looking.look() == "idle"


def test_an_agent_whose_service_fails_does_not_need_its_user(looking: Looking) -> None:
    looking.show(f"{PROMPT}● API error: 500 Internal server error\n{IDLE}")
    assert looking.look() == "idle"
    assert looking.session.state.seats["architect"].reached


@pytest.mark.parametrize("typed", [False, True])
def test_a_question_below_a_prompt_proves_it_arrived_unless_it_was_typed(
    looking: Looking, typed: bool
) -> None:
    if typed:  # it may stand in an input field that the question covers
        looking.watcher.sight.unsent[ARCHITECT] = Unsent("", typed=True, digest=None)
    looking.show(f"{PROMPT}{DIALOG}")
    assert looking.look() == "waiting_for_user"
    assert looking.session.state.seats["architect"].reached is not typed


class Ahead(asyncio.SelectorEventLoop):
    """An event loop whose clock a test puts forward, as if the machine had been suspended."""

    seconds = 0.0

    @override
    def time(self) -> float:
        return super().time() + Ahead.seconds


def test_time_in_which_nobody_ran_is_no_silence_of_the_agent(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking = Looking(place, stall=StallSettings(nudge_after_s=60, report_after_s=120))
    monkeypatch.setattr(Ahead, "seconds", 0.0)
    with asyncio.Runner(loop_factory=Ahead) as runner:
        runner.run(looking.watcher.tick())
        Ahead.seconds = 3600.0  # the lid was closed
        runner.run(looking.watcher.tick())
        assert looking.watcher.quiet.to_nudge == []

        for _ in range(15):  # the machine is awake, and the agent does nothing
            Ahead.seconds += 5.0
            runner.run(looking.watcher.tick())
        assert looking.watcher.quiet.to_nudge == ["architect"]


def test_what_moved_while_the_clock_was_set_back_is_seen(looking: Looking) -> None:
    looking.show(BUSY)
    assert looking.look() == "busy"
    looking.set_clock(hours=-1)
    looking.show(IDLE)  # and does not move any more
    assert looking.look() == "idle"


def test_what_a_failed_look_has_not_seen_is_looked_at_again(looking: Looking) -> None:
    looking.show(BUSY)
    assert looking.look() == "busy"
    assert looking.look() == "busy"
    looking.show(IDLE)  # and does not move any more
    looking.terminal.slow = True
    with pytest.raises(TerminalError):
        looking.look()
    looking.terminal.slow = False
    assert (looking.look(), looking.look()) == ("idle", "idle")
    assert looking.watcher.quiet.to_nudge == ["architect"]


def test_an_agent_that_left_its_record_is_gone_though_its_pane_is_not_dead_yet(
    looking: Looking,
) -> None:
    launch = "launch-architect"
    folder = looking.session.files.path / "launches" / launch
    folder.mkdir(parents=True)
    (folder / "started").touch()
    assert looking.watcher.probe().launches[launch].alive
    (folder / "exit.json").write_text('{"status": 0, "signal": null}')
    fact = looking.watcher.probe().launches[launch]
    assert (fact.alive, fact.exit is not None) == (False, True)


def test_an_agent_whose_screen_is_not_read_is_unknown_and_not_nudged(looking: Looking) -> None:
    looking.show(IDLE)
    assert looking.look() == "idle"
    looking.terminal.unread = True
    for _ in range(3):
        looking.show(IDLE)
        with pytest.raises(ScreensUnreadableError):
            looking.look()
        assert looking.watcher.sight.statuses["architect"].status == "unknown"
    assert looking.watcher.quiet.to_nudge == []


def test_a_screen_that_says_nothing_yet_is_of_an_agent_that_starts(looking: Looking) -> None:
    looking.watcher.set_status("architect", "starting", "journal")
    looking.show("\n")
    assert looking.look() == "starting"
    looking.show("a banner\n")
    assert looking.look() == "unknown"
    looking.watcher.set_status("architect", "starting", "journal")
    looking.show(IDLE)
    assert looking.look() == "idle"
    looking.show("a banner\n")
    assert looking.look() == "unknown"


def test_what_cannot_be_read_holds_no_step_up(looking: Looking) -> None:
    looking.show(IDLE)
    looking.look()
    looking.terminal.unread = True

    async def last_look() -> None:
        looking.watcher.look_at(("launch-architect",))

    asyncio.run(last_look())
    assert looking.watcher.sight.statuses["architect"].status == "unknown"


@pytest.mark.parametrize(("gone", "nudged"), [("", []), ("finished", ["architect"])])
def test_who_waits_for_research_is_left_alone_while_somebody_does_it(
    looking: Looking, gone: str, nudged: list[str]
) -> None:
    asked = CodeResearchDispatched(topic="x", question="why")
    looking.session.record(asked, seat="architect", launch=ARCHITECT)
    launched = AgentLaunched(
        role="code-researcher", record={}, mode="fresh", reason="first", topic="x"
    )
    looking.session.record(launched, seat="code-researcher-x", launch="r")
    if gone:
        looking.session.record(AgentExited(cause=gone), seat="code-researcher-x", launch="r")
    assert looking.session.state.phase == Phase.ARCHITECTING
    looking.show(IDLE)
    looking.look()
    looking.look()
    assert looking.watcher.quiet.to_nudge == nudged


# -- clocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("screen", "status", "nudged"),
    [
        (IDLE, "idle", ["architect"]),
        (BUSY, "busy", []),
        (DIALOG, "waiting_for_user", []),
        (LIMIT, "usage_limit", []),
    ],
)
def test_only_who_has_nothing_to_do_is_quiet(
    looking: Looking, screen: str, status: str, nudged: list[str]
) -> None:
    looking.show(screen)
    assert (looking.look(), looking.look()) == (status, status)
    assert looking.watcher.quiet.to_nudge == nudged


def test_who_was_nudged_is_not_nudged_again(looking: Looking) -> None:
    looking.session.record(AgentNudged(result="submitted"), seat="architect", launch=ARCHITECT)
    looking.show(IDLE)
    looking.look()
    looking.look()
    assert looking.watcher.quiet.to_nudge == []


# -- limits and trouble ---------------------------------------------------------------------------

TROUBLE = "● API error: 529 overloaded\n"


def test_when_a_limit_ends_is_noted(looking: Looking) -> None:
    looking.show(f"{PROMPT}You have reached your usage limit · it resets at 5pm\n\u276f \n")
    looking.look()
    assert looking.watcher.sight.statuses["architect"].resets == "5pm"
    looking.show(BUSY)
    looking.look()
    assert looking.watcher.sight.statuses["architect"].resets == ""


@pytest.mark.parametrize(("screen", "status"), [(IDLE, "idle"), (BUSY, "busy")])
def test_trouble_is_noted_and_forgotten(looking: Looking, screen: str, status: str) -> None:
    looking.show(f"{TROUBLE}{screen}")
    assert looking.look() == status
    first = looking.watcher.sight.statuses["architect"]
    assert first.trouble == "API error: 529 overloaded"
    looking.show(screen)
    looking.look()
    assert looking.watcher.sight.statuses["architect"] == replace(first, trouble="")


def test_who_has_trouble_with_its_service_is_not_asked_within_seconds(place: Path) -> None:
    looking = Looking(place, stall=TURNS)
    looking.show(BUSY)
    looking.look()
    looking.show(f"{TROUBLE}{IDLE}")
    looking.look()
    looking.look()
    assert looking.watcher.quiet.to_nudge == []
    looking.show(IDLE)
    looking.look()
    looking.look()
    assert looking.watcher.quiet.to_nudge == ["architect"]


def test_trouble_stays_with_who_has_gone_quiet(place: Path) -> None:
    looking = Looking(place, stall=StallSettings(nudge_after_s=AT_ONCE, report_after_s=AT_ONCE))
    looking.session.record(AgentNudged(result="submitted"), seat="architect", launch=ARCHITECT)
    looking.show(f"{TROUBLE}{IDLE}")
    looking.look()
    assert looking.look() == "stalled"
    assert looking.watcher.sight.statuses["architect"].trouble == "API error: 529 overloaded"


# -- turns ---------------------------------------------------------------------------------------


@pytest.fixture
def telling(place: Path) -> Looking:
    """A watcher whose architect has hooks that report its turns."""
    looking = Looking(place, agent="demo-hook", stall=TURNS)
    (place / "launches" / ARCHITECT).mkdir(parents=True)
    looking.show(IDLE)
    return looking


@pytest.mark.parametrize(
    ("turn", "nudged"),
    [
        (Turn.UNKNOWN, []),
        (Turn.BEGUN, []),
        (Turn.OF_USER, []),
        (Turn.ENDED, ["architect"]),
    ],
)
def test_who_says_that_its_turn_is_over_is_asked_at_the_next_look(
    telling: Looking, turn: Turn, nudged: list[str]
) -> None:
    telling.session.files.note_turn(ARCHITECT, turn)
    telling.look()
    telling.look()
    assert telling.watcher.quiet.to_nudge == nudged


@pytest.mark.parametrize("screen", [BUSY, DIALOG, LIMIT])
def test_whose_screen_says_otherwise_is_not_asked(telling: Looking, screen: str) -> None:
    telling.session.files.note_turn(ARCHITECT, Turn.ENDED)
    telling.show(screen)
    telling.look()
    telling.look()
    assert telling.watcher.quiet.to_nudge == []


def test_a_turn_of_an_older_launch_is_nothing(telling: Looking, place: Path) -> None:
    (place / "launches" / "older").mkdir()
    telling.session.files.note_turn("older", Turn.ENDED)
    telling.look()
    telling.look()
    assert telling.watcher.quiet.to_nudge == []


def test_whose_turn_ends_to_wait_for_research_is_asked_once_it_was_told(telling: Looking) -> None:
    session = telling.session
    asked = CodeResearchDispatched(topic="x", question="why")
    session.record(asked, seat="architect", launch=ARCHITECT)
    session.files.note_turn(ARCHITECT, Turn.ENDED)

    def nudged() -> list[str]:
        telling.look()
        telling.look()
        return telling.watcher.quiet.to_nudge

    assert nudged() == []
    launched = AgentLaunched(
        role="code-researcher", record={}, mode="fresh", reason="first", topic="x"
    )
    session.record(launched, seat="code-researcher-x", launch="r")
    done = ResearchDone(research="code", topic="x")
    session.record(done, seat="code-researcher-x", launch="r")
    assert session.state.research_tasks == {"x": "done"}
    assert nudged() == [], "it is about to be told"
    told = ResearchTold(research="code", topic="x", result="submitted")
    session.record(told, seat="architect", launch=ARCHITECT)
    assert nudged() == ["architect"]


SEEN = StallSettings(turn_ended_after_s=AT_ONCE / 6)


@pytest.mark.parametrize(
    ("screens", "nudged"),
    [
        ((BUSY, IDLE), ["architect"]),
        ((IDLE,), []),
        ((BUSY, "$ \n"), []),
        ((BUSY, DIALOG), []),
        ((BUSY, LIMIT), []),
    ],
)
def test_of_who_cannot_say_it_the_screen_tells(
    place: Path, screens: tuple[str, ...], nudged: list[str]
) -> None:
    looking = Looking(place, agent="demo", stall=SEEN)
    for screen in screens:
        looking.show(screen)
        looking.look()
        looking.look()
    assert looking.watcher.quiet.to_nudge == nudged


def test_a_screen_that_has_just_changed_tells_nothing(place: Path) -> None:
    looking = Looking(place, agent="demo", stall=StallSettings(turn_ended_after_s=10))
    for screen in (BUSY, IDLE):
        looking.show(screen)
        looking.look()
        looking.look()
    assert looking.watcher.quiet.to_nudge == []


CLEARED = "(a new conversation)\n\u276f \n"


@pytest.mark.parametrize(("turn", "unsure"), [(Turn.UNKNOWN, True), (Turn.ENDED, False)])
def test_whose_hooks_are_heard_tells_itself_where_it_is(
    place: Path, turn: Turn, unsure: bool
) -> None:
    looking = Looking(place, agent="demo-hook", strategy="assign")
    (place / "launches" / ARCHITECT).mkdir(parents=True)
    looking.session.files.note_turn(ARCHITECT, turn)
    for screen in (BUSY, CLEARED):
        looking.show(screen)
        looking.look()
    assert bool(looking.session.state.agents["architect"].get("unsure")) is unsure


def test_a_screen_of_a_new_conversation_means_nothing_before_a_prompt_has_come(
    place: Path,
) -> None:
    """Before the prompt, an empty conversation is the one that the agent was started with."""
    looking = Looking(place, agent="demo-hook", strategy="assign")
    for screen in (IDLE, CLEARED):
        looking.show(screen)
        looking.look()
    assert not looking.session.state.seats["architect"].reached
    assert not looking.session.state.agents["architect"].get("unsure")


@pytest.mark.parametrize(("lived_s", "early"), [(0, True), (15, True), (16, False), (3600, False)])
def test_what_fails_late_did_not_fail_on_its_conversation(
    looking: Looking, lived_s: int, early: bool
) -> None:
    """Early means within `resume.reject_after`, which is 15 s."""
    state = looking.session.state
    since = datetime(2026, 1, 1, tzinfo=UTC) - timedelta(seconds=lived_s)
    seat = replace(
        state.seats["architect"], mode="native", since=since.isoformat(timespec="milliseconds")
    )
    looking.session.state = replace(state, seats={"architect": seat})
    assert looking.watcher.probe().launches[ARCHITECT].early is early
