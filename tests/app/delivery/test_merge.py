"""A whole pipeline in a worktree of its own, whose result is merged, with real git."""

import os
from pathlib import Path

import pytest

from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.delivery import failed_step
from agentmux.errors import ExitCode
from tests.app.driver import MESSAGE, Studio, git, make_project


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    project = make_project(tmp_path / "ground" / "project")
    made = Studio(project, dict(os.environ), real_git=True, worktree=True, cycles=1)
    made.then = "merge"
    return made


def test_the_result_is_merged_into_the_checkout_of_the_base(studio: Studio) -> None:
    studio.start()
    assert studio.drive("start") is ExitCode.OK
    state = studio.state()
    assert state.phase is Phase.DONE
    assert state.commit is not None
    assert state.delivery is not None
    new = state.delivery.steps["merge"].record["new"]
    assert [*state.delivery.steps] == ["commit", "merge"]
    assert {step.status for step in state.delivery.steps.values()} == {"done"}
    assert new == state.commit.commit == git(studio.project, "rev-parse", "main").strip()
    assert git(studio.project, "status", "--porcelain") == ""
    assert git(studio.project, "log", "-1", "--format=%s") == f"{MESSAGE}\n"
    assert (studio.project / "part_1.py").exists()


def test_a_base_that_is_checked_out_nowhere_is_moved(studio: Studio) -> None:
    studio.start()
    git(studio.project, "checkout", "-q", "-b", "mine")
    (studio.project / "mine.txt").write_text("mine\n")
    assert studio.drive("start") is ExitCode.OK
    assert git(studio.project, "show", "main:part_1.py")
    assert git(studio.project, "status", "--porcelain") == "?? mine.txt\n"


def test_a_merge_that_fails_leaves_the_decision_open_with_the_reason(studio: Studio) -> None:
    studio.start()
    (studio.project / "README.md").write_text("# Mine\n")
    with pytest.raises(TimeoutError):
        studio.drive("start", deadline_s=3)
    state = studio.state()
    assert (state.phase, state.approval) == (Phase.COMPLETING, None)
    found = failed_step(state)
    assert found is not None
    assert "has uncommitted changes in README.md" in found[1].reason
    made = state.commit
    git(studio.project, "checkout", "README.md")
    studio.resume()
    assert studio.drive("resume") is ExitCode.OK
    assert made is not None
    after = studio.state().commit
    assert after is not None
    assert after.commit == made.commit, "the commit was made twice"
