"""What a message to an agent can say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentmux.adapters.config.prompt_files import BUILT_IN
from agentmux.app.loop.panes.messenger import Messenger, message_inputs
from agentmux.app.loop.panes.observed_panes import ObservedPanes
from agentmux.core.decisions.next_actions import Tell
from agentmux.core.definitions.definition import Kind, Leaf, PhaseDefinition, PipelineDefinition
from agentmux.core.journal.events import PromptReached, ResearchTold
from agentmux.core.journal.state import Seat, SessionState
from agentmux.core.names.phase import ResearchKind
from agentmux.core.prompts.prompt import GO_ON, NUDGE, render
from agentmux.ports.tmux.terminal import DeliveryResult, TypingResult

MINE = PipelineDefinition(
    name="mine",
    phases=(
        PhaseDefinition(
            phase="threats",
            kind=Kind.DOCUMENT,
            folder="found",
            roles=("security",),
            leaves=(Leaf(file="threats.md"),),
        ),
        PhaseDefinition(phase="end", kind=Kind.COMPLETE, folder="end", roles=("security",)),
    ),
)


@pytest.mark.parametrize("name", [NUDGE, GO_ON])
def test_a_reminder_in_a_phase_of_ones_own_names_its_command(name: str) -> None:
    seat = Seat(launch="1", role="security", phase="threats", mode="fresh", reason="", since="")
    state = SessionState(phase="threats", pipeline=MINE, seats={"security": seat})
    inputs = message_inputs(state, "security", session=Path("/s"), tree=Path("/p"))
    text = render((BUILT_IN / f"{name}.md").read_text("utf-8"), inputs)
    assert "`agentmux submit phase threats`" in text


def test_a_prompt_is_typed_though_its_pane_was_not_listed_meanwhile(tmp_path: Path) -> None:
    seat = Seat(launch="1", role="coder", phase="coding", mode="fresh", reason="", since="")
    recorded: list[object] = []
    sight = ObservedPanes()

    async def type_into(*_: object, begins: Callable[[], None], **__: object) -> TypingResult:
        sight.see(())
        begins()
        return TypingResult(result=DeliveryResult.SUBMITTED, evidence="typed", typed=True)

    messenger = messenger_of(tmp_path, sight, type_into, seat, recorded)
    asyncio.run(messenger.prompt("coder", "1", "%1", "prompt.md"))
    assert recorded == [PromptReached(evidence="typed: submitted")]
    assert sight.unsent == {}


def test_who_asked_for_research_counts_as_told_only_once_it_was_typed(tmp_path: Path) -> None:
    seat = Seat(launch="1", role="coder", phase="coding", mode="fresh", reason="", since="")
    recorded: list[object] = []
    said: list[str] = []
    put_off: list[int] = []
    results = [DeliveryResult.REFUSED_DRAFT, DeliveryResult.REFUSED_DRAFT, DeliveryResult.SUBMITTED]

    async def type_into(*_: object, **__: object) -> TypingResult:
        assert recorded == []
        result = results.pop(0)
        return TypingResult(result=result, evidence="", typed=not results)

    def is_put_off(_: str) -> bool:
        put_off[-1] -= 1  # the screen changes after a while
        return put_off[-1] > 0

    messenger = messenger_of(tmp_path, ObservedPanes(), type_into, seat, recorded)
    quiet = SimpleNamespace(put_off=lambda _: put_off.append(3), is_put_off=is_put_off)
    watcher: Any = messenger._watcher
    watcher.quiet, watcher.look_s = quiet, 0.001
    messenger._loop = SimpleNamespace(say=said.append)
    messenger._world = SimpleNamespace(  # type: ignore[assignment]
        tree=tmp_path,
        texts=SimpleNamespace(templates=SimpleNamespace(template=lambda _: "it is done")),
    )
    asyncio.run(
        messenger.tell(Tell(seat="coder", launch="1", research=ResearchKind.CODE, topic="auth"))
    )
    assert recorded == [ResearchTold(research="code", topic="auth", result="submitted")]
    assert len(put_off) == 2
    (only,) = said
    assert "could not be told that the research on `auth` is done (there is a draft" in only


def messenger_of(
    path: Path,
    sight: ObservedPanes,
    type_into: Callable[..., Any],
    seat: Seat,
    recorded: list[object],
) -> Messenger:
    session: Any = SimpleNamespace(
        state=SessionState(phase="coding", seats={"coder": seat}),
        files=SimpleNamespace(path=path),
        record=lambda fact, **_: recorded.append(fact),
    )
    tools: Any = SimpleNamespace(terminal=None, require_lease=lambda: None, type_into=type_into)
    watcher: Any = SimpleNamespace(sight=sight, find_pane=sight.pane_id, typing_spec=lambda _: None)
    nothing: Any = None
    return Messenger(nothing, session, tools, watcher, nothing)


def test_a_prompt_is_not_typed_at_once_if_the_session_ends_in_the_same_turn(
    tmp_path: Path,
) -> None:
    seat = Seat(launch="1", role="coder", phase="coding", mode="fresh", reason="", since="")
    sight, tries = ObservedPanes(), 0

    async def type_into(*_: object, **__: object) -> TypingResult:
        nonlocal tries
        tries += 1
        await asyncio.sleep(0 if tries > 1 else 60)
        return TypingResult(result=DeliveryResult.SUBMITTED, evidence="typed", typed=True)

    async def play() -> None:
        messenger = messenger_of(tmp_path, sight, type_into, seat, [])
        prompt = asyncio.ensure_future(messenger.prompt("coder", "1", "%1", "prompt.md"))
        while not tries:
            await asyncio.sleep(0)
        sight.at_once.add("1")  # t was pressed
        messenger.type_at_once("1")
        prompt.cancel()  # and the session ends
        with pytest.raises(asyncio.CancelledError):
            await prompt

    asyncio.run(play())
    assert tries == 1
