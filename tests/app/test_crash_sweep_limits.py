"""An agent at its usage limit, killed at any operation while it is parked and woken.

As in `tests.app.test_crash_sweep`, with a short run.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agentmux.core.config.settings import SnapshotSettings, StallSettings
from tests.app.driver import NotedRepository, SimPane, Studio, make_project
from tests.app.recording import one_of_each
from tests.app.sweeping import journal_of, outcome, recorded, sweep

LIMIT_S = 0.3


class Limit:
    """A usage limit of the planner that ends some time after its first turn."""

    def __init__(self) -> None:
        self.end: datetime | None = None

    def screen(self, pane: SimPane) -> str:
        if pane.seat != "planner":
            return ""
        now = datetime.now(UTC)
        self.end = self.end or now + timedelta(seconds=LIMIT_S)
        if now >= self.end:
            return ""
        until = self.end.isoformat()
        return f"> Read {pane.launch}\nYou have reached your usage limit · it resets at {until}\n"


def begin(folder: Path) -> Studio:
    studio = Studio(make_project(folder / "project"), dict(os.environ), cycles=1, short=True)
    settings = replace(
        studio.world.settings,
        snapshots=SnapshotSettings(interval_s=0.05),
        # Who was woken, but not told before the kill, is reminded soon.
        stall=StallSettings(nudge_after_s=0.5, report_after_s=60.0),
    )
    studio.world = replace(studio.world, settings=settings)
    studio.limited = Limit().screen
    assert isinstance(studio.world.repository, NotedRepository)
    studio.world.repository.begin()
    return studio


def test_a_kill_while_an_agent_waits_for_its_limit_changes_nothing_in_the_end(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin(quick)
    recording = recorded(studio, quick, monkeypatch, first="agent_parked", end="submit_plan")
    wanted = outcome(studio)
    images = one_of_each(recording.images)
    woken = [image for image in images if "agent_woken" in journal_of(studio, image)]
    assert len(images) > len(woken) > 3
    sweep(studio, wanted, images, "resume")
    sweep(studio, wanted, images, "reattach")
