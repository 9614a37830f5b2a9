"""Finds the fleet's files on this host, and its database, for the commands of the fleet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.adapters.system.python import extras
from agentmux.errors import NotInstalledError
from agentmux.wiring import machine

if TYPE_CHECKING:
    import sqlalchemy as sa

    from agentmux.cli.invocation import Invocation
    from agentmux.fleet.engine.fleet_home import FleetHome


IdArg = Annotated[
    str, typer.Argument(metavar="ID", help="A feature's id, the start of it, or its key.")
]


def require_extra() -> None:
    """Check that the Python packages of the fleet are installed.

    Raises:
        NotInstalledError: One of them is missing.
    """
    if not extras.has_modules("dbos", "sqlalchemy", "psycopg"):
        raise NotInstalledError(
            "the fleet needs DBOS, which is not installed",
            hints=(extras.install_command(extras.DBOS),),
        )


def place_of_fleet(invocation: Invocation) -> FleetHome:
    """Return the place of the fleet's files on this host; the folder may not exist yet.

    Raises:
        NotInstalledError: A Python package of the fleet is missing.
    """
    require_extra()
    from agentmux.fleet.engine.fleet_home import place_of

    return place_of(invocation.environ)


def engine_of(ctx: typer.Context) -> sa.Engine:
    """Return the engine of the fleet's database; its connections are closed when the command ends.

    ``ctx`` is the context of that command; ``ctx.obj`` is its `Invocation`.

    Raises:
        AgentmuxError: There is no database, it does not answer, or it has another version.
    """
    place = place_of_fleet(ctx.obj)
    from agentmux.fleet.engine.database import engine_for, require_contract

    engine = engine_for(place.url())
    ctx.call_on_close(engine.dispose)
    require_contract(engine)
    return engine


def anywhere(invocation: Invocation) -> Path:
    """Return the fleet's folder, for commands that belong to no project; make it if it is missing.

    The folder is no project, so that only the user's own configuration counts there.
    """
    folder = machine.fleet_dir(invocation.environ)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
