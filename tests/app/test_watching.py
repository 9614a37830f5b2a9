"""What is seen of panes, look by look, over a terminal that shows what a test says."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentmux.adapters.wake import WakePipe
from agentmux.app.session import Session
from agentmux.app.tools import Tools
from agentmux.app.watching import Watcher
from agentmux.cli import wiring
from agentmux.core.events import AgentExited, AgentLaunched, CodeResearchDispatched
from agentmux.core.phase import Phase
from agentmux.ports.terminal import Delivery, Pane, Screen, TerminalError
from tests.app.driver import NobodyDies, SimTerminal, no_hints
from tests.app.on_disk import OnDisk
from tests.app.test_orchestrator import Silent

BUSY, IDLE = "* Thinking… (esc to interrupt)\n", "\u276f \n"


class OnePane(SimTerminal):
    """The architect's pane; ``shows`` is its screen, since ``moved``."""

    shows = IDLE
    moved = 0
    slow = False

    def panes(self, session: str) -> tuple[Pane, ...]:  # type: ignore[explicit-override]
        return (
            Pane(
                id="%1", window="@0", pid=os.getpid(), dead=False, seat="architect",
                launch="launch-architect", visible=True, activity=self.moved,
            ),
        )  # fmt: skip

    def capture(  # type: ignore[explicit-override]
        self, panes: Sequence[str], *, colours: bool = True
    ) -> Mapping[str, Screen]:
        if self.slow:
            raise TerminalError("tmux did not answer within 5 s")
        screen = Screen(
            ansi=self.shows, text=self.shows, cols=80, rows=24, cursor_row=0, cursor_col=0
        )
        return dict.fromkeys(panes, screen)


class Looking:
    """A session whose architect is looked at, every few seconds of a clock that is told."""

    def __init__(self, path: Path) -> None:
        self.terminal = OnePane()
        disk = OnDisk(path, feature="f")
        disk.launch("architect", record={"agent": "demo", "strategy": "none"})
        disk.commit()
        self._now = datetime(2026, 1, 1, tzinfo=UTC)
        world = wiring.world(path.parents[2], environ=dict(os.environ))
        stall = replace(world.settings.stall, nudge_after_s=1e-6)
        world = replace(world, now=lambda: self._now, settings=replace(world.settings, stall=stall))
        self.session = Session(world.files(path), now=world.now, new_id=world.new_id)
        tools = Tools(
            terminal=self.terminal, lock=world.lock(path), wake=WakePipe(path),
            deaths=NobodyDies(), type_into=never_typed, display=Silent(), hints=no_hints,
        )  # fmt: skip
        self.watcher = Watcher(world, self.session, tools, "$0", identity={})

    def show(self, text: str) -> None:
        """Let the screen change, a moment before the next look."""
        self.terminal.shows, self.terminal.moved = text, int(self._now.timestamp())
        self._now += timedelta(seconds=2)

    def look(self) -> str:
        """Look, and a moment passes; returns what the architect is seen to do."""
        try:
            asyncio.run(self.watcher.tick())
        finally:
            self._now += timedelta(seconds=3)
        return self.watcher.statuses["architect"].status


async def never_typed(*words: object, **more: object) -> Delivery:
    raise AssertionError("a look types nothing")


@pytest.fixture
def looking(tmp_path: Path) -> Looking:
    return Looking(tmp_path / ".agentmux" / ".sessions" / "20260101-101500-x")


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
    assert looking.watcher.to_nudge == ["architect"]


@pytest.mark.parametrize(("gone", "nudged"), [("", []), ("finished", ["architect"])])
def test_who_waits_for_research_is_left_alone_while_somebody_does_it(
    looking: Looking, gone: str, nudged: list[str]
) -> None:
    asked = CodeResearchDispatched(topic="x", question="why")
    looking.session.record(asked, seat="architect", launch="launch-architect")
    launched = AgentLaunched(
        role="code-researcher", record={}, mode="fresh", reason="first", topic="x"
    )
    looking.session.record(launched, seat="code-researcher-x", launch="r")
    if gone:
        looking.session.record(AgentExited(cause=gone), seat="code-researcher-x", launch="r")
    assert looking.session.state.phase is Phase.ARCHITECTING
    looking.show(IDLE)
    looking.look()
    looking.look()
    assert looking.watcher.to_nudge == nudged
