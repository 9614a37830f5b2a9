"""Messages about a session in the checkout where the user works on, followed beside their work."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Project
from tests.hints.following import Work, shown, went_well

pytestmark = pytest.mark.long


@pytest.mark.follows("if they are yours, commit on top of them: agentmux approve … --on-top")
def test_the_result_is_committed_on_top_of_commits_of_the_user(
    project: Project, work: Work
) -> None:
    session = project.start("add a greeting", "--no-worktree", "--quick").wait()
    work.commit("a commit meanwhile", project.path / "meanwhile.py")
    mine = project.git("rev-parse", "HEAD").strip()
    refusal = project.fails(3, "approve", session.name, "--yes")
    hint = "if they are yours, commit on top of them: agentmux approve … --on-top"
    said = went_well(project, shown(hint, refusal))
    assert session.state["phase"] == "done", said
    assert project.git("rev-parse", "HEAD~").strip() == mine
    made = project.git("show", "--name-only", "--format=%s", "HEAD").split("\n")
    assert "meanwhile.py" not in made
    assert "calc.py" not in made
    assert "meanwhile.py" not in project.ok("diff", session.name)
    assert work.lost() == []


def test_commits_of_the_user_on_another_branch_are_not_committed_on(project: Project) -> None:
    session = project.start("add a greeting", "--no-worktree", "--quick").wait()
    project.git("switch", "-q", "-c", "elsewhere")
    project.git("commit", "-q", "--allow-empty", "-m", "mine")
    refusal = project.fails(3, "approve", session.name, "--yes", "--on-top")
    assert "HEAD moved" in refusal
    assert "--on-top" not in refusal
    assert "approval" not in session.state or session.state["approval"] is None


@pytest.mark.follows("if they are yours, commit on top of them: agentmux approve … --on-top")
def test_the_result_is_committed_on_top_of_a_commit_that_the_user_amended(
    project: Project, work: Work
) -> None:
    session = project.start("add a greeting", "--no-worktree", "--quick").wait()
    began = project.git("rev-parse", "HEAD").strip()
    project.git("commit", "-q", "--amend", "--only", "-m", "amended")
    mine = project.git("rev-parse", "HEAD").strip()
    refusal = project.fails(3, "approve", session.name, "--yes")
    seen = went_well(project, shown("git log --oneline --left-right …", refusal))
    assert f"< {began[:7]}" in seen
    assert f"> {mine[:7]} amended" in seen
    hint = "if they are yours, commit on top of them: agentmux approve … --on-top"
    went_well(project, shown(hint, refusal))
    assert project.git("rev-parse", "HEAD~").strip() == mine
    assert "calc.py" not in project.git("show", "--name-only", "--format=%s", "HEAD").split("\n")
    assert work.lost() == []


def test_another_commit_on_a_detached_head_is_not_committed_on(project: Project) -> None:
    project.git("switch", "-q", "--detach")
    session = project.start("add a greeting", "--no-worktree", "--quick").wait()
    project.git("commit", "-q", "--amend", "--only", "-m", "another")
    refusal = project.fails(3, "approve", session.name, "--yes", "--on-top")
    assert "HEAD moved" in refusal
    assert "--on-top" not in refusal
