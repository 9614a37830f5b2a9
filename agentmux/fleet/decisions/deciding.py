"""What a person decides on a feature from any host: approve, change, retry, cancel."""

from __future__ import annotations

import uuid

import sqlalchemy as sa

from agentmux.core.codec.frozen import dataclass
from agentmux.core.fleet.statuses import AT_REST, ENDED, FleetStatus
from agentmux.errors import BlockedError
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.database import explain_errors, now_s
from agentmux.fleet.engine.jobs import next_job
from agentmux.fleet.engine.rows import Feature
from agentmux.fleet.engine.tables import DECISIONS, FEATURES
from agentmux.fleet.engine.workflows import ADMIT, DRIVE, Enqueuer


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenDecision:
    """A decision as its person gives it.

    Attributes:
        kind: `rows.APPROVE` or `rows.CHANGES`.
        digest: Of what the person was shown.
        then: Where an approved result goes; empty: as submitted, else as configured.
        begins: The phase in which another cycle begins; empty: the first.
        by: Who decided, for the record.
    """

    kind: str
    digest: str
    then: str = ""
    begins: str = ""
    text: str = ""
    by: str = ""


def decide(engine: sa.Engine, row: Feature, given: GivenDecision) -> str:
    """Record a decision, and begin the drive that delivers it; return the decision's id.

    Raises:
        BlockedError: Nothing is to be decided now, or not what the person was shown.
    """
    enqueuer = Enqueuer(engine)
    decision_id = str(uuid.uuid4())
    with explain_errors(engine), engine.begin() as connection:
        now = rows.feature(connection, row.id) or row
        asked = require_asked(now)
        digest = str(asked.get("digest", ""))
        if given.digest != digest:
            raise BlockedError(
                f"the result is not what was shown with the digest {given.digest}:"
                " look at it again",
                reason="not_waiting",
                hints=(f"agentmux fleet show {row.id}",),
            )
        if given.kind == rows.APPROVE:
            require_approvable(now)
        then = given.then or (str(now.wish.get("then", "")) if given.kind == rows.APPROVE else "")
        connection.execute(
            DECISIONS.insert().values(
                id=decision_id,
                feature=row.id,
                kind=given.kind,
                cycle=asked.get("cycle", 1),
                digest=digest,
                then=then,
                begins=given.begins,
                text=given.text,
                by=given.by[:128],
                given_at=now_s(engine),
            )
        )
        if not _drive(connection, enqueuer, now, question=None):
            raise _nothing(now)
    return decision_id


def require_asked(row: Feature) -> dict[str, object]:
    """Return what is to be decided on a feature.

    Raises:
        BlockedError: Nothing is.
    """
    if row.status is not FleetStatus.WAITING or not row.question:
        raise _nothing(row)
    return dict(row.question)


def require_approvable(row: Feature) -> None:
    """Check that a feature can be approved now.

    Raises:
        BlockedError: It cannot.
    """
    asked = require_asked(row)
    if not asked.get("digest"):
        raise BlockedError(
            f"feature {row.id} cannot be approved now: {asked.get('obstacle')}",
            reason="not_waiting",
            hints=(f"agentmux fleet attach {row.id}",),
        )


def _nothing(row: Feature) -> BlockedError:
    why = f": {row.reason}" if row.reason else ""
    return BlockedError(
        f"nothing is to be decided on feature {row.id} now: it is {row.status}{why}",
        reason="not_waiting",
        hints=(f"agentmux fleet show {row.id}",),
    )


def same_row(row: Feature) -> tuple[sa.ColumnElement[bool], ...]:
    """Return what holds as long as a feature is as its person saw it."""
    return (
        FEATURES.c.drive == row.drive,
        FEATURES.c.status == row.status,
        FEATURES.c.epoch == row.epoch,
    )


def _drive(connection: sa.Connection, enqueuer: Enqueuer, row: Feature, **values: object) -> bool:
    """Begin the next drive of a feature on its host; return False if it has changed meanwhile."""
    number = row.drive + 1
    values = {"status": FleetStatus.RUNNING, "drive": number, "reason": "", **values}
    if not rows.change(connection, row.id, *same_row(row), **values):
        return False
    enqueuer.enqueue(connection, next_job(row, DRIVE, row.host))
    return True


def changed_meanwhile(row: Feature) -> BlockedError:
    """Return the error for a feature that is no longer as its person saw it."""
    return BlockedError(
        f"feature {row.id} has changed meanwhile",
        reason="not_waiting",
        hints=(f"agentmux fleet show {row.id}",),
    )


def require_unended(row: Feature) -> None:
    """Check that there is something to cancel.

    Raises:
        BlockedError: The feature has ended already.
    """
    if row.status in ENDED:
        raise BlockedError(
            f"feature {row.id} is {row.status} already",
            reason="not_running",
            hints=(f"agentmux fleet show {row.id}",),
        )


def cancel(engine: sa.Engine, row: Feature) -> str:
    """Stop a feature's session, and run it no further; return what happens, in words.

    Raises:
        BlockedError: It has ended already.
    """
    require_unended(row)
    enqueuer = Enqueuer(engine)
    with explain_errors(engine), engine.begin() as connection:
        if row.status is FleetStatus.QUEUED:
            values = {"status": FleetStatus.FAILED, "reason": "cancelled", "cancelled": True}
            done = rows.change(connection, row.id, *same_row(row), **values)
            words = "cancelled before it began"
        elif row.status in AT_REST:
            done = _drive(connection, enqueuer, row, cancelled=True)
            words = "its host stops its session"
        else:
            done = rows.change(connection, row.id, *same_row(row), cancelled=True)
            words = "its host stops its session"
    if not done:
        raise changed_meanwhile(row)
    return words


def retry(engine: sa.Engine, row: Feature) -> str:
    """Go on with a feature that has failed; return what happens, in words.

    Raises:
        BlockedError: It has not failed.
    """
    if row.status is not FleetStatus.FAILED:
        raise BlockedError(
            f"feature {row.id} is {row.status}: only one that has failed is tried again",
            reason="not_failed",
            hints=(f"agentmux fleet show {row.id}",),
        )
    enqueuer = Enqueuer(engine)
    again = {"cancelled": False, "idle_drives": 0, "reason": "", "refused_by": []}
    with explain_errors(engine), engine.begin() as connection:
        if row.session and row.host:
            done = _drive(connection, enqueuer, row, **again, resumes=True)
            words = "its host resumes its session"
        else:
            host = row.host if row.pinned else None
            values = {**again, "status": FleetStatus.QUEUED, "drive": row.drive + 1, "host": host}
            done = rows.change(connection, row.id, *same_row(row), **values)
            enqueuer.enqueue(connection, next_job(row, ADMIT, host))
            words = "queued again"
    if not done:
        raise changed_meanwhile(row)
    return words
