"""Messages about a session in the checkout where the user works on, followed beside their work."""

from __future__ import annotations

import pytest

from agentmux.core.names.words import git_commands
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


@pytest.mark.follows(
    "if anything is staged, commit it first: git commit --message 'Work in progress'"
)
def test_what_is_staged_is_committed_before_a_commit_is_taken_along(
    project: Project, work: Work
) -> None:
    session = project.start("add a greeting", "--no-worktree", "--branch").wait()
    project.git("switch", "-q", "main")
    work.commit("a commit on main", project.path / "meanwhile.py")
    work.write("a staged line", project.path / "staged.py")
    project.git("add", "staged.py")
    project.git("switch", "-q", session.state["branch"])
    work.commit("a commit on the branch", project.path / "before.py")
    project.git("switch", "-q", "main")
    refusal = project.fails(3, "approve", session.name, "--yes")
    went_well(project, shown("if anything is staged, commit it first: …", refusal))
    went_well(project, shown("take it along: … && … && …", refusal))
    branch = project.git("rev-parse", "--abbrev-ref", "HEAD").strip()
    assert branch == session.state["branch"]
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


@pytest.mark.follows("or leave it there: agentmux remove --force …")
def test_what_was_put_aside_for_a_trial_is_named_where_it_is_missing(
    project: Project, work: Work
) -> None:
    session = project.start("add a greeting", "--no-worktree", "--quick").wait()
    work.write("a file of a coder", project.path / "tests" / "test_more.py")
    aside = git_commands.put_aside(None, top=str(project.path), why=git_commands.FOR_TRIAL)
    project.program("sh", "-c", aside)
    told = project.ok("approve", session.name, "--yes")
    assert "there is nothing to commit" in told
    back = "put back what was put aside on main: git -C … stash pop --index …"
    assert told.count(shown(back, told)) == 2, "before the question, and with the result"
    session.wait("done")
    session.gone()
    refusal = project.fails(3, "remove", session.name, "--yes")
    went_well(project, shown(back, refusal))
    assert work.lost() == []
    project.program("sh", "-c", aside)
    went_well(project, shown("or leave it there: agentmux remove --force …", refusal))
    assert not session.path.exists()
    assert work.lost() == []


def test_another_commit_on_a_detached_head_is_not_committed_on(project: Project) -> None:
    project.git("switch", "-q", "--detach")
    session = project.start("add a greeting", "--no-worktree", "--quick").wait()
    project.git("commit", "-q", "--amend", "--only", "-m", "another")
    refusal = project.fails(3, "approve", session.name, "--yes", "--on-top")
    assert "HEAD moved" in refusal
    assert "--on-top" not in refusal
