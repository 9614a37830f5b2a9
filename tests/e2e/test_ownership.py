"""AgentMux does not change the user's own tmux sessions, nor the original of a copied session.

In every test, a private tmux server stands for the user's.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.processes import is_alive
from tests.conftest import WaitUntil, _wait_until
from tests.e2e.conftest import Project, Session

RARE = pytest.mark.rare("CI refuses copies of live sessions")

pytestmark = pytest.mark.long

SILENT = {"roles": {"architect": {"silent": True}}}


@pytest.fixture
def session(project: Project) -> Session:
    """A session with an idle architect, whose panes are captured every second."""
    project.config("snapshots: {interval: 1s}\n")
    project.scenario(SILENT)
    return project.start().until_seat("architect").settled("architect")


def driver(session: Session) -> int:
    return int(json.loads(session.read("session.lock.json"))["pid"])


def kill_driver(session: Session, wait_until: WaitUntil) -> None:
    pid = driver(session)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), 10)


def windows(project: Project) -> str:
    """Return all sessions, windows and panes of the server at the default socket."""
    return project.tmux(
        "list-panes", "-aF", "#{pid} #{session_id} #{session_name} #{window_id} #{pane_id}"
    )


def replace_server(project: Project) -> str:
    """Remove the socket, start the user's own tmux server there, and return its windows."""
    Path(project.tmux("display-message", "-p", "#{socket_path}").strip()).unlink()
    project.tmux("new-session", "-d", "-s", "mine", "sleep 1000")
    return windows(project)


# -- another server at our socket ----------------------------------------------------------------


def test_the_users_own_server_is_left_alone_by_stop(
    project: Project, session: Session, wait_until: WaitUntil
) -> None:
    old = int(project.tmux("display-message", "-p", "#{pid}"))
    agent = session.runtime["panes"]["architect"]["pid"]
    theirs = replace_server(project)
    # The orchestrator reports the problem and the command that fixes it.
    wait_until(lambda: f"kill -USR1 {old}" in project.run("status").stdout, 10)

    done = project.run("stop", session.name)

    assert windows(project) == theirs
    assert done.returncode == 0, done.stderr
    assert not is_alive(agent)
    assert f"{old}" in done.stderr  # the old server, which still has the empty session
    assert session.state["interruption"]["cause"] == "stopped by the user"
    # Nothing of it runs in the old server, so the session is resumed in the new one.
    project.ok("resume", "--yes", "--detach", session.name)
    assert "mine" in windows(project)
    project.ok("stop", session.name)
    assert windows(project) == theirs
    os.kill(old, signal.SIGKILL)


def test_no_pane_opens_in_the_users_own_server(
    project: Project, session: Session, wait_until: WaitUntil
) -> None:
    old = int(project.tmux("display-message", "-p", "#{pid}"))
    theirs = replace_server(project)
    design = session.path / "02_architecting" / "architecture.md"
    design.parent.mkdir(exist_ok=True)
    design.write_text("# Architecture\n")
    session.submit("architect", "architecture")
    wait_until(lambda: f"kill -USR1 {old}" in str(session.runtime["problem"]), 10)
    assert windows(project) == theirs
    # The user gives the socket back, and the session continues in its own server.
    socket = project.tmux("display-message", "-p", "#{socket_path}").strip()
    Path(socket).rename(f"{socket}.mine")
    os.kill(old, signal.SIGUSR1)
    session.wait("decision")
    done = subprocess.run(
        ["tmux", "-S", f"{socket}.mine", "list-panes", "-aF",
         "#{pid} #{session_id} #{session_name} #{window_id} #{pane_id}"],
        capture_output=True, text=True, check=True, env=project.env,
    )  # fmt: skip
    assert done.stdout == theirs
    project.ok("stop", session.name)
    subprocess.run(["tmux", "-S", f"{socket}.mine", "kill-server"], check=True, env=project.env)


