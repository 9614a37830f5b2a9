"""Reads and changes the rows of features, hosts and decisions in the fleet's database.

Every function works in the transaction of its ``connection``; the caller commits it.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, Final

import sqlalchemy as sa

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import Json
from agentmux.core.codec.shape import replace_unencodable
from agentmux.core.fleet.fleet_request import NORMAL, PRIORITIES
from agentmux.core.fleet.routing import HostFacts
from agentmux.core.fleet.statuses import FleetStatus
from agentmux.errors import NotFoundError
from agentmux.fleet.engine.database import now_s
from agentmux.fleet.engine.tables import DECISIONS, FEATURES, HOST_REPOS, HOSTS

OPEN: Final = "open"
"""The status of a decision that has not reached its session yet."""
DELIVERED: Final = "delivered"
"""The status of a decision that its session has accepted."""
REFUSED: Final = "refused"
"""The status of a decision that its session has not accepted."""
APPROVE: Final = "approve"
"""The kind of a decision that approves the result."""
CHANGES: Final = "changes"
"""The kind of a decision that requests changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One feature of the fleet, as read from its row.

    Attributes:
        id: A UUID.
        key: The key that the user gave it, unique in the fleet; None if the user gave none.
        wish: The fields of the request as submitted; `from_fields` makes a `FleetRequest` of them.
        title: One line that says what the feature is about.
        priority: From 1 (first) to 1000.
        status: The status of the feature in the fleet.
        reason: Why the feature has this status, in words; may be empty.
        host: The id of the host that runs the feature, or, if ``pinned``, that has to run it; None
            if no host has been chosen.
        pinned: Whether only ``host`` may start the feature.
        refused_by: The ids of the hosts that may not run the feature: their settings do not allow
            its repository, or they were abandoned.
        session: The name of the feature's session; empty if there is none yet.
        path: The directory of that session on its host; empty if there is none yet.
        phase: The phase of that session when it was last seen; may be empty.
        pushed: The branch of the session if it was pushed; else empty.
        result: Where the result is: ``branch`` and ``commit``, as texts, and ``request``, with the
            ``url`` and ``number`` of the pull or merge request. Each of the three is None if there
            is none. The attribute is None as long as nothing is known.
        question: What a person has to decide: ``cycle``; ``digest`` of the result, empty if the
            result cannot be approved now; ``obstacle``, why it cannot, else empty; and ``lines``
            to read before the decision. None if there is nothing to decide.
        epoch: 1, then 1 more each time the feature is begun again on another host.
        drive: The number of its newest workflow: a drive or, although the name says otherwise, an
            admission, which assigns the feature to a host.
        idle_drives: How many drives in a row, including the newest, made no progress.
        progress: How many lines of its session's journal recorded work when the newest drive began.
        resumes: Whether the next drive has to resume a session that failed or was stopped.
        cancelled: Whether a person has cancelled the feature.
        submitted_at: In seconds of Unix time.
        updated_at: When the row was last changed, in seconds of Unix time.
    """

    id: str
    key: str | None
    wish: Json
    title: str
    priority: int
    status: FleetStatus
    reason: str
    host: str | None
    pinned: bool
    refused_by: tuple[str, ...]
    session: str
    path: str
    phase: str
    pushed: str
    result: Json | None
    question: Json | None
    epoch: int
    drive: int
    idle_drives: int
    progress: int
    resumes: bool
    cancelled: bool
    submitted_at: float
    updated_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureDecision:
    """A person's decision on a feature, made on any host.

    Attributes:
        id: A UUID.
        feature: The id of the feature.
        kind: `APPROVE` (``approve``) or `CHANGES` (``changes``).
        cycle: The cycle whose result was decided on.
        digest: The digest of the result that the person was shown.
        then: How an approved result is delivered, such as ``merge``; empty: as configured.
        begins: The phase in which the next cycle begins; empty: the first one.
        text: The changes that the person requests; empty for an approval.
        by: Who decided; may be empty.
        status: `OPEN` until its host has delivered it; then `DELIVERED` if the session accepted
            it, else `REFUSED`.
        answer: Why the session refused the decision, or what went wrong after it was accepted; may
            be empty.
    """

    id: str
    feature: str
    kind: str
    cycle: int
    digest: str
    then: str
    begins: str
    text: str
    by: str
    status: str
    answer: str


_SUBMITTED: Final = (FEATURES.c.submitted_at, FEATURES.c.id)
_KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    **dict.fromkeys(("priority", "epoch", "drive", "idle_drives", "progress"), (int,)),
    **dict.fromkeys(("title", "reason", "session", "path", "phase", "pushed"), (str,)),
    **dict.fromkeys(("key", "host"), (str, NoneType)),
    **dict.fromkeys(("result", "question"), (dict, NoneType)),
    **dict.fromkeys(("submitted_at", "updated_at"), (float,)),
    **dict.fromkeys(("pinned", "resumes", "cancelled"), (bool,)),
    "wish": (dict,),
    "refused_by": (list,),
}
_COUNTS: Final = ("epoch", "drive", "idle_drives", "progress")
_COUNT_MAX: Final = 1_000_000_000
"""The largest count that is taken for valid; the database cannot store much larger numbers."""
_HOST_NAME_MAX: Final = 64
_LAST_S: Final = 253_402_300_799.0
"""The last second of the year 9999, in Unix time: Python has no later date."""


def _feature(row: sa.RowMapping) -> Feature:
    values = dict(row)
    if not _is_sound(values):
        return _make_placeholder(str(values["id"]))
    values["status"] = FleetStatus(values["status"])
    values["refused_by"] = tuple(map(str, values["refused_by"]))
    return Feature(**values)


def _is_sound(values: Mapping[str, Any]) -> bool:
    """Return whether all values of a row are valid. Not only AgentMux can write to the database."""
    return (
        is_uuid(str(values["id"]))
        and values["status"] in set(FleetStatus)
        and all(isinstance(values[name], kinds) for name, kinds in _KINDS.items())
        and PRIORITIES[0] <= values["priority"] <= PRIORITIES[1]
        and all(0 <= values[name] <= _COUNT_MAX for name in _COUNTS)
        and all(0 <= values[name] <= _LAST_S for name in ("submitted_at", "updated_at"))
    )


def _make_placeholder(feature_id: str) -> Feature:
    """Return the feature that replaces a damaged row: it is listed, but nothing is done with it."""
    return Feature(
        id=feature_id, key=None, wish={}, title="(damaged)", priority=NORMAL,
        status=FleetStatus.FAILED, reason="its row in the database is damaged", host=None,
        pinned=False, refused_by=(), session="", path="", phase="", pushed="", result=None,
        question=None, epoch=0, drive=0, idle_drives=0, progress=0, resumes=False,
        cancelled=False, submitted_at=0.0, updated_at=0.0,
    )  # fmt: skip


def is_uuid(text: str) -> bool:
    """Return whether ``text`` is a UUID in lowercase with hyphens, and so safe as a file name."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def feature(connection: sa.Connection, feature_id: str) -> Feature | None:
    """Return the feature with this id; None if there is none.

    A damaged row is returned as a failed feature with the title ``(damaged)``.
    """
    query = sa.select(FEATURES).where(FEATURES.c.id == feature_id)
    row = connection.execute(query).mappings().first()
    return None if row is None else _feature(row)


