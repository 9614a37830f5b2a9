"""Renews the leases of a host's sessions, which are files in the sessions' directories.

A worker that does not reach the database cannot renew them; its sessions then stop acting.
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
    """The moment at which leases lapse, by two clocks of the host; the earlier one counts.

    Attributes:
        wall: The time by the host's clock.
        monotonic_s: The time by the host's monotonic clock, in seconds.
    """

    wall: datetime
    monotonic_s: float

    def lease(self, epoch: int) -> str:
        """Return the content of a lease file that lapses at this moment; write nothing.

        ``epoch`` is the epoch of the feature (`Feature.epoch`) to which the session belongs.
        """
        return Lease(epoch=epoch, until=self.wall, until_s=self.monotonic_s).encode()


_NEVER: Final = Until(datetime.fromtimestamp(0, UTC), 0.0)


class Leases:
    """Writes the lease files of a host's sessions, when the worker calls its methods.

    A lease says until when a session may act: for ``lease_s`` seconds from the last time that the
    worker reached the database (`extend`).
    """

    def __init__(self, lease_s: float) -> None:
        self._lease_s = lease_s
        self._until = _NEVER
        self._lock = threading.Lock()

    def extend(self, at: datetime, monotonic_s: float) -> None:
        """Set when leases lapse from now on: ``lease_s`` seconds after ``at``; write no file.

        Call it after the worker has reached the database.

        Args:
            at: When the worker sent its request to the database.
            monotonic_s: The same moment by the monotonic clock, in seconds.
        """
        with self._lock:
            until_s = monotonic_s + self._lease_s
            self._until = Until(at + timedelta(seconds=self._lease_s), until_s)

    def have_lapsed(self, at: datetime, monotonic_s: float) -> bool:
        """Return whether the leases of the last `extend` have lapsed; True before the first one.

        Args:
            at: The moment by the host's clock.
            monotonic_s: The same moment by the monotonic clock, in seconds.
        """
        with self._lock:
            return at >= self._until.wall or monotonic_s >= self._until.monotonic_s

    def text(self, epoch: int) -> str:
        """Return the content of a lease file that lapses as the last `extend` says; write nothing.

        ``epoch`` is the epoch of the session's feature (`Feature.epoch`).
        """
        with self._lock:
            return self._until.lease(epoch)

    def write(self, session: Path, epoch: int) -> None:
        """Write the lease file of a session, unless it holds a lease of a newer epoch.

        The lease lapses as the last `extend` says. A file that cannot be written is logged and does
        not raise an error.

        Args:
            session: The session's directory; nothing is done if it does not exist.
            epoch: The epoch of the session's feature.
        """
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
        """Make the lease of a session lapse at once, because its feature left this host.

        ``epoch`` is the epoch of the feature to which the session belongs. Nothing is done if the
        directory ``session`` does not exist.

        Raises:
            DataError: The lease file cannot be written.
        """
        if session.is_dir():
            files.replace(session / lease.NAME, _NEVER.lease(epoch).encode())

    def has_ended(self, session: Path) -> bool:
        """Return whether the lease of a session was ended with `end`, by this or another worker."""
        data = files.read_limited(session / lease.NAME, lease.MAX)
        there = lease.decode(data) if data is not None else None
        return there is not None and there.until == _NEVER.wall

    def renew(self, sessions: Mapping[Path, int]) -> None:
        """Write the lease file of each session, as `write` does.

        Args:
            sessions: The epoch of each session's feature, by the session's directory.
        """
        for session, epoch in sessions.items():
            self.write(session, epoch)
