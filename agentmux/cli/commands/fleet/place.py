"""What every command of the fleet needs: the fleet's place on this host, and its database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.adapters.system.python import extras
from agentmux.errors import NotInstalledError
from agentmux.wiring import machine

if TYPE_CHECKING:
    import sqlalchemy as sa

    from agentmux.cli.face import Face
    from agentmux.fleet.engine.fleet_home import FleetHome


IdArg = Annotated[
    str, typer.Argument(metavar="ID", help="A feature's id, the start of it, or its key.")
]


def require_extra() -> None:
    """Check that what the fleet needs is installed.

    Raises:
        NotInstalledError: It is not.
    """
    if not extras.has_modules("dbos", "sqlalchemy", "psycopg"):
        raise NotInstalledError(
            "the fleet needs DBOS, which is not installed",
            hints=(extras.install_command(extras.DBOS),),
        )


def place_of_fleet(face: Face) -> FleetHome:
    """Return the place of the fleet.

    Raises:
        NotInstalledError: The extra is not installed.
    """
    require_extra()
    from agentmux.fleet.engine.fleet_home import place_of

    return place_of(face.environ)


def engine_of(ctx: typer.Context) -> sa.Engine:
    """Return the fleet's database, which is closed when the command ends.

    Raises:
        AgentmuxError: There is none, it does not answer, or it is of another version.
    """
    place = place_of_fleet(ctx.obj)
    from agentmux.fleet.engine.database import engine_for, require_contract

    engine = engine_for(place.url())
    ctx.call_on_close(engine.dispose)
    require_contract(engine)
    return engine


def anywhere(face: Face) -> Path:
    """Return a folder that is no project: only the user's own file may say what a host runs."""
    folder = machine.fleet_dir(face.environ)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
