"""The hosts of a fleet, and which host takes a feature that another host cannot run. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from agentmux.core.codec.frozen import dataclass

HEARTBEAT_S: Final = 10.0
"""The interval, in seconds, at which a worker reports that it is alive."""
STALE_S: Final = 60.0
"""The time in seconds without a report of its worker after which a host is stale."""
_ALIVE_S: Final = 3 * HEARTBEAT_S


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """What the fleet's database says about a host.

    Attributes:
        id: The uuid of the host's worker.
        name: The name of the host.
        slots: How many features the host can run at the same time.
        busy: How many of the slots are taken.
        age_s: How long ago, in seconds, the worker last reported that it is alive.
        draining: Whether the host takes no more features.
        running: False if the worker has reported that it ended.
    """

    id: str
    name: str
    slots: int
    busy: int
    age_s: float
    draining: bool = False
    running: bool = True

    @property
    def is_alive(self) -> bool:
        """Whether the host's worker has not ended, and has reported in the last 30 seconds."""
        return self.running and self.age_s < _ALIVE_S

    @property
    def can_be_drained(self) -> bool:
        """Whether `fleet drain` would have an effect on the host."""
        return self.running and not self.draining

    @property
    def free(self) -> int:
        """How many more features the host could take now; 0 if it is not alive or is draining."""
        return self.slots - self.busy if self.is_alive and not self.draining else 0


def host_with_room(hosts: Iterable[HostFacts], without: Collection[str]) -> str | None:
    """Return the id of the host with the most free slots; None if no host has a free slot.

    ``without`` contains the ids of hosts to ignore.
    """
    able = [each for each in hosts if each.id not in without and each.free > 0]
    return max(able, key=lambda each: (each.free, each.id)).id if able else None
