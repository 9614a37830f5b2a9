"""The screens of the desk, as text, and what keys do to them."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agentmux.adapters.system.processes.command_runs import CommandRuns
from agentmux.core.codec.frozen import replace
from agentmux.core.names.phase import Phase
from agentmux.core.terminal.keys.key_commands import DESK, TABS
from agentmux.core.terminal.keys.key_table import KEYS
from agentmux.desk.app import DeskApp
from agentmux.desk.list.listing import DeskRow
from agentmux.desk.list.reading import SessionReader
from agentmux.desk.list.session_feed import SessionFeed
from agentmux.desk.session.pages import SessionPage, SessionPages
from agentmux.desk.tools import DeskTools
from agentmux.overriding import override
from agentmux.wiring import build, machine
from tests.cli.picker.picker_lab import AT, make_session

SCREENS = Path(__file__).with_name("screens")
WIDE, SMALL = (110, 30), (80, 24)
SAME = "/tmp/amx-________"


@pytest.fixture
def project() -> Iterator[Path]:
    """A project whose path has the same length in every run."""
    made = Path(tempfile.mkdtemp(prefix="amx-", dir="/tmp"))
    try:
        (made / "calc").mkdir()
        yield made / "calc"
    finally:
        shutil.rmtree(made)


def tools_of(*projects: Path, agent: str = "") -> DeskTools:
    top = projects[0].parent
    (top / "bin").mkdir(exist_ok=True)
    for name in ("tmux", "git"):
        (top / "bin" / name).symlink_to(shutil.which(name) or "/missing")
    environ = {
        **os.environ,
        "TMUX_TMPDIR": str(top),
        "PATH": str(top / "bin"),
        "SHELL": "/bin/sh",  # a pane without an agent names it
    }
    reader = SessionReader(
        partial(build.site, config=None, environ=environ),
        partial(build.world, config=None, environ=environ, read_only=True),
    )
    feed = SessionFeed(reader, lambda: projects, top / "projects")
    feed.begin()
    return DeskTools(
        reader=reader,
        feed=feed,
        commands=CommandRuns(program=("/bin/false",), environ=environ, locate=machine.locate),
        foreground=lambda *_: 0,
        now=lambda: AT + timedelta(hours=2),
        here=projects[0],
        agent=agent,
    )


class Shown:
    """A desk that runs without a terminal."""

    def __init__(self, pilot: Pilot[int]) -> None:
        self.pilot = pilot
        app = pilot.app
        assert isinstance(app, DeskApp)
        self.app = app

    @property
    def screen(self) -> str:
        rows = [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]
        return "\n".join(rows).rstrip() + "\n"

    async def shows(self, *words: str) -> str:
        """Wait until the screen has all of these words; return the screen."""
        if not await self.until(lambda: all(word in self.screen for word in words)):
            pytest.fail(f"{words} not in:\n{self.screen}")
        return self.screen

    async def lacks(self, word: str) -> None:
        """Wait until the screen does not have this word."""
        if not await self.until(lambda: word not in self.screen):
            pytest.fail(f"{word} in:\n{self.screen}")

    async def until(self, holds: Callable[[], bool]) -> bool:
        """Wait until a condition holds; return False if it does not in a minute."""
        for _ in range(3000):
            if holds():
                return True
            await self.pilot.pause(0.02)
        return False

    async def is_kept(self, project: Path, name: str) -> None:
        """Wait until the screen is the kept one; with ``KEEP_SCREENS=1`` keep it anew."""
        path = SCREENS / f"{name}.txt"
        if os.environ.get("KEEP_SCREENS"):
            await self.pilot.pause(1)
            path.write_text(self._masked(project))
        await self.until(lambda: self._masked(project) == path.read_text())
        assert self._masked(project) == path.read_text()

    def _masked(self, project: Path) -> str:
        screen = self.screen.replace(str(project.parent), SAME)
        screen = re.sub(r"\b\d+d ago", "300d ago", screen)
        screen = re.sub(r"journal_id=\S+", "journal_id=", screen)
        screen = re.sub(r"(architect=)[0-9a-f]{8}", r"\1________", screen)
        return re.sub(r"\b\d\d:\d\d\b", "hh:mm", screen)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)


@asynccontextmanager
async def shown(tools: DeskTools, size: tuple[int, int] = WIDE) -> AsyncIterator[Shown]:
    app = DeskApp(tools)
    async with app.run_test(size=size) as pilot:
        yield Shown(pilot)
    tools.feed.close()


def three(project: Path) -> Path:
    """Make three sessions; return the one that is selected first."""
    make_session(project, "20260101-080000-add-login", feature="Add a login form")
    make_session(project, "20260101-070000-old-one", phase=Phase.DONE, feature="An old one")
    return make_session(project, "20260101-090000-fix-crash", feature="Fix the crash at midnight")


def install_claude(project: Path) -> None:
    """Put a program on the PATH of the desk that `tools_of` makes."""
    program = project.parent / "bin/claude"
    program.parent.mkdir(exist_ok=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)


def test_what_is_shown_gets_the_whole_width_and_gives_it_back(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project), SMALL) as desk:
            await desk.shows("> fix-crash", "overview")
            await desk.press("z")
            await desk.shows("1 overview  2 screens  3 docs", "fix-crash\n")
            assert "add-login" not in desk.screen
            await desk.press("o", "tab")
            await desk.shows("> fix-crash", "add-login", "3 docs")
            await desk.press("z", "slash")
            await desk.shows("\n/\u258f")  # the search is in what is shown
            await desk.press("escape", "tab", "slash")
            await desk.shows("> fix-crash", "add-login", "/\u258f")

    three(project)
    asyncio.run(look())


@pytest.mark.parametrize(("size", "name"), [(WIDE, "wide"), (SMALL, "small"), ((38, 9), "tiny")])
def test_the_list_beside_the_overview(project: Path, size: tuple[int, int], name: str) -> None:
    async def look() -> None:
        async with shown(tools_of(project), size) as desk:
            await desk.is_kept(project, f"overview-{name}")

    three(project)
    asyncio.run(look())


@pytest.mark.parametrize(("cols", "rows"), [(80, 24), (120, 36), (200, 50)])
def test_every_tab_and_box_looks_as_it_was_kept(project: Path, cols: int, rows: int) -> None:
    home = three(project)
    (home / "08_completion").mkdir()
    (home / "08_completion/summary.md").write_text(
        "# Summary\n\nThe crash at midnight is gone: `add` takes dates.\n\n- a part\n- its tests\n"
    )

    async def look() -> None:
        async with shown(tools_of(project), (cols, rows)) as desk:
            await desk.shows("> fix-crash", "cannot resume", "Phases")
            for number, tab in enumerate(TABS, start=1):
                await desk.press(str(number))
                await desk.is_kept(project, f"{tab}-{cols}x{rows}")
            await desk.press("1")
            for name, key in {"new": "n", "keys": "question_mark", "remove": "D"}.items():
                await desk.shows("Phases")
                await desk.press(key)
                await desk.is_kept(project, f"{name}-{cols}x{rows}")
                await desk.press("escape")

    asyncio.run(look())


def test_where_no_project_is_a_new_session_begins_in_a_known_one_or_nowhere(
    project: Path,
) -> None:
    tools = tools_of(project)

    async def look() -> None:
        async with shown(replace(tools, here=None)) as desk:
            await desk.press("n")
            await desk.shows("no project is known here: go to yours, and open the desk there")

    asyncio.run(look())


def test_every_tab_of_a_session_at_rest(project: Path) -> None:
    words = {
        "screens": "nothing yet",
        "documents": "20260101-090000-fix-crash",
        "diff": "nothing has changed",
        "why": "resumes in architecting",
        "journal": "session started",
    }

    async def look() -> None:
        async with shown(tools_of(project)) as desk:
            await desk.shows("> fix-crash")
            for number, tab in enumerate(TABS, start=1):
                await desk.press(str(number))
                await desk.shows(words.get(tab, "Phases"))
            await desk.press("left")
            await desk.shows("resumes in architecting")

    three(project)
    asyncio.run(look())


def three_with_documents(project: Path) -> Path:
    """Make three sessions; return the one that is selected first, which has two documents."""
    home = three(project)
    (home / "08_completion").mkdir(exist_ok=True)
    for name in ("summary.md", "verdict.md"):
        (home / "08_completion" / name).write_text(f"the {name}\n")
    return home


def write_newer(home: Path) -> None:
    """Write a document that stands before the others."""
    (home / "09_later").mkdir()
    (home / "09_later/newer.md").write_text("something newer\n")
    (home / "state.json").touch()


def test_what_is_read_stays_when_something_newer_is_written(project: Path) -> None:
    home = three_with_documents(project)

    async def look() -> None:
        async with shown(tools_of(project)) as desk:
            await desk.shows("> fix-crash")
            await desk.press("3")
            await desk.shows("the summary.md", "1 of 4")
            await desk.press("full_stop")
            await desk.shows("the verdict.md", "2 of 4")
            write_newer(home)
            await desk.shows("the verdict.md", "3 of 5")
            await desk.press("comma")
            await desk.shows("the summary.md", "2 of 5")
            await desk.press("3")
            await desk.shows("something newer", "1 of 5")

    asyncio.run(look())


class HeldPages(SessionPages):
    """Pages of which one can be held back until the test lets it go."""

    def __init__(self, tools: DeskTools) -> None:
        super().__init__(tools.reader, tools.commands.locate)
        self.holds, self.is_held, self.goes_on = False, threading.Event(), threading.Event()

    @override
    def page(self, row: DeskRow, tab: str, at: int = 0, name: str = "") -> SessionPage:
        page = super().page(row, tab, at, name)
        if self.holds:
            self.holds = False
            self.is_held.set()
            assert self.goes_on.wait(60)
        return page


def test_a_page_that_was_on_its_way_does_not_undo_a_key(project: Path) -> None:
    home = three_with_documents(project)

    async def look() -> None:
        async with shown(tools_of(project)) as desk:
            await desk.shows("> fix-crash")
            app = desk.app
            assert isinstance(app, DeskApp)
            app.pages = pages = HeldPages(app.tools)
            await desk.press("3")
            await desk.shows("the summary.md", "1 of 4")
            await desk.press("full_stop")
            await desk.shows("the verdict.md", "2 of 4")
            write_newer(home)
            await desk.shows("the verdict.md", "3 of 5")
            pages.holds = True
            (home / "state.json").touch()
            while not pages.is_held.is_set():
                await desk.pilot.pause(0.02)
            await desk.press("comma")
            pages.goes_on.set()
            await desk.shows("the summary.md", "2 of 5")

    asyncio.run(look())


def test_keys_and_the_palette_have_the_words_of_the_table(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project), (110, 60)) as desk:
            await desk.shows("no sessions: n starts one")
            await desk.press("question_mark")
            await desk.is_kept(project, "keys")
            await desk.press("escape", "ctrl+p")
            await desk.press(*"approve")
            await desk.shows("approve (a)", "shows what would happen, then asks")

    asyncio.run(look())


def test_the_palette_has_every_command_of_the_table(project: Path) -> None:
    async def look() -> set[str]:
        async with shown(tools_of(project)) as desk:
            return {each.title for each in desk.app.get_system_commands(desk.app.screen)}

    titles = asyncio.run(look())
    wanted = [each for each in KEYS.lines_at(*DESK) if each.runs]
    assert {f"{each.command.value} ({each.label})" for each in wanted} <= titles
    assert {f"show {tab}" for tab in TABS} <= titles


def test_a_search_takes_letters_that_are_keys_and_ends(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project)) as desk:
            await desk.shows("> fix-crash")
            await desk.press("slash", *"adlog", "q", "backspace", "enter")
            screen = await desk.shows("> add-login", "/adlog")
            assert "fix-crash" not in screen
            await desk.press("escape")
            await desk.shows("> add-login", "fix-crash")
            await desk.press("slash", *"zzz")
            await desk.shows(
                "/zzz", "nothing matches: Esc ends it", "No session matches", "Ctrl-U all"
            )
            await desk.press("ctrl+u")
            await desk.shows("fix-crash")

    three(project)
    asyncio.run(look())


def test_moving_marking_and_the_other_side(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project), SMALL) as desk:
            await desk.shows("> fix-crash")
            await desk.press("space", "end")
            await desk.shows(" *fix-crash", "> old-one")
            await desk.press("home")
            await desk.shows(">*fix-crash")
            await desk.press("escape", "down")
            await desk.shows("> add-login", "  fix-crash")
            await desk.press("tab", "down", "down")
            await desk.shows("> add-login")
            await desk.press("escape", "down")
            await desk.shows("> old-one")
            await desk.press("o")
            await desk.shows("no session needs you")

    three(project)
    asyncio.run(look())


def test_the_end_of_a_long_message_is_shown(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project), SMALL) as desk:
            desk.app.say("agentmux: 20260101-a-long-name-of-a-session: " * 3 + "pressed Enter")
            message = desk.app.query_one("#said")
            await desk.shows("a-long-name", "pressed Enter", "q quit")
            assert await desk.until(lambda: message.size.height == 3)
            await desk.pilot.pause()  # so that it has seen its own size, too
            desk.app.say("all is well")
            screen = await desk.shows("all is well")
            assert await desk.until(lambda: message.size.height == 1)
            assert "a-long-name" not in screen
            assert len(screen.splitlines()) == SMALL[1]

    asyncio.run(look())


def test_a_resume_shows_its_plan_and_a_failure_says_what_the_command_said(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project), SMALL) as desk:
            await desk.shows("> fix-crash", "R: resume")
            await desk.press("enter")
            await desk.shows("What a resume of")
            await desk.is_kept(project, "resume")
            await desk.press("y")
            await desk.shows("t runs it in this terminal")
            await desk.is_kept(project, "failure")

    three(project)
    install_claude(project)
    asyncio.run(look())


def test_a_resume_that_is_blocked_says_so_and_offers_no_yes(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project), SMALL) as desk:
            await desk.shows("> fix-crash", "blocked", "cannot resume: no program `claude`")
            await desk.lacks("R: resume")  # it is offered until it is known what it would do
            await desk.press("enter")
            screen = await desk.shows("t runs it in this terminal", "npm install -g")
            assert "Enter resume" not in screen
            await desk.is_kept(project, "resume-blocked")

    three(project)
    asyncio.run(look())


def test_an_agent_may_look_but_not_decide(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project, agent="this is for a person")) as desk:
            await desk.shows("> fix-crash")
            for key in ("a", "c", "x", "R", "r", "S", "D", "n"):
                await desk.press("2", key)
                await desk.shows("this is for a person", "nothing yet")

    three(project)
    asyncio.run(look())


def test_a_session_that_cannot_be_read_is_shown_with_its_reason(project: Path) -> None:
    async def look() -> str:
        async with shown(tools_of(project)) as desk:
            return await desk.shows("> broken", "unreadable", "needs you 1")

    path = make_session(project, "20260101-090000-broken")
    for name in ("state.json", "state.json.bak"):
        (path / name).unlink(missing_ok=True)
    (path / "tool_events.jsonl").write_text('{"v": 999, "event": "of a later version"}\n')
    assert "unreadable" in asyncio.run(look())


def changed_project(project: Path) -> None:
    """Make a session that has changed one file and added another."""

    def git(*words: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        argv = ("git", "-C", str(project), *identity, *words)
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    (project / "calc.py").write_text("def add(a, b):\n    return a\n")
    git("add", "calc.py")
    git("commit", "-qm", "first")
    base = git("rev-parse", "HEAD")
    make_session(project, "20260101-090000-fix-crash", feature="Fix it", base=base)
    (project / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    (project / "names.py").write_text("ADD = 'add'\n")


def test_the_files_of_a_diff_are_listed_and_gone_to(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project), SMALL) as desk:
            await desk.shows("> fix-crash")
            await desk.press("4")
            await desk.shows("1 of 2 (. next)  M calc.py +1 -1", "+    return a + b")
            await desk.press("full_stop")
            await desk.shows("2 of 2 (. next)  A names.py +1")
            await desk.press("v")
            await desk.shows("2 changed files", "M calc.py +1 -1", "Enter goes there")
            await desk.press("up", "enter")
            await desk.shows("1 of 2 (. next)  M calc.py")
            await desk.press("1")
            await desk.shows("cannot resume")
            await desk.press("v")
            await desk.shows("no changed files are shown: d shows the diff")

    changed_project(project)
    asyncio.run(look())


def test_the_key_of_the_diff_lets_the_keys_move_in_it_and_escape_leads_back(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project), SMALL) as desk:
            await desk.shows("> fix-crash")
            await desk.press("d")
            await desk.shows("calc.py +1 -1")
            at = desk.app.view.cursor
            await desk.press("down", "down")
            assert desk.app.view.cursor == at + 2
            await desk.press("slash", *"RETURN", "enter")
            await desk.shows("/RETURN  1 of 2 lines", "> fix-crash")
            await desk.press("escape", "escape", "slash", *"no-such", "enter")
            await desk.shows("nothing matches")

    changed_project(project)
    asyncio.run(look())


def test_the_line_above_a_diff_names_only_keys_for_which_it_has_room(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project), SMALL) as desk:
            await desk.shows("> fix-crash")
            await desk.press("d")
            await desk.shows("1 of 2 (. next)  M calc.py +1 -1  z wide\n")
            await desk.press("z")
            await desk.shows("M calc.py +1 -1  z list  v files  e edit  i comment\n")

    changed_project(project)
    asyncio.run(look())


def test_the_side_that_has_the_keys_is_seen_without_colour(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project), SMALL) as desk:
            await desk.shows("> fix-crash", " \u2502 ", "? all keys")
            await desk.press("tab")
            await desk.shows("\u2503", "\nTab list  ")
            await desk.press("tab")
            await desk.lacks("\u2503")
            await desk.lacks("Tab list")

    three(project)
    asyncio.run(look())


def test_outside_a_project_no_session_can_be_begun(project: Path) -> None:
    async def look() -> None:
        async with shown(replace(tools_of(project), here=None), SMALL) as desk:
            screen = await desk.shows("no sessions", "folder of yours, and run agentmux")
            assert "n new" not in screen
            assert "Press" not in screen

    asyncio.run(look())


def test_the_list_of_files_stands_beside_a_wide_diff_and_takes_clicks(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project), WIDE) as desk:
            await desk.shows("> fix-crash")
            await desk.press("4", "z")
            await desk.shows("M calc.py +1 -1 diff --git a/calc.py b/calc.py", "A names.py +1")
            await desk.pilot.click("#files", offset=(3, 1))
            await desk.shows("2 of 2 (. next)  A names.py +1")

    changed_project(project)
    asyncio.run(look())


def test_what_is_shown_is_searched_where_it_has_the_focus(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project), SMALL) as desk:
            await desk.shows("> fix-crash")
            await desk.press("4")
            await desk.shows("calc.py +1 -1")
            await desk.press("N")
            await desk.shows("/ searches in what is shown, after Tab or z")
            await desk.press("tab", "slash", *"RETURN", "enter")
            await desk.shows("/RETURN  1 of 2 lines")
            await desk.press("n")
            await desk.shows("/RETURN  2 of 2 lines")
            await desk.press("n")
            await desk.shows("/RETURN  1 of 2 lines")
            await desk.press("N")
            await desk.shows("/RETURN  2 of 2 lines")
            await desk.press("6")
            await desk.shows("/RETURN  no line here has it", "session started")
            await desk.press("slash", *"started")
            await desk.shows("/started\u258f  1 of 1 lines")
            await desk.press("escape")
            screen = await desk.shows("session started")
            assert "/started" not in screen
            await desk.press("n")
            await desk.shows("What should be built?")

    changed_project(project)
    asyncio.run(look())


def test_an_editor_that_is_missing_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def look() -> None:
        async with shown(tools_of(project), WIDE) as desk:
            await desk.shows("> fix-crash")
            await desk.press("e")
            await desk.shows("the editor `no-such` of $VISUAL is not on PATH (export EDITOR=nano)")

    monkeypatch.setenv("VISUAL", "no-such -x")
    changed_project(project)
    asyncio.run(look())


def test_sessions_of_several_projects_and_new_ones_come_by_themselves(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project, other)) as desk:
            await desk.shows("> fix-crash", "calc")
            make_session(other, "20260101-100000-second", feature="Another one")
            await desk.shows("second", "tools")
            shutil.rmtree(path)
            for _ in range(400):
                if "second" not in desk.screen:
                    return
                await desk.pilot.pause(0.02)
            pytest.fail(desk.screen)

    three(project)
    other = project.parent / "tools"
    other.mkdir()
    path = other / ".agentmux/.sessions/20260101-100000-second"
    asyncio.run(look())


def test_a_click_selects_and_tabs_and_foot_can_be_clicked(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project)) as desk:
            await desk.shows("> fix-crash")
            await desk.pilot.click("#list", offset=(4, 2))
            await desk.shows("> add-login")
            tabs = desk.screen.splitlines()[1]
            left = desk.app.query_one("#tabs").region.x
            await desk.pilot.click("#tabs", offset=(tabs.index("log") - left + 1, 0))
            await desk.shows("session started")

    three(project)
    asyncio.run(look())


def test_keys_and_tabs_fit_their_line_whenever_it_gets_another_width(project: Path) -> None:
    async def look() -> None:
        async with shown(tools_of(project)) as desk:
            await desk.shows("> fix-crash", "/ search", "6 log")
            for name, narrow, wide in (
                ("#foot", "\n? all keys  q quit", "/ search"),
                ("#tabs", "1 overview 2 3 4 5 6", "6 log"),
            ):
                desk.app.query_one(name).styles.width = 21
                await desk.shows(narrow)
                desk.app.query_one(name).styles.width = "1fr"
                await desk.shows(wide)

    three(project)
    asyncio.run(look())


def test_an_error_of_the_desk_is_left_to_the_command_line(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    class Broken(DeskApp):
        def on_ready(self) -> None:
            self.run_worker(self._break(), exit_on_error=True)

        async def _break(self) -> None:
            raise RuntimeError("a bug")

    tools = tools_of(project)
    app = Broken(tools)
    app.run(headless=True)
    tools.feed.close()
    assert str(app.failure) == "a bug"
    assert "a bug" not in "".join(capfd.readouterr())
