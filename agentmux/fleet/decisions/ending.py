"""Records how a drive ended, and enqueues the next drive if there has to be one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

from agentmux.core.codec.frozen import dataclass
from agentmux.core.fleet.statuses import ENDED, FleetStatus, Outcome
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.jobs import next_job
from agentmux.fleet.engine.tables import FEATURES
from agentmux.fleet.engine.workflows import DRIVE
from agentmux.fleet.host.session import next_wake_time, pushed_branch, result_of
from agentmux.wiring import machine

if TYPE_CHECKING:
    from agentmux.app.views.session.session_view import SessionView
    from agentmux.fleet.engine.rows import Feature
    from agentmux.fleet.host.host import Host

_GRACE_S: Final = 30.0
"""How long after the end of a usage limit the fleet looks at a parked session.

The session wakes its agent itself; the next drive only checks whether the session still lives.
"""
_ORDERLY: Final = frozenset({FleetStatus.WAITING, FleetStatus.PARKED, FleetStatus.DONE})


@dataclass(frozen=True, slots=True)
class DriveEnd:
    """How a drive ended.

    Attributes:
        outcome: The new status of the feature, and its reason.
        path: The session's directory; None if there is no session.
        view: The session when it was last seen; None if the drive did not get to see it.
        question: What a person has to decide, as in `Feature.question`; None if nothing.
        delay_s: How many seconds to wait before the next drive. It counts only if the status is
            ``running``, or ``parked`` without ``view``. For ``parked`` with ``view``, the next
            drive comes after the end of the usage limit, and not at all if that is not known. After
            any other status, no drive comes.
    """

    outcome: Outcome
    path: Path | None = None
    view: SessionView | None = None
    question: Mapping[str, object] | None = None
    delay_s: float = 0.0


def finish(host: Host, row: Feature, ended: DriveEnd) -> bool:
    """Record the end of a drive, and enqueue the next drive in the same transaction if one is due.

    A next drive is due as `DriveEnd.delay_s` says, and at once if the feature was cancelled in the
    meantime. While the database is unreachable, it waits.

    Args:
        host: This host.
        row: The feature as it was when the drive began.
        ended: How the drive ended.

    Returns:
        Whether the end was recorded; False if the feature now belongs to another drive or host.
    """
    values = _values(ended)
    usual_s = _delay_s(ended)

    def write(connection: sa.Connection) -> bool:
        delay_s, status = usual_s, ended.outcome.status
        now = rows.feature(connection, row.id)
        if now is not None and now.cancelled and status not in ENDED:
            delay_s, status = 0.0, FleetStatus.RUNNING  # it was cancelled while this drive ended
        more = {**values, "status": status, "drive": row.drive + (delay_s is not None)}
        if not rows.change(connection, row.id, *still_ours(host, row), **more):
            return False
        if delay_s is not None:
            job = next_job(row, DRIVE, host.id, delay_s=delay_s)
            host.enqueuer.enqueue(connection, job)
        return True

    return host.write(write)


def _values(ended: DriveEnd) -> dict[str, object]:
    """Return the new values, by column, of a feature whose drive ended, without its status."""
    values: dict[str, object] = {"reason": ended.outcome.reason, "question": ended.question}
    if ended.path is not None:
        values |= {"session": ended.path.name, "path": str(ended.path)}
    if ended.view is not None:
        values |= {"phase": ended.view.phase or "", "result": result_of(ended.view)}
        pushed = pushed_branch(ended.view)
        values |= {"pushed": pushed} if pushed else {}
    if ended.outcome.status in _ORDERLY and ended.view is not None:
        values["idle_drives"] = 0
    return values


def still_ours(host: Host, row: Feature) -> tuple[sa.ColumnElement[bool], ...]:
    """Return SQL conditions for `rows.change`: that the drive of ``row`` is still the current one.

    They hold as long as no other workflow of the feature was enqueued and the feature runs on this
    host. Nothing is read.
    """
    return (
        FEATURES.c.drive == row.drive,
        FEATURES.c.epoch == row.epoch,
        FEATURES.c.host == host.id,
        FEATURES.c.status == FleetStatus.RUNNING,
    )


def _delay_s(ended: DriveEnd) -> float | None:
    """Return how many seconds to wait before the next drive; None if no drive follows."""
    status, view = ended.outcome.status, ended.view
    if status is FleetStatus.RUNNING or (status is FleetStatus.PARKED and view is None):
        return ended.delay_s
    if status is FleetStatus.PARKED and view is not None:
        at = next_wake_time(view)
        if at is not None:
            return max(0.0, (at - machine.now()).total_seconds()) + _GRACE_S
    return None
