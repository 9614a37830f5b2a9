"""Durable writes and moves: after any failure, a file is complete or absent."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from freezegun import freeze_time
from hypothesis import given
from hypothesis import strategies as st

from agentmux.adapters.disk import files
from agentmux.errors import DataError, ExitCode

OLD, NEW = b"old" * 100, b"new" * 200

KILLED = 73
CHILD = """
import os, sys
from pathlib import Path
from agentmux.adapters.disk import files

at = int(sys.argv[1])
count = 0

def step():
    global count
    count += 1
    return count == at

def hook(name, args):
    if name in {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link"} and step():
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

folder = Path(sys.argv[2])
os.write, os.fsync = write, fsync
sys.addaudithook(hook)
"""


def killed_at(step: int, folder: Path, action: str) -> bool:
    """Run ``action`` in a child that dies at its ``step``-th file operation; False: it finished."""
    program = CHILD + textwrap.dedent(action)
    done = subprocess.run(
        [sys.executable, "-c", program, str(step), str(folder)], capture_output=True, check=False
    )
    assert done.returncode in {0, KILLED}, done.stderr.decode()
    return done.returncode == KILLED


def kill_everywhere(folder: Path, action: str, check: Callable[[], None]) -> int:
    """Kill ``action`` at each of its file operations in turn, and call ``check`` after each kill.

    ``check`` has to restore the folder. Returns the number of kills.
    """
    for step in range(1, 100):
        if not killed_at(step, folder, action):
            return step - 1
        check()
    pytest.fail("the action does not end")


def broken(code: int) -> Callable[..., Any]:
    def fail(*_args: Any, **_options: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return fail


def names(folder: Path) -> list[str]:
    return sorted(child.name for child in folder.iterdir())


def test_replace_puts_the_data_there_for_the_owner_alone(here: Path) -> None:
    files.replace(here / "a", OLD)
    files.replace(here / "a", NEW)
    assert (here / "a").read_bytes() == NEW
    assert stat.S_IMODE((here / "a").stat().st_mode) == 0o600
    assert names(here) == ["a"]


def test_replace_flushes_the_file_before_the_rename_and_the_directory_after(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[tuple[str, str]] = []

    def recorded(name: str) -> None:
        real = getattr(os, name)

        def call(first: Any, *rest: Any) -> Any:
            path = str(
                Path(f"/proc/self/fd/{first}").readlink() if isinstance(first, int) else first
            )
            steps.append((name, "temp" if ".tmp-" in path else Path(path).name))
            return real(first, *rest)

        monkeypatch.setattr(os, name, call)

    for name in ("write", "fsync", "replace"):
        recorded(name)
    files.replace(here / "a", NEW)
    assert steps == [
        ("write", "temp"), ("fsync", "temp"), ("replace", "temp"), ("fsync", here.name),
    ]  # fmt: skip


def test_move_flushes_both_directories_after_the_rename(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[tuple[str, str]] = []
    real_rename, real_fsync = os.rename, os.fsync

    def rename(source: Any, target: Any) -> None:
        steps.append(("rename", Path(target).name))
        real_rename(source, target)

    def fsync(fd: int) -> None:
        steps.append(("fsync", Path(f"/proc/self/fd/{fd}").readlink().name))
        real_fsync(fd)

    for folder in ("from", "to"):
        (here / folder).mkdir()
    (here / "from" / "a").write_bytes(OLD)
    monkeypatch.setattr(os, "rename", rename)
    monkeypatch.setattr(os, "fsync", fsync)
    files.move(here / "from" / "a", here / "to" / "a")
    assert steps[0] == ("rename", "a")
    assert sorted(steps[1:]) == [("fsync", "from"), ("fsync", "to")]


def test_a_kill_at_any_step_of_replace_leaves_the_old_file_or_the_new(here: Path) -> None:
    target = here / "a"
    seen = set()

    def check() -> None:
        seen.add(target.read_bytes())
        files.sweep(here, older_than_s=0)
        assert names(here) == ["a"]
        target.write_bytes(OLD)

    target.write_bytes(OLD)
    kills = kill_everywhere(here, "files.replace(folder / 'a', b'new' * 200)", check)
    assert kills >= 5
    assert seen == {OLD, NEW}
    assert target.read_bytes() == NEW


@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS])
def test_a_failed_replace_names_the_place_and_changes_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    target = here / "a"
    target.write_bytes(OLD)
    before = len(list(Path("/proc/self/fd").iterdir()))
    monkeypatch.setattr(os, call, broken(code))
    with pytest.raises(DataError) as caught:
        files.replace(target, NEW)
    monkeypatch.undo()
    assert caught.value.exit_code is ExitCode.DATA
    assert str(target) in caught.value.message
    assert "volume `/" in caught.value.message
    assert caught.value.hints
    assert target.read_bytes() == OLD
    assert names(here) == ["a"]
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_limit_on_file_sizes_fails_the_write_as_a_whole(here: Path) -> None:
    (here / "a").write_bytes(OLD)
    program = """
        import resource, sys
        from pathlib import Path
        from agentmux.adapters.disk import files
        from agentmux.errors import DataError
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            files.replace(Path(sys.argv[1]), b"x" * 5000)
        except DataError as error:
            print(error.message, error.hints)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(here / "a")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "file too large" in done.stdout
    assert "ulimit -f" in done.stdout
    assert (here / "a").read_bytes() == OLD
    assert names(here) == ["a"]


def test_short_writes_are_carried_on(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:7]))
    files.replace(here / "a", NEW)
    monkeypatch.undo()
    assert (here / "a").read_bytes() == NEW