def test_a_session_without_its_orchestrator_is_not_looked_for_in_another_server(
    project: Project, session: Session, wait_until: WaitUntil
) -> None:
    kill_driver(session, wait_until)
    old = int(project.tmux("display-message", "-p", "#{pid}"))
    theirs = replace_server(project)
    for words in (("stop",), ("resume", "--reattach", "--detach"), ("resume", "--yes", "--detach"),
                  ("remove", "--yes"), ("attach",)):  # fmt: skip
        said = project.fails(3, *words, session.name)
        assert f"kill -USR1 {old}" in said
        assert windows(project) == theirs
    os.kill(old, signal.SIGKILL)


# -- a session that has only the name ------------------------------------------------------------


def test_a_tmux_session_that_only_has_the_name_is_not_ours(project: Project) -> None:
    folder = project.path / ".agentmux" / ".sessions" / "20260101-101500-old"
    folder.mkdir(parents=True)
    (folder / "state.json").write_text('{"phase": "failed"}')
    project.tmux("new-session", "-d", "-s", "agentmux", "sleep 1000")
    theirs = windows(project)

    said = project.fails(3, "resume", "--yes", "--detach")
    assert "is not of session" in said
    assert "agentmux stop" not in said
    socket = project.tmux("display-message", "-p", "#{socket_path}").strip()
    ends = f"tmux -S {socket} kill-session -t '=agentmux:'"
    assert ends in said
    (plan,) = project.json("resume", "--dry-run", code=3)["sessions"]
    assert [ends in hint for hint in plan["blocked"]["hints"]] == [False, False, True]
    for words in (("stop",), ("resume", "--reattach", "--detach"), ("remove", "--yes")):
        said = project.fails(3, *words, folder.name)
        assert ends in said
    assert windows(project) == theirs


# -- the user's own panes in a tmux session of ours ----------------------------------------------


def add_panes(session: Session) -> list[str]:
    """Split the monitor and open a window, as the keys of tmux do; return the panes' ids."""
    made = session.project.tmux("display-message", "-p", "-t", tmux_name(session), "#{pane_id}")
    split = ("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", made.strip(), "sleep 777")
    window = ("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", f"{tmux_name(session)}:")
    return [session.project.tmux(*words).strip() for words in (split, (*window, "sleep 778"))]


def tmux_name(session: Session) -> str:
    return f"agentmux-{session.name}"


def panes(project: Project) -> list[str]:
    return project.tmux("list-panes", "-aF", "#{pane_id}").split()


@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "its orchestrator was killed"])
def test_stop_ends_no_pane_of_the_user(
    project: Project, session: Session, wait_until: WaitUntil, killed: bool
) -> None:
    theirs = add_panes(session)
    agent = session.runtime["panes"]["architect"]["pid"]
    if killed:
        kill_driver(session, wait_until)

    said = project.ok("stop", session.name)

    left = f"yours-{tmux_name(session)}"
    assert f"your own panes stay in tmux session {left}" in said
    assert panes(project) == theirs
    assert not is_alive(agent)
    # It is not live any more, and nothing is in the way of a resume.
    (view,) = project.json("status", session.name)["sessions"]
    assert (view["live"], view["status"]) == (False, "stopped")
    assert left in project.ok("status", session.name)
    project.ok("resume", "--yes", "--detach", session.name)
    assert set(theirs) < set(panes(project))
    session.until_seat("architect")
    project.ok("stop", session.name)
    assert panes(project) == theirs
    project.ok("remove", "--yes", "--force", session.name)
    assert panes(project) == theirs


def test_approve_ends_no_pane_of_the_user(
    project: Project, session: Session, wait_until: WaitUntil
) -> None:
    design = session.path / "02_architecting" / "architecture.md"
    design.parent.mkdir(exist_ok=True)
    design.write_text("# Architecture\n")
    session.submit("architect", "architecture")
    session.wait("decision")
    earlier = ("new-session", "-d", "-P", "-F", "#{pane_id}", "-s", f"yours-{tmux_name(session)}")
    theirs = [project.tmux(*earlier, "sleep 776").strip(), *add_panes(session)]

    said = project.ok("approve", session.name, "--yes")

    left = f"yours-2-{tmux_name(session)}"
    assert f"your own panes stay in tmux session {left}" in said
    wait_until(lambda: sorted(panes(project)) == sorted(theirs), 15)
    assert left in project.ok("status", session.name)
    assert left in project.tmux("list-sessions")


