"""Approvals that merge or push, from the command line, with real git and real tmux."""

import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Project, Session

RARE = pytest.mark.rare("tests/app/delivery has each step")

pytestmark = pytest.mark.long


def remote(project: Project, name: str) -> Path:
    """Make an empty repository, and add it as a remote."""
    made = project.root / f"{name}.git"
    project.git("init", "-q", "--bare", str(made))
    project.git("remote", "add", name, str(made))
    return made


def hook(project: Project, name: str, body: str) -> None:
    path = project.path / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(0o755)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def steps(session: Session) -> dict[str, Any]:
    found: dict[str, Any] = session.state["delivery"]["steps"]
    return {name: step["status"] for name, step in found.items()}


@pytest.mark.rare("tests/hints resolves a conflict, too")
def test_a_conflict_changes_nothing_and_a_coder_can_resolve_it(project: Project) -> None:
    session = project.start("add a greeting", "--worktree").wait()
    project.fails(2, "approve", session.name, "--yes", "--merge", "--keep")
    (name,) = (each.name for each in Path(session.state["worktree"]).glob("demo_*.py"))
    (project.path / name).write_text("mine\n")
    project.git("add", name)
    project.git("commit", "-qm", "Mine")
    mine = project.git("rev-parse", "main")
    refusal = project.fails(1, "approve", session.name, "--yes", "--merge")
    assert f"not merged: conflicts with branch `main` in {name}" in refusal
    hint = f"agentmux request-changes --from fixing --session {session.short}"
    assert hint in refusal
    assert project.git("rev-parse", "main") == mine
    assert project.git("status", "--porcelain") == ""
    shown = project.ok("status", session.name)
    assert "merge failed: conflicts with branch `main`" in shown
    assert f"next: agentmux approve {session.name} --merge\n        or agentmux " in shown

    accepted = session.state["commit"]["commit"]
    project.ok(*hint.split()[1:])
    session.wait("fixing").wait()
    state = session.state
    assert (state["cycle"], state["fix"]["iteration"]) == (2, 1)
    assert session.launched().count("architect") == 1
    request = session.read("07_review/fix_request.md")
    assert f"CONFLICT (add/add): Merge conflict in {name}" in request
    assert "git merge --no-edit main`" in request
    place = Path(state["worktree"])
    assert project.program("git", "rev-parse", "HEAD", cwd=place).stdout.strip() == accepted
    project.program("git", "merge", "-X", "ours", "-qm", "Resolved", "main", cwd=place)
    said = project.ok("approve", session.name, "--yes", "--merge")
    assert "then merged into main" in said
    assert project.git("log", "--format=%s", "-3", "main").count("Resolved") == 1
    assert project.git("status", "--porcelain") == ""
    commit = project.git("rev-parse", "main").strip()
    assert said.endswith(f"merged into main ({commit[:12]})\n")
    assert session.state["commit"]["commit"] == commit
    assert (session.state["phase"], steps(session)) == ("done", {"commit": "done", "merge": "done"})
    assert "delivery      commit done, merge done" in project.ok("status", session.name)
    (seen,) = project.json("status", session.name)["sessions"]
    assert seen["delivery"]["then"] == "merge"
    assert seen["delivery"]["steps"]["merge"]["new"] == commit


@RARE
def test_an_approval_pushes_in_the_environment_of_its_command(project: Project) -> None:
    one, _ = remote(project, "one"), remote(project, "two")
    session = project.start("add a greeting", "--worktree").wait()
    refusal = project.fails(2, "approve", session.name, "--yes", "--push")
    assert "several remotes: one, two" in refusal
    assert "git config remote.pushDefault NAME" in refusal
    project.git("config", "remote.pushDefault", "one")
    hook(project, "pre-push", "echo 'the lint says no' >&2\nexit 1\n")
    answer = project.json("approve", session.name, "--yes", "--push", code=1)
    assert answer["delivery"]["steps"]["push"]["status"] == "failed"
    assert "the lint says no" in answer["delivery"]["steps"]["push"]["reason"]
    assert session.state["phase"] == "completing"
    commit = session.state["commit"]["commit"]
    hook(project, "pre-push", f'echo "$AGENT_SOCKET" > {project.root}/seen; sleep 1\n')
    words = ("approve", session.name, "--yes", "--push")
    late = project.fails(9, *words, "--timeout", "0.1", env={"AGENT_SOCKET": "fresh"})
    assert "is still at work after 0.1 s" in late
    session.wait("done")
    assert (project.root / "seen").read_text() == "fresh\n"
    assert session.state["commit"]["commit"] == commit
    branch = session.state["branch"]
    found = project.program("git", "rev-parse", branch, cwd=one)
    assert found.stdout.strip() == commit
    assert steps(session) == {"commit": "done", "push": "done"}
    assert not [each for each in session.path.iterdir() if each.name.startswith(".tmp-")]


@RARE
def test_what_a_remote_rejects_can_be_kept_by_the_resume_of_a_stopped_session(
    project: Project,
) -> None:
    made = remote(project, "origin")
    session = project.start("add a greeting").wait()
    assert "nothing is to be merged" in project.fails(2, "approve", session.name, "-y", "--merge")
    hook(project, "pre-push", "exit 1\n")
    project.fails(1, "approve", session.name, "--yes", "--push")
    commit = session.state["commit"]["commit"]
    project.ok("stop", session.name)
    said = project.ok("approve", session.name, "--yes", "--keep")
    assert "applied at the next resume" in said
    assert session.state["phase"] == "completing"
    project.ok("resume", session.name, "--detach", "--yes")
    state = session.wait("done").state
    assert state["commit"]["commit"] == commit
    assert state["delivery"] is None, "a commit in the checkout goes nowhere else"
    assert session.kinds("approve") == ["approve", "approve"]
    assert project.program("git", "for-each-ref", cwd=made).stdout == ""


def test_what_is_made_for_the_user_has_the_modes_of_the_users_shell(project: Project) -> None:
    """Not those of the tmux server, which any other shell may have started."""

    def run(umask: str, *words: str) -> None:
        command = ("sh", "-c", f'umask {umask}; exec "$0" -m agentmux "$@"', sys.executable)
        done = project.program(*command, *words)
        assert done.returncode == 0, done.stderr

    run("022", "start", "--agent", "demo", "--worktree", "--yes", "--", "server")
    run("027", "start", "--agent", "demo", "--worktree", "--yes", "--", "greet")
    session = Session(project, next(e for e in project.sessions() if "greet" in e.name)).wait()
    tree = Path(session.state["worktree"])
    (tree / "calc.py").write_text("changed\n")
    assert {mode(each) for each in (tree / ".git", *tree.glob("demo_*.py"))} == {0o640}
    run("077", "approve", session.name, "--yes", "--merge")

    written = [project.path / "calc.py", project.path / ".git" / "index"]
    assert [mode(each) for each in (*written, *project.path.glob("demo_*.py"))] == [0o600] * 3
    commit = project.git("rev-parse", "main").strip()
    folder = project.path / ".git" / "objects" / commit[:2]
    assert [mode(folder), mode(folder / commit[2:])] == [0o700, 0o400]
    ours = [session.path, *session.path.glob("*.json*"), *session.path.glob("launches/*/*")]
    assert [each for each in ours if mode(each) & 0o077] == []
