"""What the status of a session means for its feature in the fleet. Pure.

A *drive* is one period in which a worker runs the session of a feature and follows its status. It
ends with an `Outcome`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.fleet.lease import LAPSED
from agentmux.core.names.status_labels import SessionStatus


class FleetStatus(StrEnum):
    """The status of a feature of the fleet.

    *queued*: no host runs it yet. *running*: a worker runs its session. *waiting*: its session
    needs a person. *parked*: it waits for the end of a usage limit. *done*: its session is done.
    *failed*: its session failed or was stopped, the fleet could not run it, or it was cancelled.
    *moved*: its session was exported, to go on where its file is imported.
    """

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    PARKED = "parked"
    DONE = "done"
    FAILED = "failed"
    MOVED = "moved"


AT_REST: Final = frozenset({FleetStatus.WAITING, FleetStatus.PARKED})
"""The statuses of features that occupy no slot but will go on."""
ENDED: Final = frozenset({FleetStatus.DONE, FleetStatus.FAILED, FleetStatus.MOVED})
"""The statuses of features that the fleet no longer works on."""

DEAD_LETTER_AFTER_DRIVES: Final = 5
"""A feature becomes a dead letter after this number of drives without progress."""
DEAD_LETTER: Final = "dead letter"
"""The beginning of the reason of a feature that is a dead letter: failed, and not tried again."""

SETTLE_S: Final = 10.0
"""How long, in seconds, a session must ask for a person before the fleet acts on it."""

_AT_WORK: Final = frozenset(
    {
        SessionStatus.STARTING,
        SessionStatus.SETTING_UP,
        SessionStatus.RUNNING,
        SessionStatus.UNKNOWN,
    }
)
_ASKING: Final = frozenset({SessionStatus.WAITING, SessionStatus.STALLED})
"""The statuses of sessions that need a person on their host."""

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
"""How a drive ends at each other status: the feature's status, and the reason.

The reason applies if the session reports no problem.
"""

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
"""The kinds of journal lines that every start of an orchestrator adds, without any progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a drive (a period in which a worker runs the session of a feature) ends.

    Attributes:
        status: The feature's new status; with ``running``, another drive begins at once.
        reason: Why, for people; empty if the status needs no explanation.
    """

    status: FleetStatus
    reason: str = ""


def outcome(status: SessionStatus, since_s: float, problem: str) -> Outcome | None:
    """Return the outcome with which the fleet stops following a session that has this status.

    None if the fleet should keep following the session.

    Args:
        status: The status of the session.
        since_s: How long, in seconds, the session has had this status.
        problem: The first problem that the session reports, for people; empty if there is none.
    """
    if status in _AT_WORK or (status in _ASKING and (since_s < SETTLE_S or problem == LAPSED)):
        return None
    fleet_status, usual = _OUTCOMES[status]
    # A problem of a session that is done does not matter: its tmux session is about to end.
    told = "" if problem == LAPSED or status is SessionStatus.DONE else problem
    return Outcome(status=fleet_status, reason=told or usual)


def progress(kinds: Iterable[str]) -> int:
    """Return how many lines of a journal show progress, not merely starts and stops.

    ``kinds`` are the kinds of the journal's lines, one for each line, such as ``agent_launched``.
    """
    return sum(kind not in _BOOKKEEPING for kind in kinds)


def is_dead(drives: int) -> bool:
    """Return whether a feature has become a dead letter after so many drives without progress.

    A dead letter has failed and is not tried again automatically. ``drives`` is how many times in a
    row a worker has run the feature's session without progress.
    """
    return drives >= DEAD_LETTER_AFTER_DRIVES
