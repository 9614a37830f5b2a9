"""What a session's status means to the fleet: whether to follow it on, and what to note. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.fleet.lease import LAPSED
from agentmux.core.names.status_labels import SessionStatus


class FleetStatus(StrEnum):
    """The status of a feature of the fleet."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    PARKED = "parked"
    DONE = "done"
    FAILED = "failed"
    MOVED = "moved"


AT_REST: Final = frozenset({FleetStatus.WAITING, FleetStatus.PARKED})
"""The statuses of features that hold no slot, and that go on."""
ENDED: Final = frozenset({FleetStatus.DONE, FleetStatus.FAILED, FleetStatus.MOVED})

DEAD_AFTER: Final = 5
"""So many drives that added nothing to the journal are a dead letter."""
DEAD_LETTER: Final = "dead letter"
"""How the reason of such a feature begins."""

SETTLE_S: Final = 10.0
"""A problem of a session that is gone again after this time needs nobody."""

_AT_WORK: Final = frozenset(
    {
        SessionStatus.STARTING,
        SessionStatus.SETTING_UP,
        SessionStatus.RUNNING,
        SessionStatus.UNKNOWN,
    }
)
_ASKING: Final = frozenset({SessionStatus.WAITING, SessionStatus.STALLED})
"""The statuses of sessions in which something asks for a person on their host."""

_OUTCOMES: Final[Mapping[SessionStatus, tuple[FleetStatus, str]]] = {
    SessionStatus.DECISION: (FleetStatus.WAITING, ""),
    SessionStatus.WAITING: (FleetStatus.WAITING, "an agent asks something on its host"),
    SessionStatus.STALLED: (FleetStatus.WAITING, "it is stalled: look at it on its host"),
    SessionStatus.PARKED: (FleetStatus.PARKED, ""),
    SessionStatus.LIMIT: (FleetStatus.PARKED, ""),
    SessionStatus.INTERRUPTED: (FleetStatus.RUNNING, "it was interrupted"),
    SessionStatus.STOPPED: (FleetStatus.FAILED, "its session was stopped on its host"),
    SessionStatus.UNREADABLE: (FleetStatus.FAILED, "its session cannot be read"),
    SessionStatus.FAILED: (FleetStatus.FAILED, "it failed"),
    SessionStatus.DONE: (FleetStatus.DONE, ""),
    SessionStatus.MOVED: (FleetStatus.MOVED, "its session was exported to another host"),
}
"""How a drive ends at each other status, and why where the session names no problem."""

_BOOKKEEPING: Final = frozenset(
    {
        "journal_created",
        "resumed",
        "session_reattached",
        "session_interrupted",
        "agent_launched",
        "worktree_made",
        "worktree_moved",
        "checkpoint_taken",
    }
)
"""The kinds of lines that each start of an orchestrator adds; they are no progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a drive ends.

    Attributes:
        status: The status of the feature from now on; ``running``: another drive goes on at once.
        reason: Why, in words; empty where the status says it all.
    """

    status: FleetStatus
    reason: str = ""


def outcome(status: SessionStatus, since_s: float, problem: str) -> Outcome | None:
    """Return how a drive ends that sees this status of its session; None to follow it on.

    Args:
        status: The status of the session.
        since_s: For how long it has had this status.
        problem: The first problem of the session, in words; empty for none.
    """
    if status in _AT_WORK or (status in _ASKING and (since_s < SETTLE_S or problem == LAPSED)):
        return None
    fleet_status, usual = _OUTCOMES[status]
    # What is done has no problem any more: only its tmux session may still be there for a moment.
    told = "" if problem == LAPSED or status is SessionStatus.DONE else problem
    return Outcome(status=fleet_status, reason=told or usual)


def progress(kinds: Iterable[str]) -> int:
    """Return how many of these kinds of journal lines are work, not merely starts and stops."""
    return sum(kind not in _BOOKKEEPING for kind in kinds)


def is_dead(drives: int) -> bool:
    """Return whether a feature is a dead letter after ``drives`` drives without progress."""
    return drives >= DEAD_AFTER
