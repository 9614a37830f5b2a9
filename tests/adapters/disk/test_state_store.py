"""The state file is always either the old state or the new one."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.disk import files
from agentmux.adapters.disk.session.state_store import SIZE_MAX, Cursor, StateStore
from agentmux.errors import DataError, SupersededError

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def store(here: Path) -> StateStore:
    return StateStore(here)


def saved(store: StateStore, *phases: str) -> None:
    for phase in phases:
        store.save({"phase": phase})


def listing(folder: Path) -> dict[str, bytes]:
    return {child.name: child.read_bytes() for child in folder.iterdir()}


def test_nothing_there_is_no_state_and_no_problem(store: StateStore, here: Path) -> None:
    loaded = store.load()
    assert (loaded.fields, loaded.source, loaded.problem) == (None, "none", None)
    assert list(here.iterdir()) == []


def test_state_comes_back_and_the_one_before_it_is_the_backup(
    store: StateStore, here: Path
) -> None:
    saved(store, "planning", "designing", "implementing")
    assert store.load().fields == {"phase": "implementing"}
    assert store.load().source == "state.json"
    assert json.loads((here / "state.json.bak").read_bytes()) == {"phase": "designing"}
    assert sorted(listing(here)) == ["state.json", "state.json.bak"]
    assert (here / "state.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "damage",
    [
        b"", b"{", b"[]", b'{"phase": "a", "phase": "b"}', b"\xff", b'{"schema_version": true}',
        b'{"schema_version": "1"}', b'{"schema_version": -1}', b'{"a":' * 100_000,
        b'{"n": ' + b"9" * 5000 + b"}", b" " * (SIZE_MAX + 1),
    ],
)  # fmt: skip
def test_corrupt_state_gives_the_backup_and_changes_nothing(
    store: StateStore, here: Path, damage: bytes
) -> None:
    saved(store, "planning", "designing")
    (here / "state.json").write_bytes(damage)
    before = listing(here)
    loaded = store.load()
    assert loaded.fields == {"phase": "planning"}
    assert loaded.source == "backup"
    assert "state.json" in (loaded.problem or "")
    assert listing(here) == before


def test_every_single_byte_of_state_may_be_lost(store: StateStore, here: Path) -> None:
    saved(store, "planning", "designing")
    whole = (here / "state.json").read_bytes()
    for cut in range(len(whole) - 1):  # without the last byte, a newline, it is complete
        (here / "state.json").write_bytes(whole[:cut])
        expected = "designing" if whole[:cut].rstrip().endswith(b"}") else "planning"
        assert (store.load().fields or {}).get("phase") == expected


def test_nothing_readable_says_so(store: StateStore, here: Path) -> None:
    (here / "state.json").mkdir()
    loaded = store.load()
    assert (loaded.fields, loaded.source) == (None, "none")
    assert "not a regular file" in (loaded.problem or "")
    (here / "state.json.bak").write_bytes(b"{")
    assert "state.json.bak" in (store.load().problem or "")


def test_state_without_version_or_phase_is_taken_as_it_is(store: StateStore, here: Path) -> None:
    (here / "state.json").write_text('{"unknown": [1]}')
    assert store.load().fields == {"unknown": [1]}


@pytest.mark.parametrize("name", ["state.json", "state.json.bak"])
def test_a_newer_state_is_refused_untouched(store: StateStore, here: Path, name: str) -> None:
    (here / "state.json").write_bytes(b"{")
    (here / name).write_text('{"schema_version": 4, "phase": "x"}')
    before = listing(here)
    with pytest.raises(DataError, match=r"newer agentmux \(schema 4"):
        store.load()
    assert listing(here) == before
    newer = StateStore(here, supported=4).load()
    assert newer.fields == {"schema_version": 4, "phase": "x"}


def test_a_newer_state_is_not_overwritten_either(store: StateStore, here: Path) -> None:
    (here / "state.json").write_text('{"schema_version": 4}')
    with pytest.raises(DataError):
        store.save({"phase": "x"})
    assert listing(here) == {"state.json": b'{"schema_version": 4}'}


def test_forbidden_is_neither_missing_nor_corrupt(
    store: StateStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(store, "planning")

    def fail(*_args: Any, **_options: Any) -> int:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", fail)
    with pytest.raises(DataError, match="permission denied"):
        store.load()


def test_a_corrupt_state_never_becomes_the_backup(store: StateStore, here: Path) -> None:
    saved(store, "planning", "designing")
    (here / "state.json").unlink()
    (here / "state.json").write_bytes(b"{")
    store.save({"phase": "x"})
    assert json.loads((here / "state.json.bak").read_bytes()) == {"phase": "planning"}


def test_a_backup_that_is_the_state_itself_leaves_no_litter(store: StateStore, here: Path) -> None:
    saved(store, "planning")
    os.link(here / "state.json", here / "state.json.bak")  # a kill just before the state's rename
    saved(store, "designing")
    assert sorted(listing(here)) == ["state.json", "state.json.bak"]
    assert json.loads((here / "state.json.bak").read_bytes()) == {"phase": "planning"}


def test_setting_aside_keeps_the_evidence(store: StateStore, here: Path) -> None:
    assert store.set_aside_corrupt(NOW) is None
    saved(store, "planning")
    assert store.set_aside_corrupt(NOW) is None
    for content in (b"{", b"["):
        (here / "state.json").unlink(missing_ok=True)
        (here / "state.json").write_bytes(content)
        kept = store.set_aside_corrupt(NOW)
        assert kept is not None
        assert kept.read_bytes() == content
    assert sorted(listing(here)) == [
        "state.json.corrupt-20260102T030405Z", "state.json.corrupt-20260102T030405Z-2",
    ]  # fmt: skip


def test_a_file_system_without_hard_links_gets_a_copy(
    store: StateStore, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_args: Any, **_options: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    saved(store, "planning", "designing")
    assert json.loads((here / "state.json.bak").read_bytes()) == {"phase": "planning"}
    assert store.load().fields == {"phase": "designing"}


def test_a_writer_that_overslept_is_stopped(store: StateStore) -> None:
    store.save({"phase": "a", "revision": 3})
    store.save({"phase": "b", "revision": 4}, after=3)
    with pytest.raises(SupersededError, match="revision 4, not 3"):
        store.save({"phase": "late", "revision": 4}, after=3)
    assert (store.load().fields or {})["phase"] == "b"


def test_no_space_leaves_the_old_state(
    store: StateStore, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(store, "planning")

    def write(_fd: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(DataError, match="no space left on device") as caught:
        store.save({"phase": "designing"})
    monkeypatch.undo()
    assert "df -h" in caught.value.hints[0]
    assert store.load().fields == {"phase": "planning"}
    assert not [name for name in listing(here) if name.startswith(".tmp-")]


def test_a_state_too_large_to_be_read_is_not_written(store: StateStore) -> None:
    saved(store, "planning")
    with pytest.raises(DataError, match="limit"):
        store.save({"phase": "x" * SIZE_MAX})
    assert store.load().fields == {"phase": "planning"}


def test_the_cursor_comes_back(store: StateStore, here: Path) -> None:
    assert store.load_cursor() is None
    store.save_cursor(applied_offset=12, last_event_id="e", revision=3)
    assert store.load_cursor() == Cursor(applied_offset=12, last_event_id="e", revision=3)
    (here / "tool_event_state.json").write_text('{"applied_offset": 5}')
    assert store.load_cursor() == Cursor(applied_offset=5, last_event_id=None, revision=0)
    for bad in ("{", "[]", "{}", '{"applied_offset": true}', '{"applied_offset": -1}'):
        (here / "tool_event_state.json").write_text(bad)
        assert store.load_cursor() is None


SAVE = """
import os, sys
from pathlib import Path
from agentmux.adapters.disk.session.state_store import StateStore

