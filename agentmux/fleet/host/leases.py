"""The leases of the sessions of a host: written beside each session, as long as the fleet agrees.

A worker that the database does not hear of cannot renew them; its sessions then stop acting.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from agentmux.adapters.disk import files
from agentmux.core.codec.frozen import dataclass
from agentmux.core.fleet import lease
from agentmux.core.fleet.lease import Lease
from agentmux.errors import AgentmuxError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Until:
    """An end of leases, by both clocks of the host."""

    wall: datetime
    monotonic_s: float

    def lease(self, epoch: int) -> str:
        """Return the content of the lease file of a session that was given in this epoch."""
        return Lease(epoch=epoch, until=self.wall, until_s=self.monotonic_s).encode()


_NEVER: Final = Until(datetime.fromtimestamp(0, UTC), 0.0)


class Leases:
    """Renews leases until a time that the worker has agreed with the database."""

    def __init__(self, lease_s: float) -> None:
        self._lease_s = lease_s
        self._until = _NEVER
        self._lock = threading.Lock()

    def heard(self, at: datetime, monotonic_s: float) -> None:
        """Note that the database heard of this worker, which was asked at these two times."""
        with self._lock:
            until_s = monotonic_s + self._lease_s
            self._until = Until(at + timedelta(seconds=self._lease_s), until_s)

    def have_lapsed(self, at: datetime, monotonic_s: float) -> bool:
        """Return whether no lease holds at these times; so it is before the first `heard`."""
        with self._lock:
            return at >= self._until.wall or monotonic_s >= self._until.monotonic_s

    def text(self, epoch: int) -> str:
        """Return the content of the lease file of a session that is given in this epoch."""
        with self._lock:
            return self._until.lease(epoch)

    def write(self, session: Path, epoch: int) -> None:
        """Renew the lease of a session; one of a newer epoch is left alone."""
        data = files.read_limited(session / lease.NAME, lease.MAX)
        there = lease.decode(data) if data is not None else None
        text = self.text(epoch).encode()
        if (there is not None and there.epoch > epoch) or data == text or not session.is_dir():
            return
        try:
            files.replace(session / lease.NAME, text)
        except (AgentmuxError, OSError) as error:
            logger.warning("could not renew the lease of %s: %s", session.name, error)

    def end(self, session: Path, epoch: int) -> None:
        """Let the lease of a session lapse at once: it belongs to another host now."""
        if session.is_dir():
            files.replace(session / lease.NAME, _NEVER.lease(epoch).encode())

    def has_ended(self, session: Path) -> bool:
        """Return whether the lease of a session was ended."""
        data = files.read_limited(session / lease.NAME, lease.MAX)
        there = lease.decode(data) if data is not None else None
        return there is not None and there.until == _NEVER.wall

    def renew(self, sessions: Mapping[Path, int]) -> None:
        """Renew the leases of these sessions, each with its epoch."""
        for session, epoch in sessions.items():
            self.write(session, epoch)
