"""Connects to the fleet's database, which is SQLite for one host or PostgreSQL for several."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from agentmux.core.names.version import VERSION
from agentmux.errors import DataError, MissingError, UsageError
from agentmux.fleet.engine.database_errors import what_to_do
from agentmux.fleet.engine.fleet_home import require_url, shown_url
from agentmux.fleet.engine.tables import CONTRACT, CONTRACTS, META

if TYPE_CHECKING:
    import sqlite3

    import psycopg

T = TypeVar("T")
UNREACHABLE_ERRORS: Final = (DBAPIError, PoolTimeoutError)
"""The errors of a call that cannot reach the database.

`PoolTimeoutError`: all connections of the pool are in use, by calls that wait for the database.
"""
_BUSY_MS: Final = 30_000
_AGAIN_S: Final = 0.5
_CONNECTING: Final[Mapping[str, str | int]] = {
    "application_name": "agentmux-fleet",
    "connect_timeout": 10,
    # A server that acknowledges nothing for so long is away; TCP alone waits a quarter of an hour.
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
"""The connection parameters for PostgreSQL; parameters in the URL take precedence."""
_SERVER: Final = """
    SELECT set_config(name, wanted, false)
    FROM pg_settings JOIN (VALUES
        ('idle_in_transaction_session_timeout', '20s'),
        ('tcp_user_timeout', '20s'),
        ('tcp_keepalives_idle', '10s'),
        ('tcp_keepalives_interval', '5s'),
        ('tcp_keepalives_count', '3')
    ) AS settings (name, wanted) USING (name)
    WHERE source = 'default'
"""
"""SQL that makes the server drop a dead client, and so release the client's locks.

