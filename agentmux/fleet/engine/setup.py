"""Sets up the fleet on a host: creates or migrates the database, and stores its URL."""

from __future__ import annotations

from contextlib import ExitStack, suppress

from agentmux.errors import AgentmuxError, BlockedError
from agentmux.fleet.engine import workflows as dbos
from agentmux.fleet.engine.database import create_tables, engine_for, explain_errors
from agentmux.fleet.engine.fleet_home import FleetHome
from agentmux.fleet.engine.log import log_to


def set_up_fleet(place: FleetHome, url: str) -> None:
    """Set up the fleet on this host: create or migrate its tables, then store the database's URL.

    Args:
        place: The fleet's folder on this host, where the URL is stored.
        url: The URL of the database; for SQLite, the file is created, too.

    Raises:
        UsageError: The fleet cannot use a database with this URL.
        MissingError: The database is unreachable.
        DataError: The database was created by a newer version of AgentMux.
        BlockedError: The worker of this host runs for another fleet.
    """
    engine = engine_for(url)
    with ExitStack() as held:
        held.callback(engine.dispose)  # SQLite then leaves one file
        if _is_another(place, url):
            _hold(place, held)
        with explain_errors(engine):
            create_tables(engine)
            with log_to(place) as log:
                dbos.migrate(engine, log)
        place.keep_url(url)


def _is_another(place: FleetHome, url: str) -> bool:
    """Whether another fleet is set up on this host. A URL that cannot be read does not count."""
    with suppress(AgentmuxError):
        return place.url() != url
    return False


def _hold(place: FleetHome, held: ExitStack) -> None:
    """Keep a worker from running: it would stay in the old fleet, which no command shows then."""
    try:
        held.enter_context(place.alone())
    except BlockedError as error:
        raise BlockedError(
            "the worker of this host runs for another fleet: end it before you set up this one",
            reason=error.reason,
            hints=("agentmux fleet list",),
        ) from None
