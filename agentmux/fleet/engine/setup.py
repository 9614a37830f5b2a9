"""Sets the fleet up on a host: migrates the database once, and keeps its URL privately."""

from __future__ import annotations

from contextlib import ExitStack, suppress

from agentmux.errors import AgentmuxError, BlockedError
from agentmux.fleet.engine import workflows as dbos
from agentmux.fleet.engine.database import engine_for, explain_errors, make
from agentmux.fleet.engine.fleet_home import FleetHome
from agentmux.fleet.engine.log import log_to


def set_up(place: FleetHome, url: str) -> None:
    """Make or migrate the tables at ``url``, and keep that URL for the commands of this user.

    Raises:
        MissingError: The database does not answer.
        DataError: It was made by a newer version.
        BlockedError: A worker of this host runs for another fleet.
    """
    engine = engine_for(url)
    with ExitStack() as held:
        held.callback(engine.dispose)  # SQLite then leaves one file
        if _is_another(place, url):
            _hold(place, held)
        with explain_errors(engine):
            make(engine)
            with log_to(place) as log:
                dbos.migrate(engine, log)
        place.keep_url(url)


def _is_another(place: FleetHome, url: str) -> bool:
    """Whether this host knows another fleet; one whose URL cannot be read is none."""
    with suppress(AgentmuxError):
        return place.url() != url
    return False


def _hold(place: FleetHome, held: ExitStack) -> None:
    """Let no worker run: it would go on in the fleet that the commands no longer see."""
    try:
        held.enter_context(place.alone())
    except BlockedError as error:
        raise BlockedError(
            "the worker of this host runs for another fleet: end it before you set up this one",
            reason=error.reason,
            hints=("agentmux fleet list",),
        ) from None
