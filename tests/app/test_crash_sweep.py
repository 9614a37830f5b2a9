"""A pipeline that is killed at any durable operation ends with the same result.

One run is recorded: the disk is copied before each operation that changes a name or the journal,
which is what a kill at that moment would leave. Then new objects, as in a new process, continue
from the copies, one of each kind: on a new tmux server (everything was killed), or with the panes
that are still alive (only the orchestrator was killed). The recorded run has research, a parallel
group, a failed review with its fix, and a second cycle.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from agentmux.app.session.search.lookup import list_sessions
from agentmux.core.names import layout
from tests.app import sweeping as git_sweeps
from tests.app.driver import MESSAGE, NotedRepository, Studio, make_project
from tests.app.recording import clone, one_of_each, record
from tests.app.sweeping import SHARES, commits, outcome, recorded, sweep
from tests.faults.operations import Operation

pytestmark = pytest.mark.long


def begin(folder: Path) -> Studio:
    studio = Studio(make_project(folder / "project"), dict(os.environ))
    assert isinstance(studio.world.repository, NotedRepository)
    studio.world.repository.begin()
    return studio


@SHARES
def test_a_kill_at_any_operation_changes_nothing_in_the_end(
    share: int, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin(quick)
    recording = recorded(studio, quick, monkeypatch)
    assert {"replace", "rename", "mkdir", "link", "write"} <= set(recording.operations)
    assert commits(studio)[-1][0] == f"{MESSAGE}\n\nCycle 2:"
    images = one_of_each(recording.images)
    assert len(images) > 120
    sweep(studio, outcome(studio), images[share::3], "resume")


@SHARES
def test_a_kill_of_the_orchestrator_or_a_lost_state_changes_nothing_in_the_end(
    share: int, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = begin(quick)
    recording = recorded(studio, quick, monkeypatch)
    wanted = outcome(studio)
    alive = [image for image in recording.images[::-1] if image.session is not None]
    sweep(studio, wanted, one_of_each(alive)[3 * share :: 9], "reattach")
    lost = one_of_each(alive)[1::3]
    assert len(lost) > 40
    lost = lost[share::3]
    for image in lost:
        for name in (layout.STATE, layout.STATE_BACKUP):
            path = image.folder / studio.session.relative_to(studio.project) / name
            path.unlink(missing_ok=True)
    sweep(studio, wanted, lost, "resume")


@pytest.mark.parametrize("worktree", [False, True])
def test_a_start_that_is_killed_leaves_a_whole_session_or_none(
    worktree: bool, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = git_sweeps.begin(quick, worktree=True) if worktree else begin(quick)
    disks: list[tuple[Path, Operation]] = []

    def keep(operation: Operation) -> None:
        disks.append((quick / f"{len(disks):03}", operation))
        clone(str(studio.ground), str(disks[-1][0]))

    with monkeypatch.context() as context:
        record(context, studio.ground, keep)
        studio.start()
    whole = began(studio)
    assert len(disks) > 20
    assert worktree == any(operation.path == "git config --local" for _, operation in disks)

    seen = set()
    for disk, operation in disks:
        shutil.rmtree(studio.ground)
        disk.rename(studio.ground)
        after = studio.again(())
        found = list_sessions(after.world)
        assert [entry.problem for entry in found] in ([], [None]), operation
        if found:
            after.session = found[0].path
            assert after.resume() == "architecting", operation
        else:
            after.start()
        assert began(after) == whole, operation
        seen.add(len(found))
    assert seen == {0, 1}


def began(studio: Studio) -> tuple[str, str, str | None, str | None, list[str]]:
    """Return what a session contains before its orchestrator has done anything."""
    state = studio.state()
    text = (studio.session / layout.REQUIREMENTS).read_text()
    events = [event.fact.kind for event, _ in studio.events()]
    return state.phase, text, state.branch, state.worktree, events
