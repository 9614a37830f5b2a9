"""The end of a command's output, as plain text for people and agents; pure."""

from __future__ import annotations

import re
from typing import Final

from agentmux.core.documents.outside_text import strip_invisible

KEEP_BYTES: Final = 64_000
"""How many bytes at the end of a command's output are stored in the folder of its launch."""

LINES_MAX: Final = 60
"""How many lines `tail` returns at most."""
CHARS_MAX: Final = 4_000
"""How many characters `tail` returns at most."""
_LINE_MAX: Final = 300

# ECMA-48: control sequences, strings such as titles and links, and other escapes.
_ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[ -/]*[0-~]"
)


def tail(data: bytes) -> str:
    """Return the end of a command's output: at most `LINES_MAX` lines and `CHARS_MAX` characters.

    ``data`` is the output, or its end. Escape sequences, text that a later part of its line
    overwrites (as progress bars do), and empty lines at the beginning and the end are removed. Long
    lines are cut.
    """
    text = _ESCAPES.sub("", data.decode("utf-8", "replace")).replace("\r\n", "\n")
    lines = [line.rpartition("\r")[2] for line in text.rstrip("\r\n").split("\n")]
    shown = [_cut(line.rstrip()) for line in strip_invisible("\n".join(lines)).split("\n")]
    kept: list[str] = []
    room = CHARS_MAX
    for line in reversed(shown[-LINES_MAX:]):
        room -= len(line) + 1
        if room < 0:
            break
        kept.insert(0, line)
    return "\n".join(kept).strip("\n")


def last_count(output: str) -> str:
    """Return the last line of ``output`` with a number, else the last one; empty if it is empty.

    Test runners say there how many tests they ran: ``Ran 0 tests in 0.000s``, ``5 passed in 1s``.
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if re.search(r"\d", line)), "".join(lines[-1:]))


def _cut(line: str) -> str:
    return line if len(line) <= _LINE_MAX else f"{line[:_LINE_MAX]} …"
