"""What a person decides on a feature from any host: approve, change, retry, cancel."""

from __future__ import annotations

import uuid

import sqlalchemy as sa

from agentmux.core.codec.frozen import dataclass
from agentmux.core.fleet.statuses import AT_REST, ENDED, FleetStatus
from agentmux.errors import BlockedError, NotFoundError
from agentmux.fleet import rows
from agentmux.fleet.database import explained, now_s
from agentmux.fleet.engine import ADMIT, DRIVE, Enqueuer
from agentmux.fleet.jobs import next_job
from agentmux.fleet.rows import Feature
from agentmux.fleet.tables import DECISIONS, FEATURES, HOSTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
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


def find(engine: sa.Engine, name: str) -> Feature:
    """Return the feature with this id, the beginning of it, or this key.

    Raises:
        NotFoundError: None is, or several are.
    """
    wanted = name.replace("\\", "").replace("%", "").replace("_", "")
    with explained(engine), engine.connect() as connection:
        found = rows.features(connection, FEATURES.c.key == name) or rows.features(
            connection, FEATURES.c.id.like(f"{wanted}%")
        )
    if len(found) == 1 and wanted:
        return found[0]
    if found and wanted:
        raise NotFoundError(
            f"several features of the fleet match `{name}`",
            hints=tuple(f"agentmux fleet show {each.id}" for each in found[:5]),
        )
    raise NotFoundError(f"no feature of the fleet matches `{name}`", hints=("agentmux fleet list",))


