"""A repository that git does not reach is tried again; meanwhile its features hold no slot."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from agentmux.fleet.engine import rows
from tests.fleet.conftest import FleetHost

pytestmark = pytest.mark.rare(
    "it waits for a database that is away; test_network.py cuts a real one"
)

URL = "https://git.invalid/team/calc.git"


@pytest.fixture
def origin(host: FleetHost) -> Path:
    """The folder that git on the host takes for `URL`; it is not there yet."""
    folder = host.project.root / "origin.git"
    with (host.project.home / ".gitconfig").open("a") as file:
        file.write(f'[url "{folder}"]\n\tinsteadOf = {URL}\n')
    host.allow(str(host.project.path), URL)
    return folder


def _appears(host: FleetHost, origin: Path) -> None:
    host.project.git("clone", "-q", "--bare", ".", str(origin))


def _now(engine: sa.Engine, feature: str) -> float:
    """Let the next drive of a feature begin; return how many seconds it would have waited."""
    table = "workflow_status" if engine.dialect.name == "sqlite" else "dbos.workflow_status"
    with engine.begin() as connection:
        row = rows.feature(connection, feature)
        assert row is not None
        drive = {"id": f"{feature}:drive:{row.drive}"}
        due = f"SELECT delay_until_epoch_ms FROM {table} WHERE workflow_uuid = :id"
        due_s = float(connection.execute(sa.text(due), drive).scalar_one()) / 1000
        now = f"UPDATE {table} SET delay_until_epoch_ms = 0 WHERE workflow_uuid = :id"
        connection.execute(sa.text(now), drive)
    return due_s - row.updated_at


def _until_tried(host: FleetHost, feature: str, times: int) -> rows.Feature:
    """Wait until a feature rests after so many drives."""
    return host.look_until(feature, lambda row: (row.idle_drives, row.status) == (times, "parked"))


def test_a_clone_that_fails_is_made_later_and_holds_no_slot_meanwhile(
    host: FleetHost, origin: Path, engine: sa.Engine
) -> None:
    feature = host.submit("--repo", URL, "--priority", "1")
    other = host.submit(feature="add a farewell")
    host.worker("--slots", "1")
    assert "could not be cloned" in _until_tried(host, feature, 1).reason
    assert "could not be cloned" in host.ok("list")
    assert host.until(other, "waiting", "failed")["status"] == "waiting"
    assert 10 < _now(engine, feature) < 20
    _until_tried(host, feature, 2)
    _appears(host, origin)
    assert 50 < _now(engine, feature) < 70
    assert host.until(feature, "waiting", "failed")["status"] == "waiting"


def test_a_fetch_that_fails_is_tried_as_often_as_a_clone_and_then_fails(
    host: FleetHost, origin: Path, engine: sa.Engine
) -> None:
    _appears(host, origin)
    first = host.submit("--repo", URL)
    host.worker()
    host.until(first, "waiting")
    origin.rename(origin.with_suffix(".away"))
    feature = host.submit("--repo", URL, feature="add a farewell")
    for times in range(1, 5):
        assert "could not be fetched" in _until_tried(host, feature, times).reason
        _now(engine, feature)
    shown = host.until(feature, "failed")
    assert shown["reason"].startswith("dead letter after 5 drives without progress: `https:")

    origin.with_suffix(".away").rename(origin)
    host.ok("retry", feature)
    assert host.until(feature, "waiting", "failed")["status"] == "waiting"


def test_a_feature_that_waits_for_its_repository_is_cancelled_at_once(
    host: FleetHost, origin: Path
) -> None:
    feature = host.submit("--repo", URL)
    host.worker()
    _until_tried(host, feature, 1)
    host.ok("cancel", feature)
    assert host.until(feature, "failed")["reason"] == "cancelled"
