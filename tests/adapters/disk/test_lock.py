"""The session lock has one holder and ends with its process; checking it creates no file."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentmux.adapters.disk.lock import SessionLock, WorkTreeLock
from agentmux.errors import BlockedError, DataError, ExitCode

HOLDER = {"pid": 4711, "host": "box", "since": "2026-01-02T03:04:05Z"}

HOLD = """
import os, subprocess, sys
from pathlib import Path
from agentmux.adapters.disk.lock import SessionLock
lock = SessionLock(Path(sys.argv[1]))
lock.acquire(0, {"pid": os.getpid()})
child = subprocess.Popen(["sleep", "60"], close_fds=False)
print(child.pid, flush=True)
sys.stdin.read()
"""

RACE = """
import sys
from pathlib import Path
from agentmux.adapters.disk.lock import SessionLock
from agentmux.errors import BlockedError
lock = SessionLock(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
try:
    lock.acquire(0, {})
    print("won", flush=True)
except BlockedError:
    print("lost", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "20260101-101500-add-auth"
    made.mkdir()
    return made


@pytest.fixture
def held(folder: Path) -> Iterator[SessionLock]:
    lock = SessionLock(folder)
    lock.acquire(0, HOLDER)
    yield lock
    lock.release()


def start(program: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_second_holder_is_told_who_and_what_to_do(held: SessionLock, folder: Path) -> None:
    assert held.still_mine()
    with pytest.raises(BlockedError) as caught:
        SessionLock(folder).acquire(0.05, {"pid": 1})
    error = caught.value
    assert error.reason == "locked"
    assert error.exit_code is ExitCode.BLOCKED
    for word in (folder.name, "4711", "box", "2026-01-02T03:04:05Z"):
        assert word in error.message
    assert error.hints == (f"see it: agentmux status {folder.name}",)
    assert held.holder() == HOLDER
    assert held.still_mine()


@pytest.mark.parametrize("note", [None, b"{", b"[]", b"{}"])
def test_without_a_note_the_holder_is_another_process(
    held: SessionLock, folder: Path, note: bytes | None
) -> None:
    if note is None:
        (folder / "session.lock.json").unlink()
    else:
        (folder / "session.lock.json").write_bytes(note)
    with pytest.raises(BlockedError, match="another process"):
        SessionLock(folder).acquire(0, {})
    assert held.still_mine()


def test_release_lets_the_next_one_in_and_leaves_the_lock_file(folder: Path) -> None:
    lock, other = SessionLock(folder), SessionLock(folder)
    lock.release()
    for one in (lock, other, lock):
        one.acquire(0, HOLDER)
        inode = (folder / "session.lock").stat().st_ino
        one.release()
        assert (folder / "session.lock").stat().st_ino == inode
        assert one.holder() is None
        assert not one.still_mine()
    assert (folder / "session.lock").stat().st_mode & 0o777 == 0o600


def test_it_is_released_where_its_note_cannot_be_removed(
    held: SessionLock, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unlink(path: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(os, "unlink", unlink)
    held.release()
    assert not SessionLock(folder).is_held()


def test_taking_it_twice_is_a_bug(held: SessionLock) -> None:
    with pytest.raises(RuntimeError):
        held.acquire(0, {})
    assert held.still_mine()


def test_a_look_tells_and_makes_nothing(folder: Path) -> None:
    assert not SessionLock(folder).is_held()
    assert list(folder.iterdir()) == []
    lock = SessionLock(folder)
    lock.acquire(0, HOLDER)
    assert SessionLock(folder).is_held()
    assert lock.is_held()
    lock.release()
    assert not SessionLock(folder).is_held()


def test_a_passing_look_is_waited_for(folder: Path) -> None:
    SessionLock(folder).is_held()
    (folder / "session.lock").touch()
    look = subprocess.Popen(
        ["flock", "--shared", folder / "session.lock", "sh", "-c", "echo; sleep 0.2"],
        stdout=subprocess.PIPE,
    )
    assert look.stdout is not None
    look.stdout.readline()
    lock = SessionLock(folder)
    lock.acquire(10, HOLDER)
    assert lock.still_mine()
    lock.release()
    look.communicate()


def test_death_frees_it_although_a_child_of_the_holder_lives(folder: Path) -> None:
    with start(HOLD, folder) as holder:
        child = int(line(holder))
        try:
            assert SessionLock(folder).is_held()
            assert not [name for name in open_files(child) if "session.lock" in name]
            holder.kill()
            holder.wait()
            os.kill(child, 0)
            assert not SessionLock(folder).is_held()
            lock = SessionLock(folder)
            lock.acquire(0, HOLDER)
            lock.release()
        finally:
            os.kill(child, 9)


def open_files(pid: int) -> list[str]:
    """Return the open files of a process; a file that it closes meanwhile may be missing."""
    names: list[str] = []
    with contextlib.suppress(FileNotFoundError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                names.append(str(descriptor.readlink()))
    return names


def test_of_eight_at_once_one_wins(folder: Path) -> None:
    racers = [start(RACE, folder) for _ in range(8)]
    assert [line(racer) for racer in racers] == ["ready"] * 8
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    results = [line(racer) for racer in racers]
    for racer in racers:
        racer.communicate()
    assert sorted(results) == ["lost"] * 7 + ["won"]


def test_a_deleted_lock_file_is_noticed_by_its_holder(held: SessionLock, folder: Path) -> None:
    (folder / "session.lock").unlink()
    assert not held.still_mine()
    other = SessionLock(folder)
    other.acquire(0, {"pid": 2})
    assert other.still_mine()
    assert not held.still_mine()
    held.release()
    assert other.holder() == {"pid": 2}  # the old holder must not remove this note
    assert other.still_mine()
    other.release()


def test_a_lock_file_that_is_not_ours_when_we_have_it_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fcntl.flock

    def flock(fd: int, operation: int) -> None:
        real(fd, operation)
        (folder / "session.lock").rename(folder / "elsewhere")
        (folder / "session.lock").touch()

    monkeypatch.setattr(fcntl, "flock", flock)
    before = len(open_files(os.getpid()))
    with pytest.raises(BlockedError):
        SessionLock(folder).acquire(0, HOLDER)
    monkeypatch.undo()
    assert len(open_files(os.getpid())) == before
    assert not (folder / "session.lock.json").exists()


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "gone"])
def test_only_a_regular_file_can_be_locked(folder: Path, kind: str) -> None:
    path = folder / "session.lock"
    if kind == "link":
        path.symlink_to(folder / "far")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        folder.rmdir()
    before = len(open_files(os.getpid()))
    with pytest.raises(DataError):
        SessionLock(folder).acquire(0, HOLDER)
    assert len(open_files(os.getpid())) == before
    assert not (folder / "far").exists()


def test_a_file_system_without_locks_is_an_error_and_no_softer_lock(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(_fd: int, _operation: int) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(DataError, match="function not implemented") as caught:
        SessionLock(folder).acquire(0, HOLDER)
    assert "local disk" in caught.value.hints[0]


def test_a_note_that_cannot_be_written_gives_the_lock_back(folder: Path) -> None:
    (folder / "session.lock.json").mkdir()
    with pytest.raises(DataError):
        SessionLock(folder).acquire(0, HOLDER)
    assert not SessionLock(folder).is_held()


# -- the lock of a work tree ---------------------------------------------------------------------


def test_a_work_tree_has_one_holder_which_others_can_name(tmp_path: Path) -> None:
    first, second = (WorkTreeLock(tmp_path, tmp_path) for _ in range(2))
    first.acquire(0, {"path": "/p/.agentmux/.sessions/20260101-101500-one"})
    with pytest.raises(BlockedError) as caught:
        second.acquire(0, {"path": "/q/x"})
    assert caught.value.reason == "checkout_taken"
    assert caught.value.message.startswith(f"session 20260101-101500-one works in {tmp_path}")
    assert caught.value.hints == (
        "see it: agentmux status /p/.agentmux/.sessions/20260101-101500-one",
    )
    first.release()
    assert second.holder() is None
    second.acquire(0, {"path": "/q/x"})
    second.release(keep_note=True)
    assert (first.holder() or {})["path"] == "/q/x"
    assert not first.is_held()


def test_the_note_of_a_copied_work_tree_is_ignored(tmp_path: Path) -> None:
    original, copy = tmp_path / "original", tmp_path / "copy"
    original.mkdir()
    WorkTreeLock(original, original).note({"path": "/p/x"})
    shutil.copytree(original, copy)
    assert (WorkTreeLock(original, original).holder() or {})["path"] == "/p/x"
    assert WorkTreeLock(copy, copy).holder() is None
