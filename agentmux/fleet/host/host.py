"""A host of the fleet, as its worker, its drives and its admissions share it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import sqlalchemy as sa

from agentmux.core.codec.frozen import dataclass
from agentmux.fleet.engine.database import AWAY, persistent
from agentmux.fleet.engine.fleet_home import FleetHome
from agentmux.fleet.host.stopping import StoppingError

if TYPE_CHECKING:
    from agentmux.core.config.settings import FleetSettings
    from agentmux.fleet.engine.workflows import Enqueuer
    from agentmux.fleet.host.commands import HostCommands
    from agentmux.fleet.host.leases import Leases
    from agentmux.fleet.host.slots import Slots
    from agentmux.fleet.host.watching import Watching

T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Order:
    """What the database says of a feature that runs here.

    Attributes:
        epoch: The epoch in which this host has it; another one: it has it no more.
        drive: The number of its newest workflow.
    """

    cancelled: bool
    epoch: int
    drive: int

    def cancels(self, drive: int) -> bool:
        """Return whether the drive with this number is to stop its session.

        What was read before a retry cancels only the drive before it.
        """
        return self.cancelled and self.drive == drive


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """This host.

    Attributes:
        id: The uuid of its worker.
        stop: Is set when the worker ends.
        draining: Is set when the host takes nothing more.
        orders: By the id of each feature of this host, what the worker last read of it.
    """

    id: str
    name: str
    place: FleetHome
    engine: sa.Engine
    enqueuer: Enqueuer
    commands: HostCommands
    settings: FleetSettings
    slots: Slots
    leases: Leases
    watching: Watching
    environ: Mapping[str, str]
    config: Path | None
    stop: threading.Event
    draining: threading.Event
    orders: dict[str, Order]

    def write(self, call: Callable[[sa.Connection], T]) -> T:
        """Return ``call`` of a connection in a transaction; wait while the database is away.

        Raises:
            StoppingError: The worker ends.
        """

        def once() -> T:
            with self.engine.begin() as connection:
                return call(connection)

        try:
            return persistent(once, stopping=self.stop.wait)
        except AWAY:
            if self.stop.is_set():
                raise StoppingError from None
            raise
