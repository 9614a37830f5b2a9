"""A person's decisions on a feature, from any host: approve, request changes, retry, cancel."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import sqlalchemy as sa

from agentmux.app.person import Person
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.fleet.statuses import AT_REST, ENDED, FleetStatus
from agentmux.core.terminal.text.text_width import printable
from agentmux.errors import BlockedError
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.database import explain_errors, now_s
from agentmux.fleet.engine.jobs import next_job
from agentmux.fleet.engine.rows import Feature
from agentmux.fleet.engine.tables import DECISIONS, FEATURES
from agentmux.fleet.engine.workflows import ADMIT, DRIVE, Enqueuer


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenDecision:
    """A person's decision before it is recorded.

    Attributes:
        kind: `rows.APPROVE` (``approve``) or `rows.CHANGES` (``changes``).
        digest: The digest of the result that the person was shown; it has to be that of the result
            in the database. `decide_with_consent` fills in an empty one.
        then: How an approved result is delivered, one of `DELIVERY_WAYS` (``keep``, ``merge``,
            ``push``, ``pr``); empty: as submitted with the feature, or else as configured.
        begins: The phase in which the next cycle begins; empty: the first one.
        text: The changes that the person requests; empty for an approval.
        by: Who decided, for the record; may be empty.
    """

    kind: str
    digest: str
    then: str = ""
    begins: str = ""
    text: str = ""
    by: str = ""


def decide_with_consent(
    engine: sa.Engine,
    person: Person,
    row: Feature,
    given: GivenDecision,
    *,
    show: Callable[[str], object] | None,
) -> str:
    """Record a decision as `decide` does; before an approval, show the result and ask the person.

    A person who can be asked has to agree to an approval; if nobody can be asked, it is recorded
    without a question. Requested changes need no consent.

    Args:
        engine: The engine of the fleet's database.
        person: The person who decides.
        row: The feature.
        given: The decision. If it has no digest, it is about the result in ``row``.
        show: A function that is called with each line about the result, before an approval, even
            if nobody is asked. None shows the lines as notes to ``person``, and only if the person
            is asked.

    Returns:
        The id of the decision.

    Raises:
        BlockedError: There is nothing to decide now, the feature cannot be approved, or the result
            is not the one that the person was shown.
        DeclinedError: The person said no.
    """
    asked = require_asked(row)
    if given.kind == rows.APPROVE:
        require_approvable(row)
        lines = asked.get("lines") if person.is_asked or show is not None else None
        for line in lines if isinstance(lines, list) else ():
            (show or person.note)(printable(str(line)))
        if person.is_asked:
            person.agree("Approve?")
    return decide(engine, row, replace(given, digest=given.digest or str(asked.get("digest", ""))))


def decide(engine: sa.Engine, row: Feature, given: GivenDecision) -> str:
    """Record a decision on a feature, and enqueue the drive that delivers it to the session.

    Nobody is asked, and the delivery is not awaited. ``row`` names the feature, which is read
    again: its state in the database counts.

    Returns:
        The id of the decision.

    Raises:
        BlockedError: There is nothing to decide now, the feature cannot be approved, or the result
            is not the one that the person was shown.
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
    """Check that a person has to decide on a feature; return what is to be decided.

    Returns:
        A copy of ``row.question``: ``cycle``, a number; ``digest`` of the result, empty if the
        result cannot be approved now; ``obstacle``, why it cannot, else empty; ``lines``, a list of
        lines to read before the decision; and ``beginnings``, where changes can begin.

    Raises:
        BlockedError: There is nothing to decide.
    """
    if row.status is not FleetStatus.WAITING or not row.question:
        raise _nothing(row)
    return dict(row.question)


def require_approvable(row: Feature) -> None:
    """Check that a feature can be approved now; ask nobody and record nothing.

    Raises:
        BlockedError: There is nothing to decide, or something is in the way of an approval.
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
    """Return SQL conditions for `rows.change`: that a feature has not changed since ``row``.

    They compare its newest workflow, its status and its epoch. Nothing is read.
    """
    return (
        FEATURES.c.drive == row.drive,
        FEATURES.c.status == row.status,
        FEATURES.c.epoch == row.epoch,
    )


def _drive(connection: sa.Connection, enqueuer: Enqueuer, row: Feature, **values: object) -> bool:
    """Enqueue the next drive of a feature on its host, and change the columns ``values``.

    Return False, with nothing changed, if the feature is no longer as in ``row``.
    """
    number = row.drive + 1
    values = {"status": FleetStatus.RUNNING, "drive": number, "reason": "", **values}
    if not rows.change(connection, row.id, *same_row(row), **values):
        return False
    enqueuer.enqueue(connection, next_job(row, DRIVE, row.host))
    return True


def changed_meanwhile(row: Feature) -> BlockedError:
    """Return, but do not raise, the error for a feature that changed since the person saw it.

    The caller has found that out already; nothing is checked.
    """
    return BlockedError(
        f"feature {row.id} has changed meanwhile",
        reason="not_waiting",
        hints=(f"agentmux fleet show {row.id}",),
    )


def require_unended(row: Feature) -> None:
    """Check that a feature has not ended, and so can be cancelled.

    Raises:
        BlockedError: The feature has ended.
    """
    if row.status in ENDED:
        raise BlockedError(
            f"feature {row.id} is {row.status} already",
            reason="not_running",
            hints=(f"agentmux fleet show {row.id}",),
        )


def cancel(engine: sa.Engine, person: Person, row: Feature) -> str:
    """Cancel a feature, so that its host stops the session and the feature fails.

    If the person can be asked, they are asked first; else it is cancelled without a question. The
    host acts later: it is not awaited. A feature that has not begun fails at once.

    Returns:
        What happens next, as a clause for the user, such as ``its host stops its session``.

    Raises:
        BlockedError: The feature has ended, or has changed since ``row`` was read.
        DeclinedError: The person said no.
    """
    require_unended(row)
    if person.is_asked:
        person.agree(f"Cancel `{row.title}`?")
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
    """Let a failed feature go on: its host resumes its session; without one it is queued again.

    The host acts later: it is not awaited.

    Returns:
        What happens next, as a clause for the user, such as ``queued again``.

    Raises:
        BlockedError: The feature has not failed, or has changed since ``row`` was read.
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
            raise changed_meanwhile(row)  # and nothing is queued
    return words
