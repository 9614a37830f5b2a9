"""Which host takes a feature that another host cannot take. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from agentmux.core.codec.frozen import dataclass

HEARTBEAT_S: Final = 10.0
STALE_S: Final = 60.0
"""A host that was not seen for this time is stale."""
_ALIVE_S: Final = 3 * HEARTBEAT_S


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """What the fleet knows of a host.

    Attributes:
        id: The uuid of its worker.
        age_s: How long ago its worker was seen.
        busy: How many slots are taken.
        draining: Whether it takes nothing new.
        running: Whether its worker has not said that it ends.
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
        """Whether its worker runs, as far as one can know."""
        return self.running and self.age_s < _ALIVE_S

    @property
    def can_be_drained(self) -> bool:
        """Whether `fleet drain` would change what it does."""
        return self.running and not self.draining

    @property
    def free(self) -> int:
        """How many features it could take now."""
        return self.slots - self.busy if self.is_alive and not self.draining else 0


def host_with_room(hosts: Iterable[HostFacts], without: Collection[str]) -> str | None:
    """Return the id of the host with the most free slots; None where none has any.

    ``without`` are the ids of hosts that do not count.
    """
    able = [each for each in hosts if each.id not in without and each.free > 0]
    return max(able, key=lambda each: (each.free, each.id)).id if able else None
