"""Runs again what a host has taken from a queue and does not run.

DBOS takes in one transaction and runs afterwards. If the database goes away just then, what was
taken stays with this host, and DBOS would look at it again only when the worker starts.
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


class Dropped:
    """Knows which workflows are at work in this process."""

    def __init__(self) -> None:
        self._at_work: set[str] = set()
        self._idle: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    @contextmanager
    def at_work(self, kind: str, feature: str, number: int) -> Iterator[None]:
        """Note in the block that a workflow runs."""
        name = f"{feature}:{kind}:{number}"
        with self._lock:
            self._at_work.add(name)
        try:
            yield
        finally:
            with self._lock:
                self._at_work.discard(name)

    def look(self, host: Host) -> None:
        """Run again what this host had taken and did not run, now and at the last look.

        Raises:
            DBAPIError: The database is away.
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
    """Enqueue the next workflow in the place of one; return whether it was still wanted."""
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
