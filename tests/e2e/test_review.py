"""A review of a branch: it leaves a report, and the branch alone."""

from pathlib import Path

import pytest

from tests.e2e.conftest import Project

pytestmark = pytest.mark.long


def test_a_review_of_a_branch_ends_with_a_report_and_leaves_the_branch_alone(
    project: Project,
) -> None:
    project.git("checkout", "-q", "-b", "fix")
    (project.path / "calc.py").write_text("def add(a, b):\n    return b + a\n")
    project.git("commit", "-qam", "Turn it round")
    tip = project.git("rev-parse", "fix").strip()
    project.git("checkout", "-q", "main")
    before = project.git("for-each-ref")
    session = project.start("is it right?", "--of", "fix").until_seat("reviewer_logic")
    place = Path(session.state["worktree"])
    assert project.git("-C", str(place), "rev-parse", "--symbolic-full-name", "HEAD") == "HEAD\n"
    prompt = next(session.path.glob("launches/*/prompt.md")).read_text()
    base = project.git("rev-parse", "main").strip()
    assert (
        f"The work is branch `fix`, which is checked out here: `git diff {base}...HEAD`" in prompt
    )

    project.ok("stop", session.name)
    project.ok("resume", session.name, "--detach")
    session.wait()
    assert session.read("08_completion/summary.md")
    (place / "left.txt").write_text("by an agent\n")
    said = project.fails(3, "approve", session.name, "--yes")
    assert "was to stay as it is, but these files were changed: left.txt" in said
    (place / "left.txt").unlink()
    project.ok("approve", session.name, "--yes")
    state = session.wait("done").state
    assert state["commit"] is None
    assert state["reviewed"]["commit"] == tip
    assert project.git("for-each-ref") == before
