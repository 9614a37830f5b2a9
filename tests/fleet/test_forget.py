"""DBOS's rows of workflows that have ended are deleted, and no others."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from agentmux.fleet.engine.workflows import Enqueuer
from agentmux.wiring import machine
from tests.conftest import WaitUntil
from tests.fleet.conftest import FleetHost

pytestmark = pytest.mark.long


@pytest.mark.rare("a fleet seldom forgets")
def test_what_has_ended_is_forgotten_and_what_waits_is_not(
    host: FleetHost, engine: sa.Engine, wait_until: WaitUntil
) -> None:
    worker = host.worker()
    ended = host.submit(agent="no-such-agent")
    host.until(ended, "failed")
    enqueuer, day = Enqueuer(engine), timedelta(days=1)
    assert enqueuer.forget(machine.now() - day) == 0

    forgotten: list[int] = []

    def both() -> bool:
        forgotten.append(enqueuer.forget(machine.now() + day))
        return sum(forgotten) == 2  # one that admitted it, one that drove it

    wait_until(both)
    worker.kill()
    waits = host.submit()
    assert enqueuer.forget(machine.now() + day) == 0
    host.worker()
    assert host.until(waits, "waiting", "failed")["status"] == "waiting"
    assert host.show(ended)["status"] == "failed"
