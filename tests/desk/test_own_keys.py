"""A user's own keys and theme in the desk: what they do, and that all hints name them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.theme import BUILTIN_THEMES

from agentmux.core.codec.frozen import replace
from agentmux.core.terminal.keys.key_table import KEYS
from tests.desk.test_app import SMALL, changed_project, install_claude, project, shown, tools_of
from tests.desk.test_fleet_screen import Known, _feature

__all__ = ["project"]

OWN = {
    "keys": ("f1",),
    "quit": ("ctrl+x",),
    "new": ("+", "f9"),
    "diff": ("m",),
    "focus": ("F",),
    "search": ("!",),
    "next_hit": (">",),
    "widen": ("w",),
    "resume": ("ctrl+r",),
    "look": ("L",),
    "fleet": ("G",),
    "last": ("pagedown",),
    "page_down": ("J",),
    "drain": ("E",),
}


def test_own_keys_act_and_the_others_do_nothing(project: Path) -> None:
    async def look() -> None:
        async with shown(replace(tools_of(project), keys=KEYS.with_own(OWN)), SMALL) as desk:
            await desk.shows("no sessions: + starts one", "Press + to start a feature")
            await desk.shows("+ new  ! search  F1 all keys  Ctrl-X quit")
            await desk.press("n", "question_mark", "q", "f1")
            await desk.shows("All keys of the desk", "  m          the diff: every change")
            assert "  Ctrl-R     resume it" in desk.screen
            await desk.press("escape", "f9")
            await desk.shows("What should be built?")
            await desk.press("escape", "ctrl+p")
            await desk.press(*"diff")
            await desk.shows("diff (m)", "the diff: every change so far")
            await desk.press("escape", "ctrl+x")
            assert desk.app.return_code == 0

    asyncio.run(look())


def test_hints_on_the_page_name_own_keys(project: Path) -> None:
    async def look() -> None:
        async with shown(replace(tools_of(project), keys=KEYS.with_own(OWN)), SMALL) as desk:
            await desk.shows("Ctrl-R: resume")
            await desk.press("N")
            await desk.shows("! searches in what is shown, after F or w")
            await desk.press("m", "exclamation_mark", *"return", "enter")
            await desk.shows("/return  1 of 2 lines  > N go on, Esc ends")
            await desk.press("greater_than_sign")
            await desk.shows("/return  2 of 2 lines")
            await desk.press("escape", "i")
            await desk.shows("Comment on")
            await desk.press("escape", "ctrl+r")
            await desk.shows("What a resume of")
            await desk.press("R")  # only the key that opened it means yes
            await desk.shows("What a resume of")

    changed_project(project)
    install_claude(project)
    asyncio.run(look())


def test_own_keys_hold_in_the_view_of_the_fleet(project: Path) -> None:
    async def look() -> None:
        fleet = Known(*(_feature(number, "running", session="s") for number in (1, 2, 3)))
        tools = replace(tools_of(project), fleet=fleet, keys=KEYS.with_own(OWN))
        async with shown(tools, SMALL) as desk:
            await desk.shows("G the fleet")
            await desk.press("G")
            await desk.shows("> 00000001  running", "E drain")
            await desk.press("pagedown")
            await desk.shows("> 00000003  running")
            await desk.press("H", "E")
            await desk.shows("Drain host a", "E or y yes, Esc no")
            await desk.press("escape", "G")
            await desk.shows("G the fleet")

    asyncio.run(look())


@pytest.mark.parametrize("theme", ["solarized-light", "nord"])
def test_a_theme_colours_every_cell_of_the_desk(project: Path, theme: str) -> None:
    background = str(BUILTIN_THEMES[theme].background).lower()

    async def look() -> None:
        tools = replace(tools_of(project), theme=theme, fleet=Known(_feature(1, "failed")))
        async with shown(tools, SMALL) as desk:
            for key, word in (("1", "cannot resume"), ("n", "What should"), ("f", "> 00000001")):
                await desk.press("escape", key)
                await desk.shows(word)
                strips = desk.app.screen._compositor.render_strips()
                styles = [each.style for strip in strips for each in strip]
                colours = {each.bgcolor.name if each and each.bgcolor else "" for each in styles}
                assert "" not in colours
                assert background in colours

    changed_project(project)
    asyncio.run(look())
