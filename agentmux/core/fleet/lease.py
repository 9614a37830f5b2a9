"""The lease of a session that a fleet runs: until when its orchestrator may act. Pure.

The worker of the host renews it in the session's directory. A session without a lease belongs to no
fleet, and always may act.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.times import time_of
from agentmux.errors import BlockedError

NAME: Final = "lease"
"""The file's name in the session's directory."""
MAX: Final = 4096
"""The most bytes of the file."""

LAPSED: Final = (
    "the fleet's worker on this host has not renewed the lease of this session:"
    " it prompts, commits, pushes and opens nothing"
)
"""What a session says whose lease has lapsed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Until when a session may act.

    Attributes:
        epoch: How often the feature has been given to a host; only the newest one counts.
        until: The session acts before this time, by the clock of its own host.
        until_s: And before this time of the host's monotonic clock, which nobody can set. That one
            may stand still while the host is suspended, and the other one does not.
    """

    epoch: int
    until: datetime
    until_s: float

    def encode(self) -> str:
        """Return the content of the file."""
        at = self.until.astimezone(UTC).isoformat(timespec="milliseconds")
        return json.dumps({"epoch": self.epoch, "until": at, "until_s": self.until_s}) + "\n"


def decode(data: bytes) -> Lease | None:
    """Return the lease in a file; None if the content is no lease."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    epoch, until, until_s = fields.get("epoch"), time_of(fields.get("until")), fields.get("until_s")
    if type(epoch) is not int or epoch < 1 or until is None or not isinstance(until_s, float):
        return None
    return Lease(epoch=epoch, until=until, until_s=until_s)


class LeaseLapsedError(BlockedError):
    """The session's lease has lapsed, so it must not act."""

    def __init__(self) -> None:
        super().__init__(
            LAPSED,
            reason="lease_lapsed",
            hints=("agentmux fleet worker", "agentmux fleet list --stale"),
        )


def require_lease(data: bytes, now: datetime, monotonic_s: float) -> None:
    """Check that a session may act.

    Args:
        data: The content of its lease file.
        now: The present time.
        monotonic_s: The present time of the host's monotonic clock.

    Raises:
        LeaseLapsedError: It may not. A file that holds no lease counts as one that has lapsed.
    """
    lease = decode(data)
    holds = lease is not None and now < lease.until and monotonic_s < lease.until_s
    if not holds:  # nor does a time that is no number
        raise LeaseLapsedError