def test_a_flush_that_failed_is_tried_once_more_with_a_new_file(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, flushed = os.fsync, []

    def fsync(fd: int) -> None:
        flushed.append(os.fstat(fd).st_ino)
        if len(flushed) == 1:
            raise OSError(errno.EIO, "io")
        real(fd)

    keep = os.open(here / "keep", os.O_CREAT)
    monkeypatch.setattr(os, "fsync", fsync)
    files.replace(here / "a", NEW)
    assert (here / "a").read_bytes() == NEW
    monkeypatch.setattr(os, "fsync", broken(errno.EIO))
    with pytest.raises(DataError):
        files.replace(here / "a", OLD)
    monkeypatch.undo()
    os.close(keep)
    assert (here / "a").read_bytes() == NEW
    assert names(here) == ["a", "keep"]


def test_replace_replaces_a_link_and_not_what_it_points_to(here: Path) -> None:
    (here / "far").write_bytes(OLD)
    (here / "a").symlink_to(here / "far")
    files.replace(here / "a", NEW)
    assert (here / "far").read_bytes() == OLD
    assert not (here / "a").is_symlink()


def test_put_writes_only_what_differs_and_makes_private_folders(here: Path) -> None:
    target = here / "x" / "y" / "a"
    assert files.put(target, NEW)
    inode = target.stat().st_ino
    assert not files.put(target, NEW)
    assert target.stat().st_ino == inode
    assert files.put(target, OLD)
    assert files.put(target, b"")
    (here / "link").symlink_to(here / "nowhere")
    assert files.put(here / "link", b"")
    assert not (here / "nowhere").exists()
    assert stat.S_IMODE(target.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(target.parent.parent.stat().st_mode) == 0o700


def test_put_keeps_what_lies_there_under_another_name_where_it_is_asked_to(here: Path) -> None:
    path = here / "history" / "review.md"
    for data in (OLD, NEW, NEW):
        files.put(path, data, keep=True)
    assert (path.read_bytes(), (here / "history" / "review-2.md").read_bytes()) == (NEW, OLD)
    assert names(here / "history") == ["review-2.md", "review.md"]


def test_move_can_be_repeated_and_never_overwrites(here: Path) -> None:
    source, target = here / "a.md", here / "history" / "1.0" / "a.md"
    source.write_text("one")
    assert files.move(source, target) == target
    assert files.move(source, target) is None
    source.write_text("two")
    assert files.move(source, target) == target.with_name("a-2.md")
    source.write_text("one")
    assert files.move(source, target) == target
    assert names(target.parent) == ["a-2.md", "a.md"]
    assert target.read_text() == "one"
    assert not source.exists()


def test_move_finishes_a_name_that_a_hard_link_left_twice(here: Path) -> None:
    (here / "a").write_text("one")
    os.link(here / "a", here / "b")
    assert files.move(here / "a", here / "b") == here / "b"
    assert names(here) == ["b"]


def test_move_merges_a_folder_into_one_that_is_there(here: Path) -> None:
    files.put(here / "07" / "sub" / "new.md", b"new")
    files.put(here / "07" / "a.md", b"late")
    files.put(here / "history" / "07" / "a.md", b"first")
    files.move(here / "07", here / "history" / "07")
    assert names(here / "history" / "07") == ["a-2.md", "a.md", "sub"]
    assert not (here / "07").exists()


def test_move_takes_a_link_itself(here: Path) -> None:
    (here / "far").mkdir()
    (here / "link").symlink_to(here / "far")
    (here / "there").mkdir()
    moved = files.move(here / "link", here / "there")
    assert moved == here / "there-2"
    assert moved.is_symlink()
    assert (here / "far").is_dir()


def test_a_kill_at_any_step_of_move_is_mended_by_moving_again(here: Path) -> None:
    def reset() -> None:
        subprocess.run(["rm", "-rf", here / "history", here / "07"], check=True)
        files.put(here / "07" / "a.md", b"late")
        files.put(here / "07" / "b.md", b"b")
        files.put(here / "history" / "07" / "a.md", b"first")

    def check() -> None:
        files.move(here / "07", here / "history" / "07")
        found = {child.name: child.read_bytes() for child in (here / "history/07").iterdir()}
        assert found == {"a.md": b"first", "a-2.md": b"late", "b.md": b"b"}
        assert not (here / "07").exists()
        reset()

    reset()
    action = "files.move(folder / '07', folder / 'history' / '07')"
    assert kill_everywhere(here, action, check) >= 6


def test_remove_takes_files_links_and_empty_folders(here: Path) -> None:
    (here / "far").write_bytes(OLD)
    (here / "link").symlink_to(here / "far")
    (here / "empty").mkdir()
    (here / "full").mkdir()
    (here / "full" / "a").touch()
    assert files.remove(here / "link")
    assert files.remove(here / "empty")
    assert not files.remove(here / "gone")
    with pytest.raises(DataError):
        files.remove(here / "full")
    assert names(here) == ["far", "full"]


def test_sweep_takes_only_old_temporary_files(here: Path) -> None:
    litter = [files.temporary(here), files.temporary(here / "sub")]
    files.make_dir(here / "sub")
    for path in litter:
        path.touch()
        os.utime(path, (0, 0))
    fresh = files.temporary(here)
    fresh.touch()
    (here / ".tmp-notes").touch()
    os.utime(here / ".tmp-notes", (0, 0))
    (here / ".tmp-0123456789abcdef").mkdir()
    assert files.sweep(here) == 2
    assert names(here) == sorted([fresh.name, ".tmp-notes", ".tmp-0123456789abcdef", "sub"])


@pytest.mark.parametrize(("later_s", "swept"), [(-1, 0), (1, 1)])
def test_a_temporary_file_is_litter_after_a_while(here: Path, later_s: int, swept: int) -> None:
    litter = files.temporary(here)
    litter.touch()
    made = datetime.fromtimestamp(litter.stat().st_mtime, UTC)
    with freeze_time(made + timedelta(seconds=files.SWEEP_AGE_S + later_s)):
        assert files.sweep(here) == swept
    assert litter.exists() is not bool(swept)


def test_reading_takes_regular_files_of_bearable_size_only(here: Path) -> None:
    (here / "a").write_bytes(b"12345")
    assert files.read_limited(here / "a", 5) == b"12345"
    assert files.read_limited(here / "a", 4) is None
    (here / "link").symlink_to(here / "a")
    os.mkfifo(here / "pipe")
    with (here / "huge").open("wb") as huge:
        huge.truncate(1 << 30)
    (here / "folder").mkdir()
    (here / "zero").symlink_to("/dev/zero")
    for name in ("link", "pipe", "huge", "folder", "zero", "missing", "a/b"):
        assert files.read_limited(here / name, 1 << 20) is None, name
    assert files.read_limited(Path("/dev/zero"), 1 << 20) is None


def test_a_file_that_grows_while_it_is_read_is_too_large(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "a").write_bytes(b"1234")
    real = os.read

    def read(fd: int, count: int) -> bytes:
        with (here / "a").open("ab") as file:
            file.write(b"5678")
        return real(fd, count)

    monkeypatch.setattr(os, "read", read)
    assert files.read_limited(here / "a", 5) is None


def test_strict_reading_tells_missing_from_forbidden(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert files.read_strict(here / "a", 10) is None
    (here / "folder").mkdir()
    with pytest.raises(ValueError, match="not a regular file"):
        files.read_strict(here / "folder", 10)
    monkeypatch.setattr(os, "open", broken(errno.EACCES))
    with pytest.raises(DataError, match="permission denied"):
        files.read_strict(here / "a", 10)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1, "a": 2}', b'{"x": {"a": 1, "a": 2}}', b"[]", b'"x"', b"1", b"null", b"", b"{",
        b'{"a": NaN}', b'{"a": Infinity}', b'{"a": 1e400}', b'{"a": -1e400}', b'\xef\xbb\xbf{}',
        b'{"a": "\xff"}', b'{"a": ' + b"1" * 5000 + b"}", b'{"a":' * 100_000, b"[" * 100_000,
        '{"a": 1}'.encode("utf-16"), b"{} {}", b'{"a": "\x00"}',
    ],
)  # fmt: skip
def test_json_that_is_not_one_strict_object_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        files.json_fields(data)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(fields=st.dictionaries(st.text(), JSON))
def test_json_comes_back_as_it_went_and_equal_fields_give_equal_bytes(
    fields: dict[str, Any],
) -> None:
    data = files.json_bytes(fields)
    assert data.isascii()
    assert files.json_fields(data) == fields
    assert files.json_bytes(dict(reversed(fields.items()))) == data
    assert files.json_bytes(fields, indent=None).count(b"\n") == 1


