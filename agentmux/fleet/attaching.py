"""How to see a feature's session: here, or through ssh on the host that has it."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping

import sqlalchemy as sa

from agentmux.core.codec.frozen import dataclass
from agentmux.errors import NotFoundError
from agentmux.fleet.database import explained
from agentmux.fleet.place import Place
from agentmux.fleet.rows import Feature
from agentmux.fleet.tables import HOSTS
from agentmux.wiring import machine


@dataclass(frozen=True, slots=True)
class AttachWords:
    """The command that shows a session."""

    argv: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The command as a person can paste it."""
        return shlex.join(self.argv)

    def run(self, environ: Mapping[str, str]) -> int:
        """Run it in this terminal; return its exit code."""
        return subprocess.run(self.argv, check=False, env=dict(environ)).returncode


def attach_words(engine: sa.Engine, place: Place, row: Feature) -> AttachWords:
    """Return how to show the session of a feature.

    Raises:
        NotFoundError: It has no session.
    """
    if not row.path or row.host is None:
        raise NotFoundError(
            f"feature {row.id} has no session yet", hints=(f"agentmux fleet show {row.id}",)
        )
    if row.host == place.identity():
        return AttachWords((*machine.program(), "attach", row.path))
    with explained(engine), engine.connect() as connection:
        address = connection.execute(
            sa.select(HOSTS.c.address).where(HOSTS.c.id == row.host)
        ).scalar()
    remote = shlex.join(("agentmux", "attach", row.path))
    return AttachWords(("ssh", "-t", "--", str(address), remote))
