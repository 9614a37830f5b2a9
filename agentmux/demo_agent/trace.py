"""The trace: one line for each thing the agent did, for tests and benchmarks."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from agentmux.demo_agent.seat import OwnSeat

WHAT_MAX = 300
"""Characters of ``what`` that are kept, so that a line stays one atomic append."""


class Trace:
    """Appends to one file; does nothing without one."""

    def __init__(self, name: str | None, seat: OwnSeat) -> None:
        """Take the file's ``name``; a relative one is in the session directory."""
        self._path = Path(seat.session_dir or ".", name) if name else None
        self._seat = seat

    def did(self, verb: str, what: str) -> None:
        """Append a verb (``prompted``, ``wrote``, ``signalled``, ``remembered``, …) and its object.

        ``at`` is nanoseconds since the epoch. Lines of several agents never mix (O_APPEND).
        """
        if self._path is None:
            return
        seat = self._seat
        line = {
            "at": time.time_ns(), "role": seat.role, "seat": seat.seat, "launch": seat.launch,
            "did": verb, "what": what[:WHAT_MAX],
        }  # fmt: skip
        fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, json.dumps(line, ensure_ascii=False).encode() + b"\n")
        finally:
            os.close(fd)
