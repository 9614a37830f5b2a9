"""Stopping a session whose orchestrator takes its time."""

import os
from pathlib import Path

import pytest

from agentmux.adapters.lock import SessionLock
from agentmux.app.stop import Stopped, stop
from agentmux.app.world import World
from agentmux.cli import wiring
from agentmux.errors import NotFoundError
from agentmux.ports.terminal import OwnSession
from tests.app.on_disk import OnDisk


@pytest.fixture
def session(tmp_path: Path) -> OnDisk:
    return OnDisk(tmp_path / ".agentmux" / ".sessions" / "20260101-101500-add-auth")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return wiring.world(tmp_path, environ=dict(os.environ))


def stopped(world: World, session: OnDisk, *, asked: bool) -> Stopped:
    """The orchestrator is there still, and no tmux session any more."""

    def gone() -> OwnSession:
        raise NotFoundError("it does not run")

    return stop(world, session.path, gone, ask=lambda _: asked, wait_gone=lambda *_: False)


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
