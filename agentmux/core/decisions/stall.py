"""When a quiet agent is reminded, and when it is reported: one decision, made of durations."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from agentmux.core.names.turn import Turn

SCREEN_FACTOR: Final = 6
"""A turn that only the screen shows to be over is believed after this many times the wait: a long
command may look the same, while an agent that says so itself is certain."""


class Patience(StrEnum):
    """What is to be done about a quiet agent."""

    WAIT = "wait"
    NUDGE = "nudge"
    REPORT = "report"


def nudge_after(turn: Turn, *, turn_ended_after_s: float, nudge_after_s: float) -> float:
    """Return after how many quiet seconds an agent is reminded."""
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
    """Say what to do about a live agent that has shown no work for ``quiet_s`` seconds.

    It is nudged once, and reported once; who waits for the user, or for research that it asked
    for, is not quiet in this sense.
    """
    if stalled:
        return Patience.WAIT
    if quiet_s >= report_after_s and (nudged or nudge_after_s >= report_after_s):
        return Patience.REPORT
    if quiet_s >= nudge_after_s and not nudged:
        return Patience.NUDGE
    return Patience.WAIT
