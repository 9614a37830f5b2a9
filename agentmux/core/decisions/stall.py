"""When a quiet agent is reminded, and when it is reported as stalled; pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from agentmux.core.names.turn import Turn

SCREEN_FACTOR: Final = 6
"""The wait is this many times longer where only the screen shows that the turn has ended: a long
command may look the same, while an agent that reports its turn's end is certain."""


class Patience(StrEnum):
    """What to do about a quiet agent."""

    WAIT = "wait"
    NUDGE = "nudge"
    REPORT = "report"


def nudge_after(turn: Turn, *, turn_ended_after_s: float, nudge_after_s: float) -> float:
    """Return the quiet time, in seconds, after which an agent is reminded."""
    match turn:
        case Turn.ENDED:
            return min(turn_ended_after_s, nudge_after_s)
        case Turn.LOOKS_ENDED:
            return min(turn_ended_after_s * SCREEN_FACTOR, nudge_after_s)
        case _:
            return nudge_after_s


def patience(
    quiet_s: float, *, nudged: bool, stalled: bool, nudge_after_s: float, report_after_s: float
) -> Patience:
    """Return what to do about a live agent that has shown no work for ``quiet_s`` seconds.

    An agent is reminded once and reported once. The caller must not count the time in which it
    waits for the user or for its research.
    """
    if stalled:
        return Patience.WAIT
    if quiet_s >= report_after_s and (nudged or nudge_after_s >= report_after_s):
        return Patience.REPORT
    if quiet_s >= nudge_after_s and not nudged:
        return Patience.NUDGE
    return Patience.WAIT
