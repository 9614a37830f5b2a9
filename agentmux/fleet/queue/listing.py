"""Reads the fleet for `fleet list` and `fleet show`, and puts it in the form of their JSON output.

Nothing here imports DBOS, so the desk and the web page, which read the fleet, do not load it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import sqlalchemy as sa

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.shape import replace_unencodable
from agentmux.core.fleet.routing import STALE_S, HostFacts
from agentmux.core.fleet.statuses import ENDED
from agentmux.errors import NotFoundError
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.database import explain_errors
from agentmux.fleet.engine.rows import Feature, FeatureDecision
from agentmux.fleet.engine.tables import FEATURES


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetView:
    """All hosts and features of the fleet at one moment.

    Attributes:
        hosts: The hosts by id, in the order of their names.
        features: The features in the order of submission.
    """

    hosts: Mapping[str, HostFacts]
    features: tuple[Feature, ...]

    def host_name(self, row: Feature) -> str:
        """Return the name of the host of ``row``; empty if it has none, or an unknown one."""
        host = self.hosts.get(row.host or "")
        return host.name if host is not None else ""

    @property
    def stale(self) -> tuple[HostFacts, ...]:
        """The hosts whose last report is at least `STALE_S` (60) seconds old, running or ended."""
        return tuple(each for each in self.hosts.values() if each.age_s >= STALE_S)

    def waiting_for(self, host: HostFacts) -> tuple[Feature, ...]:
        """Return the features assigned to ``host`` that have not ended: no other host takes them.

        Those that run there now are among them.
        """
        return tuple(
            each for each in self.features if each.host == host.id and each.status not in ENDED
        )


def fleet_view(engine: sa.Engine) -> FleetView:
    """Read all hosts and features from the database.

    Raises:
        MissingError: The database is unreachable.
        DataError: The database reported another error.
    """
    with explain_errors(engine), engine.connect() as connection:
        return FleetView(hosts=rows.hosts(connection), features=rows.features(connection))


def find(engine: sa.Engine, name: str) -> Feature:
    """Return the feature with the key ``name``, or else the one whose id begins with ``name``.

    It never returns None: without exactly one match, it raises.

    Raises:
        NotFoundError: No feature matches, or several do.
    """
    name = replace_unencodable(name)
    with explain_errors(engine), engine.connect() as connection:
        matches = rows.features(connection, FEATURES.c.key == name) or rows.features(
            connection, sa.func.substr(FEATURES.c.id, 1, len(name)) == name
        )
    if len(matches) == 1 and name:
        return matches[0]
    if matches and name:
        raise NotFoundError(
            f"several features of the fleet match `{name}`",
            hints=tuple(f"agentmux fleet show {each.id}" for each in matches[:5]),
        )
    raise NotFoundError(f"no feature of the fleet matches `{name}`", hints=("agentmux fleet list",))


def idle_host(engine: sa.Engine, row: Feature) -> str:
    """Return the name of a feature's host if no worker runs there; else an empty text.

    Empty also if the feature has no host. Whether a worker runs is read from the database
    now.

    Raises:
        MissingError: The database is unreachable.
    """
    with explain_errors(engine), engine.connect() as connection:
        host = rows.hosts(connection).get(row.host or "")
    return "" if host is None or host.is_alive else host.name


def feature_fields(view: FleetView, row: Feature) -> dict[str, object]:
    """Return a feature as ``agentmux fleet list --json`` prints it, for `json.dumps`.

    Returns:
        The keys ``id``, ``key``, ``session``, ``status``, ``phase``, ``host`` (its name),
        ``title``, ``priority``, ``reason``, ``decision`` (whether a person has to decide), and
        ``updated_at`` and ``submitted_at`` (both as `stamp` returns them). None in place of an
        empty text.
    """
    return {
        "id": row.id,
        "key": row.key,
        "session": row.session or None,
        "status": str(row.status),
        "phase": row.phase or None,
        "host": view.host_name(row) or None,
        "updated_at": stamp(row.updated_at),
        "title": row.title,
        "priority": row.priority,
        "reason": row.reason or None,
        "decision": row.question is not None,
        "submitted_at": stamp(row.submitted_at),
    }


def host_fields(view: FleetView, host: HostFacts) -> dict[str, object]:
    """Return a host as ``agentmux fleet list --json`` prints it, for `json.dumps`.

    Returns:
        The keys ``id``, ``name``, ``slots``, ``busy``, ``running`` and ``draining`` (as in
        `HostFacts`), ``seen_s`` (seconds since its last report), ``stale`` (whether these are
        `STALE_S` or more) and ``waiting`` (the ids of the features that only this host can
        continue).
    """
    return {
        "id": host.id,
        "name": host.name,
        "slots": host.slots,
        "busy": host.busy,
        "running": host.running,
        "draining": host.draining,
        "stale": host.age_s >= STALE_S,
        "seen_s": round(host.age_s, 1),
        "waiting": [each.id for each in view.waiting_for(host)],
    }


def decision_fields(decision: FeatureDecision) -> dict[str, object]:
    """Return a decision as ``agentmux fleet show --json`` prints it, for `json.dumps`.

    Returns:
        The keys ``id``, ``kind``, ``cycle``, ``digest``, ``by``, ``status`` and ``answer``, as in
        `FeatureDecision`; ``by`` and ``answer`` are None instead of empty.
    """
    return {
        "id": decision.id,
        "kind": decision.kind,
        "cycle": decision.cycle,
        "digest": decision.digest,
        "by": decision.by or None,
        "status": decision.status,
        "answer": decision.answer or None,
    }


def shown_fields(engine: sa.Engine, view: FleetView, row: Feature) -> dict[str, object]:
    """Return a feature as ``agentmux fleet show --json`` prints it, for `json.dumps`.

    Its decisions are read from the database.

    Returns:
        The keys of `feature_fields`; ``wish``, ``epoch``, ``drive``, ``idle_drives``, ``question``
        and ``result`` as in `Feature`; ``path``, None if there is none; and ``decisions``, a list
        with the `decision_fields` of each.
    """
    with explain_errors(engine), engine.connect() as connection:
        given = rows.decisions(connection, row.id)
    return {
        **feature_fields(view, row),
        "wish": dict(row.wish),
        "path": row.path or None,
        "epoch": row.epoch,
        "drive": row.drive,
        "idle_drives": row.idle_drives,
        "question": dict(row.question) if row.question else None,
        "result": dict(row.result) if row.result else None,
        "decisions": [decision_fields(each) for each in given],
    }


def stamp(seconds: float) -> str:
    """Return a time stamp as text: ``seconds`` of Unix time as ISO 8601 in UTC, to milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