folder, at, count = Path(sys.argv[1]), int(sys.argv[2]), 0
store = StateStore(folder)

def step():
    global count
    count += 1
    return count == at

def hook(name, args):
    if name in {"open", "os.rename", "os.remove", "os.link"} and step():
        os._exit(73)

real_write, real_fsync = os.write, os.fsync

def write(fd, data):
    if step():
        real_write(fd, bytes(data)[: len(data) // 2])
        os._exit(73)
    return real_write(fd, data)

def fsync(fd):
    if step():
        os._exit(73)
    return real_fsync(fd)

os.write, os.fsync = write, fsync
sys.addaudithook(hook)
store.save({"phase": "new"})
"""


@pytest.mark.parametrize("before", [(), ("old",), ("older", "old")])
def test_a_kill_at_any_step_of_save_leaves_the_old_state_or_the_new(
    here: Path, before: tuple[str, ...]
) -> None:
    seen = set()
    for at in range(1, 50):
        folder = here / str(at)
        folder.mkdir()
        store = StateStore(folder)
        saved(store, *before)
        done = subprocess.run([sys.executable, "-c", SAVE, str(folder), str(at)], check=False)
        loaded = store.load()
        seen.add((loaded.fields or {}).get("phase"))
        assert loaded.problem is None
        backup = files.read_limited(folder / "state.json.bak", SIZE_MAX)
        assert backup is None or json.loads(backup)["phase"] in {"older", "old"}
        assert (backup is None) <= (len(before) < 2)  # once there, it never vanishes
        files.sweep(folder, older_than_s=0)
        assert set(listing(folder)) <= {"state.json", "state.json.bak"}
        store.save({"phase": "next"})
        assert store.load().fields == {"phase": "next"}
        if done.returncode == 0:
            break
        assert done.returncode == 73
    else:
        pytest.fail("the save does not end")
    assert at > 6
    assert seen == {before[-1] if before else None, "new"}