def decide(engine: sa.Engine, row: Feature, given: Given) -> str:
    """Record a decision, and begin the drive that delivers it; return the decision's id.

    Raises:
        BlockedError: Nothing is to be decided now, or not what the person was shown.
    """
    enqueuer = Enqueuer(engine)
    made = str(uuid.uuid4())
    with explained(engine), engine.begin() as connection:
        now = rows.feature(connection, row.id)
        asked = _asked(now)
        if now is None or asked is None:
            raise _nothing(now or row)
        digest = str(asked.get("digest", ""))
        if given.digest != digest:
            raise BlockedError(
                f"the result is not what was shown with the digest {given.digest}:"
                " look at it again",
                reason="not_waiting",
                hints=(f"agentmux fleet show {row.id}",),
            )
        if given.kind == rows.APPROVE and not digest:
            raise BlockedError(
                f"feature {row.id} cannot be approved now: {asked.get('obstacle')}",
                reason="not_waiting",
                hints=(f"agentmux fleet attach {row.id}",),
            )
        then = given.then or (str(now.wish.get("then", "")) if given.kind == rows.APPROVE else "")
        connection.execute(
            DECISIONS.insert().values(
                id=made,
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
    return made


def _asked(row: Feature | None) -> dict[str, object] | None:
    waits = row is not None and row.status is FleetStatus.WAITING
    return dict(row.question) if waits and row is not None and row.question else None


def _nothing(row: Feature) -> BlockedError:
    why = f": {row.reason}" if row.reason else ""
    return BlockedError(
        f"nothing is to be decided on feature {row.id} now: it is {row.status}{why}",
        reason="not_waiting",
        hints=(f"agentmux fleet show {row.id}",),
    )


def _same(row: Feature) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        FEATURES.c.drive == row.drive,
        FEATURES.c.status == row.status,
        FEATURES.c.epoch == row.epoch,
    )


def _drive(connection: sa.Connection, enqueuer: Enqueuer, row: Feature, **values: object) -> bool:
    """Begin the next drive of a feature on its host; return False if it has changed meanwhile."""
    number = row.drive + 1
    values = {"status": FleetStatus.RUNNING, "drive": number, "reason": "", **values}
    if not rows.change(connection, row.id, *_same(row), **values):
        return False
    enqueuer.enqueue(connection, next_job(row, DRIVE, row.host))
    return True


def _changed(row: Feature) -> BlockedError:
    return BlockedError(
        f"feature {row.id} has changed meanwhile",
        reason="not_waiting",
        hints=(f"agentmux fleet show {row.id}",),
    )


def cancel(engine: sa.Engine, row: Feature) -> str:
    """Stop a feature's session, and run it no further; return what happens, in words.

    Raises:
        BlockedError: It has ended already.
    """
    if row.status in ENDED:
        raise BlockedError(
            f"feature {row.id} is {row.status} already",
            reason="not_running",
            hints=(f"agentmux fleet show {row.id}",),
        )
    enqueuer = Enqueuer(engine)
    with explained(engine), engine.begin() as connection:
        if row.status is FleetStatus.QUEUED:
            values = {"status": FleetStatus.FAILED, "reason": "cancelled", "cancelled": True}
            done = rows.change(connection, row.id, *_same(row), **values)
            said = "cancelled before it began"
        elif row.status in AT_REST:
            done = _drive(connection, enqueuer, row, cancelled=True)
            said = "its host stops its session"
        else:
            done = rows.change(connection, row.id, *_same(row), cancelled=True)
            said = "its host stops its session"
    if not done:
        raise _changed(row)
    return said


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
    with explained(engine), engine.begin() as connection:
        if row.session and row.host:
            done = _drive(connection, enqueuer, row, **again, resumes=True)
            said = "its host resumes its session"
        else:
            host = row.host if row.pinned else None
            values = {**again, "status": FleetStatus.QUEUED, "drive": row.drive + 1, "host": host}
            done = rows.change(connection, row.id, *_same(row), **values)
            enqueuer.enqueue(connection, next_job(row, ADMIT, host))
            said = "queued again"
    if not done:
        raise _changed(row)
    return said


def abandon(engine: sa.Engine, row: Feature) -> tuple[str, ...]:
    """Start a feature anew whose host is gone for good; return what is lost, in words.

    Raises:
        BlockedError: It has not begun, or has ended; or its host may still act.
    """
    if row.host is None or row.status in {FleetStatus.QUEUED, FleetStatus.DONE, FleetStatus.MOVED}:
        raise BlockedError(
            f"feature {row.id} is {row.status}: there is no host to abandon",
            reason="not_begun",
            hints=(f"agentmux fleet show {row.id}",),
        )
    enqueuer = Enqueuer(engine)
    with explained(engine), engine.begin() as connection:
        host = connection.execute(
            sa.select(HOSTS, (now_s(engine) - HOSTS.c.seen_at).label("age_s")).where(
                HOSTS.c.id == row.host
            )
        ).first()
        if host is not None and host.age_s < host.lease_s * _MARGIN:
            left = host.lease_s * _MARGIN - host.age_s
            raise BlockedError(
                f"host {host.name} was seen {host.age_s:.0f} s ago: its session may act for"
                f" another {left:.0f} s",
                reason="lease_holds",
                hints=("end its worker, wait, then try again",),
            )
        number = row.drive + 1
        wish = {**row.wish, "base": row.pushed} if row.pushed else dict(row.wish)
        wish.pop("host", None)
        values = {
            "status": FleetStatus.QUEUED, "drive": number, "epoch": row.epoch + 1, "host": None,
            "pinned": False, "session": "", "path": "", "phase": "", "question": None,
            "idle_drives": 0, "progress": 0, "cancelled": False, "refused_by": [row.host],
            "reason": f"begun anew: host {host.name if host else row.host} was abandoned",
            "wish": wish,
        }  # fmt: skip
        if not rows.change(connection, row.id, *_same(row), **values):
            raise _changed(row)
        enqueuer.enqueue(connection, next_job(row, ADMIT, None))
    where = host.name if host is not None else row.host
    kept = f"it begins on branch {row.pushed}, which was pushed" if row.pushed else (
        "nothing of it was pushed: it begins where the first one began"
    )  # fmt: skip
    lost = f"lost: session {row.session or 'that was being started'} on {where}, with all that"
    return (kept, f"{lost} was not pushed (phase {row.phase or 'unknown'})")


_MARGIN = 1.5
"""Two clocks of one host agree far better than this, over the time of a lease."""


def drain(engine: sa.Engine, name: str) -> int:
    """Let a host take nothing more; return how many features have begun there and not ended.

    Raises:
        NotFoundError: No host has this name.
    """
    with explained(engine), engine.begin() as connection:
        host = connection.execute(sa.select(HOSTS.c.id).where(HOSTS.c.name == name)).scalar()
        if host is None:
            known = connection.execute(sa.select(HOSTS.c.name)).scalars().all()
            raise NotFoundError(
                f"no host of the fleet is named `{name}`",
                hints=(f"hosts: {', '.join(known) or 'none yet'}",),
            )
        connection.execute(HOSTS.update().where(HOSTS.c.id == host).values(draining=True))
        begun = FEATURES.c.status.not_in([*ENDED, FleetStatus.QUEUED])
        return len(rows.features(connection, FEATURES.c.host == host, begun))
