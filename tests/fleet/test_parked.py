"""A feature whose agent waits for a usage limit holds no slot, and goes on by itself."""

import pytest
import sqlalchemy as sa

from agentmux.fleet.engine import rows
from tests.e2e.conftest import QUICK
from tests.fleet.conftest import FleetHost

pytestmark = pytest.mark.rare("it waits for limits; tests/app/loop waits for them with a clock")


def _limited(host: FleetHost, limit_s: float) -> None:
    host.project.scenario({**QUICK, "roles": {**QUICK["roles"], "coder": {"limit": limit_s}}})


def test_a_parked_feature_holds_no_slot_and_goes_on_when_its_limit_ends(
    host: FleetHost,
) -> None:
    _limited(host, 8)
    first = host.submit("--priority", "1")
    second = host.submit(feature="add a farewell")
    host.worker("--slots", "1")
    host.until(first, "parked")
    assert host.until(second, "running", "parked")["session"] is not False
    assert host.until(first, "waiting", "failed")["status"] == "waiting"
    session = host.session(first)
    assert session.kinds("agent_parked", "resumed", "agent_stalled") == ["agent_parked"]
    woken = [e["payload"]["how"] for e in session.events if e["event"] == "agent_woken"]
    # An agent that was told, and is then seen at work before it hands in, is noted once as busy.
    assert woken in (["told"], ["told", "busy"]), session.events
    assert host.until(second, "waiting", "failed")["status"] == "waiting"


def test_a_parked_session_that_was_lost_is_resumed_after_its_limit(
    host: FleetHost, engine: sa.Engine
) -> None:
    _limited(host, 15)
    feature = host.submit()
    worker = host.worker()
    host.until(feature, "parked")
    worker.kill()
    host.project.tmux("kill-server")
    host.worker()
    table = "workflow_status" if engine.dialect.name == "sqlite" else "dbos.workflow_status"
    with engine.begin() as connection:
        row = rows.feature(connection, feature)
        assert row is not None
        assert (row.status, row.idle_drives) == ("parked", 0)
        drive = {"id": f"{feature}:drive:{row.drive}"}
        due = f"SELECT delay_until_epoch_ms FROM {table} WHERE workflow_uuid = :id"
        due_s = connection.execute(sa.text(due), drive).scalar_one() / 1000
        assert 30 < due_s - row.updated_at < 60
        now = f"UPDATE {table} SET delay_until_epoch_ms = 0 WHERE workflow_uuid = :id"
        connection.execute(sa.text(now), drive)
    after = host.until(feature, "waiting", "failed")
    assert after["status"] == "waiting", f"{after}\n{host.log()}"
    assert host.session(feature).kinds("resumed") == ["resumed"]
