"""A session that is given by its path runs in its own project, whatever the current folder is."""

import json
import os
from pathlib import Path

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import Project, Session

RARE = pytest.mark.rare("one of four commands that find a session alike")

pytestmark = pytest.mark.long

QUIET = {"roles": {"architect": {"silent": True}}}


@pytest.fixture
def elsewhere(project: Project) -> Path:
    """Another project, whose configuration is invalid."""
    folder = project.root / "elsewhere"
    (folder / ".agentmux").mkdir(parents=True)
    (folder / ".agentmux" / "config.yaml").write_text("version: 1\nnonsense: 1\n")
    return folder


@RARE
@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
def test_a_resume_is_of_the_sessions_own_project(
    project: Project, elsewhere: Path, wait_until: WaitUntil, relative: bool
) -> None:
    project.config("tmux: {socket_name: own}\n")
    project.scenario(QUIET)
    session = project.start().until_seat("architect")
    path = os.path.relpath(session.path, elsewhere) if relative else str(session.path)
    try:
        project.ok("stop", path, cwd=elsewhere)
        (plan,) = project.json("resume", path, "--dry-run", cwd=elsewhere)["sessions"]
        assert plan["path"] == f".agentmux/.sessions/{session.name}"
        assert [each["cwd"] for each in plan["panes"]] == [str(project.path)]

        begun = project.json("resume", path, "--detach", "--yes", cwd=elsewhere)
        assert begun["path"] == plan["path"]
        assert Path(begun["tmux_socket"]).name == "own"
        wait_until(lambda: session.launched() == ["architect"] * 2, 20)
        session.until_seat("architect").settled("architect")
        launch = session.state["seats"]["architect"]["launch"]
        told = json.loads(session.read(f"launches/{launch}/launch.json"))
        assert told["cwd"] == str(project.path)
        (seen,) = project.json("status", path, cwd=elsewhere)["sessions"]
        assert (seen["path"], seen["live"]) == (plan["path"], True)
        assert "is running" in project.fails(
            3, "restart", path, "--role", "architect", cwd=elsewhere
        )
        assert "-S" in project.fails(2, "attach", path, cwd=elsewhere)
    finally:
        project.program("tmux", "-L", "own", "kill-server")


@pytest.mark.rare("tests/app/session finds each path")
def test_a_decision_is_of_the_sessions_own_project(project: Project, elsewhere: Path) -> None:
    session = project.start().wait()
    path = str(session.path)
    (elsewhere / "mine.py").write_text("mine = 1\n")
    said = project.ok("approve", path, "--yes", cwd=elsewhere)
    assert "  demo_part_1.py " in said
    assert "mine.py" not in said
    project.ok("wait", path, "--for", "done", "--timeout", "30", cwd=elsewhere)
    assert len(project.git("log", "--format=%h").split()) == 2
    session.gone()

    assert project.ok("logs", path, cwd=elsewhere)
    (shown,) = project.json("show", path, cwd=elsewhere)["sessions"]
    assert shown["path"] == f".agentmux/.sessions/{session.name}"
    project.ok("remove", path, "--yes", cwd=elsewhere)
    assert not session.path.exists()


@RARE
def test_changes_are_asked_of_the_sessions_own_project(
    project: Project, elsewhere: Path, wait_until: WaitUntil
) -> None:
    session = project.start().wait()
    path = str(session.path)
    project.ok("request-changes", "another way", "--session", path, cwd=elsewhere)
    wait_until(lambda: session.state["cycle"] == 2, 20)


def test_a_session_among_no_others_is_of_the_project_that_it_is_named_in(
    project: Project,
) -> None:
    project.scenario(QUIET)
    session = project.start().until_seat("architect")
    project.ok("stop", session.name)
    loose = project.root / "loose"
    session.path.rename(loose)
    begun = project.json("resume", str(loose), "--detach", "--yes")
    assert begun["path"] == str(loose)
    moved = Session(project, loose).until_seat("architect")
    launch = moved.state["seats"]["architect"]["launch"]
    told = json.loads(moved.read(f"launches/{launch}/launch.json"))
    assert told["cwd"] == str(project.path)
