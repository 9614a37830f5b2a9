"""The control sequences that AgentMux sends to a terminal (from ECMA-48 and xterm)."""

from __future__ import annotations

from typing import Final

ALTERNATE_ON: Final = "\x1b[?1049h"
ALTERNATE_OFF: Final = "\x1b[?1049l"
CURSOR_OFF: Final = "\x1b[?25l"
CURSOR_ON: Final = "\x1b[?25h"
WRAP_OFF: Final = "\x1b[?7l"
"""Makes the terminal cut a line that is too wide instead of wrapping it."""
WRAP_ON: Final = "\x1b[?7h"
PASTE_MARKED: Final = "\x1b[?2004h"
"""Makes the terminal mark pasted text, so that a line end in it is not taken for Enter."""
PASTE_PLAIN: Final = "\x1b[?2004l"
PLAIN: Final = "\x1b[0m"
ERASE: Final = "\x1b[2J"
ERASE_HISTORY: Final = "\x1b[3J"
ERASE_LINE: Final = "\x1b[K"
"""Erases from the cursor to the end of its line."""
HOME: Final = "\x1b[H"
BELL: Final = "\a"


def move(row: int, col: int = 1) -> str:
    """Return the text that, once printed, moves the cursor to ``row`` and ``col``, from 1."""
    return f"\x1b[{row};{col}H"
