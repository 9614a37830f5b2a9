"""Pipelines other than `feature`, with demo agents in real tmux."""

from __future__ import annotations

from tests.e2e.conftest import Project


def test_a_small_wish_takes_the_short_way(project: Project) -> None:
    session = project.start("fix the typo", "--quick").wait()

    project.ok("approve", session.name, "--yes")
    session.wait("done").gone()
    assert session.launched() == ["coder-1", "reviewer_logic", "reviewer_logic"]
    assert project.git("log", "--format=%s") == "fix the typo\nBegin\n"
