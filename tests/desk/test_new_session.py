"""The dialog for a new session: what it shows, and which answer it gives."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot

from agentmux.app.commands.begin.start_offer import StartOffer
from agentmux.app.commands.look.agent_offers import AgentOffer
from agentmux.core.codec.frozen import replace
from agentmux.desk.app import DeskApp
from agentmux.desk.screens.new_session import NewSession, NewSessionDialog

SHOP, TOOLS = Path("/work/shop"), Path("/work/tools")
CLAUDE = AgentOffer(name="claude", says="its conversations come back", resumes=True)
CODEX = AgentOffer(name="codex", says="not installed: npm i codex", is_installed=False)
DEMO = AgentOffer(name="demo", says="scripted")
OFFER = StartOffer(
    project=SHOP,
    agents=(CLAUDE, CODEX, DEMO),
    configured="",
    pipelines=(("feature", "the whole way"), ("quick", "For a small change")),
    places=(("as usual", "the checkout"), ("worktree", "of its own")),
)


class Bare(App[None]):
    """An application with nothing but the styles of the desk."""

    CSS = DeskApp.CSS


class Shown:
    """The dialog in an application of its own."""

    def __init__(self, pilot: Pilot[None], answers: list[NewSession | None]) -> None:
        self._pilot, self.answers = pilot, answers

    @property
    def screen(self) -> str:
        rows = self._pilot.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in rows)

    async def shows(self, *words: str) -> None:
        for _ in range(1000):
            if all(word in self.screen for word in words):
                return
            await self._pilot.pause(0.02)
        pytest.fail(f"{words} not in:\n{self.screen}")

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)

    async def type(self, text: str) -> None:
        await self._pilot.press(*(each if each != " " else "space" for each in text))

    async def answer(self) -> NewSession | None:
        for _ in range(1000):
            if self.answers:
                return self.answers[0]
            await self._pilot.pause(0.02)
        pytest.fail(f"no answer:\n{self.screen}")


@asynccontextmanager
async def shown(
    offer: Callable[[Path], StartOffer | None],
    *,
    draft: NewSession | None = None,
    trouble: str = "",
) -> AsyncIterator[Shown]:
    app = Bare()
    answers: list[NewSession | None] = []
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = NewSessionDialog((SHOP, TOOLS), offer, draft=draft, trouble=trouble)
        await app.push_screen(dialog, answers.append)
        yield Shown(pilot, answers)


def test_the_first_installed_agent_and_the_defaults_are_chosen() -> None:
    async def look() -> NewSession | None:
        async with shown(lambda _: OFFER) as dialog:
            await dialog.shows("\u2039 claude \u203a  1 of 3  its conversations come back")
            await dialog.type("add it")
            await dialog.press("ctrl+s")
            return await dialog.answer()

    assert asyncio.run(look()) == NewSession(text="add it", project=SHOP, agent="claude")


def test_every_line_can_be_changed() -> None:
    async def look() -> NewSession | None:
        async with shown(lambda project: replace(OFFER, project=project)) as dialog:
            await dialog.shows("claude")
            await dialog.type("add it")
            await dialog.press("tab", "right")
            await dialog.shows("\u2039 tools \u203a")
            await dialog.press("tab", "d", "tab", "q", "tab", "right", "enter")
            return await dialog.answer()

    wanted = NewSession(
        text="add it", project=TOOLS, agent="demo", pipeline="quick", place="worktree"
    )
    assert asyncio.run(look()) == wanted


def test_the_configured_agents_are_named_and_taken() -> None:
    async def look() -> NewSession | None:
        async with shown(lambda _: replace(OFFER, configured="claude, codex")) as dialog:
            await dialog.shows("\u2039 as configured \u203a  1 of 4  claude, codex")
            await dialog.type("x")
            await dialog.press("ctrl+s")
            return await dialog.answer()

    assert asyncio.run(look()) == NewSession(text="x", project=SHOP)


def test_an_agent_that_is_not_installed_is_refused_with_the_way_to_get_it() -> None:
    async def look() -> NewSession | None:
        async with shown(lambda _: OFFER) as dialog:
            await dialog.shows("claude")
            await dialog.type("x")
            await dialog.press("tab", "tab", "c", "ctrl+s")
            await dialog.shows("codex is not installed: npm i codex")
            assert not dialog.answers
            await dialog.press("left", "ctrl+s")
            return await dialog.answer()

    answer = asyncio.run(look())
    assert answer is not None
    assert answer.agent == "claude"


def test_where_none_is_installed_it_says_how_to_get_one_before_anything_is_chosen() -> None:
    async def look() -> None:
        async with shown(lambda _: replace(OFFER, agents=(CODEX, DEMO))) as dialog:
            await dialog.shows("No coding agent is installed here; codex is not installed: npm i")
            await dialog.shows("demo, in the list, needs none")

    asyncio.run(look())


def test_what_is_sent_before_the_agents_are_known_waits_for_them() -> None:
    known = threading.Event()

    def offer(_: Path) -> StartOffer:
        assert known.wait(60)
        return OFFER

    async def look() -> NewSession | None:
        async with shown(offer) as dialog:
            await dialog.type("x")
            await dialog.press("ctrl+s")
            await dialog.shows("looking which agents are installed")
            assert not dialog.answers
            known.set()
            return await dialog.answer()

    answer = asyncio.run(look())
    assert answer is not None
    assert answer.agent == "claude"


def test_what_was_not_started_is_there_again_with_the_reason() -> None:
    draft = NewSession(
        text="add it", project=TOOLS, agent="demo", pipeline="quick", place="worktree"
    )

    async def look() -> NewSession | None:
        async with shown(lambda _: OFFER, draft=draft, trouble="it is taken\nstop it") as dialog:
            await dialog.shows("add it", "it is taken", "stop it", "\u2039 tools \u203a", "quick")
            await dialog.press("ctrl+s")
            return await dialog.answer()

    assert asyncio.run(look()) == draft


def test_a_project_that_cannot_be_read_is_left_to_the_command() -> None:
    async def look() -> NewSession | None:
        async with shown(lambda _: None) as dialog:
            await dialog.type("x")
            await dialog.press("ctrl+s")
            return await dialog.answer()

    assert asyncio.run(look()) == NewSession(text="x", project=SHOP)


def test_nothing_written_is_not_sent_and_escape_cancels() -> None:
    async def look() -> NewSession | None:
        async with shown(lambda _: OFFER) as dialog:
            await dialog.shows("claude", "Esc cancels")
            await dialog.press("ctrl+s", "escape")
            return await dialog.answer()

    assert asyncio.run(look()) is None