def features(connection: sa.Connection, *where: sa.ColumnElement[bool]) -> tuple[Feature, ...]:
    """Return the features that meet all conditions ``where``, first submitted first.

    Conditions are SQL expressions on `FEATURES`, such as ``FEATURES.c.key == name``; without any,
    all features are returned.
    """
    query = sa.select(FEATURES).where(*where).order_by(*_SUBMITTED)
    return tuple(_feature(row) for row in connection.execute(query).mappings())


def first_features(
    connection: sa.Connection, *where: sa.ColumnElement[bool], most: int
) -> tuple[Feature, ...]:
    """Return at most ``most`` features: the most urgent ones that meet all conditions ``where``.

    The lowest ``priority`` comes first, then what was submitted first. Conditions are SQL
    expressions on `FEATURES`; without any, all features count.
    """
    order = (FEATURES.c.priority, *_SUBMITTED)
    query = sa.select(FEATURES).where(*where).order_by(*order).limit(most)
    return tuple(_feature(row) for row in connection.execute(query).mappings())


def last_changed(
    connection: sa.Connection, *where: sa.ColumnElement[bool], most: int
) -> tuple[Feature, ...]:
    """Return at most ``most`` features: the last changed ones that meet all conditions ``where``.

    The last changed one comes first. Conditions are SQL expressions on `FEATURES`; without any, all
    features count.
    """
    query = sa.select(FEATURES).where(*where).order_by(FEATURES.c.updated_at.desc()).limit(most)
    return tuple(_feature(row) for row in connection.execute(query).mappings())


