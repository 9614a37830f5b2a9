"""Somebody cleans the checkout with git while sessions are in it."""

import shutil

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import Project, Session

STAY = {"roles": {"architect": {"silent": True}}}


def clean(project: Project) -> None:
    """Do what deletes all files that git does not track, and keep what a user would."""
    project.git("stash", "-aq")
    project.git("clean", "-fdxq")


@pytest.mark.long
def test_a_live_session_survives_it(project: Project) -> None:
    project.scenario(STAY)
    session = project.start().until_seat("architect")
    clean(project)
    assert session.submit("architect", "hello", code=0)
    assert session.state["phase"] == "architecting"
    assert project.git("status", "--porcelain") == ""
    project.git("add", "-A")
    project.ok("stop", session.name)


@pytest.mark.long
def test_a_stopped_session_can_be_resumed_after_it(project: Project) -> None:
    project.scenario(STAY)
    session = project.start().until_seat("architect").settled("architect")
    project.ok("stop", session.name)
    clean(project)
    project.ok("resume", "--yes", "--detach")
    session.until_seat("architect")
    project.ok("stop", session.name)


@pytest.mark.long
def test_a_line_that_somebody_removed_is_put_back(project: Project, wait_until: WaitUntil) -> None:
    project.scenario(STAY)
    session: Session = project.start().until_seat("architect")
    exclude = project.path / ".git" / "info" / "exclude"
    before = exclude.read_text()
    exclude.write_text("*.mine\n")
    wait_until(lambda: exclude.read_text().endswith(before.splitlines()[-1] + "\n"), 30)
    project.git("add", "-A")
    project.ok("stop", session.name)


def begin_and_lose(project: Project, wait_until: WaitUntil, *words: str) -> Session:
    """Delete all sessions while one runs; wait until nothing of it runs any more."""
    project.scenario(STAY)
    session = project.start("add a greeting", *words).until_seat("architect").settled("architect")
    project.git("clean", "-ffdxq")
    assert not session.path.exists()
    wait_until(lambda: not project.processes(), 30)
    return session


@pytest.mark.long
def test_who_loses_a_session_is_told_what_ended_and_what_is_left(
    project: Project, wait_until: WaitUntil
) -> None:
    session = begin_and_lose(project, wait_until)
    ended = f"session {session.name} ended in phase architecting, because its directory"
    assert f"{ended} {session.path} was deleted" in project.run("list").stderr
    for words in (("status",), ("resume",), ("resume", session.name), ("status", "add")):
        said = project.fails(4, *words)
        assert ended in said
        assert "what it changed in the checkout is left: git status" in said
        assert f"the conversation of architect is left: cd {project.path} && " in said, said
        assert "agentmux start 'add a greeting'" in said
    assert ended in project.run("doctor").stdout
    removed = project.run("remove", session.name, "--yes")
    assert (removed.returncode, ended in removed.stderr) == (0, True)
    assert ended not in project.run("list").stderr
    assert "there is no session" in project.fails(4, "status")


def test_a_worktree_that_a_lost_session_had_is_named(
    project: Project, wait_until: WaitUntil
) -> None:
    session = begin_and_lose(project, wait_until, "--worktree")
    said = project.fails(4, "status", session.name)
    (tree,) = (project.root / "calc-worktrees").iterdir()
    assert f"its worktree is left, on branch agentmux/add-a-greeting: git -C {tree} status" in said
    assert "add-a-greeting" in project.git_at(tree, "status", "--branch", "--short")


@pytest.mark.long
def test_what_was_in_a_worktree_that_somebody_removes_is_told_in_the_others(
    project: Project, wait_until: WaitUntil
) -> None:
    project.scenario(STAY)
    linked = project.root / "linked"
    project.git("worktree", "add", "-q", str(linked), "-b", "feat")
    answer = project.json("start", "--agent", "demo", "--worktree", "add a greeting", cwd=linked)
    session = Session(project, linked / answer["path"]).until_seat("architect").settled("architect")
    tree = session.state["worktree"]
    project.git("worktree", "remove", str(linked))  # git does not ask: the session is ignored
    wait_until(lambda: not project.processes(), 30)
    ended = f"session {session.name} ended in phase architecting, because its directory"
    for look in ([], ["list"], ["doctor"]):
        done = project.run(*look)
        assert f"{ended} {session.path} is gone with {linked}" in done.stdout + done.stderr, look
    for words in (("status",), ("approve",), ("status", "add"), ("resume", "add")):
        said = project.fails(4, *words)
        assert f"is left, on branch agentmux/add-a-greeting: git -C {tree} status" in said, words
        assert f"the conversation of architect is left: cd {tree} && " in said, words
    project.ok("remove", session.name, "--yes")
    assert ended not in project.run("list").stderr


@pytest.mark.long
def test_a_stopped_session_that_somebody_deletes_is_named_and_a_removed_one_is_not(
    project: Project,
) -> None:
    project.scenario(STAY)
    session = project.start().until_seat("architect").settled("architect")
    project.ok("stop", session.name)
    shutil.rmtree(project.path / ".agentmux")
    assert "was deleted" in project.fails(4, "resume")
    other = project.start("subtract").until_seat("architect")
    assert "was deleted" in project.run("list").stderr
    project.ok("stop", other.name)
    project.ok("remove", session.name, "--yes")
    project.ok("remove", other.name, "--yes")
    assert "was deleted" not in project.run("list").stderr
