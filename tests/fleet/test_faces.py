"""The desk and the page show the fleet, and decide on it by its commands."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.command_runs import CommandRuns
from agentmux.core.codec.frozen import replace
from agentmux.core.fleet.board import DRAINING
from agentmux.core.fleet.statuses import FleetStatus
from agentmux.desk.screens.fleet_screen import FleetScreen
from agentmux.desk.tools import DeskTools
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.database import engine_for, now_s
from agentmux.fleet.engine.tables import HOSTS
from agentmux.wiring import machine
from agentmux.wiring.fleet import fleet_of
from tests.conftest import WaitUntil
from tests.desk.test_app import Shown, shown, tools_of
from tests.e2e.conftest import QUICK
from tests.fleet.conftest import FleetHost
from tests.web.conftest import Page

pytestmark = pytest.mark.long

QUESTION = {"cycle": 1, "digest": "abc", "lines": ["to be committed: 2 files"], "obstacle": ""}
DEAD = "dead letter after 5 drives without progress: it was interrupted"


@pytest.fixture
def waiting(host: FleetHost) -> tuple[str, str]:
    """Return the ids of a feature that waits for a decision, and of a dead letter."""
    engine = engine_for(host.database)
    values = {
        "id": "h1", "name": "box", "address": "box", "slots": 2, "contract": 1, "program": "1",
        "lease_s": 60.0, "seen_at": now_s(engine), "running": True,
    }  # fmt: skip
    with engine.begin() as connection:
        connection.execute(HOSTS.insert().values(**values))
    engine.dispose()
    one, two = host.submit(feature="add a <b>greeting"), host.submit(feature="fix it")
    at = {"host": "h1", "session": "s", "phase": "completing"}
    host.change(one, status=FleetStatus.WAITING, question=QUESTION, **at)
    host.change(two, status=FleetStatus.FAILED, reason=DEAD, **at)
    return one, two


def _given(host: FleetHost, feature: str) -> list[str]:
    return [kind for kind, _ in _decisions(host, feature)]


def _decisions(host: FleetHost, feature: str) -> list[tuple[str, str]]:
    """Return the kind of each decision on a feature, and the phase in which changes begin."""
    engine = engine_for(host.database)
    with engine.connect() as connection:
        found = [(each.kind, each.begins) for each in rows.decisions(connection, feature)]
    engine.dispose()
    return found


@pytest.mark.rare("CI follows a feature through all faces until its commit")
def test_the_page_has_the_words_of_the_list_and_decides(
    host: FleetHost, waiting: tuple[str, str]
) -> None:
    one, two = waiting
    page = Page(host.project).login()
    try:
        assert 'href="/fleet"' in page.text("/")
        text = page.text("/fleet")
        assert re.findall(r"<h2>([a-z ]+?) <", text) == ["to decide", "dead letters", "hosts"]
        assert "add a &lt;b&gt;greeting" in text
        assert f"fix it ({DEAD})" in text
        listed = host.ok("list")
        (line,) = re.findall(r"host box: .*", listed)
        assert line in text
        assert f"fix it ({DEAD})" in listed

        assert "to be committed: 2 files" in page.text(f"/fleet/{one}")
        late = page.post(f"/fleet/{one}/approve", digest="older")
        assert "is not what was shown" in page.text(late.headers["location"])
        late = page.post(f"/fleet/{one}/approve", digest="abc\0")
        assert "is not what was shown" in page.text(late.headers["location"])
        assert "does not say" in page.text(page.post(f"/fleet/{one}/approve").headers["location"])
        assert _given(host, one) == []
        done = page.post(f"/fleet/{one}/request-changes", digest="abc", text="@x, please")
        assert "request recorded" in page.text(done.headers["location"])
        assert _given(host, one) == ["changes"]
        done = page.post(f"/fleet/{two}/retry")
        assert "its host resumes its session" in page.text(done.headers["location"])
        assert host.show(two)["status"] == "running"
        assert f"agentmux fleet attach {two[:8]}" in page.text(f"/fleet/{two}")
        done = page.post(f"/fleet/{two}/cancel")
        assert "its host stops its session" in page.text(done.headers["location"])
    finally:
        page.close()


def test_a_feature_that_there_is_not_has_no_page(host: FleetHost) -> None:
    page = Page(host.project).login()
    try:
        for name in (str(uuid.UUID(int=7)), "no-such", "-x", "%25", "0" * 60_000):
            answer = page.browser.get(f"/fleet/{name}")
            assert answer.status_code == 404, name
            assert "no feature of the fleet matches" in answer.text
            assert '<div id="feature" data-live data-fleet>' in answer.text
            for action in ("cancel", "retry"):
                done = page.post(f"/fleet/{name}/{action}")
                answer = page.browser.get(done.headers["location"])
                assert answer.status_code == 404, name
                assert "<strong>Not done:</strong> no feature of the fleet matches" in answer.text
    finally:
        page.close()


def test_a_page_without_a_fleet_or_its_database_says_so(host: FleetHost) -> None:
    page = Page(host.project).login()
    try:
        host.place.keep_url("sqlite:////nowhere/at/all.sqlite")
        said = host.fails(host.run("list").returncode, "list").splitlines()[0]
        for path, part in (("/fleet", "fleet"), (f"/fleet/{uuid.uuid4()}", "feature")):
            answer = page.browser.get(path)
            assert answer.status_code == 503
            assert said.removeprefix("error: ") in answer.text.replace("&#39;", "'")
            assert f'<div id="{part}" data-live data-fleet>' in answer.text
        (host.place.folder / "url").unlink()
        assert page.browser.get("/fleet").status_code == 404
        assert page.post("/fleet/x/approve", digest="abc").status_code == 404
        assert "fleet" not in page.text("/").lower()
    finally:
        page.close()


@pytest.mark.rare("CI follows a feature through all faces until its commit")
def test_the_page_drains_a_host_after_it_has_said_what_that_means(
    host: FleetHost, waiting: tuple[str, str]
) -> None:
    page, only_reads = Page(host.project).login(), Page(host.project, read_only=True).login()
    try:
        text = page.text("/fleet")
        assert re.findall(r'name="host" value="(.+?)"', text) == ["box"]
        assert all(each in text for each in DRAINING)
        assert "Drain" not in only_reads.text("/fleet")
        assert only_reads.post("/fleet/drain", host="box").status_code == 403
        assert page.browser.post("/fleet/drain", data={"host": "box"}).status_code == 403
        done = page.post("/fleet/drain", host="bo")
        assert "no host of the fleet is named `bo`" in page.text(done.headers["location"])
        assert not _is_draining(host)

        done = page.post("/fleet/drain", host="box")
        text = page.text(done.headers["location"])
        assert "Done:</strong> host box takes nothing more" in text
        assert "host box: drains" in text
        assert "Drain…" not in text
        assert _is_draining(host)
        assert host.show(waiting[0])["status"] == "waiting"
        assert host.ok("drain", "box").splitlines() == [
            "host box has begun 1 feature: what is left goes on when its worker starts again",
            "host box takes nothing more; its worker ends when nothing runs there",
        ]
        (host.place.folder / "url").unlink()
        assert page.post("/fleet/drain", host="box").status_code == 404
    finally:
        page.close()
        only_reads.close()


def test_a_cancel_says_what_it_means_for_a_feature_that_has_begun_and_for_one_that_has_not(
    host: FleetHost, waiting: tuple[str, str]
) -> None:
    queued = host.submit()
    page = Page(host.project).login()
    try:
        begun, new = page.text(f"/fleet/{waiting[0]}"), page.text(f"/fleet/{queued}")
    finally:
        page.close()
    for text, has_begun in ((begun, True), (new, False)):
        assert ("Its session is stopped" in text, "It has not begun." in text) == (
            has_begun,
            not has_begun,
        )
        assert "It counts as failed then" in text


def _tools(host: FleetHost) -> DeskTools:
    """Return the tools of a desk without sessions, which sees the fleet of a host."""
    project = host.project.path
    commands = CommandRuns(
        program=machine.program(), environ=host.project.env, locate=machine.locate
    )
    (project.parent / "desk" / "calc").mkdir(parents=True)
    tools = tools_of(project.parent / "desk" / "calc")
    return replace(tools, commands=commands, fleet=fleet_of(commands, project), here=project)


@pytest.mark.rare("CI follows a feature through all faces until its commit")
def test_the_desk_shows_the_fleet_and_approves(host: FleetHost, waiting: tuple[str, str]) -> None:
    async def look() -> None:
        async with shown(_tools(host), (120, 36)) as desk:
            await desk.shows("f the fleet")
            await desk.press("f")
            await desk.shows("1 to decide", "1 dead letter", f"fix it ({DEAD})", "host box: runs")
            await desk.press("a")
            await desk.shows("to be committed: 2 files", "Approve?")
            await desk.press("escape", "c")
            await desk.shows("to be committed: 2 files", "Ask for changes?")
            await desk.press("y")
            await desk.shows("What should change in")
            await desk.press("escape", "a")
            await desk.shows("to be committed: 2 files", "Approve?")
            await desk.press("y")
            await desk.shows("approval recorded", "at work 1")
            await desk.press("escape")
            await desk.shows("no sessions")

    asyncio.run(look())
    assert _given(host, waiting[0]) == ["approve"]


@pytest.mark.rare("CI follows a feature through all faces until its commit")
def test_the_desk_opens_cancels_and_drains(host: FleetHost, waiting: tuple[str, str]) -> None:
    one, two = waiting
    host.change(one, question=None, reason="an agent asks something on its host", path="/x/s")
    opened: list[tuple[Path | None, tuple[str, ...]]] = []

    def opens(project: Path | None, words: tuple[str, ...]) -> int:
        opened.append((project, words))
        return 0

    async def look() -> None:
        async with shown(_tools(host), (80, 24)) as desk:
            await desk.press("f")
            await desk.shows("asks on its host 1", "host box: runs")
            await desk.press("s")
            await desk.shows("nothing is to be decided now", "Enter in the list, or agentmux fleet")
            await desk.press("escape")
            screen = desk.app.screen
            assert isinstance(screen, FleetScreen)
            screen._in_foreground = opens
            await desk.press("enter", "S")
            await desk.shows("It is waiting: completing on box.", "Cancel it?")
            await desk.press("escape", "S")
            await desk.shows("Cancel it?", "S or y yes")
            await desk.press("S")
            await desk.shows("its host stops its session", "at work 1")
            await desk.press("down", "S")
            await desk.shows("it has ended already")
            await desk.press("tab", "H")
            await desk.shows("Drain host box", "Drain it?")
            assert not _is_draining(host)
            await desk.press("H")
            await desk.shows("host box: drains", "host box takes nothing more; its worker ends")
            await desk.press("H")
            await desk.shows("host box: drains, 0 of 2 slots taken\nEnter open")

    asyncio.run(look())
    assert opened == [(host.project.path, ("fleet", "attach", "--", one))]
    assert (host.show(one)["status"], host.show(two)["status"]) == ("running", "failed")


def _is_draining(host: FleetHost) -> bool:
    (found,) = host.json("list")["hosts"]
    return bool(found["draining"])


def test_to_look_at_the_fleet_loads_no_engine(host: FleetHost) -> None:
    feature = host.submit()
    code = (
        "import os, sys\n"
        "from agentmux.cli.main import main\n"
        "for words in (['list'], ['show', sys.argv[1]]):\n"
        "    assert main(['fleet', *words, '--json'], os.environ) == 0\n"
        "assert 'dbos' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, feature],
        cwd=host.project.path, env=host.project.env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def _agent(host: FleetHost) -> int:
    """Return the process id of the offline agent; 0 for none."""
    for pid, _ in host.project.processes():
        with suppress(OSError):  # it has ended
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if any(each.endswith(b"/agentmux-demo-agent") for each in words):
                return pid
    return 0


async def _looks(desk: Shown, *words: str) -> None:
    """Look at the fleet again until it shows these words."""
    while not all(word in desk.screen for word in words):
        await desk.press("ctrl+r")
        await desk.pilot.pause(0.2)


def test_a_feature_is_followed_and_decided_in_the_faces_until_its_commit(
    host: FleetHost, wait_until: WaitUntil
) -> None:
    thinks = {"attempts": [{"when": {"cycle": 1}, "think": 1}]}
    host.project.scenario({"roles": {**QUICK["roles"], "coder": thinks}})
    feature = host.submit(feature="greet people")
    page = Page(host.project).login()

    def until(*statuses: str) -> None:
        found = host.until(feature, *statuses, "failed")
        assert found["status"] in statuses, f"{found}\n{host.log()}"

    async def decide() -> None:
        async with shown(_tools(host), (80, 24)) as desk:
            await desk.press("f")
            await desk.shows("in the queue 1", "queued", "greet people")
            await asyncio.to_thread(host.worker)
            await asyncio.to_thread(wait_until, lambda: _agent(host))
            os.kill(_agent(host), signal.SIGSTOP)  # it stays at work while it is looked at
            await _looks(desk, "at work 1", "implementing  a  greet people", "1 of 2 slots")
            os.kill(_agent(host), signal.SIGCONT)
            await asyncio.to_thread(until, "waiting")
            await desk.press("ctrl+r")
            await desk.shows("1 to decide", "completing")
            await desk.press("c")
            await desk.shows("to be committed", "Ask for changes?")
            await desk.press("y")
            await desk.shows("What should change in", "a small change: one coder")
            await desk.press(*"shout", "enter", "enter")
            await desk.shows("request recorded")
            await asyncio.to_thread(until, "waiting")
            text = page.text(f"/fleet/{feature}")
            (digest,) = set(re.findall(r'name="digest" value="(.+?)"', text))
            assert re.findall(r'name="from" value="(\w+)" checked', text) == ["fixing"]
            done = page.post(f"/fleet/{feature}/approve", digest=digest)
            assert "approval recorded" in page.text(done.headers["location"])
            await asyncio.to_thread(until, "done")
            await desk.press("ctrl+r")
            await desk.shows("ended 1", "done", "0 of 2 slots")

    try:
        asyncio.run(decide())
        for path in ("/fleet", f"/fleet/{feature}"):  # it may be seconds old
            wait_until(lambda path=path: ">done<" in page.text(path))
    finally:
        page.close()
    assert host.commits() == ["greet people"]
    assert _decisions(host, feature) == [("changes", "fixing"), ("approve", "")]
    assert host.session(feature).kinds("request_changes", "approve") == [
        "request_changes",
        "approve",
    ]


def test_a_desk_without_a_fleet_knows_nothing_of_it(host: FleetHost) -> None:
    async def look() -> None:
        (host.project.path.parent / "desk" / "calc").mkdir(parents=True)
        tools = tools_of(host.project.path.parent / "desk" / "calc")
        async with shown(tools, (120, 60)) as desk:
            await desk.shows("no sessions")
            assert "fleet" not in desk.screen
            await desk.press("f", "question_mark")
            assert "fleet" not in await desk.shows("All keys of the desk")
            said = [each.title for each in desk.app.get_system_commands(desk.app.screen)]
            assert not any("fleet" in each for each in said)

    asyncio.run(look())
