"""What a worker took from a queue and never ran, because the database went away, is run again.

So it was after a crash of PostgreSQL: the server had committed the taking, and could not say so.
"""

import pytest
import sqlalchemy as sa

from agentmux.core.fleet.fleet_request import FleetRequest
from agentmux.core.fleet.statuses import FleetStatus
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.workflows import DRIVE, Enqueuer, Job
from agentmux.fleet.queue.submission import submit
from tests.fleet.conftest import FleetHost

pytestmark = pytest.mark.long


def _take(connection: sa.Connection, workflow: str, host: str) -> None:
    """Take a workflow for a host, as DBOS does, and do not run it."""
    schema = "dbos." if connection.dialect.name == "postgresql" else ""
    taken = sa.text(
        f"UPDATE {schema}workflow_status SET status = 'PENDING', executor_id = :host"
        " WHERE workflow_uuid = :workflow"
    )
    assert connection.execute(taken, {"host": host, "workflow": workflow}).rowcount == 1


def test_what_was_taken_and_never_run_is_run_again(host: FleetHost, engine: sa.Engine) -> None:
    host.allow("/nowhere", lease_s=3)
    admitted, driven = submit(
        engine,
        [
            FleetRequest(repo="/nowhere", feature="one"),
            FleetRequest(repo="/nowhere", feature="other"),
        ],
    )
    identity = host.place.identity()
    with engine.begin() as connection:  # they are another host's until this one runs
        _take(connection, f"{admitted.id}:admit:1", "another")
        _take(connection, f"{driven.id}:admit:1", "another")
        values = {"status": FleetStatus.RUNNING, "host": identity, "drive": 2}
        assert rows.change(connection, driven.id, **values)
        job = Job(kind=DRIVE, feature=driven.id, number=2, priority=1, host="another")
        Enqueuer(engine).enqueue(connection, job)
    host.worker()  # at its start it looks for what it had
    with engine.begin() as connection:
        _take(connection, f"{admitted.id}:admit:1", identity)
        _take(connection, f"{driven.id}:drive:2", identity)
    for each in (admitted, driven):
        assert "does not exist on this host" in host.until(each.id, "failed")["reason"]
