"""How often Python collects garbage in this process."""

from __future__ import annotations

import gc
from typing import Final

RARELY: Final = 500_000
"""How many new objects trigger the collector in a short command. We create many objects and hardly
any cycles; with Python's default of 700, ``list`` with many sessions takes a tenth longer."""

OFTEN: Final = 50_000
"""The same for programs that run for hours, in which even a few cycles add up."""


def collect_rarely() -> None:
    """Collect garbage as suits a short command."""
    gc.set_threshold(RARELY)


def collect_often() -> None:
    """Collect garbage as suits a program that runs for hours."""
    gc.set_threshold(OFTEN)
