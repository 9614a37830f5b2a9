"""Whether the files are still those on which a check ran, with real git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentmux.app.session.check_record import has_changed_since_checks
from agentmux.core.definitions.definition import (
    Expect,
    Kind,
    PhaseDefinition,
    PipelineDefinition,
)
from agentmux.core.journal.results import PhaseResult
from agentmux.core.journal.state import SessionState
from agentmux.wiring import build
from tests.app.driver import git, make_project


@pytest.mark.parametrize(
    ("ran_on", "expect", "changed"),
    [
        ("now", Expect.PASS, False),
        ("before", Expect.PASS, True),
        ("before", Expect.FAIL, False),
        ("unknown-1", Expect.PASS, False),
        ("", Expect.PASS, False),
    ],
)
def test_files_that_changed_after_the_last_check_are_noticed(
    ran_on: str, expect: Expect, changed: bool, tmp_path: Path
) -> None:
    project = make_project(tmp_path / "project")
    trees = {"before": git(project, "rev-parse", "HEAD^{tree}").strip()}
    (project / "new.py").write_text("new\n")
    world = build.world(project, environ=os.environ)
    home = project / ".agentmux/.sessions/20260101-101500-x"
    home.mkdir(parents=True)
    (home.parent / ".gitignore").write_text("*\n")
    trees["now"] = world.git.checkpoints(project, home, "id").tree(limit_s=60) or ""
    check = PhaseDefinition(phase="verifying", kind=Kind.CHECK, folder="verifying", expect=expect)
    state = SessionState(
        phase="verifying",
        session_id="id",
        pipeline=PipelineDefinition(name="mine", phases=(check,)),
        results={"verifying": PhaseResult(tree=trees.get(ran_on, ran_on))} if ran_on else {},
    )
    assert has_changed_since_checks(world, state, world.files(home)) is changed
