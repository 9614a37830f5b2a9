"""The files that tell an agent about the work that was begun on another machine."""

from __future__ import annotations

import json
from typing import Any, Final

from agentmux.core.names import layout
from agentmux.core.terminal.text.captured_screen import SNAPSHOT_MAX, plain, snapshot_screen

DIFF: Final = f"{layout.HANDOVER}/diff.patch"
"""The diff between the session's base commit and its files at the import."""
DIFF_MAX: Final = 1 << 20

_SIDE_MAX: Final = 1000

__all__ = ["DIFF", "DIFF_MAX", "SNAPSHOT_MAX", "screen_file", "screen_text"]


def screen_file(seat: str) -> str:
    """Return the path of the text file with a seat's last screen on the other machine.

    It is relative to the session's directory.
    """
    return f"{layout.HANDOVER}/screen-{seat}.txt"


def screen_text(snapshot: bytes) -> str:
    """Return a snapshot as plain text, without control characters; empty if it is blank or damaged.

    ``snapshot`` is the content of the file whose path `layout.snapshot` returns.
    """
    try:
        fields: Any = json.loads(snapshot)
    except (ValueError, RecursionError):
        return ""
    ansi = snapshot_screen(fields)
    if ansi is None:
        return ""
    sides = [fields.get(name) for name in ("cols", "rows")]
    cols, rows = (
        each if isinstance(each, int) and 0 < each <= _SIDE_MAX else _SIDE_MAX for each in sides
    )
    lines = [line.rstrip() for line in plain(ansi, cols, rows)]
    return "\n".join(lines).strip("\n") + "\n" if any(lines) else ""
