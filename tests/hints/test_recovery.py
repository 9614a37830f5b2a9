"""Messages about sessions that were stopped, killed or copied, followed beside everybody's work."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from agentmux.adapters.system.processes.processes import is_alive
from tests.conftest import WaitUntil
from tests.e2e.conftest import Project, Session
from tests.hints.following import Work, follow, shown, went_well

pytestmark = pytest.mark.long

WAITS = {"roles": {"architect": {"silent": True}}}


@pytest.fixture
def running(project: Project) -> Session:
    """A live session in a worktree, whose architect works on."""
    project.scenario(WAITS)
    return project.start("add a greeting", "--worktree").settled("architect")


@pytest.fixture
def works(running: Session, work: Work) -> Work:
    """The user's work, with a coder's in the session's worktree."""
    return work.plant(Path(running.state["worktree"]), "a coder")


def kill_orchestrator(session: Session, wait_until: WaitUntil) -> None:
    os.kill(int(json.loads(session.read("session.lock.json"))["pid"]), signal.SIGKILL)
    wait_until(lambda: "reattach" in session.project.ok("status", session.name))


def kill_all(session: Session, wait_until: WaitUntil) -> None:
    project = session.project
    project.tmux("kill-server")
    wait_until(lambda: not project.processes(), 15, project._left)


def goes_on(session: Session, line: str) -> None:
    """Type a command that resumes; the session's architect is back."""
    project = session.project
    done = project.program("sh", "-c", f"{line} --detach --yes")
    assert done.returncode == 0, done.stderr
    session.until_seat("architect")


@pytest.mark.follows(
    "agentmux resume --reattach …  # its orchestrator is gone",
    "agentmux resume --reattach …",
    "agentmux resume … --reattach",
    "agentmux stop …",
)
def test_a_new_orchestrator_takes_over(
    running: Session, works: Work, wait_until: WaitUntil
) -> None:
    project = running.project
    kill_orchestrator(running, wait_until)
    refusal = project.fails(3, "resume", running.name, "--detach")
    goes_on(running, shown("agentmux resume --reattach …", refusal).partition("  #")[0])
    kill_orchestrator(running, wait_until)
    goes_on(running, shown("agentmux resume … --reattach", project.ok("status", running.name)))
    kill_orchestrator(running, wait_until)
    goes_on(running, "agentmux resume --all")
    assert running.kinds("session_reattached") == ["session_reattached"] * 3
    refusal = project.fails(3, "resume", running.name, "--detach")
    went_well(project, shown("agentmux stop …", refusal))
    assert works.lost() == []


@pytest.mark.follows(
    "agentmux resume …",
    "agentmux resume ……",
    "…all of them: agentmux resume --all",
    "agentmux resume",
    "agentmux …  # …",
    "did you mean: agentmux …",
    "agentmux … …",
)
def test_killed_sessions_come_back(running: Session, works: Work, wait_until: WaitUntil) -> None:
    project = running.project
    second = project.start("another feature", "--worktree").settled("architect")
    kill_all(running, wait_until)
    told = project.run()
    assert "agentmux resume --all" in told.stdout + told.stderr
    went_well(project, "agentmux resume --all --detach")
    kill_all(running, wait_until)
    refusal = project.fails(4, "resume", "--detach")
    hint = shown("agentmux …  # …", refusal)
    goes_on(second if second.name in hint else running, hint.split("  #")[0])
    kill_all(running, wait_until)
    refusal = project.fails(4, "resume", "ad-a-greeting", "--detach")
    goes_on(running, shown("did you mean: agentmux …", refusal).removeprefix("did you mean: "))
    kill_all(running, wait_until)
    refusal = project.fails(4, "tell", running.name, "--role", "architect", "go on")
    goes_on(running, shown("agentmux resume …", refusal))
    project.ok("stop", running.name)
    refusal = project.fails(4, "attach", running.name)
    goes_on(running, shown("agentmux … …", refusal))
    assert works.lost() == []


@pytest.mark.follows("resume that one: agentmux resume …")
def test_the_original_of_a_copy_is_resumed(
    running: Session, works: Work, wait_until: WaitUntil
) -> None:
    project = running.project
    kill_all(running, wait_until)
    copy = running.path.with_name("20300101-000000-copied")
    project.program("cp", "-a", str(running.path), str(copy))
    refusal = project.fails(3, "resume", copy.name, "--detach", "--yes")
    goes_on(running, shown("resume that one: agentmux resume …", refusal).split(": ")[1])
    assert works.lost() == []


