"""When to remind a quiet agent, and when to report it as stalled; pure.

An agent is *quiet* while it shows no work; the quiet time is counted in seconds.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from agentmux.core.names.turn import Turn

SCREEN_FACTOR: Final = 6
"""The factor for the quiet time if the screen, not a hook, shows that a turn has ended.

A screen is less certain than a hook: it may look the same while the agent runs a long command.
"""


class QuietResponse(StrEnum):
    """What to do about a quiet agent, i.e. one that shows no work.

    ``wait``: nothing yet; ``nudge``: remind it; ``report``: report it to the user.
    """

    WAIT = "wait"
    NUDGE = "nudge"
    REPORT = "report"


def nudge_after(turn: Turn, *, turn_ended_after_s: float, nudge_after_s: float) -> float:
    """Return after how many seconds without work an agent is reminded to hand in its work.

    Args:
        turn: The state of the agent's turn.
        turn_ended_after_s: The seconds for an agent whose hooks have reported the end of its turn.
            They are multiplied by `SCREEN_FACTOR` if only the screen shows the end.
        nudge_after_s: The seconds for every other agent; the result is never more than this.
    """
    match turn:
        case Turn.ENDED:
            return min(turn_ended_after_s, nudge_after_s)
        case Turn.LOOKS_ENDED:
            return min(turn_ended_after_s * SCREEN_FACTOR, nudge_after_s)
        case _:
            return nudge_after_s


def patience(
    quiet_s: float, *, nudged: bool, stalled: bool, nudge_after_s: float, report_after_s: float
) -> QuietResponse:
    """Return what to do about a live agent that has shown no work for ``quiet_s`` seconds.

    The answer is to remind an agent at most once and to report it at most once. The caller does
    what is returned.

    Args:
        quiet_s: The seconds without work. The time in which the agent waits for the user or for
            research is not counted.
        nudged: Whether the agent was reminded already.
        stalled: Whether the agent was reported already.
        nudge_after_s: The seconds without work after which the agent is reminded, as `nudge_after`
            returns them.
        report_after_s: The seconds without work after which a reminded agent is reported. They
            begin at the agent's last work, not at the reminder.
    """
    if stalled:
        return QuietResponse.WAIT
    if quiet_s >= report_after_s and (nudged or nudge_after_s >= report_after_s):
        return QuietResponse.REPORT
    if quiet_s >= nudge_after_s and not nudged:
        return QuietResponse.NUDGE
    return QuietResponse.WAIT
