"""An export and an import, killed before and after each git command and durable write.

As in `tests.app.test_crash_sweep`, with real git and a short run: the session has a worktree with
uncommitted files, and goes on in a clone.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agentmux.app.commands.move.export import export
from agentmux.app.commands.move.import_session import import_session
from agentmux.app.commands.resume.resume import plan_resume
from agentmux.app.session.search.lookup import SessionEntry, entry_at, list_sessions
from agentmux.app.world import World
from agentmux.core.fold.apply import fold
from agentmux.core.journal.state import SessionState
from agentmux.core.names.phase import Phase
from agentmux.errors import BlockedError
from agentmux.wiring import build
from tests.app.driver import Studio, git
from tests.app.recording import clone, record
from tests.app.sweeping import begin, worktree
from tests.faults.operations import Operation

pytestmark = pytest.mark.rare("a session is seldom moved; test_crash_sweep.py kills what is usual")


def stopped(quick: Path) -> Studio:
    """Return a session that was stopped before its user decides, and a clone beside its project."""
    studio = begin(quick, worktree=True, checkpoints=True)
    studio.start()
    studio.ends_when = lambda state: state.summary_submitted and not state.pending_archive
    studio.drive("start")
    (worktree(studio) / "note.txt").write_text("half of it\n")
    git(studio.ground, "clone", "-q", str(studio.project), str(studio.ground / "away"))
    return studio


def kept(
    studio: Studio, quick: Path, patch: pytest.MonkeyPatch, deed: Callable[[], object]
) -> list[tuple[Path, str]]:
    """Do it; return the disk before each operation, and which one that was."""
    disks: list[tuple[Path, str]] = []

    def keep(operation: Operation) -> None:
        disks.append((quick / f"{len(disks):03}", f"{operation.name} {operation.place}"))
        clone(str(studio.ground), str(disks[-1][0]))

    with patch.context() as context:
        record(context, studio.ground, keep)
        deed()
    return disks


def put(studio: Studio, disk: Path) -> None:
    shutil.rmtree(studio.ground)
    disk.rename(studio.ground)


def exported(studio: Studio) -> object:
    world = build.world(studio.project, environ=dict(os.environ))
    entry = entry_at(world, studio.session)
    return export(world, entry, studio.ground / "s.agentmux", copy=False, force=False)


def now(studio: Studio) -> SessionState:
    loaded = studio.world.files(studio.session).load()
    return fold(loaded.state, loaded.tail)


def away(studio: Studio) -> World:
    return build.world((studio.ground / "away").resolve(), environ=dict(os.environ))


def test_an_export_that_is_killed_leaves_a_session_here_or_a_whole_file(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = stopped(quick)
    disks = kept(studio, quick, monkeypatch, lambda: exported(studio))
    assert len(disks) > 30
    seen = set()
    for disk, operation in disks:
        put(studio, disk)
        world = studio.again(()).world
        state = now(studio)
        target = studio.ground / "s.agentmux"
        if state.moved is None:
            plan_resume(world, world.files(studio.session))
        if target.exists():
            with world.archives.open_archive(target) as archive:
                archive.verify()
                assert state.moved is None or state.moved.digest == archive.digest, operation
        seen.add((state.moved is not None, target.exists()))
        exported(studio)
        state = studio.state()
        with world.archives.open_archive(target) as archive:
            archive.verify()
            assert state.moved is not None, operation
            assert state.moved.digest == archive.digest, operation
        assert [each.name for each in studio.ground.glob(".*")] == [], operation
    assert seen == {(False, False), (False, True), (True, True)}
    made = import_session(away(studio), studio.ground / "s.agentmux", copy=False)
    assert made.phase == Phase.COMPLETING


def arrived(world: World) -> tuple[SessionEntry, ...]:
    return list_sessions(world)


@pytest.mark.parametrize("copy", [False, True])
def test_an_import_that_is_killed_leaves_a_whole_session_or_none(
    copy: bool, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = stopped(quick)
    exported(studio)
    file = studio.ground / "s.agentmux"
    disks = kept(studio, quick, monkeypatch, lambda: import_session(away(studio), file, copy=copy))
    (whole,) = arrived(away(studio))
    tips = git(studio.ground / "away", "for-each-ref", "refs/heads")
    assert len(disks) > 30
    seen = set()
    for disk, operation in disks:
        put(studio, disk)
        world = away(studio)
        found = arrived(world)
        assert [each.problem for each in found] in ([], [None]), operation
        if not found:
            import_session(world, file, copy=copy)
        elif not copy:
            with pytest.raises(BlockedError):
                import_session(world, file, copy=copy)
        (entry,) = arrived(world)
        for name in ("session_id", "branch", "worktree"):
            assert entry.fields[name] == whole.fields[name], operation
        assert git(studio.ground / "away", "for-each-ref", "refs/heads") == tips, operation
        assert plan_resume(world, world.files(entry.path)).obstacle is None, operation
        seen.add(len(found))
    assert seen == {0, 1}
