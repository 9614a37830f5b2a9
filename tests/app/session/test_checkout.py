"""One live session at a time in a checkout: a second start is refused."""

import fcntl
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux.adapters.disk.lock import SessionLock
from agentmux.adapters.disk.session import session_folders
from agentmux.adapters.disk.session.handover import ReadyPipe
from agentmux.app.commands.begin.start import StartRequest, plan_start, start
from agentmux.app.commands.begin.start_workplace import WorkplaceRequest, choose_workplace
from agentmux.app.commands.resume.orchestrator_request import OrchestratorReport
from agentmux.app.commands.resume.orchestrator_start import OrchestratorStart
from agentmux.app.session.search.lookup import entry_at
from agentmux.app.session.workplace.checkout import (
    TreeTakenError,
    find_tree_taken_error,
    merge_note,
    require_free,
)
from agentmux.app.world import World
from agentmux.core.names import layout
from agentmux.core.names.layout import slug_of
from agentmux.core.names.phase import Phase
from agentmux.errors import AgentmuxError, BlockedError, ExitCode
from agentmux.overriding import override
from agentmux.wiring import build
from tests.app.driver import make_project
from tests.app.on_disk import SESSION_ID, OnDisk
from tests.fakes.bench import Bench as TmuxTerminal

NAME = "20260101-101500-add-auth"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


@pytest.fixture
def world(project: Path, tmux: TmuxTerminal) -> World:
    return replace(build.world(project, environ=dict(os.environ)), terminal=lambda socket: tmux)


def there(project: Path, phase: Phase = Phase.ARCHITECTING) -> OnDisk:
    return OnDisk(project / layout.SESSIONS_DIR / NAME, phase, session_name=layout.tmux_name(NAME))


def in_tmux(tmux: TmuxTerminal, name: str, uuid: str = SESSION_ID) -> None:
    tmux.create_session(name=name, uuid=uuid, cwd=Path("/"), size=(80, 24), argv=["sleep", "600"])


def held(tmux: TmuxTerminal, session: OnDisk) -> Callable[[], None]:
    lock = SessionLock(session.path)
    lock.acquire(0, {"pid": os.getpid()})
    return lock.release


def starting(tmux: TmuxTerminal, session: OnDisk) -> Callable[[], None]:
    return ReadyPipe(session.path, {}).close


def shown(tmux: TmuxTerminal, session: OnDisk) -> Callable[[], None]:
    in_tmux(tmux, layout.tmux_name(NAME))
    return lambda: None


@pytest.mark.parametrize("work", [held, starting, shown])
def test_nothing_begins_beside_a_session_at_work(
    project: Path,
    world: World,
    tmux: TmuxTerminal,
    work: Callable[[TmuxTerminal, OnDisk], Callable[[], None]],
) -> None:
    session = there(project)
    plan_start(world, StartRequest(feature="x", agent="demo", worktree=False), {})
    rest = work(tmux, session)
    try:
        with pytest.raises(BlockedError) as caught:
            plan_start(world, StartRequest(feature="x", agent="demo", worktree=False), {})
    finally:
        rest()
    assert (caught.value.exit_code, caught.value.reason) == (ExitCode.BLOCKED, "checkout_taken")
    assert NAME in caught.value.message
    assert any(f"agentmux {word} {NAME}" in caught.value.hints[0] for word in ("attach", "status"))
    require_free(world, entry_at(world, session.path))


def test_a_session_that_merges_into_the_checkout_is_named(project: Path, world: World) -> None:
    session = there(project)
    session.commit()
    lock = world.locks.tree(project)
    lock.acquire(1, merge_note(session.path))
    try:
        with pytest.raises(TreeTakenError) as caught:
            require_free(world)
        found = find_tree_taken_error(world, lock.top)
        place = choose_workplace(world, WorkplaceRequest(slug="x"), ()).worktree
        same = choose_workplace(world, WorkplaceRequest(slug=slug_of(NAME)), ()).worktree
    finally:
        lock.release(keep_note=True)  # as if it was killed
    assert found is not None
    for each in (caught.value, found):
        assert each.session == NAME
        assert each.message.startswith(f"session {NAME} merges into the checkout {project}")
        assert each.hints == (f"see it: agentmux status {session.path}",)
    assert place is not None
    assert place.because == f"session {NAME} is live in the checkout"
    assert same is not None
    assert (
        same.because == f"session {NAME.removesuffix('-' + slug_of(NAME))} is live in the checkout"
    )
    assert find_tree_taken_error(world, lock.top) is None


def test_who_is_done_is_in_nobodys_way(project: Path, world: World, tmux: TmuxTerminal) -> None:
    in_tmux(tmux, layout.tmux_name(NAME))
    there(project, Phase.DONE)
    require_free(world)


def test_a_tmux_session_that_has_only_the_name_is_in_nobodys_way(
    project: Path, world: World, tmux: TmuxTerminal
) -> None:
    there(project)
    in_tmux(tmux, layout.tmux_name(NAME), uuid="another")
    require_free(world)


def test_of_starts_at_the_same_moment_one_begins(
    project: Path, world: World, tmux: TmuxTerminal
) -> None:
    """All have planned, and seen no live session; none is ready before the others have ended."""
    count = 4
    plans = [
        plan_start(world, StartRequest(feature="x", agent="demo", worktree=False), {})
        for _ in range(count)
    ]
    ended: list[str] = []
    over = threading.Event()

    class Waits(ReadyPipe):
        @override
        def wait(self, timeout_s: float, pid: int) -> bytes | None:
            over.wait(60)
            return OrchestratorReport(ok=True).encode()

    starter = OrchestratorStart(
        argv=lambda path, request: ("sleep", "600"), pipe=lambda path: Waits(path, {})
    )

    def run(number: int) -> None:
        try:
            ended.append(start(world, starter, plans[number]).name)
        except AgentmuxError as error:
            ended.append(getattr(error, "reason", str(error)))
        if len(ended) == count - 1:
            over.set()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    (begun,) = (each for each in ended if each != "checkout_taken")
    assert sorted(path.name for path in (project / layout.SESSIONS_DIR).iterdir()) == sorted(
        [".gitignore", begun]
    )


def test_a_project_that_somebody_holds_is_not_waited_for_without_end(project: Path) -> None:
    folder = os.open(project, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)  # as `flock . agentmux start` does
    try:
        with (
            pytest.raises(BlockedError, match="another process has locked") as raised,
            session_folders.one_at_a_time(project, wait_s=0.05),
        ):
            pass
    finally:
        os.close(folder)
    assert raised.value.reason == "locked"
    with session_folders.one_at_a_time(project, wait_s=0):
        pass
