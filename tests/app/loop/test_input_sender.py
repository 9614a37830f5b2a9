"""What is said of a message whose agent has ended before it was proven that the message arrived."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

from agentmux.app.loop.input_sender import InputSender
from agentmux.app.loop.sight import Sight
from agentmux.app.session.writer import Session
from agentmux.core.journal.events import InputEnded, InputStarted, SeatTold
from tests.app.staging import Stage


class Around:
    """The watcher and the loop of an orchestrator that has seen no pane."""

    def __init__(self) -> None:
        self.sight = Sight()
        self.said: list[str] = []

    def look_at(self, launches: tuple[str, ...]) -> None:
        """Nothing is there to look at."""

    def say(self, message: str) -> None:
        self.said.append(message)


def test_what_may_have_been_typed_is_not_said_to_be_untyped(tmp_path: Path) -> None:
    stage, around = Stage(tmp_path, "demo", cache=tmp_path / "cache"), cast("Any", Around())
    stage.launch()
    for text in ("not typed yet", "begun"):
        stage.tell("coder-1", SeatTold(text=text))
    world = stage.world()
    session = Session(world.files(stage.path), now=world.now, new_id=world.new_id)
    session.catch_up()
    first, second = session.state.inputs
    session.record(InputStarted(input=second.id), seat="coder-1", launch=second.launch)
    sender = InputSender(session, around, around, around, around)
    for each in (first, second):
        asyncio.run(sender.send(each.id))
    ends = [event.fact for event, _ in session.files.tail(0) if isinstance(event.fact, InputEnded)]
    assert [end.input for end in ends] == [first.id, second.id]
    assert "nothing was typed" in ends[0].evidence
    assert "nothing was typed" not in ends[1].evidence
    assert "lost while it typed" in ends[1].evidence
    assert not session.state.inputs
