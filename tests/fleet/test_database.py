"""How the fleet connects to its database, and what it waits for."""

from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from agentmux.fleet.engine.database import engine_for, retry_while_unreachable
from tests.fleet.postgres import PROGRAMS, Postgres

_SERVER = "SELECT current_setting('idle_in_transaction_session_timeout')"


@pytest.mark.skipif(not PROGRAMS, reason="it needs PostgreSQL: ./dev test-fleet")
def test_what_the_url_says_of_the_connection_comes_first(postgres: Postgres) -> None:
    url = postgres.url("template")
    options = "&connect_timeout=3&options=-c%20idle_in_transaction_session_timeout=7s"
    found = []
    for each in (url, url + options):
        engine = engine_for(each)
        with engine.connect() as connection:
            driver = connection.connection.dbapi_connection
            assert driver is not None
            given = driver.info.get_parameters()
            connection.rollback()
            server = connection.execute(sa.text(_SERVER)).scalar()
        engine.dispose()
        found.append((given["connect_timeout"], given["tcp_user_timeout"], server))
    assert found == [("10", "10000", "20s"), ("3", "10000", "7s")]


def test_to_look_at_a_database_that_is_missing_makes_none(tmp_path: Path) -> None:
    engine = engine_for(f"sqlite:///{tmp_path / 'fleet.sqlite'}")
    with pytest.raises(OperationalError, match="unable to open"):
        engine.connect()
    engine.dispose()
    assert list(tmp_path.iterdir()) == [tmp_path / "home"]


def test_a_call_waits_while_others_have_all_connections(tmp_path: Path) -> None:
    engine = sa.create_engine(
        f"sqlite:///{tmp_path / 'x'}", pool_size=1, max_overflow=0, pool_timeout=0.01
    )
    held = engine.connect()

    def call() -> int:
        with engine.connect() as connection:
            return int(connection.execute(sa.text("SELECT 1")).scalar_one())

    def stopping(seconds: float) -> bool:
        held.close()
        return seconds > 60

    assert retry_while_unreachable(call, stopping=stopping) == 1
    assert held.closed
    engine.dispose()
