"""Removing a session: refused while anything runs, complete, and continued after a crash."""

import json
import os
from pathlib import Path

import pytest

from agentmux.adapters.disk.inner_repository import make_repository
from agentmux.adapters.disk.lock import SessionLock
from agentmux.app.commands.end.interrupted_removals import finish_removals
from agentmux.app.commands.end.remove import (
    base_to_remove,
    remove_session,
    require_removable,
)
from agentmux.app.session.search.lookup import SessionEntry, entry_at, list_sessions, sessions_dir
from agentmux.app.world import Site
from agentmux.errors import BlockedError, DataError
from agentmux.wiring import build
from tests.app.on_disk import SESSION_ID, OnDisk
from tests.fakes.bench import Bench as TmuxTerminal

NAME = "20260101-101500-add-auth"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    (tmp_path / "project" / ".agentmux").mkdir(parents=True)
    return build.site(tmp_path / "project", config=None, environ=dict(os.environ))


@pytest.fixture
def entry(site: Site, tmux: TmuxTerminal) -> SessionEntry:
    path = sessions_dir(site.project) / NAME
    made = OnDisk(path, tmux_socket=tmux.socket, session_name="mine")
    made.leave("history/1.0/02_architecting/architecture.md", "text")
    made.leave("snapshots/architect.json", "{}")
    return entry_at(site, path)


def test_nothing_stays(site: Site, entry: SessionEntry) -> None:
    assert remove_session(site, entry)
    assert list(site.project.iterdir()) == []
    assert list_sessions(site) == ()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({".sessions/.gitignore": "*\n", ".sessions/agentmux.lock": ""}, {}),
        ({".sessions/.gitignore": "*\n"}, {"config.yaml": ""}),
        ({".sessions/.gitignore": "*\n"}, {"prompts/coder.md": "Be kind.\n"}),
        ({}, {".sessions/.gitignore": "*\n!kept\n"}),
        ({}, {".sessions/notes.txt": "mine"}),
    ],
)
def test_the_last_session_takes_the_folder_unless_something_of_the_user_is_there(
    site: Site,
    entry: SessionEntry,
    tmux: TmuxTerminal,
    ours: dict[str, str],
    theirs: dict[str, str],
) -> None:
    around = site.project / ".agentmux"
    for name, text in {**ours, **theirs}.items():
        (around / name).parent.mkdir(exist_ok=True)
        (around / name).write_text(text)
    path = sessions_dir(site.project) / "20260101-101500-other"
    other = OnDisk(path, tmux_socket=tmux.socket).path
    make_repository(sessions_dir(site.project))
    assert not remove_session(site, entry)
    assert entry_at(site, other).problem is None
    assert remove_session(site, entry_at(site, other)) == (not theirs)
    left = {name: (around / name).read_text() for name in theirs}
    assert left == theirs
    assert around.exists() == bool(theirs)


def test_a_session_that_cannot_be_read_can_be_removed(site: Site, entry: SessionEntry) -> None:
    path = entry.path / "state.json"
    checks = {"path": "/x-base", "commit": "c" * 40}
    path.write_text(json.dumps({**json.loads(path.read_text()), "base_checks": checks, "seats": 1}))
    (entry.path / "state.json.bak").unlink(missing_ok=True)
    damaged = entry_at(site, entry.path)
    assert damaged.fields["base_checks"] == checks
    world = build.world(site.project, environ=dict(os.environ))
    with pytest.raises(DataError):
        world.files(entry.path).load()
    assert base_to_remove(world, damaged) is None


def test_refused_while_it_is_live(site: Site, entry: SessionEntry, tmux: TmuxTerminal) -> None:
    tmux.create_session(
        name="mine", uuid=SESSION_ID, cwd=entry.path, size=(80, 24), argv=["sleep", "600"]
    )
    with pytest.raises(BlockedError) as raised:
        remove_session(site, entry)
    assert raised.value.reason == "session_live"
    assert entry.path.is_dir()


def test_refused_while_an_orchestrator_holds_it(site: Site, entry: SessionEntry) -> None:
    lock = SessionLock(entry.path)
    lock.acquire(0, {"pid": os.getpid()})
    try:
        with pytest.raises(BlockedError) as raised:
            require_removable(site, entry)
    finally:
        lock.release()
    assert raised.value.reason == "locked"


def test_a_removal_that_was_interrupted_is_no_session_and_is_finished(
    site: Site, entry: SessionEntry
) -> None:
    site.folders.hide_for_removal(entry.path)  # as if the power was lost then
    assert list_sessions(site) == ()
    OnDisk(entry.path)  # a second one with the same name, also interrupted
    site.folders.hide_for_removal(entry.path)
    assert len(site.folders.leftovers(sessions_dir(site.project))) == 2
    finish_removals(site)
    assert list(site.project.iterdir()) == []


def test_only_what_was_buried_is_deleted(site: Site, entry: SessionEntry) -> None:
    with pytest.raises(ValueError, match="buried"):
        site.folders.delete(entry.path)
    finish_removals(site)
    assert entry.path.is_dir()


@pytest.mark.skipif(os.getuid() == 0, reason="root may rename everywhere")
def test_a_folder_that_lets_nobody_write_keeps_the_session(site: Site, entry: SessionEntry) -> None:
    sessions_dir(site.project).chmod(0o500)
    try:
        with pytest.raises(DataError):
            remove_session(site, entry)
    finally:
        sessions_dir(site.project).chmod(0o700)
    assert entry_at(site, entry.path).problem is None
