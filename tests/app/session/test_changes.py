"""What a session has changed, as its branch leaves its base: with real git."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.app.session.changes import changes_of
from agentmux.app.world import World
from agentmux.core.journal.state import (
    Base,
    Commit,
    Delivery,
    Options,
    SessionState,
    StepState,
    TreeCheckpoint,
)
from agentmux.core.names.phase import Phase
from agentmux.wiring import build
from tests.app.driver import git, make_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


@pytest.fixture
def world(project: Path) -> World:
    return build.world(project, environ=dict(os.environ))


@pytest.fixture
def state(project: Path, tmp_path: Path) -> SessionState:
    """A session whose branch has taken over a commit of its base, and has one of its own."""
    committed(project, "before.py")
    began = head(project)
    place = tmp_path / "place"
    git(project, "worktree", "add", "-q", str(place), "-b", "agentmux/x")
    committed(project, "theirs.py")
    committed(place, "ours.py")
    git(place, "merge", "-q", "--no-edit", "main")
    return SessionState(
        phase=Phase.REVIEWING,
        branch="agentmux/x",
        worktree=str(place),
        base=Base(commit=began, branch="main"),
        options=Options(commit=True, base=began),
    )


def head(place: Path) -> str:
    return git(place, "rev-parse", "HEAD").strip()


def committed(place: Path, name: str) -> None:
    (place / name).write_text("X = 1\n")
    git(place, "add", name)
    git(place, "commit", "-qm", f"Add {name}")


def names(world: World, state: SessionState, home: Path) -> list[str]:
    found = changes_of(world, state, home)
    assert found is not None
    *lines, _ = found.repository.stat(found.range)
    return [line.split("|")[0].strip() for line in lines]


def test_commits_of_the_base_are_not_changes_of_the_session(
    world: World, state: SessionState, tmp_path: Path
) -> None:
    # The worktree has no marker of ours, so that it counts as gone: its branch is shown.
    assert names(world, state, tmp_path) == ["ours.py"]
    place = Path(str(state.worktree))
    saved = TreeCheckpoint(
        number=1, because="phase", phase="planning", commit=head(place), head=head(place)
    )
    held = replace(state, worktree_made=True, tree_checkpoints=(saved,))
    assert names(world, held, tmp_path) == ["ours.py"]


def test_a_result_is_shown_after_it_was_merged_too(
    project: Path, world: World, state: SessionState, tmp_path: Path
) -> None:
    made, old = head(Path(str(state.worktree))), head(project)
    done = replace(
        state, phase=Phase.DONE, commit=Commit(status="made", commit=made), worktree=state.worktree
    )
    assert names(world, done, tmp_path) == ["ours.py"]
    git(project, "merge", "-q", "agentmux/x")
    record = {"base": "main", "old": old, "new": made}
    ours = Delivery(id="a1", then="merge", steps={"merge": StepState(status="done", record=record)})
    assert names(world, replace(done, delivery=ours), tmp_path) == ["ours.py"]
    # Where somebody else has merged it, nothing says what the base was before.
    assert names(world, done, tmp_path) == ["ours.py", "theirs.py"]


def test_a_base_that_was_taken_back_counts_from_where_the_session_began(
    project: Path, world: World, state: SessionState, tmp_path: Path
) -> None:
    place = Path(str(state.worktree))
    git(place, "reset", "-q", "--hard", "HEAD^")
    git(project, "reset", "-q", "--hard", "HEAD^^")
    assert names(world, state, tmp_path) == ["ours.py"]