It changes only settings that still have the server's default value.
"""
_FILE_HINT: Final = "restore the file, or make another fleet: agentmux fleet init"
_SERVER_HINT: Final = "start it, then try again"


def engine_for(url: str) -> sa.Engine:
    """Return an engine (SQLAlchemy's access to a database) for the database at ``url``.

    It connects when it is first used; it does not create a missing SQLite file.

    Raises:
        UsageError: The fleet cannot use a database with this URL.
    """
    url = require_url(url)
    if url.startswith("sqlite"):
        engine = sa.create_engine(url, pool_size=20, max_overflow=20, json_deserializer=_read_json)
        event.listen(engine, "do_connect", _only_open)
        event.listen(engine, "connect", _as_dbos_does)
        return engine
    try:
        engine = _of_server(url.replace("postgresql://", "postgresql+psycopg://", 1))
    except (ArgumentError, ValueError):
        # The error's message may contain a part of the password.
        raise UsageError("the URL of the fleet's database has no sound host and port") from None
    event.listen(engine, "connect", _let_server_give_up)
    return engine


def _of_server(url: str) -> sa.Engine:
    parsed = sa.make_url(url)
    return sa.create_engine(
        parsed,
        pool_pre_ping=True,
        # An idle worker needs five connections; a server with many workers has few to spare.
        pool_size=5,
        max_overflow=35,
        connect_args={k: each for k, each in _CONNECTING.items() if k not in parsed.query},
    )


def _let_server_give_up(connection: psycopg.Connection, _: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_SERVER)
    connection.commit()  # else a rollback would undo it


def _only_open(_: object, __: object, words: list[str], options: dict[str, Any]) -> None:
    """Open an existing file only: a command that only reads must not create an empty database."""
    words[0] = f"{Path(words[0]).as_uri()}?mode=rw"
    options["uri"] = True


def _read_json(text: str) -> object:
    """Return the value of the JSON in ``text``; None if it is invalid.

    It does not raise, so that one damaged row does not keep the others from being read.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _read_text(data: bytes) -> str:
    """Decode a text that SQLite returned, with invalid UTF-8 replaced.

    It does not raise, so that one damaged row does not keep the others from being read.
    """
    return data.decode("utf-8", "replace")


def _as_dbos_does(connection: sqlite3.Connection, _: object) -> None:
    """Make writers wait for each other. DBOS sets up its own connections in the same way."""
    connection.isolation_level = "IMMEDIATE"
    connection.text_factory = _read_text
    connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA synchronous=FULL")


def now_s(engine: sa.Engine) -> sa.ColumnElement[float]:
    """Return the SQL expression for the time by the database's clock, in seconds of Unix time.

    The fleet compares times by this clock only, because the clocks of hosts may differ.
    """
    if engine.dialect.name == "sqlite":
        return sa.literal_column("(julianday('now') - 2440587.5) * 86400.0", sa.Float)
    return sa.literal_column("extract(epoch from clock_timestamp())::float8", sa.Float)


def file_of(engine: sa.Engine) -> tuple[int, int] | None:
    """Return the device and inode of the SQLite database file.

    A changed value means that the file was replaced. None if the file is missing or the database is
    PostgreSQL.
    """
    if engine.dialect.name != "sqlite":
        return None
    try:
        info = Path(str(engine.url.database)).stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino


@contextmanager
def explain_errors(engine: sa.Engine) -> Iterator[None]:
    """Context manager that turns a database error in its block into one that a user can act on.

    Raises:
        MissingError: The database is unreachable or busy; a later try may succeed.
        DataError: Any other error of the database.
    """
    try:
        yield
    except SQLAlchemyError as error:
        hint = _what_to_do(engine.url, error)
        if not is_passing(error):
            hints = (hint,) if hint else ()
            raise DataError(
                f"the fleet's database: {_describe_error(error)}", hints=hints
            ) from error
        url = engine.url.set(drivername=engine.url.get_backend_name())  # as it was given
        where = shown_url(url.render_as_string(hide_password=True))
        how = "cannot be used" if hint else "does not answer"
        usual = _FILE_HINT if engine.dialect.name == "sqlite" else _SERVER_HINT
        raise MissingError(
            f"the fleet's database {where} {how}: {_describe_error(error)}", hints=(hint or usual,)
        ) from error


def _what_to_do(url: sa.URL, error: SQLAlchemyError) -> str | None:
    name = url.database or ""
    return what_to_do(
        f"{_describe_error(error)} {getattr(getattr(error, 'orig', None), 'sqlite_errorname', '')}",
        role=url.username or "ROLE",
        database=name or "DATABASE",
        folder=str(Path(name).parent),
    )


def _describe_error(error: SQLAlchemyError) -> str:
    message = str(getattr(error, "orig", None) or error)
    return " ".join(message.split())[:300]


def is_passing(error: Exception) -> bool:
    """Return whether a database call that failed with ``error`` may succeed if it is repeated.

    That is so if the database was unreachable or busy.
    """
    return isinstance(error, (OperationalError, PoolTimeoutError)) or (
        isinstance(error, DBAPIError) and error.connection_invalidated
    )


def retry_while_unreachable(call: Callable[[], T], *, stopping: Callable[[float], bool]) -> T:
    """Return the result of ``call()``; repeat the call while the database is unreachable.

    Args:
        call: The function to call; it must be safe to repeat.
        stopping: A function that waits for the seconds that it is given, and returns whether to
            stop trying. It is called after each failed call.

    Raises:
        DBAPIError: ``stopping`` returned True, or repeating the call would not help.
        PoolTimeoutError: ``stopping`` returned True.
    """
    while True:
        try:
            return call()
        except UNREACHABLE_ERRORS as error:
            if not is_passing(error) or stopping(_AGAIN_S):
                raise


def create_tables(engine: sa.Engine) -> None:
    """Create the fleet's tables that do not exist yet, and record the contract version.

    The contract version (`tables.CONTRACT`) says which programs understand the database's content.
    An older one in the database is replaced by that of this program. For SQLite, the database file
    and its folder are created, too.

    Raises:
        DataError: The database was created by a newer version of AgentMux.
    """
    if engine.dialect.name == "sqlite" and engine.url.database:
        path = Path(engine.url.database)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
    META.create_all(engine)
    with engine.begin() as connection:
        version = connection.execute(sa.select(CONTRACTS.c.version)).scalar()
        if version is None:
            connection.execute(
                CONTRACTS.insert().values(one=1, version=CONTRACT, written_by=VERSION)
            )
        elif version > CONTRACT:
            raise _other(version)
        else:
            connection.execute(CONTRACTS.update().values(version=CONTRACT, written_by=VERSION))


def require_contract(engine: sa.Engine) -> None:
    """Check that the database has a fleet, and that this program understands its content.

    The contract version in the database must be that of this program (`tables.CONTRACT`). DBOS, the
    workflow library, does not report a different version: it would leave the work in the queues.

    Raises:
        DataError: The versions differ, the database has no fleet, or it reported an error.
        MissingError: The database is unreachable.
    """
    with explain_errors(engine):
        if not sa.inspect(engine).has_table(CONTRACTS.name):
            raise DataError(
                "the database has no fleet yet", hints=("make one: agentmux fleet init",)
            )
        with engine.connect() as connection:
            require_version(connection)


def require_version(connection: sa.Connection) -> None:
    """Check that a fleet's database has this program's contract version (`tables.CONTRACT`).

    Use it in a transaction; `require_contract` also checks that there is a fleet.

    Raises:
        DataError: The versions differ.
    """
    version = connection.execute(sa.select(CONTRACTS.c.version)).scalar()
    if version != CONTRACT:
        raise _other(version or 0)


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
