"""Sets how often Python's garbage collector runs in this process."""

from __future__ import annotations

import gc
from typing import Final

RARELY: Final = 500_000
"""The number of new objects that triggers the collector in a short command. We create many objects
and hardly any cycles; with Python's default of 700, ``list`` with many sessions takes a tenth
longer."""

OFTEN: Final = 50_000
"""The same number for programs that run for hours, in which even a few cycles add up."""


def collect_rarely() -> None:
    """Make Python's garbage collector run rarely; call this in a short command."""
    gc.set_threshold(RARELY)


def collect_often() -> None:
    """Make Python's garbage collector run often enough for a program that runs for hours."""
    gc.set_threshold(OFTEN)
