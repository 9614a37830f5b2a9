"""The work tree is saved at the end of each phase, and hardly ever holds an agent up."""

import asyncio
import itertools
import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.git import session_objects
from agentmux.adapters.git.program import GitProgram
from agentmux.adapters.trees.checkpoints import GitCheckpoints
from agentmux.app.loop.work.tree_saver import TreeSaver
from agentmux.app.session.writer import Session
from agentmux.core.journal.events import CheckpointTaken
from agentmux.errors import ExitCode
from agentmux.ports.git.checkpoints import SavedTree
from agentmux.ports.git.repository import GitError
from tests.app.driver import SimPane, Studio, git, make_project
from tests.conftest import WaitUntil
from tests.fakes.hanging_git import hanging_git


@pytest.fixture
def worktree() -> bool:
    return False


@pytest.fixture
def short() -> bool:
    return True


@pytest.fixture
def studio(tmp_path: Path, *, worktree: bool, short: bool) -> Studio:
    project = make_project(tmp_path / "ground" / "project")
    environ = dict(os.environ)
    studio = Studio(project, environ, cycles=1, real_git=True, worktree=worktree, short=short)
    studio.start()
    return studio


def facts(studio: Studio) -> list[CheckpointTaken]:
    return [e.fact for e, _ in studio.events() if isinstance(e.fact, CheckpointTaken)]


def before_each_checkpoint(studio: Studio, call: Callable[[str], object]) -> None:
    """Call ``call`` with the message of each checkpoint, in the checkpoint's thread, before it."""
    store_of = studio.world.git.checkpoints

    def checkpoints(*args: Any) -> Any:
        store: Any = store_of(*args)
        take = store.take

        def called_first(message: str, *, limit_s: float) -> SavedTree | None:
            call(message)
            saved: SavedTree | None = take(message, limit_s=limit_s)
            return saved

        store.take = called_first
        return store

    studio.world = replace(studio.world, git=replace(studio.world.git, checkpoints=checkpoints))


def hold_agents_until(studio: Studio, condition: Callable[[SimPane], bool]) -> None:
    """Let each agent begin only when ``condition`` is true for its pane."""
    begin = studio.terminal.begin

    def begin_when_true(pane: SimPane) -> None:
        if condition(pane):
            begin(pane)
        else:
            asyncio.get_running_loop().call_later(0.02, begin_when_true, pane)

    studio.terminal.begin = begin_when_true


@pytest.mark.parametrize(("worktree", "short"), [(True, False)])
def test_one_checkpoint_for_each_phase_and_sub_plan(studio: Studio) -> None:
    begun: list[str] = []
    before_each_checkpoint(studio, begun.append)
    hold_agents_until(studio, lambda pane: len(facts(studio)) == len(begun))
    assert studio.drive("start", deadline_s=30) is ExitCode.OK
    made = facts(studio)
    assert [each.number for each in made] == list(range(1, len(made) + 1))
    said = [(each.because, each.phase, each.subplans) for each in made]
    assert said[:2] == [("phase", "architecting", ()), ("phase", "planning", ())]
    assert ("phase", "implementing", (1, 2)) in said
    assert ("phase", "fixing", (1, 2)) in said
    assert said[-1][1] == "reviewing"  # what follows is in the commit
    implemented = next(each for each in made if each.phase == "implementing")
    store = session_objects.variables_to_read(studio.session.resolve())
    os.environ.update(store)
    try:
        listed = git(studio.project, "ls-tree", "--name-only", made[-1].commit).split()
        both = git(studio.project, "show", f"{implemented.commit}:part_2.py")
    finally:
        for name in store:
            del os.environ[name]
    assert {"part_1.py", "part_2.py", "fixed.py"} <= set(listed)
    assert both == "PART = 2\nCYCLE = 1\n"
    assert implemented.head == git(studio.project, "rev-parse", "HEAD").strip()
    assert [each.commit for each in studio.state().tree_checkpoints] == [e.commit for e in made]


