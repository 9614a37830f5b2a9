"""Who is notified of what, and how often."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.adapters.wake.file_changes import wait_until_gone
from agentmux.adapters.wake.pipe import WakeFifo
from agentmux.app.loop.dependencies import LoopDependencies
from agentmux.app.loop.monitor.notices import Notices
from agentmux.app.session.writer import Session
from agentmux.core.config.settings import Address, NotifyRule
from agentmux.core.decisions.attention import TROUBLE, Attention, Notice
from agentmux.core.names import layout
from agentmux.core.names.occasion import Occasion
from agentmux.core.names.status_labels import SessionStatus
from agentmux.wiring import build
from tests.app.driver import NobodyDies, SimTerminal, ends_nobody, no_hints
from tests.app.loop.test_orchestrator import Silent
from tests.app.loop.test_watcher import never_typed
from tests.app.on_disk import OnDisk
from tests.fakes.notifier import Postbox

EVERYWHERE = NotifyRule(to=tuple(map(Address, ("bell", "tmux", "ntfy://tk_secret"))))
ASKS = Notice(key="question:coder:L1", on=Occasion.QUESTION, seat="coder")
DECIDES = Notice(key="decision:1:completing", on=Occasion.DECISION)
FAILS = "warning: the notification to ntfy://… failed: refused"


def seen(*notices: Notice, unclear: str = "") -> Attention:
    return Attention(
        status=SessionStatus.RUNNING,
        notices=notices,
        unclear=frozenset([unclear] if unclear else []),
    )


class Lab:
    """A session whose loop is the test; `again` is a new orchestrator."""

    name = "login"

    def __init__(self, path: Path) -> None:
        self.path = path / "shop" / ".agentmux" / ".sessions" / "20260101-101500-login"
        OnDisk(self.path, feature="Add a login\n\x1b[31mwith much")
        self.postbox, self.display, self.terminal = Postbox(), Silent(), SimTerminal()
        self.said: list[str] = []
        self.rules: tuple[NotifyRule, ...] = (EVERYWHERE,)
        self.again()

    def say(self, message: str) -> None:
        self.said.append(message)

    def again(self) -> None:
        world = build.world(self.path.parents[2], environ=dict(os.environ))
        world = replace(world, settings=replace(world.settings, notify=self.rules))
        session = Session(world.files(self.path), now=world.now, new_id=world.new_id)
        tools = LoopDependencies(
            terminal=self.terminal, lock=world.locks.session(self.path), wake=WakeFifo(self.path),
            deaths=NobodyDies(), type_into=never_typed, press=never_typed, display=self.display,
            hints=no_hints,
            gone=wait_until_gone, end=ends_nobody, notifier=self.postbox,
        )  # fmt: skip
        self.notices = Notices(world, session, tools, self)

    def told(self) -> list[str]:
        told: list[str] = json.loads((self.path / layout.NOTIFIED).read_text())["told"]
        return told

    async def look(self, *looks: Attention) -> None:
        for each in looks:
            self.notices.look(each)
            while self.notices._tasks:
                await asyncio.gather(*self.notices._tasks)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def run(work: Awaitable[object]) -> None:
    async def main() -> None:
        await asyncio.wait_for(work, 60)

    asyncio.run(main())


def test_a_reason_is_told_once_and_everywhere(lab: Lab) -> None:
    run(lab.look(seen(ASKS), seen(ASKS)))
    ((message, addresses),) = lab.postbox.sent
    assert addresses == ("ntfy://tk_secret",)
    assert message.title == "AgentMux: login: coder waits for you"
    assert message.body == "Add a login\nin shop: agentmux attach login"
    assert lab.display.rings == 1
    assert lab.terminal.messages == ["coder waits for you: agentmux attach login"]


def test_a_reason_that_comes_again_is_told_again(lab: Lab) -> None:
    run(lab.look(seen(ASKS), seen(), seen(ASKS)))
    assert lab.display.rings == 2


def test_a_screen_that_cannot_be_read_repeats_nothing(lab: Lab) -> None:
    run(lab.look(seen(ASKS), seen(unclear=ASKS.key), seen(ASKS)))
    assert lab.display.rings == 1


def test_the_next_orchestrator_tells_only_what_is_new(lab: Lab) -> None:
    run(lab.look(seen(ASKS)))
    lab.again()
    run(lab.look(seen(unclear=ASKS.key), seen(ASKS), seen(ASKS, DECIDES)))
    assert lab.display.rings == 2
    assert lab.told() == [DECIDES.key, ASKS.key]


def test_what_was_recorded_and_not_sent_is_never_sent(lab: Lab) -> None:
    """A crash between the record and the effect."""
    recorded: list[list[str]] = []

    class KilledError(BaseException):
        pass

    def die() -> None:
        recorded.append(lab.told())
        raise KilledError

    lab.display.ring = die  # type: ignore[method-assign]
    with pytest.raises(KilledError):
        run(lab.look(seen(DECIDES)))
    assert recorded == [[DECIDES.key]]
    lab.display = Silent()
    lab.again()
    run(lab.look(seen(DECIDES)))
    assert (lab.display.rings, lab.postbox.sent) == (0, [])


def test_nothing_is_sent_that_cannot_be_recorded(lab: Lab) -> None:
    (lab.path / layout.NOTIFIED).mkdir()
    run(lab.look(seen(ASKS), seen(ASKS)))
    assert (lab.display.rings, lab.postbox.sent) == (0, [])
    assert len(lab.said) == 1
    (lab.path / layout.NOTIFIED).rmdir()
    run(lab.look(seen(ASKS)))
    assert lab.display.rings == 1


def test_a_failure_is_one_message_that_hides_the_address(lab: Lab) -> None:
    lab.postbox.problem = "refused"
    run(lab.look(seen(ASKS), seen(DECIDES), seen(ASKS)))
    assert lab.said == [FAILS]
    lab.postbox.problem = ""
    run(lab.look(seen(DECIDES)))
    lab.postbox.problem = "refused"
    run(lab.look(seen(ASKS)))
    assert lab.said == [FAILS, FAILS]


def test_each_occasion_goes_where_the_user_wants_it(lab: Lab) -> None:
    bell = NotifyRule(on=(Occasion.QUESTION,), to=(Address("bell"),))
    lab.rules = (bell, NotifyRule(on=(Occasion.DECISION,), to=(Address("x://y"),)))
    lab.again()
    run(lab.look(seen(ASKS, DECIDES)))
    assert lab.display.rings == 1
    assert [message.title for message, _ in lab.postbox.sent] == [
        "AgentMux: login wants your decision"
    ]
    assert lab.terminal.messages == []


def test_an_address_that_hangs_holds_neither_a_look_nor_the_end(lab: Lab) -> None:
    free = threading.Event()

    def hang() -> None:
        free.wait(60)

    async def main() -> None:
        lab.postbox.before = hang
        loop = asyncio.get_running_loop()
        began = loop.time()
        lab.notices.look(seen(ASKS))
        assert loop.time() - began < 0.5
        await lab.notices.close()
        assert loop.time() - began < 5

    run(main())
    free.set()


def test_the_end_waits_until_messages_are_on_their_way(lab: Lab) -> None:
    async def main() -> None:
        lab.notices.look(seen(DECIDES))
        await lab.notices.close()
        assert len(lab.postbox.sent) == 1

    run(main())


def test_a_problem_that_is_soon_over_is_not_told(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    trouble = Notice(key="stalled", on=Occasion.STALLED)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        monkeypatch.setattr(loop, "time", lambda: began)
        lab.notices.look(seen(trouble))
        lab.notices.look(seen())
        monkeypatch.setattr(loop, "time", lambda: began + 20)
        lab.notices.look(seen(trouble))
        assert lab.display.rings == 0
        monkeypatch.setattr(loop, "time", lambda: began + 60)
        lab.notices.look(seen(trouble))
        assert lab.display.rings == 1
        monkeypatch.undo()

    run(main())


def test_another_orchestrator_tells_nobody_again_of_trouble_that_lasts(lab: Lab) -> None:
    trouble = Notice(key=TROUBLE, on=Occasion.STALLED)
    (lab.path / layout.NOTIFIED).write_text(json.dumps({"told": [TROUBLE]}))
    run(lab.look(seen(trouble)))
    assert lab.told() == [TROUBLE]
    assert not lab.postbox.sent


@pytest.mark.parametrize("data", ["[" * 99_000, '{"told": 5}', "[]", "\ufeff", "null"])
def test_a_damaged_record_keeps_nobody_from_being_told(lab: Lab, data: str) -> None:
    (lab.path / layout.NOTIFIED).write_text(data)
    run(lab.look(seen(ASKS)))
    assert lab.told() == [ASKS.key]
    assert lab.display.rings == 1
