"""Stopping a session whose orchestrator does not end at once."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from agentmux.adapters.disk.lock import SessionLock
from agentmux.adapters.system.processes import processes
from agentmux.adapters.tmux.server import TmuxTerminal
from agentmux.app.commands.end.stop import Stopped, stop
from agentmux.app.world import World
from agentmux.core.names import layout
from agentmux.errors import NotFoundError
from agentmux.ports.tmux.terminal import NewPane, OwnSession, TerminalUnreachableError
from agentmux.wiring import build
from tests.app.driver import make_project
from tests.app.on_disk import SESSION_ID, OnDisk
from tests.conftest import WaitUntil

SLEEP = ("sleep", "600")


@pytest.fixture
def session(tmp_path: Path) -> OnDisk:
    return OnDisk(tmp_path / ".agentmux" / ".sessions" / "20260101-101500-add-auth")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return build.world(tmp_path, environ=dict(os.environ))


@pytest.fixture
def own(tmux: TmuxTerminal, session: OnDisk) -> OwnSession:
    return in_tmux(tmux, session)


def in_tmux(tmux: TmuxTerminal, session: OnDisk) -> OwnSession:
    created = tmux.create_session(
        name="ours", uuid=SESSION_ID, path=str(session.path), cwd=session.path, size=(80, 24),
        argv=SLEEP,
    )  # fmt: skip
    return tmux.own(created.target)


def has_none(tmux: TmuxTerminal) -> bool:
    """Whether no tmux session is left; a server that is just ending gives no answer."""
    with suppress(TerminalUnreachableError):
        return tmux.sessions() == ()
    return False


def ends_when_asked(pid: int, started: int, limit_s: float) -> bool:
    """Be an orchestrator that runs until somebody waits for its end."""
    return limit_s > 0


def stopped(world: World, session: OnDisk, *, asked: bool) -> Stopped:
    """Stop a session whose orchestrator is still running, but whose tmux session is gone."""

    def gone() -> OwnSession:
        raise NotFoundError("it does not run")

    return stop(world, session.path, gone, ask=lambda _: asked, wait_gone=lambda *_: False)


def test_without_an_orchestrator_the_agents_end_before_their_tmux_session(
    world: World, session: OnDisk, tmux: TmuxTerminal, own: OwnSession, wait_until: WaitUntil
) -> None:
    own.open_panes([
        NewPane(seat="architect", launch="l1", label="architect", argv=SLEEP)
    ])  # fmt: skip
    ended: list[tuple[bool, int]] = []

    def wait_gone(pid: int, started: int, limit_s: float) -> bool:
        gone = not processes.left_after([(pid, started)], wait_s=limit_s)
        ended.append((gone, len(tmux.sessions())))
        return gone

    done = stop(world, session.path, lambda: own, ask=lambda _: False, wait_gone=wait_gone)
    assert done == Stopped(by="stop")
    assert ended == [(True, 1)], "the agent went, while its tmux session was still there"
    wait_until(lambda: has_none(tmux))
    assert session.kinds[-1] == "session_interrupted"


@pytest.mark.parametrize("on", [True, False])
def test_without_an_orchestrator_the_files_are_saved_all_the_same(
    tmp_path: Path, tmux: TmuxTerminal, wait_until: WaitUntil, *, on: bool
) -> None:
    project = make_project(tmp_path / "p")
    session = OnDisk(project / layout.SESSIONS_DIR / "20260101-101500-add-auth", branch="main")
    own = in_tmux(tmux, session)
    config = tmp_path / "config.yaml"
    config.write_text(f"version: 1\ngit: {{checkpoints: {str(on).lower()}}}\n")
    world = build.world(project, config=config, environ=dict(os.environ))
    (project / "new.py").write_text("half done\n")
    stop(world, session.path, lambda: own, ask=lambda _: False, wait_gone=lambda *_: True)
    assert session.kinds[-1] == ("checkpoint_taken" if on else "session_interrupted")
    if on:
        (saved,) = session.state.tree_checkpoints
        assert (saved.because, saved.phase, saved.number) == ("stop", "architecting", 1)
        store = world.git.checkpoints(project, session.path.resolve(), SESSION_ID)
        assert store.changed_since(saved.commit) == ()
    wait_until(lambda: has_none(tmux))


def test_another_repository_is_not_saved_in_place_of_a_worktree_that_is_gone(
    tmp_path: Path, tmux: TmuxTerminal, wait_until: WaitUntil
) -> None:
    project = make_project(tmp_path / "p")
    place = project / "what an agent made anew"
    place.mkdir()
    path = project / layout.SESSIONS_DIR / "20260101-101500-add-auth"
    session = OnDisk(path, worktree=str(place), worktree_made=True)
    own = in_tmux(tmux, session)
    world = build.world(project, environ=dict(os.environ))
    stop(world, session.path, lambda: own, ask=lambda _: False, wait_gone=lambda *_: True)
    assert session.kinds[-1] == "session_interrupted"
    wait_until(lambda: has_none(tmux))


def test_a_tmux_session_that_the_orchestrator_left_behind_is_ended(
    world: World, session: OnDisk, tmux: TmuxTerminal, own: OwnSession, wait_until: WaitUntil
) -> None:
    (session.path / layout.RUNTIME).write_text('{"orchestrator_pid": 7, "orchestrator_started": 7}')
    done = stop(world, session.path, lambda: own, ask=lambda _: True, wait_gone=ends_when_asked)
    assert done == Stopped(by="stop")
    wait_until(lambda: has_none(tmux))


def test_an_orchestrator_that_ended_with_its_server_has_stopped_the_session(
    world: World, session: OnDisk
) -> None:
    (session.path / layout.RUNTIME).write_text('{"orchestrator_pid": 7, "orchestrator_started": 7}')

    def ending() -> OwnSession:
        raise TerminalUnreachableError("server exited unexpectedly")

    done = stop(world, session.path, ending, ask=lambda _: True, wait_gone=ends_when_asked)
    assert done == Stopped(by="orchestrator")


def test_an_orchestrator_that_was_killed_before_has_stopped_nothing(
    world: World, session: OnDisk
) -> None:
    """A child of it may still hold its pipe, so that asking seems to have an answer."""
    (session.path / layout.RUNTIME).write_text('{"orchestrator_pid": 7, "orchestrator_started": 7}')

    def hung() -> OwnSession:
        raise TerminalUnreachableError("the server does not answer")

    with pytest.raises(TerminalUnreachableError):
        stop(world, session.path, hung, ask=lambda _: True, wait_gone=lambda *_: True)


def test_an_orchestrator_that_has_just_begun_is_asked(world: World, session: OnDisk) -> None:
    """It has the lock; the runtime note is of the one before, which is gone."""
    (session.path / layout.RUNTIME).write_text('{"orchestrator_pid": 7, "orchestrator_started": 7}')
    lock = SessionLock(session.path)
    lock.acquire(0, {"orchestrator_pid": 8, "orchestrator_started": 8})

    def ending() -> OwnSession:
        raise TerminalUnreachableError("server exited unexpectedly")

    def wait_gone(pid: int, started: int, limit_s: float) -> bool:
        return (pid, started) == (7, 7) or limit_s > 0

    try:
        done = stop(world, session.path, ending, ask=lambda _: True, wait_gone=wait_gone)
    finally:
        lock.release()
    assert done == Stopped(by="orchestrator")


def test_an_orchestrator_that_still_commits_has_stopped_the_session(
    world: World, session: OnDisk
) -> None:
    assert stopped(world, session, asked=True) == Stopped(by="orchestrator")


def test_where_nobody_was_asked_nothing_was_stopped(world: World, session: OnDisk) -> None:
    with pytest.raises(NotFoundError):
        stopped(world, session, asked=False)


def test_an_orchestrator_that_holds_on_has_not_stopped(world: World, session: OnDisk) -> None:
    lock = SessionLock(session.path)
    lock.acquire(0, {})
    try:
        with pytest.raises(NotFoundError):
            stopped(world, session, asked=True)
    finally:
        lock.release()
