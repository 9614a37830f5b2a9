"""Updates features whose ended sessions were exported from this host, or imported back."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from agentmux.app.session.search.lookup import entry_at
from agentmux.core.fleet.statuses import FleetStatus, outcome
from agentmux.core.names import layout
from agentmux.core.names.status_labels import SessionStatus
from agentmux.fleet.decisions.deciding import same_row
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.tables import FEATURES
from agentmux.fleet.host.untrusted_rows import session_of
from agentmux.wiring import build

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux.fleet.engine.rows import Feature
    from agentmux.fleet.host.host import Host

logger = logging.getLogger(__name__)

_LOOKED_AT: Final = 100
"""How many features of this host are looked at, those that changed last."""


class ExportWatch:
    """Finds sessions of this host that were exported, or imported back, each time `look` is called.

    It reads a session only if its state file has changed since the last call.
    """

    def __init__(self) -> None:
        self._seen: dict[Path, int] = {}

    def look(self, host: Host) -> None:
        """Update the features in the database whose session was exported or imported back.

        After an export, a failed feature becomes moved. When its session is back, a moved feature
        becomes failed. Only stopped sessions can be exported, so no drive runs for these features.

        Raises:
            DBAPIError: The database is unreachable.
        """
        with host.engine.connect() as connection:
            features = rows.last_changed(
                connection,
                FEATURES.c.host == host.id,
                FEATURES.c.status.in_([FleetStatus.FAILED, FleetStatus.MOVED]),
                FEATURES.c.path != "",
                most=_LOOKED_AT,
            )
        seen: dict[Path, int] = {}
        for row in features:
            path = session_of(host, row)
            at = None if path is None else _changed_at(path)
            if path is None or at is None:
                continue
            if self._seen.get(path) != at:
                self._note(host, row, path)
            seen[path] = at
        self._seen = seen

    @staticmethod
    def _note(host: Host, row: Feature, path: Path) -> None:
        site = build.site(path.parents[2], config=host.config, environ=host.environ)
        entry = entry_at(site, path)
        now = outcome(SessionStatus.MOVED if entry.is_moved else SessionStatus.STOPPED, 0.0, "")
        is_known = entry.is_moved is (row.status is FleetStatus.MOVED)
        if not entry.fields or is_known or now is None:
            return  # it cannot be read, or the fleet already has this status
        values = {"status": now.status, "reason": now.reason}
        with host.engine.begin() as connection:
            written = rows.change(connection, row.id, *same_row(row), **values)
        if written:
            logger.info("%s is %s", path.name, now.status)


def _changed_at(session: Path) -> int | None:
    try:
        return (session / layout.STATE).stat().st_mtime_ns
    except OSError:  # it was removed
        return None
