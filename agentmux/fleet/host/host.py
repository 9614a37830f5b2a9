"""The state of this host that its worker, its drives and its admissions share."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import sqlalchemy as sa

from agentmux.core.codec.frozen import dataclass
from agentmux.fleet.engine.database import UNREACHABLE_ERRORS, retry_while_unreachable
from agentmux.fleet.engine.fleet_home import FleetHome
from agentmux.fleet.host.stopping import StoppingError

if TYPE_CHECKING:
    from agentmux.core.config.settings import FleetSettings
    from agentmux.fleet.engine.workflows import Enqueuer
    from agentmux.fleet.host.commands import HostCommands
    from agentmux.fleet.host.leases import Leases
    from agentmux.fleet.host.slots import Slots
    from agentmux.fleet.host.watching import HostWatch

T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Order:
    """What the worker last read from the database about a feature of this host.

    Attributes:
        cancelled: Whether a person has cancelled the feature.
        epoch: The feature's epoch. A session of another epoch no longer belongs to this host.
        drive: The number of the feature's newest workflow.
    """

    cancelled: bool
    epoch: int
    drive: int

    def cancels(self, drive: int) -> bool:
        """Return whether the drive with this number has to stop its session.

        A drive with another number is not cancelled: the feature may have been retried since.
        """
        return self.cancelled and self.drive == drive


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """This host, with everything that its drives and admissions need.

    Attributes:
        id: The host's id, a UUID.
        name: The host's name, unique in the fleet.
        place: The fleet's folder on this host.
        engine: The engine of the fleet's database.
        enqueuer: Enqueues workflows.
        commands: Runs commands of AgentMux.
        settings: The settings of the fleet.
        slots: The slots of this host, which limit how many features run at once.
        leases: Writes the lease files of the sessions, when it is told to.
        watching: Notices changes in the sessions' directories.
        environ: The environment variables of the worker.
        config: The file given with ``--config``; None if there was none.
        stop: An event that is set when the worker is about to end.
        draining: An event that is set when the host takes no more features.
        orders: What the worker last read about each unfinished feature of this host, by the
            feature's id.
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
    watching: HostWatch
    environ: Mapping[str, str]
    config: Path | None
    stop: threading.Event
    draining: threading.Event
    orders: dict[str, Order]

    def write(self, call: Callable[[sa.Connection], T]) -> T:
        """Call ``call`` with a connection in a transaction, commit, and return its result.

        While the database is unreachable, it waits and tries again, without a limit; so ``call``
        must be safe to repeat. ``call`` may also only read.

        Raises:
            StoppingError: The worker is about to end.
            DBAPIError: The database reported an error that a new try would not help against.
        """

        def once() -> T:
            with self.engine.begin() as connection:
                return call(connection)

        try:
            return retry_while_unreachable(once, stopping=self.stop.wait)
        except UNREACHABLE_ERRORS:
            if self.stop.is_set():
                raise StoppingError from None
            raise
