"""Messages about other projects, other hosts' requests, and sessions that somebody deleted."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import WaitUntil
from tests.e2e.conftest import Project, Session, bare, older_git
from tests.fakes.forge import FakeForge
from tests.hints.following import Work, shown, went_well

pytestmark = pytest.mark.rare("odd places and hosts; the other hints are followed")

WAITS = {"roles": {"architect": {"silent": True}}}


@pytest.fixture
def stopped(project: Project, work: Work) -> Session:
    """A stopped session in a worktree, in which a coder has edited and committed."""
    project.scenario(WAITS)
    session = project.start("add a greeting", "--worktree").settled("architect")
    work.plant(Path(session.state["worktree"]), "a coder")
    project.ok("stop", session.name)
    session.gone()
    return session


@pytest.mark.follows("begin again: agentmux start …", "do not name it any more: agentmux remove …")
def test_what_a_deleted_session_leaves_stays(stopped: Session, work: Work) -> None:
    project = stopped.project
    shutil.rmtree(project.path / ".agentmux" / ".sessions")
    refusal = project.fails(4, "status", stopped.name)
    again = shown("begin again: agentmux start …", refusal)
    went_well(project, again.replace("agentmux start", "agentmux start --detach"))
    went_well(project, shown("do not name it any more: agentmux remove …", refusal))
    assert work.lost() == []


@pytest.mark.follows("agentmux --project PATH resume …")
def test_a_session_whose_linked_worktree_was_moved_goes_on(project: Project, work: Work) -> None:
    project.scenario(WAITS)
    linked, moved = project.root / "linked", project.root / "moved"
    project.git("worktree", "add", "-q", str(linked), "-b", "feat")
    answer = project.json("start", "--agent", "demo", "--worktree", "add a greeting", cwd=linked)
    session = Session(project, linked / answer["path"]).settled("architect")
    work.plant(Path(session.state["worktree"]), "a coder").plant(linked, "another user")
    project.ok("stop", session.name, cwd=linked)
    linked.rename(moved)
    told = project.fails(4, "status", session.name)
    hint = shown("agentmux --project PATH resume …", told)
    went_well(project, f"{hint} --detach", PATH=str(moved))
    assert "running" in project.ok("status", session.name, cwd=moved)
    assert work.lost() == []


@pytest.mark.follows("agentmux --project … …", "or, if you mean all of it: agentmux --project … …")
def test_a_session_of_a_project_further_up_is_named(stopped: Session, work: Work) -> None:
    project = stopped.project
    inner = project.path / "inner"
    inner.mkdir()
    project.git_at(inner, "init", "-q")
    refusal = project.fails(4, "status", stopped.name, cwd=inner)
    hint = shown("agentmux --project … …", refusal)
    assert "stopped" in went_well(project, hint)
    refusal = project.fails(7, "list", cwd=project.home)
    hint = shown("or, if you mean all of it: agentmux --project … …", refusal)
    went_well(project, hint, text="list")
    assert work.lost() == []


@pytest.mark.follows("go on with that one: agentmux resume …")
def test_the_session_of_a_copied_repository_goes_on_where_it_was(
    stopped: Session, work: Work
) -> None:
    project = stopped.project
    copy = project.root / "copy" / project.path.name
    copy.parent.mkdir()
    assert project.program("cp", "-a", str(project.path), str(copy)).returncode == 0
    (copy.parent / "calc-worktrees").symlink_to(project.root / "calc-worktrees")
    refusal = project.fails(3, "resume", "--detach", "--yes", cwd=copy)
    went_well(project, f"{shown('go on with that one: agentmux resume …', refusal)} --detach")
    stopped.until_seat("architect")
    assert work.lost() == []


@pytest.mark.follows("PATH=… agentmux resume …")
def test_a_resume_with_the_path_of_its_agents(project: Project, work: Work) -> None:
    agent = project.root / "bin" / "mine"
    agent.parent.mkdir()
    agent.write_text('#!/bin/sh\nexec agentmux-demo-agent "$@"\n')
    agent.chmod(0o755)
    project.config("defaults: {agent: mine}\nagents: {mine: {like: demo, command: mine}}\n")
    project.scenario(WAITS)
    env = {"PATH": f"{agent.parent}{os.pathsep}{project.env['PATH']}"}
    words = ("start", "--json", "--worktree", "--detach", "add a greeting")
    session = Session(project, project.path / json.loads(project.ok(*words, env=env))["path"])
    session.until_seat("architect")
    work.plant(Path(session.state["worktree"]), "a coder")
    project.ok("stop", session.name)
    refusal = project.fails(6, "resume", session.name, "--detach", "--yes")
    hint = refusal[refusal.index("PATH=") :].splitlines()[0]
    done = project.program("sh", "-c", f"{hint} --detach --yes")
    assert done.returncode == 0, done.stderr
    session.until_seat("architect")
    assert work.lost() == []


@pytest.mark.follows("approve it as it is: agentmux approve --keep")
def test_a_result_on_no_branch_is_kept(project: Project, work: Work) -> None:
    project.git("switch", "-q", "--detach")
    session = project.start("add a greeting", "--no-worktree").wait()
    refusal = project.fails(2, "approve", session.name, "--push", "--yes")
    went_well(project, shown("approve it as it is: agentmux approve --keep", refusal))
    session.wait("done")
    assert work.lost() == []


@pytest.mark.follows("or keep it, and merge it yourself: agentmux approve --keep")
def test_what_an_older_git_cannot_merge_is_kept(project: Project, work: Work) -> None:
    project.env["PATH"] = older_git(project)
    session = project.start("add a greeting", "--worktree").wait()
    work.plant(Path(session.state["worktree"]), "a coder")
    work.commit("a commit on main", project.path / "on_main.py")
    refusal = project.fails(1, "approve", session.name, "--merge", "--yes")
    template = "or keep it, and merge it yourself: agentmux approve --keep"
    went_well(project, shown(template, refusal))
    session.wait("done")
    assert work.lost() == []


@pytest.mark.follows('ask for changes: agentmux request-changes "…" --session …')
def test_what_was_committed_is_changed_by_another_cycle(project: Project, work: Work) -> None:
    bare(project)
    hook = project.path / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    session = project.start("add a greeting", "--worktree").wait()
    work.plant(Path(session.state["worktree"]), "a coder")
    project.fails(1, "approve", session.name, "--push", "--yes")
    project.ok("request-changes", "once more", "--session", session.name, "--from", "fixing")
    session.wait("fixing").wait()
    project.ok("stop", session.name)
    refusal = project.fails(3, "rewind", session.name, "--to", "1", "--yes")
    hint = shown('ask for changes: agentmux request-changes "…" --session …', refusal)
    went_well(project, hint, text="another greeting")
    assert work.lost() == []


@pytest.mark.follows("else remove it: agentmux remove …")
def test_a_session_in_the_checkout_is_removed_without_what_it_changed(
    project: Project, work: Work
) -> None:
    session = project.start("add a greeting", "--no-worktree").wait()
    work.write("an edit of a coder", project.path / "edited.py")
    project.ok("stop", session.name)
    went_well(project, f"else remove it: agentmux remove {session.name}")
    assert not session.path.exists()
    assert work.lost() == []


@pytest.mark.follows("this is in the git repository of your home directory, …; its own: git init")
def test_a_project_in_the_repository_of_the_home_directory(project: Project) -> None:
    inner = project.home / "inner"
    inner.mkdir()
    project.git_at(project.home, "init", "-q")
    (inner / "calc.py").write_text("x = 1\n")
    project.git_at(project.home, "add", "inner/calc.py")
    project.git_at(project.home, "commit", "-qm", "Begin")
    work = Work(project)
    work.commit("a commit of the user", inner / "one.py")
    work.write("an edit of the user", inner / "calc.py")
    (inner / ".agentmux").mkdir()
    told = project.run("start", "--agent", "demo", "--dry-run", "x", cwd=inner)
    assert "its own: git init" in told.stderr
    assert project.program("git", "init", "-q", cwd=inner).returncode == 0
    assert work.lost() == []


@pytest.mark.follows("…: …; to make one for it: agentmux start --branch …", "git branch … …")
def test_a_commit_on_no_branch_gets_one(project: Project, work: Work) -> None:
    project.git("switch", "-q", "--detach")
    told = project.run("start", "--dry-run", "add a greeting").stderr
    assert "to make one for it: agentmux start --branch …" in told
    session = project.start("add a greeting", "--no-worktree").wait()
    told = project.ok("approve", session.name, "--yes")
    session.wait("done")
    keep = next(line for line in told.splitlines() if "git branch " in line)
    done = project.program("sh", "-c", keep[keep.index("git branch ") :])
    assert done.returncode == 0, done.stderr
    project.git("switch", "-q", "main", "--merge")
    assert work.lost() == []


@pytest.mark.follows(
    "let it go on now: agentmux unpark …", "or, to go on at once: agentmux unpark …"
)
def test_a_seat_at_its_limit_goes_on(project: Project, work: Work, wait_until: WaitUntil) -> None:
    project.scenario({"roles": {"architect": {"limit": True}}})
    project.config("defaults: {agent: demo}\nsnapshots: {interval: 0.2s}\n")
    session = project.start("add a greeting", "--worktree").until_seat("architect")
    work.plant(Path(session.state["worktree"]), "a coder")
    wait_until(lambda: "agentmux unpark" in project.ok("status", session.name))
    next_ = shown("or, to go on at once: agentmux unpark …", project.ok("status", session.name))
    refusal = project.fails(3, "tell", session.name, "--role", "architect", "go on")
    went_well(project, shown("let it go on now: agentmux unpark …", refusal))
    assert "unpark" in next_
    assert work.lost() == []


@pytest.fixture
def forge(project: Project) -> FakeForge:
    """A forge with the repository ``o/r``, the project's remote ``origin``, that has ``main``."""
    made = FakeForge(project.root / "forge")
    project.env |= made.environment
    project.env["PATH"] = f"{made.bin}:{project.env['PATH']}"
    url, repository = "https://github.com/o/r.git", bare(project)
    project.git("remote", "set-url", "origin", url)
    project.git("config", f"url.{repository}.insteadOf", url)
    made.repository("o/r", repository)
    return made


