"""One writer's session on a disk that is full at any moment, and has room again later."""

import errno
import json
import os
import uuid
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentmux.app.session import Session
from agentmux.core import layout
from agentmux.core.events import PromptReached
from agentmux.errors import DataError
from tests.app.invariants import history
from tests.app.on_disk import OnDisk
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