def test_a_deleted_session_ends_no_pane_of_the_user(
    project: Project, session: Session, wait_until: WaitUntil
) -> None:
    theirs = add_panes(session)
    shutil.rmtree(session.path)
    wait_until(lambda: panes(project) == theirs, 20)


@pytest.mark.parametrize("has_users", [True, False], ids=["with panes of the user", "ours alone"])
def test_the_command_of_doctor_ends_no_pane_of_the_user(
    project: Project, session: Session, wait_until: WaitUntil, has_users: bool
) -> None:
    theirs = add_panes(session) if has_users else []
    project.tmux("new-session", "-d", "-s", "mine", "sleep 1000")
    (mine,) = project.tmux("list-panes", "-t", "=mine:", "-F", "#{pane_id}").split()
    kill_driver(session, wait_until)
    shutil.rmtree(session.path)

    (mend,) = gone_by_doctor(project)
    done = project.program("sh", "-c", mend)
    assert done.returncode == 0, done.stderr
    assert panes(project) == [*theirs, mine]
    assert gone_by_doctor(project) == []


def gone_by_doctor(project: Project) -> list[str]:
    """Return the commands by which doctor ends tmux sessions whose directories are gone."""
    found = json.loads(project.run("doctor", "--json").stdout)["findings"]
    return [each["mend"] for each in found if "is of a session whose directory" in each["text"]]


def test_an_agent_whose_pane_the_user_moved_to_another_tmux_session_is_told(
    project: Project, session: Session, wait_until: WaitUntil
) -> None:
    (pane,) = (
        line.split()[0]
        for line in project.tmux("list-panes", "-aF", "#{pane_id} #{@agentmux_seat}").splitlines()
        if line.endswith(" architect")
    )
    project.tmux("new-session", "-d", "-s", "mine", "sleep 1000")
    project.tmux("break-pane", "-d", "-s", pane, "-t", "mine:")
    wait_until(lambda: session.runtime["statuses"]["architect"]["status"] == "idle", 20)

    said = project.ok("tell", session.name, "--role", "architect", "are you there?")

    assert "architect has it" in said
    assert "are you there?" in project.tmux("capture-pane", "-p", "-t", pane)


# -- a copy of a project -------------------------------------------------------------------------


def copied(project: Project) -> Path:
    """Copy the project; retry if the live session renames a file meanwhile."""
    copy = project.root / "copy"

    def is_made() -> bool:
        shutil.rmtree(copy, ignore_errors=True)
        return project.program("cp", "-a", str(project.path), str(copy)).returncode == 0

    _wait_until(is_made)
    return copy


@pytest.mark.parametrize("driven", [True, False], ids=["driven", "without its orchestrator"])
def test_a_copy_of_a_live_session_is_refused_everywhere(
    project: Project, session: Session, wait_until: WaitUntil, driven: bool
) -> None:
    if not driven:
        kill_driver(session, wait_until)
    copy = copied(project)
    before, panes = "" if driven else project.tree(), windows(project)
    name = session.name
    for words in (
        ("stop", name), ("resume", "--reattach", "--detach", name), ("attach", name),
        ("resume", "--yes", "--detach", name), ("remove", "--yes", name),
        ("approve", "--yes", name), ("request-changes", "--session", name, "more"),
    ):  # fmt: skip
        said = project.fails(3, *words, cwd=copy)
        assert f"copy of the live session at {session.path}" in said, words
        assert windows(project) == panes, words
    project.ok("start", "--dry-run", "--agent", "demo", "another feature", cwd=copy)
    (plan,) = project.json("resume", "--dry-run", cwd=copy, code=3)["sessions"]
    assert plan["blocked"]["reason"] == "copy"
    (view,) = project.json("status", cwd=copy)["sessions"]
    assert any(str(session.path) in each for each in view["problems"])
    said = project.ok("status", session.name, cwd=copy)
    assert f"copy of the live session at {session.path}" in said
    assert "--reattach" not in said
    if driven:
        assert is_alive(driver(session))
    else:
        assert project.tree() == before
    project.ok("stop", session.name)


