"""``start --on``: a session that continues a branch, or the branch of a request."""

from pathlib import Path

import pytest

from tests.e2e.conftest import Project
from tests.fakes.forge import FakeForge

pytestmark = pytest.mark.long

DRY = ("start", "--agent", "demo", "--dry-run")


def elsewhere(project: Project, branch: str) -> str:
    """Push a commit to a branch that is only on the remote; return the commit."""
    other = project.root / "other"
    project.git("clone", "-q", str(project.root / "r.git"), str(other))
    inside = ("-C", str(other))
    project.git(*inside, "switch", "-qc", branch)
    project.git(*inside, "commit", "-qm", "Theirs", "--allow-empty")
    project.git(*inside, "push", "-q", "origin", branch)
    return project.git(*inside, "rev-parse", "HEAD").strip()


@pytest.mark.rare("tests/app continues each kind of branch")
def test_a_request_is_continued_on_its_branch(project: Project, forge: FakeForge) -> None:
    theirs = elsewhere(project, "fix")
    forge.request(branch="fix", base="develop")
    session = project.start("more", "--on", "100").wait()
    state = session.state
    assert (state["branch"], state["continued"]) == ("fix", True)
    assert state["base"] == {"branch": "develop", "commit": theirs}
    assert state["request"] == {"url": "https://github.com/o/r/pull/100", "number": 100}
    assert project.git("config", "branch.fix.remote").strip() == "origin"
    shown = project.ok("status", session.name)
    assert "request       #100 https://github.com/o/r/pull/100" in shown
    session.approve()
    commit = session.state["commit"]["commit"]
    assert project.git("rev-parse", "fix", "fix^").split() == [commit, theirs]
    place = Path(state["worktree"])
    project.ok("remove", session.name, "--yes")
    assert not place.exists()
    assert project.git("rev-parse", "fix").strip() == commit
    assert project.git("config", "branch.fix.merge").strip() == "refs/heads/fix"
    assert project.program("git", "config", "branch.fix.agentmux-session").stdout == ""


def test_a_branch_that_is_here_or_on_one_remote(project: Project, forge: FakeForge) -> None:
    project.git("branch", "here")
    theirs = elsewhere(project, "there")
    project.git("fetch", "-q", "origin")
    before = project.tree()
    answer = project.json(*DRY, "--on", "here", "x y")
    assert (answer["branch"], answer["request"]) == ("here", None)
    assert answer["worktree"] == str(project.root / "calc-worktrees" / "x-y")
    said = project.run(*DRY, "--on", "there", "x").stderr
    assert f"on branch there at {theirs[:12]}: it continues" in said
    assert project.tree() == before


def test_what_cannot_be_continued_starts_nothing(project: Project, forge: FakeForge) -> None:
    forge.request(branch="fix", state="CLOSED", commit="c" * 40)
    for given, code, said in (
        ("main", 3, "branch `main` is checked out in "),
        ("nowhere", 4, "there is no branch `nowhere`"),
        ("100", 4, "/pull/100 is closed"),
        ("109", 6, "Could not resolve to a PullRequest"),
    ):
        assert said in project.fails(code, "start", "--agent", "demo", "--on", given, "more")
    assert project.sessions() == []


@pytest.mark.rare("tests/app/commands/test_continued_branch.py has each case")
def test_a_branch_on_which_a_session_works(project: Project, forge: FakeForge) -> None:
    project.scenario({"roles": {"architect": {"silent": True}}})
    session = project.start("x", "--worktree").until_seat("architect")
    said = project.fails(3, *DRY, "--on", "agentmux/x", "more")
    assert "is checked out in" in said
    project.git("worktree", "unlock", session.state["worktree"])
    project.ok("stop", session.name)
    project.git("worktree", "remove", "--force", session.state["worktree"])
    said = project.fails(2, *DRY, "--on", "agentmux/x", "more")
    assert f"session {session.short} works on branch `agentmux/x`" in said
