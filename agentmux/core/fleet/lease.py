"""The lease of a session that a fleet runs: until when its orchestrator may act. Pure.

It is a file in the session's directory that the host's worker renews. A session without this file
does not belong to a fleet and may always act.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Final

from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.times import time_of
from agentmux.errors import BlockedError

NAME: Final = "lease"
"""The name of the lease file in the session's directory."""
MAX: Final = 4096
"""The largest lease file, in bytes."""

LAPSED: Final = (
    "the fleet's worker on this host has not renewed the lease of this session:"
    " it prompts, commits, pushes and opens nothing"
)
"""The problem that a session reports when its lease has lapsed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The time until which a session may act: only before both ``until`` and ``until_s``.

    Attributes:
        epoch: How often the feature has been given to a host; only the newest epoch is valid.
        until: The end of the lease by the host's wall clock, which goes on while the host is
            suspended.
        until_s: The end of the lease by the host's monotonic clock, in seconds. Nobody can set this
            clock, but it may stop while the host is suspended.
    """

    epoch: int
    until: datetime
    until_s: float

    def encode(self) -> str:
        """Return the content of the lease file, which `decode` reads."""
        at = self.until.astimezone(UTC).isoformat(timespec="milliseconds")
        return json.dumps({"epoch": self.epoch, "until": at, "until_s": self.until_s}) + "\n"


def decode(data: bytes) -> Lease | None:
    """Return the lease in ``data``, the content of a lease file; None if it is not valid."""
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
    """The session must not act because its lease has lapsed."""

    def __init__(self) -> None:
        super().__init__(
            LAPSED,
            reason="lease_lapsed",
            hints=("agentmux fleet worker", "agentmux fleet list --stale"),
        )


def require_lease(data: bytes, now: datetime, monotonic_s: float) -> None:
    """Check by its lease that the session may act now.

    Args:
        data: The content of the session's lease file.
        now: The current time, with its time zone.
        monotonic_s: The current time of the host's monotonic clock, in seconds.

    Raises:
        LeaseLapsedError: The lease has lapsed, or ``data`` is not a valid lease.
    """
    lease = decode(data)
    holds = lease is not None and now < lease.until and monotonic_s < lease.until_s
    if not holds:  # also if `until_s` is NaN
        raise LeaseLapsedError