@RARE
def test_a_copy_goes_on_when_the_original_does_not_run(
    project: Project, session: Session, wait_until: WaitUntil
) -> None:
    project.ok("stop", session.name)
    copy = copied(project)
    project.ok("resume", "--yes", "--detach", session.name, cwd=copy)
    other = Session(project, copy / session.path.relative_to(project.path))
    other.until_seat("architect")
    assert other.runtime["path"] == str(other.path)
    # Now the copy runs, and the original is refused.
    said = project.fails(3, "resume", "--yes", "--detach", session.name)
    assert f"copy of the live session at {other.path}" in said
    assert project.fails(3, "stop", session.name)
    project.ok("stop", session.name, cwd=copy)
    project.ok("resume", "--yes", "--detach", session.name)
    project.ok("stop", session.name)


def test_a_session_that_was_moved_while_it_ran_is_stopped_where_it_is_now(
    project: Project, session: Session, wait_until: WaitUntil
) -> None:
    kill_driver(session, wait_until)
    moved = project.root / "moved"
    project.path.rename(moved)
    said = project.fails(3, "resume", "--reattach", "--detach", session.name, cwd=moved)
    assert f"was moved from {session.path}" in said
    project.ok("stop", session.name, cwd=moved)
    project.ok("resume", "--yes", "--detach", session.name, cwd=moved)
    project.ok("stop", session.name, cwd=moved)
    moved.rename(project.path)


# -- two at once ---------------------------------------------------------------------------------


@RARE
def test_of_two_that_reattach_at_once_one_is_refused_at_once(
    project: Project, session: Session, wait_until: WaitUntil
) -> None:
    kill_driver(session, wait_until)
    argv = (sys.executable, "-m", "agentmux", "resume", "--reattach", "--detach", session.name)

    def begun() -> subprocess.Popen[str]:
        return subprocess.Popen(
            argv, cwd=project.path, env=project.env, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    both = [begun(), begun()]
    told = [each.communicate(timeout=60) for each in both]
    codes = sorted(each.returncode for each in both)
    assert codes == [0, 3], told
    loser = next(said for each, said in zip(both, told, strict=True) if each.returncode == 3)
    words = ("starting", "is in use by", "has an orchestrator already")
    assert any(each in loser[1] for each in words), loser
    assert is_alive(driver(session))
    assert session.kinds("session_reattached") == ["session_reattached"]
    project.ok("stop", session.name)


# -- the session's directory goes ----------------------------------------------------------------


def test_a_session_that_was_deleted_while_it_ran_ends_and_leaves_nothing(
    project: Project, session: Session, wait_until: WaitUntil
) -> None:
    project.tmux("new-session", "-d", "-s", "mine", "sleep 1000")
    agent = session.runtime["panes"]["architect"]["pid"]
    shutil.rmtree(project.path / ".agentmux")
    wait_until(lambda: not is_alive(agent), 15)
    wait_until(lambda: project.tmux("list-sessions", "-F", "#S") == "mine\n", 15)
    assert not (project.path / ".agentmux").exists()


def test_what_killed_commands_left_is_swept(
    project: Project, session: Session, wait_until: WaitUntil
) -> None:
    launch = session.state["seats"]["architect"]["launch"]
    project.ok("stop", session.name)
    os.mkfifo(session.path / "ready-0123456789abcdef.fifo")
    left = session.path / "launches" / launch / "exit.json.tmp"
    left.write_text("{")
    os.utime(left, (1, 1))
    project.ok("resume", "--yes", "--detach", session.name)
    wait_until(lambda: not list(session.path.glob("ready-*")), 5)
    assert not left.exists()
    project.ok("stop", session.name)
