"""Features, hosts and decisions as rows of the database: read, and change in one transaction."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, Final

import sqlalchemy as sa

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.records import Json
from agentmux.core.codec.shape import writable
from agentmux.core.fleet.fleet_request import NORMAL, PRIORITIES
from agentmux.core.fleet.routing import HostFacts
from agentmux.core.fleet.statuses import FleetStatus
from agentmux.errors import NotFoundError
from agentmux.fleet.engine.database import now_s
from agentmux.fleet.engine.tables import DECISIONS, FEATURES, HOST_REPOS, HOSTS

OPEN: Final = "open"
DELIVERED: Final = "delivered"
REFUSED: Final = "refused"
APPROVE: Final = "approve"
CHANGES: Final = "changes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One feature of the fleet, as its row says.

    Attributes:
        host: The id of the host that has it, or that it is meant for; None for none yet.
        pinned: Whether no other host may take it before it has begun.
        refused_by: The ids of the hosts that may not run its repository.
        session: The name of its session; empty before it has begun.
        question: What a person has to decide: ``cycle``, ``digest``, ``lines``; None for nothing.
        epoch: How often it was given to a host.
        drive: The number of its newest workflow.
        idle_drives: How many drives in a row have added nothing to its journal.
        resumes: Whether the next drive resumes a session that has failed or was stopped.
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
    """A person's decision on a feature, made anywhere."""

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
"""What no count of ours reaches: a database has no number that is much larger."""
_HOST_NAME_MAX: Final = 64
_LAST_S: Final = 253_402_300_799.0
"""The last second that has a date."""


def _feature(row: sa.RowMapping) -> Feature:
    values = dict(row)
    if not _is_sound(values):
        return _make_placeholder(str(values["id"]))
    values["status"] = FleetStatus(values["status"])
    values["refused_by"] = tuple(map(str, values["refused_by"]))
    return Feature(**values)


def _is_sound(values: Mapping[str, Any]) -> bool:
    """Return whether a row can be one of ours: others can write to the database, too."""
    return (
        is_uuid(str(values["id"]))
        and values["status"] in set(FleetStatus)
        and all(isinstance(values[name], kinds) for name, kinds in _KINDS.items())
        and PRIORITIES[0] <= values["priority"] <= PRIORITIES[1]
        and all(0 <= values[name] <= _COUNT_MAX for name in _COUNTS)
        and all(0 <= values[name] <= _LAST_S for name in ("submitted_at", "updated_at"))
    )


def _make_placeholder(feature_id: str) -> Feature:
    """Return what stands for a row that is no feature: it is listed, and nothing acts on it."""
    return Feature(
        id=feature_id, key=None, wish={}, title="(damaged)", priority=NORMAL,
        status=FleetStatus.FAILED, reason="its row in the database is damaged", host=None,
        pinned=False, refused_by=(), session="", path="", phase="", pushed="", result=None,
        question=None, epoch=0, drive=0, idle_drives=0, progress=0, resumes=False,
        cancelled=False, submitted_at=0.0, updated_at=0.0,
    )  # fmt: skip


def is_uuid(text: str) -> bool:
    """Return whether ``text`` is a uuid as we write it, which may name files."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def feature(connection: sa.Connection, feature_id: str) -> Feature | None:
    """Return one feature; None if there is none with this id."""
    query = sa.select(FEATURES).where(FEATURES.c.id == feature_id)
    row = connection.execute(query).mappings().first()
    return None if row is None else _feature(row)


def features(connection: sa.Connection, *where: sa.ColumnElement[bool]) -> tuple[Feature, ...]:
    """Return the features for which all of ``where`` holds, in the order of submission."""
    query = sa.select(FEATURES).where(*where).order_by(*_SUBMITTED)
    return tuple(_feature(row) for row in connection.execute(query).mappings())


def first_features(
    connection: sa.Connection, *where: sa.ColumnElement[bool], most: int
) -> tuple[Feature, ...]:
    """Return at most ``most`` of them, by their priority, then in the order of submission."""
    order = (FEATURES.c.priority, *_SUBMITTED)
    query = sa.select(FEATURES).where(*where).order_by(*order).limit(most)
    return tuple(_feature(row) for row in connection.execute(query).mappings())


def last_changed(
    connection: sa.Connection, *where: sa.ColumnElement[bool], most: int
) -> tuple[Feature, ...]:
    """Return at most ``most`` of them, the one that changed last first."""
    query = sa.select(FEATURES).where(*where).order_by(FEATURES.c.updated_at.desc()).limit(most)
    return tuple(_feature(row) for row in connection.execute(query).mappings())


def change(
    connection: sa.Connection, feature_id: str, *where: sa.ColumnElement[bool], **values: object
) -> bool:
    """Change a feature if all of ``where`` holds; return whether it was changed."""
    values.setdefault("updated_at", now_s(connection.engine))
    result = connection.execute(
        FEATURES.update().where(FEATURES.c.id == feature_id, *where).values(**values)
    )
    return result.rowcount == 1


def hosts(connection: sa.Connection) -> Mapping[str, HostFacts]:
    """Return all hosts by their ids, with the time since they were seen."""
    now = now_s(connection.engine)
    query = sa.select(HOSTS, (now - HOSTS.c.seen_at).label("age_s")).order_by(HOSTS.c.name)
    return {str(row["id"]): _host(row) for row in connection.execute(query).mappings()}


def host_repositories(connection: sa.Connection) -> Mapping[str, tuple[str, ...]]:
    """Return what each host may run, by its id; a host that has not said it is missing."""
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
        NotFoundError: It has not been seen by this fleet.
    """
    name = writable(name)
    host_id = connection.execute(sa.select(HOSTS.c.id).where(HOSTS.c.name == name)).scalar()
    if host_id is None:
        known = [each.name for each in hosts(connection).values()]
        raise NotFoundError(
            f"no host of the fleet is named `{name}`",
            hints=(f"hosts: {', '.join(known) or 'none yet'}",),
        )
    return str(host_id)


def _host(row: sa.RowMapping) -> HostFacts:
    """Return a host; what stands for a row that is none takes no feature, and is not alive."""
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
    """Return the decisions on a feature that its host has not delivered yet, oldest first."""
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
    """Return all decisions on a feature, oldest first."""
    query = (
        sa.select(DECISIONS).where(DECISIONS.c.feature == feature_id).order_by(DECISIONS.c.given_at)
    )
    return [_decision(row) for row in connection.execute(query).mappings()]


def answer(connection: sa.Connection, decision_id: str, status: str, said: str) -> None:
    """Note what became of a decision."""
    connection.execute(
        DECISIONS.update().where(DECISIONS.c.id == decision_id).values(status=status, answer=said)
    )
