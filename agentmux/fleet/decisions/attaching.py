"""Attaches to a feature's session: directly on this host, or through ssh on another host."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

import sqlalchemy as sa

from agentmux.adapters.system.processes import foreground
from agentmux.core.codec.frozen import dataclass
from agentmux.core.fleet.fleet_request import from_fields, session_slug
from agentmux.core.names import layout
from agentmux.errors import DataError, NotFoundError
from agentmux.fleet.engine.database import explain_errors
from agentmux.fleet.engine.fleet_home import FleetHome
from agentmux.fleet.engine.rows import Feature
from agentmux.fleet.engine.tables import HOSTS
from agentmux.wiring import machine

_SSH_HINTS: Final[Mapping[int, str]] = {
    255: "{host} was not reached, or the connection ended: see whether `ssh {host}` works",
    127: "{host} has no agentmux on the PATH of ssh's commands: ssh {host} agentmux --version",
}
"""Advice by the exit code of ssh: 255 comes from ssh itself, 127 from the shell on the host."""
_ADDRESS: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")


@dataclass(frozen=True, slots=True)
class AttachCommand:
    """The command that attaches a terminal to a feature's session.

    Attributes:
        argv: The command line, which begins with the program: AgentMux on this host, else ssh.
        host: The address of the host that ssh connects to; empty if the session is on this host.
    """

    argv: tuple[str, ...]
    host: str = ""

    @property
    def shell_line(self) -> str:
        """The command as one line that can be pasted into a shell."""
        return shlex.join(self.argv)

    def run(self, environ: Mapping[str, str]) -> int:
        """Run the command in this terminal until it ends, and return its exit code.

        Args:
            environ: The environment variables of the command.

        Raises:
            MissingError: The program, such as ssh, is not installed.
        """
        return foreground.run(self.argv, environ)

    def hint(self, code: int) -> str:
        """Return advice for the user after the command has ended with the exit code ``code``.

        Empty if there is none, and always for a session on this host.
        """
        return _SSH_HINTS.get(code, "").format(host=self.host) if self.host else ""


def attach_words(engine: sa.Engine, place: FleetHome, row: Feature) -> AttachCommand:
    """Return the command that attaches this terminal to a feature's session; run nothing.

    Args:
        engine: The engine of the fleet's database.
        place: The fleet's folder on this host.
        row: The feature.

    Raises:
        NotFoundError: The feature has no session, or its host is not in the fleet.
        DataError: The session's path or the host's address in the database is invalid; or the
            database reported an error.
        MissingError: The database is unreachable.
    """
    if not row.path or row.host is None:
        raise NotFoundError(
            f"feature {row.id} has no session yet", hints=(f"agentmux fleet show {row.id}",)
        )
    if not _belongs(row):
        raise DataError(
            f"the path of feature {row.id} in the database of the fleet is no session's"
        )
    if row.host == place.identity():
        return AttachCommand((*machine.program(), "attach", row.path))
    with explain_errors(engine), engine.connect() as connection:
        address = connection.execute(
            sa.select(HOSTS.c.address).where(HOSTS.c.id == row.host)
        ).scalar()
    if address is None:
        raise NotFoundError(
            f"no host of the fleet has feature {row.id}", hints=(f"agentmux fleet show {row.id}",)
        )
    if _ADDRESS.fullmatch(address) is None:
        raise DataError(f"the address of host {row.host} in the database of the fleet is none")
    remote = shlex.join(("agentmux", "attach", row.path))
    return AttachCommand(("ssh", "-t", "--", address, remote), address)


def _belongs(row: Feature) -> bool:
    """Whether the path in a feature's row can be the directory of that feature's session."""
    path = PurePosixPath(row.path)
    plain = path.is_absolute() and ".." not in path.parts and row.path.isprintable()
    if not plain or not str(path.parent).endswith(f"/{layout.SESSIONS_DIR}"):
        return False
    return layout.slug_of(path.name) == session_slug(row.id, from_fields(row.wish), row.epoch)
