"""One writer's session on a disk that is full at any moment, or killed there."""

import errno
import json
import os
import uuid
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentmux.adapters.session_files import FileSession
from agentmux.app.session import Session
from agentmux.core import layout
from agentmux.core.events import PromptReached
from agentmux.errors import DataError
from tests.app.invariants import history
from tests.app.on_disk import AT, OnDisk
from tests.faults.operations import Operation, Operations


@dataclass
class Disk:
    """Refuses the operation number ``full_at`` with ENOSPC; counts all of them."""

    full_at: int = -1
    count: int = 0

    def before(self, operation: Operation) -> None:
        self.count += 1
        if self.count == self.full_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), operation.path)


def test_a_disk_that_is_full_at_any_operation_only_delays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = OnDisk(tmp_path / "s").files
    session = Session(files, now=lambda: datetime.now(UTC), new_id=lambda: uuid.uuid4().hex)
    session.take_over()
    disk = Disk()

    def record(number: int) -> None:
        session.record(PromptReached(evidence=str(number)), seat="architect", launch="nobody")

    with monkeypatch.context() as context:
        Operations(tmp_path, disk.before).install(context.setattr)
        record(0)
        operations = disk.count
        assert operations > 8
        for number in range(1, operations + 1):
            disk.full_at, disk.count = number, 0
            with suppress(DataError):  # a backup that cannot be made, for one, is no error
                record(number)
            assert disk.count >= number
            disk.full_at = -1
            session.catch_up()
            assert session.state == files.load().state == history(files.tail(0))[-1].after
    record(-1)
    cursor = json.loads((files.path / layout.CURSOR).read_text())
    assert cursor["applied_offset"] == (files.path / layout.JOURNAL).stat().st_size


class KilledError(BaseException):
    """The end of the process: nothing that comes after it is done either."""


def test_an_import_that_is_killed_at_any_operation_is_done_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = {
        "v": 1, "id": "x", "at": AT, "event": "request_changes", "seat": "user", "launch": "",
        "cycle": 1, "payload": {"text": "Say hello."},
    }  # fmt: skip
    journal = json.dumps(line) + "\n"

    def older(folder: Path) -> None:
        folder.mkdir()
        (folder / layout.STATE).write_text('{"phase": "completing"}')
        (folder / layout.JOURNAL).write_text(journal)

    def take_over(folder: Path) -> Session:
        session = Session(
            FileSession(folder), now=lambda: datetime.now(UTC), new_id=lambda: uuid.uuid4().hex
        )
        session.take_over(texts=lambda state: {layout.CONTEXT: f"cycle {state.cycle}"})
        return session

    number, killed = 0, True
    while killed:
        number, killed, disk = number + 1, False, Disk()
        folder = tmp_path / str(number)
        older(folder)

        def before(operation: Operation, disk: Disk = disk, number: int = number) -> None:
            disk.count += 1
            if disk.count >= number:
                raise KilledError

        with monkeypatch.context() as context:
            Operations(folder, before).install(context.setattr)
            try:
                take_over(folder)
            except KilledError:
                killed = True
        session = take_over(folder)
        kinds = [event.fact.kind for event, _ in session.files.tail(0)]
        assert kinds == ["journal_created", "session_imported"]
        assert (session.state.cycle, session.state.phase) == (2, "architecting")
        assert session.state == session.files.load().state
        assert (folder / "history/1.0/08_completion/changes.md").read_text() == "Say hello."
        assert (folder / layout.CONTEXT).read_text() == "cycle 2"
        kept = {path.read_text() for path in folder.glob("tool_events.imported-*.jsonl")}
        assert kept == {journal}
    assert number > 20
