"""A feature whose agent waits for a usage limit holds no slot, and goes on by itself."""

import sqlalchemy as sa

from agentmux.fleet import rows
from tests.conftest import WaitUntil
from tests.e2e.conftest import QUICK
from tests.fleet.conftest import FleetHost


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
    assert host.session(first).kinds("agent_parked", "agent_woken") == [
        "agent_parked",
        "agent_woken",
    ]
    assert host.until(second, "waiting", "failed")["status"] == "waiting"


def test_a_parked_session_that_was_lost_is_resumed_after_its_limit(
    host: FleetHost, engine: sa.Engine, wait_until: WaitUntil
) -> None:
    _limited(host, 4)
    feature = host.submit()
    worker = host.worker()
    parked = host.until(feature, "parked")
    worker.kill()
    host.project.tmux("kill-server")
    host.worker()
    with engine.begin() as connection:
        due_ms = connection.execute(
            sa.text("SELECT delay_until_epoch_ms FROM workflow_status WHERE workflow_uuid = :id")
            if engine.dialect.name == "sqlite"
            else sa.text(
                "SELECT delay_until_epoch_ms FROM dbos.workflow_status WHERE workflow_uuid = :id"
            ),
            {"id": f"{feature}:drive:{parked['drive']}"},
        ).scalar()
        row = rows.feature(connection, feature)
    assert row is not None
    assert 20 < float(due_ms or 0) / 1000 - row.updated_at < 60
    after = host.until(feature, "waiting", "failed")
    assert after["status"] == "waiting", f"{after}\n{host.log()}"
    assert host.session(feature).kinds("resumed") == ["resumed"]
