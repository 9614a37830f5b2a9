"""The trace: a file with one line for each thing that an agent did, for tests and benchmarks."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from agentmux.demo_agent.seat import OwnSeat

WHAT_MAX = 300
"""How many characters of ``what`` are written into a line at most. A short line fits in one write,
so the lines of several agents never mix."""


class Trace:
    """Appends lines to the trace file; does nothing if there is no file."""

    def __init__(self, name: str | None, seat: OwnSeat) -> None:
        """Take the file and the seat that each line names.

        Args:
            name: Path of the file, relative to the session's directory; None: no file.
            seat: The agent's seat.
        """
        self._path = Path(seat.session_dir or ".", name) if name else None
        self._seat = seat

    def did(self, verb: str, what: str) -> None:
        """Append a line: the time (``at``, nanoseconds of Unix time), the seat, and what was done.

        Agents can write to one file at the same time: their lines never mix.

        Args:
            verb: ``prompted``, ``wrote``, ``signalled``, ``remembered`` and the like.
            what: The object of the verb: a prompt, a path, a command.
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
