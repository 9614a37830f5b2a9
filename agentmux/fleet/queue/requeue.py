"""Enqueues workflows again that this host has taken from a queue but does not run.

DBOS takes a workflow from its queue in one transaction, and starts it afterwards. If the database
becomes unreachable in between, the workflow stays assigned to this host without running, and DBOS
would start it only when the worker starts again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from agentmux.core.fleet.statuses import FleetStatus
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.jobs import next_job
from agentmux.fleet.engine.rows import Feature
from agentmux.fleet.engine.tables import FEATURES
from agentmux.fleet.engine.workflows import ADMIT, DRIVE
from agentmux.fleet.host.host import Host

logger = logging.getLogger(__name__)


class DroppedWorkflows:
    """Finds workflows that this host took from a queue but does not run, and enqueues them again.

    Such workflows are called dropped. It looks for them only when `requeue` is called.
    """

    def __init__(self) -> None:
        self._at_work: set[str] = set()
        self._idle: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    @contextmanager
    def at_work(self, kind: str, feature: str, number: int) -> Iterator[None]:
        """Context manager for the run of a workflow: in its block, the workflow counts as running.

        Args:
            kind: The kind of the workflow: `ADMIT` or `DRIVE`.
            feature: The feature's id.
            number: The number of the workflow.
        """
        name = f"{feature}:{kind}:{number}"
        with self._lock:
            self._at_work.add(name)
        try:
            yield
        finally:
            with self._lock:
                self._at_work.discard(name)

    def requeue(self, host: Host) -> None:
        """Look for dropped workflows; enqueue again those that the previous call found as well.

        So a workflow that was just taken and has not started yet is left alone.

        Raises:
            DBAPIError: The database is unreachable.
        """
        taken = host.enqueuer.list_taken(host.id)
        with self._lock:
            idle = taken - self._at_work
        for name in sorted(idle & self._idle):
            with host.engine.begin() as connection:
                if _again(connection, host, name):
                    logger.warning("%s was taken and not run: it is run again", name)
        self._idle = idle


def _again(connection: sa.Connection, host: Host, name: str) -> bool:
    """Enqueue a new workflow in place of a dropped one, if that one is still needed.

    Args:
        connection: The connection whose transaction makes the change.
        host: This host.
        name: The id of the dropped workflow.

    Returns:
        Whether a new workflow was enqueued.
    """
    feature_id, kind, number = name.split(":")
    row = rows.feature(connection, feature_id)
    if row is None or row.drive != int(number) or not _is_wanted(row, kind, host):
        return False
    same = (FEATURES.c.drive == row.drive, FEATURES.c.status == row.status)
    if not rows.change(connection, row.id, *same, drive=row.drive + 1):
        return False
    to = row.host if kind == DRIVE or row.pinned else None
    host.enqueuer.enqueue(connection, next_job(row, kind, to))
    return True


def _is_wanted(row: Feature, kind: str, host: Host) -> bool:
    if kind == ADMIT:
        return row.status is FleetStatus.QUEUED
    return row.host == host.id and row.status in {FleetStatus.RUNNING, FleetStatus.PARKED}
