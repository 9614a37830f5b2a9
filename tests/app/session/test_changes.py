"""Between which states of the code a session's changes are shown, with real git."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.app.session.workplace.changes import changes_of
from agentmux.app.world import World
from agentmux.core.journal.state import Commit, Options, SessionState, TreeCheckpoint
from agentmux.core.names.phase import Phase
from agentmux.errors import NotFoundError
from agentmux.wiring import build
from tests.app.driver import make_project

SAVED = TreeCheckpoint(
    number=1, because="phase", phase="planning", commit="c" * 40, missing=("big.bin",)
)
STATE = SessionState(
    phase=Phase.IMPLEMENTING,
    branch="main",
    options=Options(base="b" * 40, dirty=("mine.txt",)),
    tree_checkpoints=(SAVED,),
)


@pytest.fixture
def world(tmp_path: Path, isolated: str) -> World:
    return build.world(make_project(tmp_path / "p"), environ=dict(os.environ))


def test_what_a_checkpoint_does_not_have_has_not_changed_since(world: World) -> None:
    found = changes_of(world, STATE, world.project, since="planning")
    assert found is not None
    assert (found.range.since, found.range.until) == ("c" * 40, None)
    assert found.range.leave_out == ("big.bin", "mine.txt")
    found = changes_of(world, STATE, world.project)
    assert found is not None
    assert (found.range.since, found.range.leave_out) == ("b" * 40, ("mine.txt",))
    with pytest.raises(NotFoundError):
        changes_of(world, STATE, world.project, since="2")


@pytest.mark.parametrize("since", [None, "1"])
@pytest.mark.parametrize("made", [None, "d" * 40])
def test_of_a_session_that_is_done_only_what_was_committed_is_shown(
    world: World, since: str | None, made: str | None
) -> None:
    commit = Commit(status="made" if made else "none", commit=made)
    found = changes_of(
        world, replace(STATE, phase=Phase.DONE, commit=commit), world.project, since=since
    )
    assert found is not None
    assert found.range.until == (made or "b" * 40)
    assert found.note == ("" if made else "nothing was committed")


def test_what_began_on_no_commit_has_nothing_to_compare_with(world: World) -> None:
    assert changes_of(world, replace(STATE, options=Options()), world.project) is None
