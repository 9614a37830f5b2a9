"""Features begin in the order of the backlog, and none on a host that is drained.

What the worker read of a feature may be older than its newest drive.
"""

import threading

import pytest
import sqlalchemy as sa

from agentmux.core.config.settings import FleetSettings
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.workflows import Enqueuer
from agentmux.fleet.host.commands import HostCommands
from agentmux.fleet.host.host import Host, Order
from agentmux.fleet.host.leases import Leases
from agentmux.fleet.host.slots import Slots
from agentmux.fleet.host.watching import HostWatch
from agentmux.fleet.queue.admission import admit
from tests.conftest import WaitUntil
from tests.fleet.conftest import FleetHost


@pytest.fixture
def alone(host: FleetHost, engine: sa.Engine) -> Host:
    """A host with one slot, whose worker looks at no queue."""
    repos = (str(host.project.path),)
    return Host(
        id=host.place.identity(),
        name="a",
        place=host.place,
        engine=engine,
        enqueuer=Enqueuer(engine),
        commands=HostCommands(environ=host.project.env, locks=host.place.drives),
        settings=FleetSettings(repos=repos),
        slots=Slots(1),
        leases=Leases(60),
        watching=HostWatch(lambda _: None),
        environ=host.project.env,
        config=None,
        stop=threading.Event(),
        draining=threading.Event(),
        orders={},
    )


def _statuses(host: Host, *features: str) -> list[str]:
    with host.engine.connect() as connection:
        return [getattr(rows.feature(connection, each), "status", "") for each in features]


def test_a_slot_goes_to_the_first_of_the_backlog_whoever_asks_for_it(
    host: FleetHost, alone: Host, wait_until: WaitUntil
) -> None:
    """The threads of admissions begin in any order."""
    elsewhere = "https://git.invalid/x.git"  # not in the settings of the worker
    host.allow(str(host.project.path), elsewhere)
    host.submit("--priority", "1", "--repo", elsewhere)
    late, first, second = (host.submit("--priority", each) for each in ("9", "1", "1"))
    said: list[str] = []

    def ask() -> None:
        said.append(admit(alone, late, 1))

    asking = threading.Thread(target=ask)
    asking.start()
    for taken, waiting in ((first, second), (second, late)):
        wait_until(lambda taken=taken: _statuses(alone, taken) == ["running"])
        assert _statuses(alone, waiting) == ["queued"]
        assert admit(alone, taken, 1) == "superseded"
        wait_until(lambda taken=taken: taken in alone.slots._held)
        alone.slots.free(taken)  # its drive has ended
    asking.join(60)
    assert said == ["taken"]
    assert late in alone.slots._held


def test_a_drained_host_takes_nothing_that_waited_there(
    host: FleetHost, alone: Host, wait_until: WaitUntil
) -> None:
    begun, waiting = host.submit(), host.submit()
    assert admit(alone, begun, 1) == "taken"
    said: list[str] = []
    asking = threading.Thread(target=lambda: said.append(admit(alone, waiting, 1)))
    asking.start()
    wait_until(lambda: len(alone.slots._waiting) == 1)
    alone.draining.set()
    alone.slots.free(begun)
    asking.join(60)
    assert said == ["passed on to any host"]
    assert _statuses(alone, begun, waiting) == ["running", "queued"]
    assert alone.slots.busy == 0


def test_a_cancel_stops_the_drive_that_it_was_given_for_and_none_that_follows() -> None:
    order = Order(cancelled=True, epoch=1, drive=3)
    assert order.cancels(3)
    assert not order.cancels(4)  # a retry has begun it
    assert not Order(cancelled=False, epoch=1, drive=3).cancels(3)
