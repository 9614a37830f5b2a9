"""A worker of the fleet whose sessions are replaced by a step of some milliseconds.

``python -m benchmarks.fleet_worker FILE SECONDS WORDS`` runs what is typed after ``agentmux``, and
counts in ``FILE`` the statements and transactions that it sends to the database.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy import event

from agentmux.cli.main import main
from agentmux.core.fleet.statuses import FleetStatus, Outcome
from agentmux.fleet.decisions.ending import DriveEnd
from agentmux.fleet.engine.rows import Feature
from agentmux.fleet.host.host import Host
from agentmux.fleet.worker import drive

FORMAT: Final = "=2q"
"""What is in the file of counts: statements and transactions."""


class Counts:
    """Counts what all connections of this process send, in a file that survives its end."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(struct.calcsize(FORMAT)))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), struct.calcsize(FORMAT))
        self._lock = threading.Lock()
        event.listen(sa.Engine, "before_cursor_execute", lambda *_: self._add(statements=1))
        event.listen(sa.Engine, "commit", lambda *_: self._add(transactions=1))
        event.listen(sa.Engine, "rollback", lambda *_: self._add(transactions=1))

    def _add(self, *, statements: int = 0, transactions: int = 0) -> None:
        with self._lock:
            before = struct.unpack(FORMAT, self._map)
            self._map[:] = struct.pack(FORMAT, before[0] + statements, before[1] + transactions)


def run() -> int:
    counts, step_s, *words = sys.argv[1:]
    Counts(Path(counts))

    def step(host: Host, row: Feature) -> DriveEnd:
        del host, row
        time.sleep(float(step_s))
        return DriveEnd(Outcome(status=FleetStatus.DONE))

    drive._run_drive = step  # noqa: SLF001 (everything around the session stays as it is)
    return main(words, os.environ)


if __name__ == "__main__":
    sys.exit(run())