def change(
    connection: sa.Connection, feature_id: str, *where: sa.ColumnElement[bool], **values: object
) -> bool:
    """Change columns of a feature's row if the row meets all conditions ``where``.

    Args:
        connection: The connection whose transaction makes the change.
        feature_id: The feature's id.
        where: SQL conditions on `FEATURES`, which must hold for the row as it is now, so that no
            newer change is overwritten; without any, the row is changed in any case.
        values: The new values, by the column's name. ``updated_at`` is set to now if it is not
            given.

    Returns:
        Whether the row was changed; False if a condition does not hold, or there is no such row.
    """
    values.setdefault("updated_at", now_s(connection.engine))
    result = connection.execute(
        FEATURES.update().where(FEATURES.c.id == feature_id, *where).values(**values)
    )
    return result.rowcount == 1


def hosts(connection: sa.Connection) -> Mapping[str, HostFacts]:
    """Return all hosts of the fleet by id, in the order of their names.

    A damaged row gives a host that does not run and has no slots.
    """
    now = now_s(connection.engine)
    query = sa.select(HOSTS, (now - HOSTS.c.seen_at).label("age_s")).order_by(HOSTS.c.name)
    return {str(row["id"]): _host(row) for row in connection.execute(query).mappings()}


def host_repositories(connection: sa.Connection) -> Mapping[str, tuple[str, ...]]:
    """Return which repositories each host may run: its entries of ``fleet.repos``, by its id.

    An entry is a path or a URL, in which ``*`` matches any characters but ``/``. A host is missing
    from the mapping if its worker has not told the fleet its repositories.
    """
    if not sa.inspect(connection).has_table(HOST_REPOS.name):
        return {}
    result = connection.execute(sa.select(HOST_REPOS))
    return {
        str(row.host): tuple(each for each in row.repos if isinstance(each, str))
        for row in result
        if isinstance(row.repos, list)
    }


def require_host(connection: sa.Connection, name: str) -> str:
    """Return the id of the host with this name.

    Raises:
        NotFoundError: The fleet has no host with this name.
    """
    name = replace_unencodable(name)
    host_id = connection.execute(sa.select(HOSTS.c.id).where(HOSTS.c.name == name)).scalar()
    if host_id is None:
        known = [each.name for each in hosts(connection).values()]
        raise NotFoundError(
            f"no host of the fleet is named `{name}`",
            hints=(f"hosts: {', '.join(known) or 'none yet'}",),
        )
    return str(host_id)


def _host(row: sa.RowMapping) -> HostFacts:
    """Return the host of a row. A damaged row gives a host that is not alive and has no slot."""
    name, numbers = row.name, (row.slots, row.busy, row.age_s)
    sound = (
        isinstance(name, str)
        and 0 < len(name) <= _HOST_NAME_MAX
        and name.isprintable()
        and all(isinstance(each, int | float) for each in numbers)
        and all(abs(each) <= _LAST_S for each in numbers)
    )
    if not sound:
        return HostFacts(
            id=str(row.id), name="(damaged)", slots=0, busy=0, age_s=_LAST_S, running=False
        )
    return HostFacts(
        id=str(row.id), name=name, slots=int(row.slots), busy=int(row.busy),
        age_s=max(0.0, float(row.age_s)), draining=row.draining, running=row.running,
    )  # fmt: skip


def open_decisions(connection: sa.Connection, feature_id: str) -> tuple[FeatureDecision, ...]:
    """Return the decisions on a feature that its host has not delivered yet, oldest first.

    Empty if there are none.
    """
    query = (
        sa.select(DECISIONS)
        .where(DECISIONS.c.feature == feature_id, DECISIONS.c.status == OPEN)
        .order_by(DECISIONS.c.given_at)
    )
    return tuple(_decision(row) for row in connection.execute(query).mappings())


def _decision(row: sa.RowMapping) -> FeatureDecision:
    values = dict(row)
    values.pop("given_at")
    return FeatureDecision(**values)


def decisions(connection: sa.Connection, feature_id: str) -> Sequence[FeatureDecision]:
    """Return all decisions on a feature, oldest first; empty if there are none."""
    query = (
        sa.select(DECISIONS).where(DECISIONS.c.feature == feature_id).order_by(DECISIONS.c.given_at)
    )
    return [_decision(row) for row in connection.execute(query).mappings()]


def record_answer(connection: sa.Connection, decision_id: str, status: str, said: str) -> None:
    """Record whether a session accepted a decision, and what went wrong.

    Args:
        connection: The connection whose transaction makes the change.
        decision_id: The decision's id.
        status: `DELIVERED` if the session accepted the decision, else `REFUSED`.
        said: The error, in words, which an accepted decision can have, too; empty if there was
            none.
    """
    connection.execute(
        DECISIONS.update().where(DECISIONS.c.id == decision_id).values(status=status, answer=said)
    )
