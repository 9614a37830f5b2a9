"""The file of an exported session: written whole, and read as if an enemy had made it."""

import fcntl
import io
import json
import os
import resource
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentmux.adapters.disk.session import session_archive
from agentmux.core.codec.frozen import replace
from agentmux.core.moving.manifest import INSIDE, MANIFEST, Manifest, encode
from agentmux.errors import DataError, NotFoundError, UsageError
from agentmux.ports.session.moving import Packed
from tests.faults.operations import Operation, Operations

UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
COMMIT = "a" * 40
JOURNAL = b'{"v":1}\n'


@pytest.fixture
def packed(tmp_path: Path) -> Packed:
    home = tmp_path / "session"
    (home / "04_planning").mkdir(parents=True)
    (home / "04_planning" / "plan.md").write_text("# Plan\n")
    (home / "requirements.md").write_text("Add it.\n")
    (home / "state.json").write_text("{}")
    (home / "launches" / "x").mkdir(parents=True)
    (home / "launches" / "x" / "launch.json").write_text("SECRET")
    bundle = tmp_path / "bundle"
    bundle.write_bytes(b"# bundle" * 1000)
    digest, size = session_archive.bundle_digest(bundle)
    members, left = session_archive.members(home)
    assert left == ()
    manifest = Manifest(
        session=UUID, source=UUID, name="20260101-101500-x", host="box", agentmux="1",
        made_at="2026-01-01T10:15:00.000Z", revision=1, base=COMMIT, head=COMMIT,
        bundle=digest, bundle_size=size,
        members=(session_archive.make_member("tool_events.jsonl", JOURNAL), *members),
    )  # fmt: skip
    return Packed(manifest=manifest, journal=JOURNAL, home=home, bundle=bundle)


def unpacked(file: Path, to: Path) -> dict[str, bytes]:
    with session_archive.open_archive(file) as archive:
        archive.unpack(to, to / "work-tree" / "b")
    return {str(p.relative_to(to)): p.read_bytes() for p in to.rglob("*") if p.is_file()}


def test_what_is_written_is_read(packed: Packed, tmp_path: Path) -> None:
    file = tmp_path / "s.agentmux"
    digest = session_archive.write(file, packed, force=False)
    assert file.stat().st_mode & 0o777 == 0o600
    with session_archive.open_archive(file) as archive:
        assert archive.manifest == packed.manifest
        assert archive.digest == digest
        archive.verify()
    assert unpacked(file, tmp_path / "to") == {
        "04_planning/plan.md": b"# Plan\n",
        "requirements.md": b"Add it.\n",
        "work-tree/b": b"# bundle" * 1000,
    }
    assert all(p.stat().st_mode & 0o077 == 0 for p in (tmp_path / "to").rglob("*"))


def test_a_file_is_not_replaced_without_force(packed: Packed, tmp_path: Path) -> None:
    file = tmp_path / "s.agentmux"
    file.write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        session_archive.write(file, packed, force=False)
    assert file.read_text() == "mine"
    session_archive.write(file, packed, force=True)
    with session_archive.open_archive(file) as archive:
        archive.verify()
    with pytest.raises(UsageError, match="is a directory"):
        session_archive.write(tmp_path, packed, force=True)
    with pytest.raises(UsageError, match="there is no directory"):
        session_archive.write(tmp_path / "no" / "s", packed, force=True)
    assert not list(tmp_path.glob(".*"))