@pytest.mark.follows(
    "a resume makes it again: agentmux resume …",
)
def test_a_worktree_that_was_deleted_is_made_again(running: Session, work: Work) -> None:
    project, place = running.project, Path(running.state["worktree"])
    works = work.plant(place, "a coder")
    project.ok("stop", running.name)
    goes_on(running, f"agentmux resume {running.short}")
    shutil.rmtree(place)
    refusal = project.fails(3, "approve", running.name, "--yes")
    assert "decision" in refusal or "worktree" in refusal
    project.ok("stop", running.name)
    refusal = project.fails(3, "rewind", running.name, "--to", "1", "--yes")
    goes_on(running, shown("a resume makes it again: agentmux resume …", refusal).split(": ")[1])
    assert place.is_dir()
    assert works.lost() == []


@pytest.mark.follows(
    "it stays as it was; to take the change: agentmux resume … --repin",
    "agentmux trust",
    "to trust it later: agentmux trust",
    "this project is not trusted: you will be asked about … (agentmux trust)",
)
def test_a_changed_setting_is_taken(running: Session, works: Work) -> None:
    project = running.project
    project.ok("stop", running.name)
    project.config(
        "defaults: {agent: demo}\ngit: {setup: [{name: a, run: ['true']}]}\n", trusted=False
    )
    told = project.run("resume", running.name, "--dry-run")
    text = told.stdout + told.stderr
    hint = shown("it stays as it was; to take the change: agentmux resume … --repin", text)
    went_well(project, "agentmux trust")
    goes_on(running, hint.split(": ")[1])
    assert works.lost() == []


def wrapper(session: Session) -> int:
    """Return the pid of the process in the architect's pane; 0 until it is known."""
    pane = session.runtime["panes"].get("architect", {})
    return int(pane.get("pid", 0)) if pane.get("launch") in {None, seat_launch(session)} else 0


def seat_launch(session: Session) -> str:
    return str(session.state["seats"]["architect"]["launch"])


def has_answered(session: Session, launch: str) -> bool:
    """Whether the loss of a launch was answered: by a relaunch, or by a failure."""
    return session.state["phase"] == "failed" or seat_launch(session) != launch


@pytest.mark.follows("start it again: agentmux restart … --role …", "agentmux restart … --role …")
def test_a_seat_is_started_again(running: Session, works: Work, wait_until: WaitUntil) -> None:
    project = running.project
    for _ in range(2):  # the first loss is answered by a relaunch
        launch = running.state["seats"]["architect"]["launch"]
        wait_until(lambda: wrapper(running))
        os.kill(wrapper(running), signal.SIGKILL)
        wait_until(lambda: has_answered(running, launch))  # noqa: B023 (waited for at once)
    refusal = project.run("status", running.name).stdout
    (done,) = follow(project, shown("agentmux restart … --role …", refusal))
    assert done.returncode == 0, done.stderr
    running.until_seat("architect")
    assert works.lost() == []


@pytest.mark.follows(
    "tmux -S … rename-session -t … …", "or end what runs in it: tmux -S … kill-session -t …"
)
def test_a_tmux_session_of_the_user_makes_room(running: Session, works: Work) -> None:
    project = running.project
    project.ok("stop", running.name)
    name, own = f"agentmux-{running.name}", ("new-session", "-d", "-P", "-F", "#{pane_pid}", "-s")
    program = int(project.tmux(*own, name, "sleep 1000"))
    project.tmux(*own, f"old-{name}", "sleep 1000")
    rename = "tmux -S … rename-session -t … …"
    refusal = project.fails(3, "resume", running.name, "--detach", "--yes")
    words = f"tmux session {name} is not of session {running.short}, but has its name"
    status = project.ok("status", running.name)
    for said in (refusal, status, project.fails(3, "attach", running.name)):
        assert words in said
        assert f"-t '={name}:'" in shown(
            rename, said
        )  # zsh replaces a bare word that begins with =
    assert f"next: {shown(rename, status)}" in status
    (row,) = json.loads(project.ok("--json"))["sessions"]
    assert row["next"] in project.run().stdout
    went_well(project, row["next"])
    assert is_alive(program)
    assert f"next: agentmux resume {running.short}" in project.ok("status", running.name)
    project.tmux(*own, name, "sleep 1000")
    end = "or end what runs in it: tmux -S … kill-session -t …"
    went_well(project, shown(end, project.fails(3, "remove", running.name, "--yes")))
    goes_on(running, f"agentmux resume {running.short}")
    assert is_alive(program)
    assert works.lost() == []
