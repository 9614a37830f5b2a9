"""Where an approval takes the result: flags, settings, and what is possible."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.app.delivery.approval.conflict_request import with_conflicts
from agentmux.app.delivery.steps.ways import describe_way, way_of
from agentmux.app.world import World
from agentmux.core.journal.state import Base, Delivery, Options, SessionState, StepState
from agentmux.core.names.phase import Phase
from agentmux.errors import ExitCode, UsageError
from agentmux.wiring import build
from tests.app.driver import git, make_project

Configure = Callable[[str, str], World]


@pytest.fixture
def configured(tmp_path: Path) -> Configure:
    """Return a project's world, from what `completion` of the user and of the project says."""
    project = make_project(tmp_path / "project")
    environ = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config")}

    def made(user: str, projects: str) -> World:
        for folder, line in (
            (tmp_path / "config/agentmux", user),
            (project / ".agentmux", projects),
        ):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "config.yaml").write_text(f"version: 1\ncompletion: {{{line}}}\n")
        return build.world(project, environ=environ)

    return made


def state(*, worktree: bool = True, base: str | None = "main", commit: bool = True) -> SessionState:
    made = SessionState(
        phase=Phase.COMPLETING, branch="agentmux/x", options=Options(commit=commit, base="b0")
    )
    if worktree:
        made = replace(made, worktree="/w", base=Base(commit="b0", branch=base))
    return made


@pytest.mark.parametrize(
    ("user", "project", "asked", "alone", "way"),
    [
        ("", "", "", False, "keep"),
        ("", "then: merge", "", False, "merge"),
        ("then: merge", "", "", False, "merge"),
        ("then: merge", "then: keep", "", False, "keep"),
        ("", "then: merge", "keep", False, "keep"),
        ("", "then: merge", "", True, "keep"),
        ("then: merge", "then: keep", "", True, "merge"),
        ("then: merge", "require_approval: false", "", True, "merge"),
    ],
)
def test_a_projects_file_chooses_only_what_a_person_approves(
    configured: Configure, user: str, project: str, asked: str, alone: bool, way: str
) -> None:
    assert way_of(configured(user, project), state(), asked, alone=alone) == way


def test_what_is_not_possible_is_refused_before_anything_is_recorded(configured: Configure) -> None:
    world = configured("", "")
    for impossible, asked, says in (
        (state(worktree=False), "merge", "nothing is to be merged"),
        (state(base=None), "merge", "began on no branch"),
        (state(), "push", "has no remote"),
        (replace(state(worktree=False), branch=None), "push", "HEAD is detached"),
        (state(commit=False), "push", "commits are turned off"),
    ):
        with pytest.raises(UsageError, match=says) as caught:
            way_of(world, impossible, asked)
        assert caught.value.exit_code is ExitCode.USAGE


def test_a_setting_that_means_nothing_for_a_session_is_no_obstacle(configured: Configure) -> None:
    world = configured("then: merge", "")
    assert way_of(world, state(worktree=False), "") == "keep"
    assert way_of(world, state(commit=False), "") == "keep"


def test_where_it_goes_is_said(configured: Configure) -> None:
    world = configured("", "")
    git(world.project, "remote", "add", "origin", "/nowhere")
    assert describe_way(world, state(), "merge") == "then merged into main"
    assert describe_way(world, state(), "push") == "then pushed to origin, branch agentmux/x"
    assert describe_way(world, state(), "keep") == ""


def test_a_request_without_words_needs_a_conflict() -> None:
    with pytest.raises(UsageError, match="no merge conflict"):
        with_conflicts(state(), " ")
    assert with_conflicts(state(), "More.") == "More."
    record = {"base": "main", "conflicts": "CONFLICT (content): in a.py"}
    failed = StepState(status="failed", reason="why", record=record)
    found = replace(state(), delivery=Delivery(id="a", then="merge", steps={"merge": failed}))
    said = with_conflicts(found, "Mind the tests.")
    assert said.startswith("Mind the tests.\n\nThe work could not be merged into branch `main`:")
    assert "CONFLICT (content): in a.py" in with_conflicts(found, "")
