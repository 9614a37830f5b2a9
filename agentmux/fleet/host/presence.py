"""Tells the fleet that a worker runs, and raises an error if the worker must not continue."""

from __future__ import annotations

import platform
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.exc import ProgrammingError

from agentmux.core.fleet.routing import HostFacts
from agentmux.core.names.version import VERSION
from agentmux.errors import BlockedError, DataError
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.database import file_of, now_s, require_version
from agentmux.fleet.engine.tables import CONTRACT, HOST_REPOS, HOSTS

if TYPE_CHECKING:
    from agentmux.fleet.host.host import Host


def _explain_replaced() -> DataError:
    return DataError(
        "the database of the fleet was deleted or replaced while this worker ran",
        hints=("when the right one is there: agentmux fleet worker",),
    )


class Presence:
    """Writes the row of this host in the fleet's database, once per call; it has no thread.

    The worker calls `begin` at its start, `beat` every few seconds, and `end` at its end.
    """

    def __init__(self, host: Host, slots: int) -> None:
        self._host, self._engine, self._slots = host, host.engine, slots
        self._run = str(uuid.uuid4())
        self._file = file_of(host.engine)

    def begin(self) -> None:
        """Write once that this worker runs, with how many slots, and for which repositories.

        Raises:
            BlockedError: Another host has the same name, or another worker has this host's id.
        """
        host = self._host
        values = {
            "name": host.name,
            "address": platform.node(),
            "folder": str(host.place.folder),
            "run": self._run,
            "slots": self._slots,
            "busy": 0,
            "running": True,
            "draining": False,
            "contract": CONTRACT,
            "program": VERSION,
            "lease_s": host.settings.lease_s,
            "seen_at": now_s(self._engine),
        }
        with self._engine.begin() as connection:
            named = connection.execute(
                sa.select(HOSTS.c.id).where(HOSTS.c.name == host.name, HOSTS.c.id != host.id)
            ).scalar()
            if named is not None:
                raise BlockedError(
                    f"another host of the fleet is named {host.name}",
                    reason="name_taken",
                    hints=("choose another: agentmux fleet worker --name HOST",),
                )
            self._require_own_identity(connection, values)
            known = connection.execute(HOSTS.update().where(HOSTS.c.id == host.id).values(**values))
            if not known.rowcount:
                connection.execute(HOSTS.insert().values(id=host.id, **values))
        self._tell_repositories()

    def _tell_repositories(self) -> None:
        """Write which repositories this host may run, for those who submit from other hosts."""
        with suppress(ProgrammingError):  # an older database, where we may not create tables
            HOST_REPOS.create(self._engine, checkfirst=True)
            with self._engine.begin() as connection:
                connection.execute(HOST_REPOS.delete().where(HOST_REPOS.c.host == self._host.id))
                repos = list(self._host.settings.repos)
                connection.execute(HOST_REPOS.insert().values(host=self._host.id, repos=repos))

    def _require_own_identity(self, connection: sa.Connection, values: dict[str, object]) -> None:
        """Check that no worker in another folder or on another machine runs with this host's id.

        That happens if the file with the id was copied.
        """
        facts: HostFacts | None = rows.hosts(connection).get(self._host.id)
        there = connection.execute(
            sa.select(HOSTS.c.address, HOSTS.c.folder).where(HOSTS.c.id == self._host.id)
        ).first()
        if facts is None or there is None or not facts.is_alive:
            return
        if (there.address, there.folder) != (values["address"], values["folder"]):
            raise self._explain_taken(f"a worker on {there.address} in {there.folder}")

    def _explain_taken(self, who: str) -> BlockedError:
        return BlockedError(
            f"{who} has the identity of this host",
            reason="identity_taken",
            hints=(f"where it was copied, remove it: {self._host.place.identity_file}",),
        )

    def beat(self, busy: int) -> None:
        """Write once that this worker still runs; ``busy`` is how many of its slots are taken.

        Raises:
            BlockedError: Another worker runs with this host's id now.
            DataError: The database was deleted or replaced, or has another contract version.
        """
        if file_of(self._engine) != self._file:
            raise _explain_replaced()
        mine = HOSTS.c.id == self._host.id
        with self._engine.begin() as connection:
            require_version(connection)
            known = connection.execute(
                HOSTS.update()
                .where(mine, HOSTS.c.run == self._run)
                .values(seen_at=now_s(self._engine), busy=busy)
            )
            other = connection.execute(sa.select(HOSTS.c.run).where(mine)).scalar()
            if other is None:
                raise _explain_replaced()
            if not known.rowcount:
                raise self._explain_taken("another worker")

    def end(self) -> None:
        """Write once that this worker has ended, unless a newer worker has taken over the row."""
        mine = (HOSTS.c.id == self._host.id, HOSTS.c.run == self._run)
        with self._engine.begin() as connection:
            connection.execute(HOSTS.update().where(*mine).values(running=False, busy=0))
