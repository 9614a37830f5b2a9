"""The view of the fleet: what is marked, what stays while it is read anew, and what fits."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.events import Key

from agentmux.core.codec.frozen import replace
from agentmux.core.fleet.board import FleetBoard, FleetFeature, FleetQuestion
from agentmux.core.fleet.routing import HostFacts
from agentmux.desk.tools import DeskTools
from agentmux.errors import MissingError
from tests.desk.test_app import SMALL, project, shown, tools_of

__all__ = ["project"]


def _feature(number: int, status: str = "queued", **more: str) -> FleetFeature:
    values = {"phase": "", "host": "", "session": "", "reason": "", **more}
    name = f"{number:08d}-0000-0000-0000-000000000000"
    return FleetFeature(id=name, title=f"feature {number}", status=status, asks=False, **values)


class Known:
    """A fleet of which a test says what there is; its hosts are older at every look."""

    def __init__(self, *features: FleetFeature) -> None:
        self.features, self.looks, self.is_away = features, 0, False

    def is_set_up(self) -> bool:
        return True

    def board(self) -> FleetBoard:
        self.looks += 1
        if self.is_away:
            raise MissingError("the database is away")
        hosts = (
            HostFacts(id=name, name=name, slots=2, busy=0, age_s=self.looks) for name in ("a", "b")
        )
        return FleetBoard(features=self.features, hosts=tuple(hosts))

    def question(self, feature: str) -> FleetQuestion:
        (found,) = (each for each in self.features if each.id == feature)
        return FleetQuestion(feature=found)

    def forget(self) -> None:
        """Know nothing from before."""


def _tools(project: Path, fleet: Known) -> DeskTools:
    return replace(tools_of(project), fleet=fleet)


def test_one_feature_and_one_host_are_marked_and_keys_are_about_them(project: Path) -> None:
    async def look() -> None:
        fleet = Known(*(_feature(number, "running", session="s") for number in (1, 2, 3)))
        async with shown(_tools(project, fleet), SMALL) as desk:
            await desk.press("f")
            await desk.shows("> 00000001  running", "\n  00000002", "\n> host a", "\n  host b")
            await desk.press("down")
            await desk.shows("\n  00000001  running", "> 00000002")
            await desk.press("tab", "down")
            await desk.shows("> 00000002", "\n  host a", "> host b")
            await desk.press("x", "d")  # harmless elsewhere, and nothing here
            await desk.press("H")
            await desk.shows("Drain host b", "H or y yes")
            await desk.press("escape", "tab")
            for key in ("G", "S"):  # as fast as a key that is held
                desk.app.post_message(Key(key, key))
            await desk.shows("Cancel 00000003")

    asyncio.run(look())


def test_the_palette_has_the_keys_of_the_fleet_while_that_is_shown(project: Path) -> None:
    async def look() -> None:
        async with shown(_tools(project, Known(_feature(1))), SMALL) as desk:
            await desk.press("f")
            await desk.shows("> 00000001")
            await desk.press("ctrl+p")
            await desk.shows("approve (a)", "open (Enter)")
            assert "answer (x)" not in desk.screen
            await desk.press(*"drain")
            await desk.shows("drain (H)", "let the host that is marked below")
            await desk.press("enter", "enter")
            await desk.shows("Drain host a")
            await desk.press("escape", "escape", "ctrl+p")
            await desk.shows("answer (x)")

    asyncio.run(look())


def test_what_is_marked_and_scrolled_to_stays_while_the_fleet_is_read_anew(project: Path) -> None:
    async def again(desk_looks: int, fleet: Known) -> None:
        while fleet.looks == desk_looks:
            await asyncio.sleep(0.01)

    async def look() -> None:
        fleet = Known(*map(_feature, range(60)))
        async with shown(_tools(project, fleet), SMALL) as desk:
            await desk.press("f")
            await desk.shows("> 00000000")
            await desk.press("end", "up", "up", "up")
            before = await desk.shows("> 00000056", "00000059")
            await desk.press("ctrl+r")
            await again(1, fleet)
            await desk.pilot.pause()
            assert await desk.shows("> 00000056") == before
            fleet.is_away = True
            await desk.press("ctrl+r")
            await desk.shows("cannot be read now", "the database is away")
            fleet.is_away = False
            await desk.press("ctrl+r")
            assert await desk.shows("> 00000056", "60 in the queue") == before

    asyncio.run(look())


@pytest.mark.parametrize(
    ("cols", "last"), [(80, "1 in the queue"), (100, "1 ended"), (40, "to decide")]
)
def test_the_first_line_has_what_fits_whole(project: Path, cols: int, last: str) -> None:
    async def look() -> None:
        asks = replace(_feature(1, "waiting"), asks=True)
        others = ("waiting", "failed", "running", "queued", "done")
        features = (_feature(at, each, phase=each) for at, each in enumerate(others, start=2))
        async with shown(_tools(project, Known(asks, *features)), (cols, 24)) as desk:
            await desk.press("f")
            first = (await desk.shows("to decide 1", "> 00000001")).partition("\n")[0]
            assert first.startswith("the fleet  1 to decide")
            assert first.endswith(last)
            await desk.pilot.resize_terminal(120, 24)
            await desk.shows("1 in the queue  1 ended\n")
            assert "done  done" not in desk.screen

    asyncio.run(look())
