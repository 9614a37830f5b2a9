"""Takes hosts out of the fleet: drains a host, or abandons one that is gone for good."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from agentmux.app.person import Person
from agentmux.core.fleet.statuses import ENDED, FleetStatus
from agentmux.errors import BlockedError
from agentmux.fleet.decisions.deciding import changed_meanwhile, same_row
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.database import explain_errors, now_s
from agentmux.fleet.engine.jobs import next_job
from agentmux.fleet.engine.rows import Feature
from agentmux.fleet.engine.tables import FEATURES, HOSTS
from agentmux.fleet.engine.workflows import ADMIT, Enqueuer


def require_begun(row: Feature) -> str:
    """Check that a feature has begun and can be abandoned; return the id of its host.

    Raises:
        BlockedError: The feature has not begun, or is done or moved.
    """
    if row.host is None or row.status in {FleetStatus.QUEUED, FleetStatus.DONE, FleetStatus.MOVED}:
        raise BlockedError(
            f"feature {row.id} is {row.status}: there is no host to abandon",
            reason="not_begun",
            hints=(f"agentmux fleet show {row.id}",),
        )
    return row.host


def abandon(engine: sa.Engine, person: Person, row: Feature) -> tuple[str, ...]:
    """Take one feature from its host, which is gone for good: ask, then queue the feature again.

    Another host begins the feature from its beginning; the abandoned one may not run it again, but
    keeps its other features. The new session begins on the branch that the old one pushed, if there
    is one.

    Returns:
        Two texts for the user: what is kept, and what is lost.

    Raises:
        BlockedError: The feature has not begun, is done or moved, or has changed since ``row`` was
            read; or the lease of its session may still hold.
        UsageError: Nobody can be asked for consent.
        DeclinedError: The person said no.
    """
    gone = require_begun(row)
    person.agree(f"Begin `{row.title}` again? What its host has of it is lost.")
    enqueuer = Enqueuer(engine)
    with explain_errors(engine), engine.begin() as connection:
        host = connection.execute(
            sa.select(HOSTS, (now_s(engine) - HOSTS.c.seen_at).label("age_s")).where(
                HOSTS.c.id == gone
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
        request = {**row.wish, "base": row.pushed} if row.pushed else dict(row.wish)
        request.pop("host", None)
        values = {
            "status": FleetStatus.QUEUED, "drive": number, "epoch": row.epoch + 1, "host": None,
            "pinned": False, "session": "", "path": "", "phase": "", "question": None,
            "idle_drives": 0, "progress": 0, "cancelled": False,
            "refused_by": sorted({*row.refused_by, gone}),
            "reason": f"begun again: host {host.name if host else gone} was abandoned",
            "wish": request,
        }  # fmt: skip
        if not rows.change(connection, row.id, *same_row(row), **values):
            raise changed_meanwhile(row)
        enqueuer.enqueue(connection, next_job(row, ADMIT, None))
    where = host.name if host is not None else gone
    kept = f"it begins on branch {row.pushed}, which was pushed" if row.pushed else (
        "nothing of it was pushed: it begins where the first one began"
    )  # fmt: skip
    lost = f"lost: session {row.session or 'that was being started'} on {where}, with all that"
    return (kept, f"{lost} was not pushed (phase {row.phase or 'unknown'})")


_MARGIN: Final = 1.5
"""How many times a lease's duration must pass before a host counts as gone.

It is more than 1 as a margin for differences between clocks.
"""


def drain(engine: sa.Engine, name: str) -> int:
    """Tell the host named ``name`` to take no more features; do not wait for those it runs.

    Returns:
        How many features the host still has: begun there and not ended.

    Raises:
        NotFoundError: No host has this name.
    """
    with explain_errors(engine), engine.begin() as connection:
        host = rows.require_host(connection, name)
        connection.execute(HOSTS.update().where(HOSTS.c.id == host).values(draining=True))
        begun = FEATURES.c.status.not_in([*ENDED, FleetStatus.QUEUED])
        return len(rows.features(connection, FEATURES.c.host == host, begun))
