"""What goes wrong under the eyes of the desk, and what it costs to watch."""

import os
import re
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from agentmux.core.names import layout
from tests.conftest import WaitUntil
from tests.e2e.conftest import Project
from tests.e2e.desk_pane import SLOW, Desk, opened

pytestmark = pytest.mark.rare("tests/desk has each screen and key, without a terminal")

_INOTIFY = re.compile(r"^inotify wd:", re.MULTILINE)


def opens(desk: Desk, kind: str) -> list[Path]:
    """Return the descriptors of a kind, such as ``[pidfd]``, as their files of information."""
    home = Path(f"/proc/{desk.pid}")
    found = []
    for each in (home / "fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            if kind in str(each.readlink()):
                found.append(home / "fdinfo" / each.name)
    return found


def watched(desk: Desk) -> int:
    """Return how many of the kernel's watches the desk has."""
    found = 0
    for each in opens(desk, "inotify"):
        with suppress(FileNotFoundError):  # it was closed meanwhile
            found += len(_INOTIFY.findall(each.read_text()))
    return found


def test_an_agent_is_killed_under_its_eyes(project: Project, wait_until: WaitUntil) -> None:
    project.scenario(SLOW)
    session = project.start("add a greeting").until_seat("coder-1").settled("coder-1")
    with opened(project, wait_until) as desk:
        desk.shows("1 running", "coder-1")
        for count in (1, 2):  # it is started again once, and then reported
            wait_until(lambda count=count: session.launched().count("coder-1") == count, 60)
            session.settled("coder-1")
            pid = int(project.tmux(
                "display-message", "-p", "-t", session.runtime["panes"]["coder-1"]["pane"],
                "#{pane_pid}",
            ))  # fmt: skip
            (agent, *_) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            os.kill(int(agent), signal.SIGKILL)
            wait_until(lambda count=count: len(session.kinds("agent_exited")) == count, 60)
        desk.shows("1 needs you", "r restart", within_s=60)
        desk.press("r")
        desk.shows("Start a seat of", "1 coder-1")
        desk.press("1")
        desk.shows("1 running", within_s=60)
    assert session.launched().count("coder-1") == 3


def test_a_lock_that_cannot_be_opened_is_told(project: Project, wait_until: WaitUntil) -> None:
    session = project.start("add a greeting").wait().approve().gone()
    lock = session.path / layout.LOCK
    lock.unlink()
    lock.mkdir()  # as one of another user's: nobody can open it, not even root
    with opened(project, wait_until) as desk:
        desk.shows("add-a-greeting")
        for tab in "23456":
            desk.press(tab)
            desk.shows("add-a-greeting")
        desk.press("D")
        desk.shows("Remove it for good?")
        desk.press("y")
        desk.shows("Esc closes", layout.LOCK)
        assert session.path.is_dir()


@pytest.mark.skipif(not Path("/proc/self/fdinfo").is_dir(), reason="this system has no /proc")
def test_it_watches_unfinished_sessions_flat_and_their_orchestrators(
    project: Project, wait_until: WaitUntil
) -> None:
    project.start("finish this").wait().approve().gone()
    project.scenario(SLOW)
    with opened(project, wait_until) as desk:
        desk.shows("1 done")
        wait_until(lambda: watched(desk) > 0, 20)
        idle = watched(desk)
        for count, name in enumerate(("one", "two"), start=1):
            project.start(f"add part {name}", "--worktree").until_seat("coder-1")
            desk.shows(f"{count} running")
            wait_until(lambda wanted=idle + count: watched(desk) == wanted, 20)
            wait_until(lambda count=count: len(opens(desk, "pidfd")) == count, 20)
        project.ok("stop", project.sessions()[-1].name)
        desk.shows("1 running", "1 interrupted")
        wait_until(lambda: len(opens(desk, "pidfd")) == 1, 20)
        assert watched(desk) == idle + 2  # a resume has to be seen, too


def test_only_the_screen_that_is_shown_is_captured_once_a_second(
    project: Project, wait_until: WaitUntil
) -> None:
    coder = {"submit": "no"}
    project.scenario({"roles": {"planner": {"plan": {"parts": 2}}, "coder": coder}})
    project.config("snapshots: {interval: 1h}\n")
    session = project.start("add a greeting").until_seat("coder-1").settled("coder-1")
    panes = session.runtime["panes"]
    counter = "set-option -gF @captures '#{@captures} #{pane_id}'"
    project.tmux("set-option", "-g", "@captures", "")
    project.tmux("set-hook", "-g", "after-capture-pane", counter)

    def captures() -> int:
        """Return how often the pane was captured that was captured most."""
        return max(Counter(project.tmux("show-options", "-gv", "@captures").split()).values())

    with opened(project, wait_until) as desk:
        desk.shows("1 running")
        desk.press("2")
        desk.shows("live: ")
        assert len(panes) > 1
        children = Path(f"/proc/{desk.pid}/task").glob("*/children")
        assert sum(len(each.read_text().split()) for each in children) == 1
        orchestrator = session.runtime["orchestrator_pid"]
        os.kill(orchestrator, signal.SIGSTOP)  # it takes looks of its own, and may have begun one
        stopped = captures()
        wait_until(lambda: captures() > stopped + 2, 60)
        began, first = time.monotonic(), captures()
        wait_until(lambda: captures() >= first + 6, 60)
        assert time.monotonic() - began > 4.5
        os.kill(orchestrator, signal.SIGCONT)
        desk.press("3")
        wait_until(lambda: not project.tmux("list-clients"), 20)
