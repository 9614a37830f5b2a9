"""A whole pipeline in a worktree of its own, whose result is merged, with real git."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from agentmux.app.session.search.lookup import sessions_dir
from agentmux.core.journal.events import StepFailed, StepStarted
from agentmux.core.journal.state import Options
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.delivery import failed_step, failure
from agentmux.errors import ExitCode
from agentmux.ports.git.merging import MergePlan, Merging
from tests.app.driver import MESSAGE, Studio, git, make_project
from tests.app.on_disk import OnDisk


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    project = make_project(tmp_path / "ground" / "project")
    made = Studio(
        project, dict(os.environ), real_git=True, worktree=True, cycles=1, checkpoints=False,
        short=True,
    )  # fmt: skip
    made.then = "merge"
    return made


def test_the_result_is_merged_into_the_checkout_of_the_base(studio: Studio) -> None:
    studio.start()
    assert studio.drive("start") is ExitCode.OK
    state = studio.state()
    assert state.phase == Phase.DONE
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
    studio.ends_when = lambda state: failure(state) != ""
    assert studio.drive("start") is ExitCode.FAILED
    studio.ends_when = lambda state: False
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


def test_the_loser_of_two_merges_into_one_base_merges_on_top(studio: Studio) -> None:
    studio.start()
    project = studio.project
    git(project, "checkout", "-q", "-b", "mine")
    world = studio.world

    class Racing:
        """Lets somebody else move the base just before we do."""

        moved = 0

        def __init__(self, environ: Mapping[str, str]) -> None:
            self._real = world.git.merging(environ)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._real, name)

        def move(self, plan: MergePlan) -> None:
            Racing.moved += 1
            if Racing.moved == 1:
                words = ("commit-tree", "-m", "Theirs", "-p", "main", "main^{tree}")
                git(project, "branch", "-f", "main", git(project, *words).strip())
            self._real.move(plan)

    racing = replace(world.git, merging=lambda environ: cast("Merging", Racing(environ)))
    studio.world = replace(world, git=racing)
    assert studio.drive("start") is ExitCode.OK
    subjects = git(project, "log", "--format=%s", "main").splitlines()
    branch = studio.state().branch
    assert sorted(subjects) == sorted(
        (f"Merge branch '{branch}' into main", "Theirs", MESSAGE, "Begin")
    )
    started = [e.fact for e, _ in studio.events() if isinstance(e.fact, StepStarted)]
    assert len(started) == 2
    assert not [e for e, _ in studio.events() if isinstance(e.fact, StepFailed)]
    assert started[0].record["old"] != started[1].record["old"]


def test_a_checkout_in_which_another_result_has_still_to_be_committed_is_left_alone(
    studio: Studio,
) -> None:
    studio.start()
    other = OnDisk(
        sessions_dir(studio.project) / "20260101-101500-other",
        Phase.COMPLETING,
        options=Options(commit=True, base=git(studio.project, "rev-parse", "HEAD").strip()),
    )
    other.commit()
    studio.ends_when = lambda state: failure(state) != ""
    assert studio.drive("start") is ExitCode.FAILED
    found = failed_step(studio.state())
    assert found is not None
    assert "session 20260101-101500-other began in" in found[1].reason
    assert "agentmux approve 20260101-101500-other" in found[1].reason
    assert git(studio.project, "log", "--format=%s", "main") == "Begin\n"


def test_a_checkout_in_which_a_session_works_is_left_alone(studio: Studio) -> None:
    studio.start()
    lock = studio.world.locks.tree(studio.project)
    lock.acquire(1, {"path": "/elsewhere/20260101-101500-other"})
    studio.ends_when = lambda state: failure(state) != ""
    assert studio.drive("start") is ExitCode.FAILED
    found = failed_step(studio.state())
    assert found is not None
    assert "session 20260101-101500-other is live in the same work tree" in found[1].reason
    assert git(studio.project, "log", "--format=%s", "main") == "Begin\n"
    lock.release()


def test_an_approval_agrees_to_what_comes_back_with_the_merge_and_to_nothing_else(
    studio: Studio,
) -> None:
    project = studio.project
    git(project, "commit", "-q", "--allow-empty", "-m", "Taken off")
    studio.start()
    git(project, "reset", "-q", "--hard", "HEAD~1")
    studio.ends_when = lambda state: failure(state) != ""
    assert studio.drive("start") is ExitCode.FAILED
    found = failed_step(studio.state())
    assert found is not None
    assert "the merge brings back 1 commit that main had" in found[1].reason
    assert "Taken off" in found[1].reason
    assert "Taken off" not in git(project, "log", "--format=%s", "main")
    studio.ends_when = lambda state: False
    studio.brings_back = True
    studio.resume()
    assert studio.drive("resume") is ExitCode.OK
    assert "Taken off" in git(project, "log", "--format=%s", "main")


def test_what_was_agreed_to_comes_back_though_its_hash_is_longer_by_then(studio: Studio) -> None:
    project = studio.project
    git(project, "commit", "-q", "--allow-empty", "-m", "Taken off")
    studio.start()
    git(project, "reset", "-q", "--hard", "HEAD~1")
    # As in a repository that grows between the approval and the merge.
    git(project, "config", "core.abbrev", "5")
    hook = project / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ngit config core.abbrev 14\n")
    hook.chmod(0o755)
    studio.brings_back = True
    studio.ends_when = lambda state: failure(state) != ""
    assert studio.drive("start") is ExitCode.OK
    assert git(project, "config", "core.abbrev") == "14\n"
    assert "Taken off" in git(project, "log", "--format=%s", "main")
