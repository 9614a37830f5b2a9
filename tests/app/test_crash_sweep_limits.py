"""An agent at its usage limit, killed at any operation while it is parked and woken.

As in `tests.app.test_crash_sweep`, with a short run.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.app.driver import SimPane
from tests.app.recording import one_of_each
from tests.app.sweeping import begin_with_reminders, journal_of, outcome, recorded, sweep

pytestmark = pytest.mark.long

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


@pytest.mark.rare("CI kills at every operation of a usual session")
def test_a_kill_while_an_agent_waits_for_its_limit_changes_nothing_in_the_end(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin_with_reminders(quick)
    studio.limited = Limit().screen
    recording = recorded(studio, quick, monkeypatch, first="agent_parked", end="submit_plan")
    wanted = outcome(studio)
    images = one_of_each(recording.images)
    woken = [image for image in images if "agent_woken" in journal_of(studio, image)]
    assert len(images) > len(woken) > 3
    sweep(studio, wanted, images, "resume")
    sweep(studio, wanted, images, "reattach")
