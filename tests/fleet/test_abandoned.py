"""A feature whose host is given up begins anew elsewhere, and is not delivered twice."""

import signal

import pytest

from agentmux.fleet.engine.database import engine_for, now_s
from agentmux.fleet.engine.tables import HOSTS
from tests.conftest import WaitUntil
from tests.fleet.conftest import FleetHost

pytestmark = pytest.mark.rare(
    "it waits for hosts that are gone; test_deciding.py abandons without one"
)


def _unseen(host: FleetHost, seconds: float) -> None:
    """Let the fleet think that a host was last seen so long ago."""
    engine = engine_for(host.database)
    with engine.begin() as connection:
        seen = {"seen_at": now_s(engine) - seconds}
        connection.execute(HOSTS.update().where(HOSTS.c.name == host.name).values(**seen))
    engine.dispose()


@pytest.mark.parametrize("comes_back", ["the worker", "a new one"])
def test_an_abandoned_feature_is_done_elsewhere_and_stopped_where_it_began(
    database: str, wait_until: WaitUntil, comes_back: str
) -> None:
    gone = FleetHost(database)
    other = FleetHost(database, "b", repos=(str(gone.project.path),))
    try:
        gone.allow(str(gone.project.path), lease_s=6)
        feature = gone.submit()
        worker = gone.worker()
        session = gone.until_session(feature)
        worker.signal(signal.SIGSTOP)
        assert "may act for another" in other.fails(3, "retry", feature, "--abandon", "--yes")
        _unseen(gone, 100)

        said = other.ok("retry", feature, "--abandon", "--yes")
        assert "nothing of it was pushed" in said
        assert f"lost: session {session.name} on a" in said
        other.worker()
        shown = other.until(feature, "waiting")
        assert (shown["host"], shown["epoch"]) == ("b", 2)
        assert shown["session"] != session.name

        if comes_back == "the worker":
            worker.signal(signal.SIGCONT)
        else:
            worker.kill()
            gone.worker()

        def stopped() -> bool:
            return "agentmux" not in gone.project.program("tmux", "list-sessions").stdout

        wait_until(stopped, what=gone.log)
        assert other.show(feature)["session"] == shown["session"]
        other.ok("approve", feature, "--yes")
        other.until(feature, "done")
        assert gone.commits() == ["add a greeting"]
    finally:
        other.close()
        gone.close()