@pytest.mark.parametrize(("worktree", "short"), [(True, False)])
def test_a_checkpoint_that_is_due_while_another_runs_follows_it(
    studio: Studio, wait_until: WaitUntil
) -> None:
    def is_saved(phase: str) -> bool:
        return phase in [each.phase for each in facts(studio)]

    begun: list[str] = []

    def wait_for_both(message: str) -> None:
        begun.append(message)
        if "(subplan)" in message:
            wait_until(lambda: studio.state().completed_subplans == (1, 2))

    before_each_checkpoint(studio, wait_for_both)
    hold_agents_until(studio, lambda pane: "coder" not in pane.seat or is_saved("planning"))
    hold_agents_until(studio, lambda pane: pane.seat != "coder-2" or "(subplan)" in begun[-1])
    hold_agents_until(studio, lambda pane: "review" not in pane.seat or is_saved("implementing"))
    assert studio.drive("start", deadline_s=30) is ExitCode.OK
    saved = [(each.because, each.phase, each.subplans) for each in facts(studio)]
    assert ("subplan", "implementing", (1,)) in saved
    assert ("phase", "implementing", (1, 2)) in saved


def test_the_setting_turns_it_off(studio: Studio) -> None:
    settings = studio.world.settings
    off = replace(settings, git=replace(settings.git, checkpoints=False))
    studio.world = replace(studio.world, settings=off)
    assert studio.drive("start", deadline_s=30) is ExitCode.OK
    assert facts(studio) == []
    assert not session_objects.folder(studio.session).exists()


class Hanging:
    """Checkpoints whose git never answers."""

    def __init__(self) -> None:
        self.calls = 0
        self._ended = threading.Event()

    def take(
        self, message: str, *, limit_s: float, replaced_by: str | None = None
    ) -> SavedTree | None:
        self.calls += 1
        self._ended.wait(60)
        raise GitError("released")

    def tree(self, *, limit_s: float) -> str | None:
        raise AssertionError

    def release(self) -> None:
        self._ended.set()

    def write_files(self, since: str, until: str, *, leave: Collection[str]) -> tuple[str, ...]:
        raise AssertionError

    def differing(self, since: str, until: str) -> tuple[str, ...]:
        raise AssertionError

    def changed_since(self, commit: str) -> tuple[str, ...]:
        raise AssertionError

    def list_unique(self, commit: str, others: Sequence[str]) -> tuple[str, ...]:
        raise AssertionError

    def objects(self) -> str:
        raise AssertionError

    def list_ignored(self, since: str, until: str | None) -> tuple[str, ...]:
        raise AssertionError

    def hand_over(self, commit: str | None) -> str:
        raise AssertionError

    def forget(self) -> None:
        raise AssertionError


@pytest.mark.parametrize("worktree", [True, False])
def test_a_git_that_hangs_holds_the_next_agent_of_a_worktree_up_for_a_second_once(
    studio: Studio, *, worktree: bool
) -> None:
    hanging = Hanging()
    studio.world = replace(
        studio.world, git=replace(studio.world.git, checkpoints=lambda *_: hanging)
    )
    opened: list[float] = []
    begin = studio.terminal.begin

    def noted(pane: SimPane) -> None:
        opened.append(time.monotonic())
        begin(pane)

    studio.terminal.begin = noted
    assert studio.drive("start", deadline_s=30) is ExitCode.OK
    gaps = [after - before for before, after in itertools.pairwise(opened)]
    assert hanging.calls == 1
    if worktree:
        assert 1.0 <= max(gaps) < 1.8
        assert sum(gap > 0.9 for gap in gaps) == 1
    assert sum(gaps) < (6 if worktree else 5)
    assert facts(studio) == []
    hanging.release()


class Quiet:
    said = ""

    def wake(self) -> None:
        pass

    def say(self, message: str) -> None:
        self.said = message


def test_a_session_that_another_process_has_gets_no_checkpoint(studio: Studio) -> None:
    world = studio.world
    session = Session(world.files(studio.session), now=world.now, new_id=world.new_id)

    async def stop(*, ours: bool) -> None:
        await TreeSaver(world, session, Quiet(), lambda: ours).at_stop()

    asyncio.run(stop(ours=False))
    assert facts(studio) == []
    asyncio.run(stop(ours=True))
    assert [each.because for each in facts(studio)] == ["stop"]


def test_at_the_stop_a_git_that_hangs_is_ended(studio: Studio, tmp_path: Path) -> None:
    store = GitCheckpoints(
        GitProgram(studio.project, hanging_git(tmp_path, "write-tree")), studio.session, "x"
    )
    world = replace(studio.world, git=replace(studio.world.git, checkpoints=lambda *_: store))
    session = Session(world.files(studio.session), now=world.now, new_id=world.new_id)
    (studio.project / "new.txt").write_text("new\n")
    loop = Quiet()

    async def stop() -> float:
        began = time.monotonic()
        await TreeSaver(world, session, loop, lambda: True).at_stop()
        return time.monotonic() - began

    assert asyncio.run(stop()) < 8
    assert facts(studio) == []
    assert loop.said == ""
