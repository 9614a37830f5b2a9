"""Assigns queued features to a host: to this one, or to another that has a free slot sooner.

A free slot of this host goes to the first queued feature that may run here, no matter which
feature's admission got the slot. So features begin in the order of priority and submission.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import sqlalchemy as sa

from agentmux.core.fleet.fleet_request import from_fields
from agentmux.core.fleet.repositories import is_allowed
from agentmux.core.fleet.routing import host_with_room
from agentmux.core.fleet.statuses import FleetStatus
from agentmux.errors import UsageError
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.jobs import next_job
from agentmux.fleet.engine.rows import Feature
from agentmux.fleet.engine.tables import FEATURES, HOSTS
from agentmux.fleet.engine.workflows import ADMIT, DRIVE
from agentmux.fleet.host.host import Host
from agentmux.fleet.host.stopping import StoppingError

logger = logging.getLogger(__name__)

_PATIENCE_S: Final = 2.0
"""How long a feature waits for a slot here before another host with a free slot gets it."""
_LOOKED_AT: Final = 20
"""How many queued features are considered for a free slot.

If none of them may run here, the slot goes to the feature whose admission got it.
"""
_RANK: Final = 1000
"""Added to the priority of new features, so that those that have begun here get a slot first."""


def admit(host: Host, feature_id: str, number: int) -> str:
    """Run the *admit* workflow of a feature: assign the feature to this host or to another one.

    It blocks until this host has a slot for the feature, or the feature is passed on.

    Args:
        host: This host.
        feature_id: The feature's id.
        number: The number of the workflow. If it is not the feature's newest, nothing is done.

    Returns:
        What was done, in words, for the log: ``taken`` if the feature now runs on this host.

    Raises:
        StoppingError: The worker is about to end.
    """
    row = host.write(lambda each: rows.feature(each, feature_id))
    if row is None or not _is_mine(row, number):
        return "superseded"
    try:
        request = from_fields(row.wish)
    except UsageError as error:
        return _fail(host, row, error.message)
    if not is_allowed(request.repo, host.settings.repos):
        return _refuse(host, row)
    try:
        while _has_slot(host, row):
            if _take_first(host, row) == row.id:
                return "taken"
            if not _is_still_mine(host, row):
                return "superseded"
    finally:
        host.slots.free(_holder(row))
    if host.stop.is_set():
        raise StoppingError
    return _pass_on(host, row)


def _has_slot(host: Host, row: Feature) -> bool:
    """Wait for a slot on this host, and return whether the admission got one.

    It waits no longer once another host has a free slot, the feature is no longer queued, or this
    host is drained.
    """
    began = time.monotonic()

    def gives_up() -> bool:
        if host.stop.is_set() or host.draining.is_set() or not _is_still_mine(host, row):
            return True
        late = time.monotonic() - began > _PATIENCE_S and not row.pinned
        return late and host.write(lambda each: _other(each, host, row)) is not None

    has_slot = host.slots.take(_holder(row), _RANK + row.priority, gives_up)
    return has_slot and not host.draining.is_set()


def _holder(row: Feature) -> str:
    """Return the name under which an admission holds its slot.

    It is not the feature's id, because the slot may go to another feature.
    """
    return f"{ADMIT} {row.id}"


def _is_mine(row: Feature | None, number: int) -> bool:
    return row is not None and row.status is FleetStatus.QUEUED and row.drive == number


def _is_still_mine(host: Host, row: Feature) -> bool:
    return _is_mine(host.write(lambda each: rows.feature(each, row.id)), row.drive)


def _mine(row: Feature) -> tuple[sa.ColumnElement[bool], ...]:
    return (FEATURES.c.drive == row.drive, FEATURES.c.status == FleetStatus.QUEUED)


def _take_first(host: Host, row: Feature) -> str:
    """Assign the first queued feature that may run here to this host, and begin its first drive.

    Args:
        host: This host.
        row: The feature whose admission holds a slot. The slot passes to the feature that is taken.

    Returns:
        The id of the feature that was taken; empty if another host took it first.
    """

    def begin(connection: sa.Connection) -> str:
        first = next(_find_queued(connection, host), row)
        number = first.drive + 1
        values = {"status": FleetStatus.RUNNING, "host": host.id, "drive": number, "reason": ""}
        if not rows.change(connection, first.id, *_mine(first), **values):
            return ""
        host.enqueuer.enqueue(connection, next_job(first, DRIVE, host.id))
        connection.execute(HOSTS.update().where(HOSTS.c.id == host.id).values(busy=host.slots.busy))
        return first.id

    taken = host.write(begin)
    if taken:
        host.slots.hand_over(_holder(row), taken)
    return taken


def _find_queued(connection: sa.Connection, host: Host) -> Iterator[Feature]:
    """Yield the queued features that this host may run, by priority, then by submission."""
    here = sa.or_(sa.not_(FEATURES.c.pinned), FEATURES.c.host == host.id)
    queued = FEATURES.c.status == FleetStatus.QUEUED
    for each in rows.first_features(connection, queued, here, most=_LOOKED_AT):
        with suppress(UsageError):  # an invalid request: the feature's own admission reports it
            if is_allowed(from_fields(each.wish).repo, host.settings.repos):
                yield each


def _other(connection: sa.Connection, host: Host, row: Feature) -> str | None:
    return host_with_room(rows.hosts(connection).values(), {host.id, *row.refused_by})


def _pass_on(host: Host, row: Feature) -> str:
    """Enqueue the feature's admission for a host with a free slot; for any host if none has one."""

    def send(connection: sa.Connection) -> str:
        to = row.host if row.pinned else _other(connection, host, row)
        number = row.drive + 1
        if not rows.change(connection, row.id, *_mine(row), drive=number):
            return "superseded"
        host.enqueuer.enqueue(connection, next_job(row, ADMIT, to))
        return f"passed on to {to or 'any host'}"

    return host.write(send)


def _refuse(host: Host, row: Feature) -> str:
    """Pass on a feature whose repository this host may not run.

    The feature fails if it is pinned to this host, or no other host is left to try.
    """
    refused = (*row.refused_by, host.id)

    def refuse(connection: sa.Connection) -> str:
        able = [
            each
            for each in rows.hosts(connection).values()
            if each.id not in refused and each.is_alive and not each.draining
        ]
        number = row.drive + 1
        if row.pinned or not able:
            reason = (
                f"{host.name} may not run this repository: add it to `fleet.repos` in the"
                " configuration of its user, then agentmux fleet retry"
            )
            values = {"status": FleetStatus.FAILED, "reason": reason, "refused_by": [*refused]}
            rows.change(connection, row.id, *_mine(row), **values)
            return "refused"
        to = max(able, key=lambda each: (each.free, each.id)).id
        if rows.change(connection, row.id, *_mine(row), drive=number, refused_by=[*refused]):
            host.enqueuer.enqueue(connection, next_job(row, ADMIT, to))
        return f"refused, and passed on to {to}"

    return host.write(refuse)


def _fail(host: Host, row: Feature, reason: str) -> str:
    values = {"status": FleetStatus.FAILED, "reason": reason}
    host.write(lambda each: rows.change(each, row.id, *_mine(row), **values))
    return f"failed: {reason}"