def test_a_folder_that_cannot_be_looked_at_is_not_taken_for_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path)
    assert files.is_folder(tmp_path)
    assert files.is_folder(tmp_path / "link")
    assert not files.is_folder(tmp_path / "file")
    assert not files.is_folder(tmp_path / "none" / "at all")
    assert not files.is_folder(tmp_path / "file" / "below")
    with pytest.raises(OSError, match="too long"):
        files.is_folder(tmp_path / ("n" * 300))


def test_a_linked_folder_on_the_way_is_refused(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "a").mkdir(parents=True)
    outside.mkdir()
    (root / "a" / "link").symlink_to(outside)
    assert files.path_without_links(root, "a/x.md") == root / "a" / "x.md"
    assert files.path_without_links(root, "a/link") == root / "a" / "link", "a write replaces it"
    for path, whole in (("a/link/x.md", False), ("a/link/b/x.md", False), ("a/link", True)):
        with pytest.raises(DataError, match="a/link` is a link"):
            files.path_without_links(root, path, whole=whole)


def test_only_a_regular_file_is_appended_to(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (tmp_path / "link").symlink_to(outside)
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    for name in ("link", "dangling"):
        with pytest.raises(DataError, match=f"{name}` is a link, which is not allowed"):
            files.append_only(tmp_path / name)
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(DataError, match="fifo` is not a regular file"):
        files.append_only(tmp_path / "fifo")
    os.close(reader)
    assert outside.read_text() == "mine"
    assert not (tmp_path / "none").exists()


def test_writing_over_takes_no_room_and_makes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "note"
    with pytest.raises(DataError):
        files.write_over(path, b"x")
    assert not path.exists()
    path.write_bytes(b"0123456789")
    before = path.stat().st_ino
    files.write_over(path, b"abc")
    assert path.read_bytes() == b"abc       "
    assert path.stat().st_ino == before
    with pytest.raises(DataError, match="no space left"):
        files.write_over(path, b"longer than that")
    assert path.read_bytes() == b"abc       "
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(DataError):
        files.write_over(link, b"x")
