"""Submits features to the fleet. A feature with a key is submitted only once."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from agentmux.app.person import Person
from agentmux.core.codec.frozen import dataclass
from agentmux.core.fleet.fleet_request import (
    FleetRequest,
    difference,
    from_fields,
    require_request,
    to_fields,
)
from agentmux.core.fleet.repositories import is_allowed, is_url
from agentmux.core.fleet.statuses import FleetStatus
from agentmux.errors import ConfigError, NotFoundError, UsageError
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.database import explain_errors, now_s
from agentmux.fleet.engine.tables import FEATURES
from agentmux.fleet.engine.workflows import ADMIT, Enqueuer, Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """What `submit` returns for a request: the feature that is in the fleet now.

    Attributes:
        id: The feature's id.
        key: The feature's key; empty if it has none.
        title: One line that says what the feature is about.
        new: True if this call submitted the feature; False if its key had been submitted before.
    """

    id: str
    key: str
    title: str
    new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRepositories:
    """The repositories that this host's user allows the fleet to run.

    Attributes:
        allowed: The entries of the setting ``fleet.repos``: paths or URLs, in which ``*`` matches
            any characters but ``/``.
        config: The user's configuration file, which has that setting; named in hints.
    """

    allowed: tuple[str, ...]
    config: Path


def submit_allowed(
    engine: sa.Engine, person: Person, requests: Sequence[FleetRequest], own: OwnRepositories
) -> tuple[Submitted, ...]:
    """Submit requests as `submit` does, after checking that some host may run each of them.

    A host may run the repositories that its setting ``fleet.repos`` allows. Its worker has told the
    fleet which ones; a host that has told nothing may run any. This host may also run what ``own``
    allows. If only some of the hosts may run a repository, the person is warned.

    Args:
        engine: The engine of the fleet's database.
        person: Gets the warnings; is asked nothing.
        requests: What to submit: all of them, or none if an error is raised.
        own: What this host's user allows.

    Returns:
        The features, in the order of the requests.

    Raises:
        ConfigError: No host may run the repository of a request.
        NotFoundError: The repository is not on this host, which is the whole fleet; or the fleet
            has no host with the name that a request asks for.
        UsageError: A request is invalid, or its key belongs to a feature with other arguments.
        MissingError: The database is unreachable.
    """
    with explain_errors(engine), engine.connect() as connection:
        hosts, repos = rows.hosts(connection), rows.host_repositories(connection)
    is_alone = engine.dialect.name == "sqlite"
    for repo in dict.fromkeys(each.repo for each in requests):
        # A host that has not said what it may run may run anything.
        able = [e.name for e in hosts.values() if is_allowed(repo, repos.get(e.id, (repo,)))]
        if not able and not is_allowed(repo, own.allowed) and (hosts or is_alone):
            raise _not_allowed(own.config, repo, is_alone=is_alone)
        if able and len(able) < len(hosts):
            person.note(f"warning: of the fleet's hosts only {', '.join(able)} may run {repo}")
        if is_alone and not is_url(repo) and not Path(repo).is_dir():
            raise NotFoundError(f"the repository {repo} does not exist on this host")
    return submit(engine, requests)


def _not_allowed(config: Path, repo: str, *, is_alone: bool) -> ConfigError:
    where = f"add it in {config}" if is_alone else "add it in the configuration of a host's user"
    return ConfigError(
        f"`fleet.repos` does not allow {repo} on {'this' if is_alone else 'any'} host",
        hints=(f"{where}: fleet: {{repos: ['{repo}']}}",),
    )


def submit(engine: sa.Engine, requests: Sequence[FleetRequest]) -> tuple[Submitted, ...]:
    """Submit all requests in one transaction, and return their features in the same order.

    Each new feature is queued, so that a worker begins it later. A request whose key was submitted
    before, with equal arguments, adds no feature. If an error is raised, no request was submitted.

    Raises:
        UsageError: A request is invalid, or its key belongs to a feature with other arguments.
        NotFoundError: The fleet has no host with the name that a request asks for.
        MissingError: The database is unreachable.
    """
    requests = tuple(require_request(each) for each in requests)
    enqueuer = Enqueuer(engine)
    for last in (False, True):
        try:
            with explain_errors(engine), engine.begin() as connection:
                return tuple(
                    _submit(connection, enqueuer, each, number)
                    for number, each in enumerate(requests)
                )
        except IntegrityError:  # pragma: no cover (another submission was faster)
            if last:
                raise
        except Exception as error:
            # `explain_errors` wraps the database's error for a key that was submitted meanwhile.
            if last or not isinstance(error.__cause__, IntegrityError):
                raise
    raise AssertionError


_APART_S: Final = 1e-5
"""Seconds between the submission times of requests in one call, so that lists keep their order."""


def _submit(
    connection: sa.Connection, enqueuer: Enqueuer, request: FleetRequest, number: int
) -> Submitted:
    """Submit one request.

    Args:
        connection: The connection whose transaction makes the change.
        enqueuer: Enqueues the feature's admission.
        request: A valid request.
        number: The request's position, from 0, among those that are submitted together.
    """
    there = _with_key(connection, request.key) if request.key else None
    if there is not None:
        differs = difference(from_fields(there.wish), request)
        if differs:
            raise UsageError(
                f"the key `{request.key}` was submitted before, with other arguments: "
                + "; ".join(differs),
                hints=(f"agentmux fleet show {there.id}", "or choose another key"),
            )
        return Submitted(id=there.id, key=request.key, title=there.title, new=False)
    host = rows.require_host(connection, request.host) if request.host else None
    feature_id = str(uuid.uuid4())
    now = now_s(connection.engine)
    connection.execute(
        FEATURES.insert().values(
            id=feature_id,
            key=request.key or None,
            wish=to_fields(request),
            title=request.title[:200],
            priority=request.priority,
            status=FleetStatus.QUEUED,
            host=host,
            pinned=host is not None,
            refused_by=[],
            drive=1,
            submitted_at=now + number * _APART_S,
            updated_at=now,
        )
    )
    job = Job(kind=ADMIT, feature=feature_id, number=1, priority=request.priority, host=host)
    enqueuer.enqueue(connection, job)
    return Submitted(id=feature_id, key=request.key, title=request.title, new=True)


def _with_key(connection: sa.Connection, key: str) -> rows.Feature | None:
    matches = rows.features(connection, FEATURES.c.key == key)
    return matches[0] if matches else None
