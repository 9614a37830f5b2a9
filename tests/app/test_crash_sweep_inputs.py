"""A message and keys of the user, killed at any operation while they are on their way.

As in `tests.app.test_crash_sweep`, with a short run. An agent that was not told before the kill is
reminded, so that every run ends.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from agentmux.adapters.wake.pipe import poke
from agentmux.app.commands.talk.seat_input import record_input
from agentmux.app.session.search.lookup import entry_at
from agentmux.core.journal.events import InputEnded, SeatAnswered, SeatTold
from agentmux.core.names import layout
from tests.app.driver import SimPane, Studio
from tests.app.recording import Image, one_of_each
from tests.app.sweeping import (
    Outcome,
    begin_with_reminders,
    events_of,
    gone_on,
    journal_of,
    outcome,
    recorded,
    sweep,
)

pytestmark = pytest.mark.long

WORDS = "use one part"
KEYS = ("Down", "text:y")
FACTS = (SeatTold(text=WORDS), SeatAnswered(keys=KEYS, screen="5c"))


class Talk:
    """The user, who answers and tells the planner something as soon as it has begun, once."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio

    def screen(self, pane: SimPane) -> str:
        if pane.seat != "planner" or {*pane.typed} - {" ".join(KEYS)}:
            return ""  # it was told, or reminded
        session = self.studio.session
        lines = (session / layout.JOURNAL).read_text().splitlines()
        told = [line for line in lines if SeatTold.kind in line]
        if told:
            return "it waits\n" if pane.launch in told[0] else ""
        world = self.studio.world
        for fact in reversed(FACTS):
            record_input(
                world, entry_at(world, session), "planner", fact, poke=lambda: poke(session)
            )
        return "it waits\n"


def started(studio: Studio, image: Image) -> list[str]:
    """Return the kinds of the inputs that may have been typed before the kill."""
    events = events_of(studio, image)
    kinds = {each["id"]: each["event"] for each in events}
    return [kinds[e["payload"]["input"]] for e in events if e["event"] == "input_started"]


def check(studio: Studio, image: Image, mode: str, wanted: Outcome) -> None:
    """Go on from the image; check that nothing is typed twice, and that everything has an end."""
    begun = started(studio, image)
    given = [kind for kind in journal_of(studio, image) if kind in {"seat_told", "seat_answered"}]
    after = gone_on(studio, image, mode)
    assert outcome(after) == wanted
    typed = [*(text for pane in image.panes for text in pane.typed), *after.typed]
    facts = [event.fact for event, _ in after.events()]
    ended = [fact for fact in facts if isinstance(fact, InputEnded)]
    assert len({fact.input for fact in ended}) == len(ended) == 2
    assert not after.state().inputs
    for kind, text in (("seat_told", WORDS), ("seat_answered", " ".join(KEYS))):
        assert typed.count(text) <= 1, f"{kind} was typed twice"
        if mode == "reattach" and kind in given and kind not in begun:
            assert typed.count(text) == 1, f"{kind} was lost"


def test_a_kill_while_something_is_typed_for_the_user_types_nothing_twice(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin_with_reminders(quick)
    studio.limited = Talk(studio).screen
    recording = recorded(studio, quick, monkeypatch, first="seat_told", end="submit_plan")
    wanted = outcome(studio)
    assert studio.typed == [" ".join(KEYS), WORDS]
    images = one_of_each(recording.images)
    assert len(images) > 8
    assert any(started(studio, image) for image in images)
    sweep(studio, wanted, images, "resume", check)
    sweep(studio, wanted, images, "reattach", check)