def test_a_file_that_appears_meanwhile_is_not_replaced(
    packed: Packed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "s.agentmux"

    def appear(operation: Operation) -> None:
        if operation.target == str(file):
            file.write_text("mine")

    Operations(tmp_path, appear).install(monkeypatch.setattr)
    with pytest.raises(UsageError, match="exists already"):
        session_archive.write(file, packed, force=False)
    assert file.read_text() == "mine"
    assert not list(tmp_path.glob(".*"))


def test_a_file_that_changes_meanwhile_is_an_error(packed: Packed, tmp_path: Path) -> None:
    (packed.home / "requirements.md").write_text("Add something else.\n")
    with pytest.raises(DataError, match="changed while"):
        session_archive.write(tmp_path / "s", packed, force=False)
    assert not [*tmp_path.glob("s"), *tmp_path.glob(".*")]


def test_what_a_killed_export_left_is_swept(tmp_path: Path) -> None:
    left, written = (tmp_path / f".s[1].{name}.part" for name in ("0011", "0022"))
    other = tmp_path / ".s.0011.part"
    for each in (left, written, other):
        each.write_text("x")
    with written.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        session_archive.sweep(tmp_path / "s[1]")
        assert not left.exists()
        assert written.exists(), "another export writes it"
    session_archive.sweep(tmp_path / "s[1]")
    assert not written.exists()
    assert other.exists()


def test_what_cannot_come_along_is_named(packed: Packed, tmp_path: Path) -> None:
    plans = packed.home / "04_planning"
    (plans / "link.md").symlink_to("/etc/passwd")
    (plans / "linked").symlink_to("/etc")
    os.mkfifo(plans / "fifo")
    (plans / "ümlaut.md").write_text("x")
    (plans / ".hidden").write_text("x")
    with (plans / "large.bin").open("wb") as file:
        file.truncate((64 << 20) + 1)
    found, left = session_archive.members(packed.home)
    assert [each.path for each in found] == ["04_planning/plan.md", "requirements.md"]
    assert {each.removeprefix("04_planning/") for each in left} == {
        *("link.md", "linked", "fifo", "ümlaut.md", ".hidden", "large.bin")
    }


# -- an enemy's file -----------------------------------------------------------------------------


Change = Callable[[tarfile.TarFile, tarfile.TarInfo, bytes], None]


def entry(name: str, data: bytes = b"", **more: Any) -> tuple[tarfile.TarInfo, io.BytesIO]:
    made = tarfile.TarInfo(name)
    made.size = len(data)
    for key, value in more.items():
        setattr(made, key, value)
    return made, io.BytesIO(data)


def remade(file: Path, change: Change) -> None:
    """Write the file again, with a change to some of its entries."""
    with tarfile.open(file) as tar:
        entries = [(each, (tar.extractfile(each) or io.BytesIO()).read()) for each in tar]
    with tarfile.open(file, "w") as tar:
        for each, data in entries:
            change(tar, each, data)


def keep(tar: tarfile.TarFile, each: tarfile.TarInfo, data: bytes) -> None:
    each.size = len(data)
    tar.addfile(each, io.BytesIO(data))


def added(*more: tuple[tarfile.TarInfo, io.BytesIO]) -> Change:
    """Return a change that adds entries after the manifest."""

    def change(tar: tarfile.TarFile, each: tarfile.TarInfo, data: bytes) -> None:
        keep(tar, each, data)
        if each.name == MANIFEST:
            for item, content in more:
                tar.addfile(item, content)

    return change


def instead(name: str, made: Callable[[bytes], tuple[tarfile.TarInfo, io.BytesIO]]) -> Change:
    def change(tar: tarfile.TarFile, each: tarfile.TarInfo, data: bytes) -> None:
        if each.name == name:
            tar.addfile(*made(data))
        else:
            keep(tar, each, data)

    return change


PLAN = f"{INSIDE}04_planning/plan.md"
HOSTILE: dict[str, Change] = {
    "a path that leads out": added(entry(f"{INSIDE}../../evil", b"x")),
    "an absolute path": added(entry("/tmp/evil", b"x")),
    "a file that is not listed": added(entry(f"{INSIDE}04_planning/evil.md", b"x")),
    "a state": added(entry(f"{INSIDE}state.json", b"{}")),
    "a file twice": added(entry(PLAN, b"# Plan\n"), entry(PLAN, b"# Plan\n")),
    "another manifest": added(entry(MANIFEST, b"{}")),
    "a link in place of a file": instead(
        PLAN, lambda _: entry(PLAN, type=tarfile.SYMTYPE, linkname="/etc/passwd")
    ),
    "a hard link in place of a file": instead(
        PLAN, lambda _: entry(PLAN, type=tarfile.LNKTYPE, linkname=f"{INSIDE}requirements.md")
    ),
    "a link to a folder": added(
        entry(f"{INSIDE}04_planning", type=tarfile.SYMTYPE, linkname="/tmp")
    ),
    "a device": instead(PLAN, lambda _: entry(PLAN, type=tarfile.CHRTYPE, devmajor=1, devminor=5)),
    "a pipe": instead(PLAN, lambda _: entry(PLAN, type=tarfile.FIFOTYPE)),
    "a folder": added(entry(f"{INSIDE}04_planning", type=tarfile.DIRTYPE)),
    "another content": instead(PLAN, lambda data: entry(PLAN, data[::-1])),
    "a longer content": instead(PLAN, lambda data: entry(PLAN, data + b"x")),
    "another bundle": instead(
        "repository.bundle", lambda data: entry("repository.bundle", data[:-1] + b"x")
    ),
    "no bundle": lambda tar, each, data: (
        None if each.name == "repository.bundle" else keep(tar, each, data)
    ),
    "a manifest that is no JSON": instead(MANIFEST, lambda _: entry(MANIFEST, b"[" * 100_000)),
    "a manifest with a number of 5000 digits": instead(
        MANIFEST, lambda _: entry(MANIFEST, b'{"schema": ' + b"1" * 5000 + b"}")
    ),
    "a manifest that is too large": instead(
        MANIFEST, lambda _: entry(MANIFEST, b" " * ((8 << 20) + 1))
    ),
    "a manifest at the end": lambda tar, each, data: (
        None if each.name == MANIFEST else keep(tar, each, data)
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_and_nothing_is_written_elsewhere(
    name: str, packed: Packed, tmp_path: Path
) -> None:
    file, to = tmp_path / "s.agentmux", tmp_path / "deep" / "to"
    session_archive.write(file, packed, force=False)
    remade(file, HOSTILE[name])
    before = sorted(tmp_path.iterdir())
    with pytest.raises(DataError, match="is not a whole exported session"):
        unpacked(file, to)
    with pytest.raises(DataError), session_archive.open_archive(file) as archive:
        archive.verify()
    made = [each for each in tmp_path.rglob("*") if "deep" in each.parts]
    assert all(each.is_relative_to(tmp_path / "deep") for each in made)
    assert not any(each.is_symlink() or each.name.startswith("evil") for each in made)
    assert sorted(each for each in tmp_path.iterdir() if each.name != "deep") == before
    assert not Path("/tmp/evil").exists()


def test_a_file_that_is_cut_off_anywhere_is_refused(packed: Packed, tmp_path: Path) -> None:
    file = tmp_path / "s.agentmux"
    session_archive.write(file, packed, force=False)
    whole = file.read_bytes()
    end = whole.rstrip(b"\0")
    for size in (*range(0, len(end), 397), len(end) - 1):
        file.write_bytes(whole[:size])
        with pytest.raises(DataError), session_archive.open_archive(file) as archive:
            archive.verify()


def test_a_flipped_byte_in_a_file_is_found(packed: Packed, tmp_path: Path) -> None:
    file = tmp_path / "s.agentmux"
    session_archive.write(file, packed, force=False)
    whole = file.read_bytes()
    with tarfile.open(file) as tar:
        places = [each.offset_data for each in tar]
    for place in places:
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(DataError), session_archive.open_archive(file) as archive:
            archive.verify()


def test_no_pipe_or_folder_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name in ("fifo", "."):
        with pytest.raises(DataError), session_archive.open_archive(tmp_path / name):
            pass
    with pytest.raises(NotFoundError), session_archive.open_archive(tmp_path / "none"):
        pass


@pytest.mark.parametrize("data", [b"", b"x" * 5000, b"\x1f\x8b\x08" + b"\0" * 500, b"PK\x03\x04"])
def test_another_kind_of_file_is_refused(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "s"
    file.write_bytes(data)
    with (
        pytest.raises(DataError, match="is not a whole exported session"),
        session_archive.open_archive(file),
    ):
        pass


def test_a_newer_version_is_named(packed: Packed, tmp_path: Path) -> None:
    file = tmp_path / "s.agentmux"
    session_archive.write(file, packed, force=False)
    fields = encode(replace(packed.manifest, schema=2))
    remade(file, instead(MANIFEST, lambda _: entry(MANIFEST, json.dumps(fields).encode())))
    with pytest.raises(DataError, match="version 2") as caught, session_archive.open_archive(file):
        pass
    assert caught.value.hints == ("update agentmux",)


def test_a_journal_of_a_newer_version_is_named(packed: Packed, tmp_path: Path) -> None:
    file = tmp_path / "s.agentmux"
    line = b'{"v":1,"id":"1","at":"","event":"from_the_future","payload":{}}\n'
    member = session_archive.make_member("tool_events.jsonl", line)
    manifest = replace(packed.manifest, members=(member, *packed.manifest.members[1:]))
    packed = replace(packed, manifest=manifest, journal=line)
    session_archive.write(file, packed, force=False)
    with (
        session_archive.open_archive(file) as archive,
        pytest.raises(DataError, match="unknown kind"),
    ):
        archive.events()


@pytest.mark.parametrize("size", [10, 5000])
def test_a_full_disk_is_named_where_the_session_is_written(
    size: int, packed: Packed, tmp_path: Path
) -> None:
    file, to = tmp_path / "s.agentmux", tmp_path / "to"
    session_archive.write(file, packed, force=False)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))  # the bundle has 8000 bytes
    try:
        with pytest.raises(DataError, match=f"cannot write `{to}`.*file too large"):
            unpacked(file, to)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
