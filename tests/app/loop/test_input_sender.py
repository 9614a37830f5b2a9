"""What the user has for an agent: typed whole, and what is said if that cannot be proven."""

from __future__ import annotations

import asyncio
import sys
from ast import literal_eval
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agentmux.adapters.pane import delivery, keystrokes
from agentmux.app.loop.panes.input_sender import InputSender
from agentmux.app.loop.panes.messenger import Messenger
from agentmux.app.loop.panes.observed_panes import ObservedPanes
from agentmux.app.session.writer import Session
from agentmux.core.agents.spec import AgentSpec
from agentmux.core.codec.digests import screen_digest
from agentmux.core.journal.events import InputEnded, InputStarted, SeatAnswered, SeatTold
from agentmux.ports.tmux.display import SeatStatus
from agentmux.ports.tmux.terminal import DeliveryResult, NewPane, Pane, TypingResult
from tests.app.staging import Stage
from tests.conftest import WaitUntil
from tests.fakes.bench import Bench

COMPOSER = Path(__file__).parent.parent.parent / "fakes" / "composer.py"
SPEC = AgentSpec(name="composer", command=("composer",), ready="─\\n> ?", busy="esc to interrupt")


class Around:
    """The watcher and the loop of an orchestrator that has seen no pane."""

    def __init__(self) -> None:
        self.sight = ObservedPanes()
        self.find_pane = self.sight.pane_id
        self.said: list[str] = []

    def look_at(self, launches: tuple[str, ...]) -> None:
        """Nothing is there to look at."""

    def say(self, message: str) -> None:
        self.said.append(message)

    def typing_spec(self, seat: str) -> AgentSpec:
        return SPEC


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
    sender = InputSender(session, around, around, around)
    for each in (first, second):
        asyncio.run(sender.send(each.id))
    ends = [event.fact for event, _ in session.files.tail(0) if isinstance(event.fact, InputEnded)]
    assert [end.input for end in ends] == [first.id, second.id]
    assert "nothing was typed" in ends[0].evidence
    assert "nothing was typed" not in ends[1].evidence
    assert "lost while it typed" in ends[1].evidence
    assert not session.state.inputs


@pytest.mark.parametrize(
    ("then", "says"),
    [("busy", "its question is answered"), ("waiting_for_user", "it still asks you something")],
)
def test_it_is_said_who_pressed_and_whether_the_question_is_answered(
    tmp_path: Path, then: str, says: str
) -> None:
    stage, around = Stage(tmp_path, "demo", cache=tmp_path / "cache"), cast("Any", Around())
    launch = stage.launch()["coder-1"].pane.launch
    around.sight.see((pane_of(launch),))

    def shows(status: str) -> None:
        seen = SeatStatus(status=status, source="screen", since="")
        around.sight.note("coder-1", seen)

    shows("waiting_for_user")
    around.look_at = lambda _: shows(then)
    stage.tell("coder-1", SeatAnswered(keys=("text:2",), screen="d"))
    world = stage.world()
    session = Session(world.files(stage.path), now=world.now, new_id=world.new_id)
    session.catch_up()

    async def press(*_: object, **__: object) -> TypingResult:
        return TypingResult(result=DeliveryResult.SENT, evidence="after that its screen changed")

    around.press = press
    asyncio.run(InputSender(session, around, around, around).send(session.state.inputs[0].id))
    assert around.said == [f"user: pressed `2` for coder-1: {says}"]


def pane_of(launch: str) -> Pane:
    return Pane(id="%1", window="@0", pid=1, dead=False, seat="coder-1", launch=launch,
                visible=True, activity=0)  # fmt: skip


def test_no_message_falls_between_the_keys_of_an_answer_which_it_waits_for(
    tmp_path: Path, tmux: Bench, wait_until: WaitUntil
) -> None:
    """The menu hides the input field until the first key; the message was given before it."""
    stage, around = Stage(tmp_path, "demo", cache=tmp_path / "cache"), cast("Any", Around())
    launch = stage.launch()["coder-1"].pane.launch
    log = tmp_path / "log"
    tmux.create_session(
        name="agentmux-d", uuid="u", cwd=tmp_path, size=(120, 40), argv=("sleep", "1000")
    )
    argv = (sys.executable, str(COMPOSER), str(log), "menu")
    own = tmux.last()
    new = NewPane(seat="coder-1", launch=launch, label="coder", argv=argv)
    pane = own.open_panes([new])[launch]
    wait_until(lambda: "Stop and wait" in own.capture([pane])[pane].text)
    around.sight.see(own.panes())
    menu = screen_digest(own.capture([pane])[pane].ansi)
    stage.tell("coder-1", SeatTold(text="a message"))
    stage.tell("coder-1", SeatAnswered(keys=("Enter", "text:words", "Enter"), screen=menu))
    world = stage.world()
    session = Session(world.files(stage.path), now=world.now, new_id=world.new_id)
    session.catch_up()
    tools = SimpleNamespace(
        terminal=own, type_into=delivery.deliver, press=keystrokes.press, require_lease=lambda: None
    )
    messenger = Messenger(world, session, cast("Any", tools), around, around)
    sender = InputSender(session, around, around, messenger)

    async def send_both() -> None:
        await asyncio.gather(*(sender.send(each.id) for each in session.state.inputs))

    asyncio.run(send_both())
    read = [literal_eval(line) for line in log.read_text().splitlines()]
    assert read == ["\r", "words", "\r", "\x1b[200~a message\x1b[201~", "\r"]
    ends = [event.fact for event, _ in session.files.tail(0) if isinstance(event.fact, InputEnded)]
    assert sorted(end.result for end in ends) == ["queued", "sent"]