@pytest.mark.follows(
    "bring them together: … && git fetch && …",
    "continue a branch: agentmux start --on … …",
)
def test_a_request_is_continued(project: Project, forge: FakeForge, work: Work) -> None:
    project.git("stash", "-q", "--include-untracked")
    project.git("push", "-q", "origin", "main:fix")
    project.git("branch", "-q", "fix", "origin/fix")
    project.git("switch", "-q", "fix")
    work.commit("a commit that was pushed by somebody", project.path / "pushed.py")
    project.git("push", "-q", "origin", "fix")
    project.git("reset", "-q", "--hard", "HEAD^")
    work.commit("a commit of the user's own", project.path / "own.py")
    project.git("config", "pull.rebase", "false")
    project.git("switch", "-q", "main")
    forge.request(branch="fix", commit=project.git("rev-parse", "origin/fix").strip())
    refusal = project.fails(3, "start", "--on", "100", "--detach", "more")
    went_well(project, shown("bring them together: … && git fetch && …", refusal))
    assert work.lost() == []
    project.git("switch", "-q", "main")
    forge.request(branch="fix", state="CLOSED", commit="c" * 40)
    project.scenario(WAITS)
    refusal = project.fails(4, "start", "--on", "101", "--detach", "more")
    hint = shown("continue a branch: agentmux start --on … …", refusal)
    went_well(project, hint, text="--detach 'more'")
    project.git("stash", "pop", "-q")
    assert work.lost() == []


@pytest.mark.follows("agentmux start --no-worktree …")
def test_an_older_git_works_in_the_checkout(project: Project, work: Work) -> None:
    (project.path / ".gitmodules").write_text("")
    project.git("add", ".gitmodules")
    project.git("commit", "-qm", "Modules", "--", ".gitmodules")
    project.env["PATH"] = older_git(project)
    project.scenario(WAITS)
    refusal = project.fails(6, "start", "--worktree", "--detach", "x")
    hint = shown("agentmux start --no-worktree …", refusal)
    went_well(project, hint, text="--detach 'add a greeting'")
    assert work.lost() == []


@pytest.mark.follows('agentmux --project … start "…"')
def test_a_session_starts_in_a_named_project(project: Project, work: Work) -> None:
    project.scenario(WAITS)
    line = f'agentmux --project {project.path} start "…"'
    went_well(project, line, text="add a greeting")
    (answer,) = json.loads(project.ok("list", "--json"))["sessions"]
    assert answer["status"] in {"running", "starting"}
    assert work.lost() == []
