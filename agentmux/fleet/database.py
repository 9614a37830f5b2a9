"""The connection to the fleet's database: SQLite for one host, PostgreSQL for several."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from agentmux.core.names.version import VERSION
from agentmux.errors import DataError, MissingError
from agentmux.fleet.place import require_url, shown_url
from agentmux.fleet.tables import CONTRACT, CONTRACTS, META

T = TypeVar("T")
_BUSY_MS: Final = 30_000
_AGAIN_S: Final = 0.5
_CONNECT_S: Final = 10
_FILE_HINT: Final = "restore the file, or make another fleet: agentmux fleet init"
_SERVER_HINT: Final = "start it, then try again"


def engine_for(url: str) -> sa.Engine:
    """Return an engine for the database at ``url``; it connects when it is first used.

    Raises:
        UsageError: The URL is no database that the fleet can use.
    """
    url = require_url(url)
    if url.startswith("sqlite"):
        made = sa.create_engine(url, pool_size=20, max_overflow=20, json_deserializer=_read_json)
        event.listen(made, "do_connect", _only_open)
        event.listen(made, "connect", _as_dbos_does)
        return made
    return sa.create_engine(
        url.replace("postgresql://", "postgresql+psycopg://", 1),
        pool_pre_ping=True,
        # A worker at rest needs five; a server that serves many workers has few to give.
        pool_size=5,
        max_overflow=35,
        connect_args={"connect_timeout": _CONNECT_S, "application_name": "agentmux-fleet"},
    )


def _only_open(_: object, __: object, words: list[str], options: dict[str, Any]) -> None:
    """Open a file that is there: a command that looks must not leave an empty database."""
    words[0] = f"{Path(words[0]).as_uri()}?mode=rw"
    options["uri"] = True


def _read_json(text: str) -> object:
    """Return what ``text`` says; None if it is no JSON, so that it hides no other row."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_dbos_does(connection: Any, _: object) -> None:  # noqa: ANN401 (of sqlite3)
    """Let writers wait for each other, as DBOS sets up the connections that it makes itself."""
    connection.isolation_level = "IMMEDIATE"
    connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA synchronous=FULL")


def now_s(engine: sa.Engine) -> sa.ColumnElement[float]:
    """Return the database's own clock, in Unix time: the clocks of hosts may differ."""
    if engine.dialect.name == "sqlite":
        return sa.literal_column("(julianday('now') - 2440587.5) * 86400.0", sa.Float)
    return sa.literal_column("extract(epoch from clock_timestamp())::float8", sa.Float)


def file_of(engine: sa.Engine) -> tuple[int, int] | None:
    """Return which file a database of SQLite is now; None where there is none."""
    if engine.dialect.name != "sqlite":
        return None
    try:
        found = Path(str(engine.url.database)).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def explained(engine: sa.Engine) -> Iterator[None]:
    """Turn an error of the database in the block into one that a user can act on."""
    try:
        yield
    except OperationalError as error:
        url = engine.url.set(drivername=engine.url.get_backend_name())  # as it was given
        where = shown_url(url.render_as_string(hide_password=True))
        raise MissingError(
            f"the fleet's database {where} does not answer: {_said(error)}",
            hints=(_FILE_HINT if engine.dialect.name == "sqlite" else _SERVER_HINT,),
        ) from error
    except SQLAlchemyError as error:
        raise DataError(f"the fleet's database: {_said(error)}") from error


def _said(error: SQLAlchemyError) -> str:
    said = str(getattr(error, "orig", None) or error)
    return " ".join(said.split())[:300]


def is_passing(error: Exception) -> bool:
    """Return whether a failed call may succeed later: the database is away, or busy."""
    return isinstance(error, OperationalError) or (
        isinstance(error, DBAPIError) and error.connection_invalidated
    )


def persistent(call: Callable[[], T], *, stopping: Callable[[float], bool]) -> T:
    """Return ``call()``, repeated while the database is away.

    Args:
        call: Is safe to repeat.
        stopping: Waits for so many seconds; returns whether to give up.

    Raises:
        OperationalError: It was to give up.
    """
    while True:
        try:
            return call()
        except (OperationalError, DBAPIError) as error:
            if not is_passing(error) or stopping(_AGAIN_S):
                raise


def make(engine: sa.Engine) -> None:
    """Make our tables, or leave those that are there; note the contract.

    Raises:
        DataError: The database was made by a newer version.
    """
    if engine.dialect.name == "sqlite" and engine.url.database:
        path = Path(engine.url.database)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
    META.create_all(engine)
    with engine.begin() as connection:
        found = connection.execute(sa.select(CONTRACTS.c.version)).scalar()
        if found is None:
            connection.execute(
                CONTRACTS.insert().values(one=1, version=CONTRACT, written_by=VERSION)
            )
        elif found > CONTRACT:
            raise _other(found)
        else:
            connection.execute(CONTRACTS.update().values(version=CONTRACT, written_by=VERSION))


def require_contract(engine: sa.Engine) -> None:
    """Check that this program and the database speak the same contract.

    DBOS alone would never take work of another version, and say nothing.

    Raises:
        DataError: They do not, or the database has no fleet.
    """
    with explained(engine):
        if not sa.inspect(engine).has_table(CONTRACTS.name):
            raise DataError(
                "the database has no fleet yet", hints=("make one: agentmux fleet init",)
            )
        with engine.connect() as connection:
            require_version(connection)


def require_version(connection: sa.Connection) -> None:
    """Check that this program and a fleet's database speak the same contract.

    Raises:
        DataError: They do not.
    """
    found = connection.execute(sa.select(CONTRACTS.c.version)).scalar()
    if found != CONTRACT:
        raise _other(found or 0)


def _other(found: int) -> DataError:
    if found > CONTRACT:
        return DataError(
            f"the fleet has contract {found}, and this agentmux {VERSION} speaks {CONTRACT}",
            hints=("upgrade agentmux on this host, as on the others",),
        )
    return DataError(
        f"the fleet has contract {found}, and this agentmux {VERSION} speaks {CONTRACT}",
        hints=(
            "drain the workers (agentmux fleet drain HOST), upgrade all hosts, then:",
            "agentmux fleet init",
        ),
    )


def monotonic_wait(seconds: float) -> bool:
    """Wait, for `persistent` in a command: it never gives up by itself."""
    time.sleep(seconds)  # noqa: TID251 (a command waits for the database)
    return False
