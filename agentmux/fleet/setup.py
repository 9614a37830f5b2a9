"""Sets the fleet up on a host: migrates the database once, and keeps its URL privately."""

from __future__ import annotations

from agentmux.fleet import engine as dbos
from agentmux.fleet.database import engine_for, explained, make
from agentmux.fleet.log import log_to
from agentmux.fleet.place import Place


def set_up(place: Place, url: str) -> None:
    """Make or migrate the tables at ``url``, and keep that URL for the commands of this user.

    Raises:
        MissingError: The database does not answer.
        DataError: It was made by a newer version.
    """
    engine = engine_for(url)
    try:
        with explained(engine):
            make(engine)
            with log_to(place) as log:
                dbos.migrate(engine, log)
    finally:
        engine.dispose()  # SQLite then leaves one file
    place.keep_url(url)
