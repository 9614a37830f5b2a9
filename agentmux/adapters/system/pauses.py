"""Pauses between two looks, where there is no event to wait for."""

from __future__ import annotations

import time


def pause(duration_s: float) -> None:
    """Let time pass before the next look, for adapters alone: each says why nothing tells it.

    Whoever can wait for an event, a file's change or a process's end waits for that.
    """
    time.sleep(duration_s)  # noqa: TID251 (all pauses of the adapters are this one)
