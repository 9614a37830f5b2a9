"""The trace: a file with one line for each action of an agent, for tests and benchmarks."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from agentmux.demo_agent.seat import OwnSeat

WHAT_MAX = 300
"""The most characters of ``what`` in a line.

A short line fits into one write, so that lines of several agents never mix.
"""


class Trace:
    """Appends lines to the trace, a file that says what agents did.

    Without the name of a file, it does nothing.
    """

    def __init__(self, name: str | None, seat: OwnSeat) -> None:
        """Set the file. It is created by the first line.

        Args:
            name: The path of the file, relative to the session's directory; None to write no trace.
            seat: The agent's seat, which each line contains.
        """
        self._path = Path(seat.session_dir or ".", name) if name else None
        self._seat = seat

    def add_line(self, verb: str, what: str) -> None:
        """Append a line: a JSON object with the seat, an action, and its time.

        The time is in nanoseconds of Unix time. Several agents can write to the same file
        at the same time.

        Args:
            verb: The action: ``prompted``, ``wrote``, ``signalled``, ``asked`` (for research),
                ``remembered`` (a code word) or ``crashed``.
            what: The object of the action, such as a prompt, a path or a command; it is cut to
                `WHAT_MAX` characters.
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
