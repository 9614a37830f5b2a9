"""When a quiet agent is reminded, and when it is reported: one decision, made of durations."""

from __future__ import annotations

from enum import StrEnum


class Patience(StrEnum):
    """What is to be done about a quiet agent."""

    WAIT = "wait"
    NUDGE = "nudge"
    REPORT = "report"


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
