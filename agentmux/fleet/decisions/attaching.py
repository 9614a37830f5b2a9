"""How to see a feature's session: here, or through ssh on the host that has it."""

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
"""What to do after ssh has ended with this exit code: its own, and that of a shell there."""
_ADDRESS: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")


@dataclass(frozen=True, slots=True)
class AttachWords:
    """The command that shows a session.

    Attributes:
        host: The host that ssh goes to; empty for this one.
    """

    argv: tuple[str, ...]
    host: str = ""

    @property
    def shell_line(self) -> str:
        """The command as a person can paste it."""
        return shlex.join(self.argv)

    def run(self, environ: Mapping[str, str]) -> int:
        """Run it in this terminal; return its exit code.

        Raises:
            MissingError: There is no ssh.
        """
        return foreground.run(self.argv, environ)

    def hint(self, code: int) -> str:
        """Return what to do after it has ended with this exit code; empty for nothing."""
        return _SSH_HINTS.get(code, "").format(host=self.host) if self.host else ""


def attach_words(engine: sa.Engine, place: FleetHome, row: Feature) -> AttachWords:
    """Return how to show the session of a feature.

    Raises:
        NotFoundError: It has no session, or no host of the fleet has it.
        DataError: What the database says of it can be none of ours.
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
        return AttachWords((*machine.program(), "attach", row.path))
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
    return AttachWords(("ssh", "-t", "--", address, remote), address)


def _belongs(row: Feature) -> bool:
    """Whether the path of a feature's session is one that the session can have on its host."""
    path = PurePosixPath(row.path)
    plain = path.is_absolute() and ".." not in path.parts and row.path.isprintable()
    if not plain or not str(path.parent).endswith(f"/{layout.SESSIONS_DIR}"):
        return False
    return layout.slug_of(path.name) == session_slug(row.id, from_fields(row.wish), row.epoch)
