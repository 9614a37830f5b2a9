"""The journal has only complete lines, even if a process dies or fails while it writes."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from freezegun import freeze_time
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentmux.adapters.disk.files import json_bytes
from agentmux.adapters.disk.session.journal import (
    LINE_MAX,
    FileJournal,
    JournalLine,
    encode_line,
    parse_line,
)
from agentmux.adapters.disk.session.state_store import SIZE_MAX
from agentmux.app.commands.begin.start import FEATURE_MAX
from agentmux.core.journal.events import SessionStarted, encode
from agentmux.core.journal.state import SessionState
from agentmux.core.journal.state import encode as encode_state
from agentmux.core.names.phase import Phase
from agentmux.errors import BlockedError, DataError
from tests.core.builders import event


@pytest.fixture
def journal(here: Path) -> FileJournal:
    made = FileJournal(here / "tool_events.jsonl")
    made.create({"event": "journal_created", "n": 0})
    return made


def numbers(journal: FileJournal, offset: int = 0) -> list[Any]:
    return [(parse_line(line.raw) or {}).get("n") for line in journal.read(offset).lines]


def torn_files(journal: FileJournal) -> list[Path]:
    return sorted(journal.path.parent.glob("tool_events.torn-*"))


def test_lines_come_back_with_their_offsets(journal: FileJournal) -> None:
    first = journal.append({"n": 1})
    second = journal.append({"n": 2, "text": "ü\u2028\ud800\n"})
    tail = journal.read(first[0])
    assert [(line.start, line.end) for line in tail.lines] == [first, second]
    assert (parse_line(tail.lines[1].raw) or {})["text"] == "ü\u2028\ud800\n"
    assert tail.end == journal.path.stat().st_size
    assert tail.torn == b""
    assert journal.path.stat().st_mode & 0o777 == 0o600


def test_the_first_line_says_whose_journal_it_is(journal: FileJournal, here: Path) -> None:
    journal.append({"n": 1})
    first = journal.first()
    assert first is not None
    assert first == journal.read().lines[0]
    assert FileJournal(here / "none").first() is None


def test_create_is_whole_and_never_over_another(journal: FileJournal, here: Path) -> None:
    with pytest.raises(DataError, match="already"):
        journal.create({"n": 9})
    other = FileJournal(here / "other.jsonl")
    end = other.create({"n": 1}, {"n": 2})
    assert numbers(other) == [1, 2]
    assert other.read().end == end


def test_a_journal_cut_at_any_byte_keeps_its_whole_lines(here: Path) -> None:
    lines = [encode_line({"n": n, "text": "x" * n * 5}) for n in range(4)]
    whole = b"".join(lines)
    ends = [sum(map(len, lines[: count + 1])) for count in range(4)]
    for cut in range(len(whole) + 1):
        folder = here / str(cut)
        folder.mkdir()
        journal = FileJournal(folder / "tool_events.jsonl")
        journal.path.write_bytes(whole[:cut])
        kept = sum(end <= cut for end in ends)
        end = ends[kept - 1] if kept else 0

        tail = journal.read()
        assert (len(tail.lines), tail.end, tail.torn) == (kept, end, whole[end:cut])
        assert journal.path.read_bytes() == whole[:cut]  # reading changes nothing

        assert journal.append({"n": "new"})[0] == end
        assert numbers(journal) == [*range(kept), "new"]
        torn = torn_files(journal)
        assert [path.read_bytes() for path in torn] == ([whole[end:cut]] if end < cut else [])


def test_a_torn_tail_is_kept_under_a_dated_private_name(journal: FileJournal) -> None:
    with freeze_time("2026-01-01T10:15:00.9"):
        for _ in range(2):
            with journal.path.open("ab") as file:
                file.write(b'{"half":')
            with journal.exclusive() as held:
                kept = held.cut_torn()
                assert kept is not None
                assert held.cut_torn() is None
    found = torn_files(journal)
    names = ["tool_events.torn-20260101T101500Z", "tool_events.torn-20260101T101500Z-2"]
    assert [path.name for path in found] == names
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in found)
    assert numbers(journal) == [0]


def test_a_torn_tail_is_kept_for_good_before_it_is_cut_off(
    journal: FileJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[tuple[str, str]] = []

    def recorded(name: str) -> None:
        real = getattr(os, name)

        def call(fd: int, *rest: Any) -> Any:
            path = Path(f"/proc/self/fd/{fd}").readlink()
            steps.append((name, path.name.partition(".torn-")[0]))
            return real(fd, *rest)

        monkeypatch.setattr(os, name, call)

    with journal.path.open("ab") as file:
        file.write(b'{"half":')
    for name in ("write", "fsync", "ftruncate"):
        recorded(name)
    with journal.exclusive() as held:
        held.cut_torn()
    copy, whole = journal.path.stem, journal.path.name
    assert steps == [
        ("write", copy), ("fsync", copy), ("fsync", journal.path.parent.name),
        ("ftruncate", whole), ("fsync", whole),
    ]  # fmt: skip


def test_bad_lines_stay_where_they_are(journal: FileJournal) -> None:
    bad = [b"garbage", b"[]", b'{"n": 1, "n": 2}', b"\xff\xfe", b"", b'{"n": NaN}', b"\0"]
    with journal.path.open("ab") as file:
        file.write(b"".join(line + b"\n" for line in bad))
    journal.append({"n": 7})
    tail = journal.read()
    assert [line.raw for line in tail.lines[1:-1]] == bad
    assert [parse_line(line.raw) for line in tail.lines[1:-1]] == [None] * len(bad)
    assert parse_line(tail.lines[-1].raw) == {"n": 7}


def test_a_windows_line_end_is_no_fault() -> None:
    assert parse_line(b'{"n": 1}\r') == {"n": 1}


def test_a_line_over_the_limit_is_neither_written_nor_held(journal: FileJournal) -> None:
    before = journal.path.read_bytes()
    with pytest.raises(DataError, match="too long"):
        journal.append({"text": "x" * LINE_MAX})
    assert journal.path.read_bytes() == before
    with journal.path.open("ab") as file:
        file.write(b'{"text":"' + b"x" * (3 * LINE_MAX) + b'"}\n')
    journal.append({"n": 1})
    long, after = journal.read().lines[1:]
    assert len(long.raw) == LINE_MAX
    assert parse_line(long.raw) is None
    assert long.end == after.start
    assert parse_line(after.raw) == {"n": 1}


def test_the_longest_line_that_can_be_written_can_be_read(journal: FileJournal) -> None:
    room = LINE_MAX - len(encode_line({"text": ""}))
    journal.append({"text": "x" * room})
    assert parse_line(journal.read().lines[1].raw) == {"text": "x" * room}


_ODD = [
    "x",
    "\x01",
    "\x7f",
    "\u2028",
    "\x85",
    "\r",
    "\n",
    "\\",
    '"',
    "ж",
    "你",
    "👩",
    "\udc80",
    "\ud83d",
]


@pytest.mark.long
@settings(deadline=None, max_examples=40)
@given(
    piece=st.text(st.one_of(st.characters(), st.sampled_from(_ODD)), min_size=1, max_size=30),
)
@example(piece="\x01")
@example(piece="ж")
@example(piece="👩")
def test_the_longest_request_fits_into_a_line_and_into_the_state(piece: str) -> None:
    size = len(piece.encode("utf-8", "surrogatepass"))
    state = SessionState(phase=Phase.ARCHITECTING, feature=piece * (FEATURE_MAX // size))
    fields = encode(event(SessionStarted(state=encode_state(state))))
    line = encode_line(fields)
    assert line.endswith(b"\n")
    assert len(line.splitlines()) == 1  # also with other kinds of line breaks
    assert parse_line(line[:-1]) == json.loads(json.dumps(fields))
    assert len(json_bytes(encode_state(state), indent=None)) < SIZE_MAX // 2


@given(st.binary())
def test_any_bytes_are_an_object_or_none(raw: bytes) -> None:
    assert isinstance(parse_line(raw), dict | None)


@given(pieces=st.lists(st.sampled_from([b"{}", b"\n", b"ab", b"\0", b"\xff"])))
def test_lines_and_torn_tail_make_up_the_file(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]
) -> None:
    journal = FileJournal(tmp_path_factory.mktemp("j") / "tool_events.jsonl")
    data = b"".join(pieces)
    journal.path.write_bytes(data)
    tail = journal.read()
    assert b"".join(line.raw + b"\n" for line in tail.lines) + tail.torn == data
    assert all(data[line.start : line.end - 1] == line.raw for line in tail.lines)


@pytest.mark.parametrize("offset", [1, 5, 10_000, -1])
def test_an_offset_that_does_not_fit_means_another_journal(
    journal: FileJournal, offset: int
) -> None:
    with pytest.raises(DataError, match="replaced"):
        journal.read(offset)


def test_a_missing_journal_is_empty_only_if_nothing_was_applied(here: Path) -> None:
    journal = FileJournal(here / "tool_events.jsonl")
    assert not journal.exists()
    assert journal.read().lines == ()
    with pytest.raises(DataError, match="missing"):
        journal.read(12)
    with pytest.raises(DataError, match="missing"):
        journal.append({"n": 1})
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_a_regular_file_is_a_journal(here: Path, kind: str) -> None:
    journal = FileJournal(here / "tool_events.jsonl")
    (here / "far").write_bytes(b"{}\n")
    if kind == "link":
        journal.path.symlink_to(here / "far")
    elif kind == "pipe":
        os.mkfifo(journal.path)
    else:
        journal.path.mkdir()
    for call in (journal.read, journal.first, lambda: journal.append({"n": 1})):
        with pytest.raises(DataError):
            call()
    assert (here / "far").read_bytes() == b"{}\n"


@pytest.mark.parametrize("fault", ["no space", "short", "flush"])
def test_a_failed_append_leaves_the_journal_as_it_was(
    journal: FileJournal, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    before = journal.path.read_bytes()
    real = os.write

    def write(fd: int, data: bytes) -> int:
        if fault == "no space":
            raise OSError(errno.ENOSPC, "no space left on device")
        return real(fd, data[:5])

    def fsync(_fd: int) -> None:
        raise OSError(errno.EIO, "io error")

    if fault == "flush":
        monkeypatch.setattr(os, "fsync", fsync)
    else:
        monkeypatch.setattr(os, "write", write)
    with pytest.raises(DataError) as caught:
        journal.append({"n": 1})
    monkeypatch.undo()
    assert str(journal.path) in caught.value.message
    assert journal.path.read_bytes() == before
    journal.append({"n": 2})
    assert numbers(journal) == [0, 2]


def test_append_writes_in_one_call_and_flushes_before_it_returns(
    journal: FileJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    real_write, real_fsync = os.write, os.fsync

    def write(fd: int, data: bytes) -> int:
        calls.append("write")
        return real_write(fd, data)

    def fsync(fd: int) -> None:
        calls.append("fsync")
        real_fsync(fd)

    monkeypatch.setattr(os, "write", write)
    monkeypatch.setattr(os, "fsync", fsync)
    journal.append({"n": 1, "text": "x" * 100_000})
    assert calls == ["write", "fsync"]


def test_what_is_read_under_the_lock_is_on_the_disk(
    journal: FileJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with journal.path.open("ab") as file:
        file.write(b'{"n":1}\n')
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda fd: flushed.append(os.fstat(fd).st_ino))
    with journal.exclusive() as held:
        assert len(held.read().lines) == 2
    assert flushed == [journal.path.stat().st_ino]


WRITER = """
import sys
from pathlib import Path
from agentmux.adapters.disk.session.journal import FileJournal
journal = FileJournal(Path(sys.argv[1]))
for n in range(int(sys.argv[3])):
    journal.append({"w": int(sys.argv[2]), "n": n, "text": "x" * (n * 37 % 3000)})
