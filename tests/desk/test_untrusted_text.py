"""What agents write reaches the desk's screen without anything that a terminal would act on."""

import asyncio
import json
from pathlib import Path

import pytest

from agentmux.core.names import layout
from agentmux.core.terminal.keys.key_commands import TABS
from agentmux.desk.app import DeskApp
from tests.cli.picker.picker_lab import make_session
from tests.desk.test_app import project, shown, tools_of

__all__ = ["project"]

HOSTILE = "plain \x1b]0;owned\x07\x1b[2J\x1b[31mred \u202etxt\x00 end"
STEP_S = 0.6


def _written(home: Path) -> None:
    folder = home / "08_completion"
    folder.mkdir(exist_ok=True)
    (folder / "summary.md").write_text(f"# {HOSTILE}\n\n- {HOSTILE}\n\n```\n{HOSTILE}\n```\n")
    (folder / "\x1b]0;owned\x07\x1b[2J.txt").write_text(HOSTILE)
    (home / layout.SNAPSHOTS).mkdir(exist_ok=True)
    (home / layout.snapshot("coder")).write_text(json.dumps({
        "v": 1, "seat": "coder", "agent": HOSTILE, "ansi": HOSTILE, "cols": 60, "rows": 10,
        "captured_at": "2026-01-01T11:53:00.000Z", "exit_status": None,
    }))  # fmt: skip


def _unsafe(text: str) -> list[str]:
    return [line for line in text.split("\n") if line and not line.isprintable()]


@pytest.mark.parametrize("tab", TABS)
def test_no_control_character_of_an_agent_reaches_the_screen(project: Path, tab: str) -> None:
    make_session(project, "20260101-090000-fix-crash", feature="Fix the crash")
    _written(project / layout.SESSIONS_DIR / "20260101-090000-fix-crash")

    async def look() -> None:
        async with shown(tools_of(project), (100, 30)) as desk:
            await desk.shows("> fix-crash", "Phases")
            await desk.press(str(TABS.index(tab) + 1))
            for _ in range(2 if tab == "documents" else 1):
                await desk.pilot.pause(STEP_S)
                assert _unsafe(desk.screen) == []
                await desk.press("full_stop")
            await desk.pilot.pause(STEP_S)
            assert _unsafe(desk.screen) == []

    asyncio.run(look())


def test_no_control_character_of_a_command_reaches_the_screen(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project), (100, 30)) as desk:
            await desk.shows("no sessions")
            assert isinstance(desk.app, DeskApp)
            desk.app.say(HOSTILE)
            await desk.shows("plain")
            assert _unsafe(desk.screen) == []

    asyncio.run(look())


def test_a_long_paragraph_is_shown_to_its_end(project: Path) -> None:
    make_session(project, "20260101-090000-fix-crash", feature="Fix the crash")
    folder = project / layout.SESSIONS_DIR / "20260101-090000-fix-crash" / "08_completion"
    folder.mkdir(exist_ok=True)
    (folder / "summary.md").write_text("word " * 2000 + "the-end\n")

    async def look() -> None:
        async with shown(tools_of(project), (100, 30)) as desk:
            await desk.shows("> fix-crash", "Phases")
            await desk.press("3")
            await desk.shows("word word")
            await desk.press("tab", "end")
            await desk.shows("the-end")

    asyncio.run(look())