"""


def test_eight_writers_at_once_leave_whole_lines_each_in_order(journal: FileJournal) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(journal.path), str(w), "200"])
        for w in range(8)
    ]
    assert [writer.wait(timeout=100) for writer in writers] == [0] * 8
    tail = journal.read()
    assert tail.torn == b""
    events = [parse_line(line.raw) for line in tail.lines[1:]]
    assert len(events) == 8 * 200
    for w in range(8):
        assert [e["n"] for e in events if e is not None and e["w"] == w] == list(range(200))


def test_the_lock_is_not_waited_for_without_end(journal: FileJournal) -> None:
    with journal.exclusive():
        with pytest.raises(BlockedError) as caught, journal.exclusive(wait_s=0.05):
            pass
        assert caught.value.reason == "locked"
        assert journal.read().lines  # readers need no lock
    journal.append({"n": 1})


def test_a_journal_replaced_while_we_waited_is_opened_anew(journal: FileJournal) -> None:
    other = FileJournal(journal.path.with_name("other.jsonl"))
    other.create({"n": "other"})
    waiter = threading.Thread(target=lambda: journal.append({"n": 1}))
    with journal.exclusive():
        waiter.start()
        os.replace(other.path, journal.path)  # noqa: PTH105
    waiter.join(60)
    assert numbers(journal) == ["other", 1]


def test_a_killed_writer_frees_the_lock(journal: FileJournal) -> None:
    program = """
import os, sys
from pathlib import Path
from agentmux.adapters.disk.session.journal import FileJournal
with FileJournal(Path(sys.argv[1])).exclusive():
    print("held", flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program, str(journal.path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as holder:  # fmt: skip
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BlockedError), journal.exclusive(wait_s=0):
            pass
        holder.kill()
        holder.wait()
        journal.append({"n": 1})
    assert numbers(journal) == [0, 1]


def test_reading_from_the_end_of_a_long_journal_reads_only_the_end(
    journal: FileJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with journal.path.open("ab") as file:
        file.write(b'{"n":1}\n' * 500_000)
    start, end = journal.append({"n": 2})
    taken = 0
    real = os.pread

    def pread(fd: int, count: int, offset: int) -> bytes:
        nonlocal taken
        data = real(fd, count, offset)
        taken += len(data)
        return data

    monkeypatch.setattr(os, "pread", pread)
    assert journal.read(start).lines == (JournalLine(start, end, b'{"n":2}'),)
    assert taken < 100
