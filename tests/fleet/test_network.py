"""What the fleet does over a network that drops all packets of a place and tells nobody."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from agentmux.fleet.engine.database import engine_for
from tests.conftest import WaitUntil
from tests.e2e.conftest import Session
from tests.fleet.conftest import FleetHost, Worker, init_fleet
from tests.fleet.network import Network, is_possible
from tests.fleet.postgres import PROGRAMS, Postgres
from tests.fleet.worker_server import WorkerServer

pytestmark = pytest.mark.skipif(
    not PROGRAMS or not is_possible(), reason="needs PostgreSQL, root and network namespaces"
)
LEASE_S = 12
ANSWER_S = 15
"""A command has said by then that the database does not answer."""


class Hosts:
    """A database and two hosts, each at a place of its own; and a person who is never cut off."""

    def __init__(self, network: Network, server: Postgres, folder: Path) -> None:
        self.network = network
        local = server.make("fleet")
        init_fleet(folder, local)
        self.engine = engine_for(local)
        self.person = FleetHost(local, "person")
        self.url = server.url("fleet", network.address("db"))
        self.a = self._made("a")
        self.b = self._made("b", str(self.a.project.path))

    def _made(self, name: str, *repos: str) -> FleetHost:
        self.network.add(name)
        made = FleetHost(self.url, name, server=WorkerServer())
        made.allow(str(made.project.path), *repos, lease_s=LEASE_S)
        return made

    def worker(self, host: FleetHost) -> Worker:
        with self.network.at(host.name):
            return host.worker()

    def submit(self) -> str:
        return self.person.submit("--repo", str(self.a.project.path))

    def command(self, host: FleetHost, *words: str) -> tuple[int, float]:
        """Run a command at a host; return its exit code, and how many seconds it took."""
        began = time.monotonic()
        with self.network.at(host.name):
            done = host.project.run("fleet", *words)
        return done.returncode, time.monotonic() - began

    def approving(self, session: str, wait_until: WaitUntil) -> subprocess.Popen[bytes]:
        """Approve a session of host a there, beside the fleet; return what waits for the commit."""
        project = self.a.project
        waits = subprocess.Popen(
            [sys.executable, "-m", "agentmux", "approve", session, "--yes"],
            cwd=project.path,
            env=project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        folder = project.path / ".agentmux" / ".sessions" / session
        wait_until(lambda: Session(project, folder).kinds("approve") == ["approve"])
        return waits

    def connections(self, host: FleetHost) -> int:
        """Return how many connections with the database a host believes in."""
        with self.network.at(host.name):
            lines = Path("/proc/thread-self/net/tcp").read_text().splitlines()[1:]
        return sum(line.split()[3] == "01" for line in lines)

    def served(self) -> int:
        """Return how many connections by the network the database believes in."""
        query = "SELECT count(*) FROM pg_stat_activity WHERE client_addr IS NOT NULL"
        with self.engine.connect() as connection:
            return int(connection.execute(sa.text(query)).scalar_one())

    def close(self) -> None:
        for host in (self.person, self.b, self.a):
            host.close()
        self.engine.dispose()


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    with Network() as network:
        network.add("db")
        with network.at("db"):
            server = Postgres(PROGRAMS, "fsync=off", "listen_addresses=0.0.0.0")
        try:
            made = Hosts(network, server, tmp_path)
            try:
                yield made
            finally:
                network.mend_all()
                made.close()
        finally:
            server.close()


def test_a_database_that_vanishes_is_noticed_and_work_goes_on_when_it_is_back(
    hosts: Hosts, wait_until: WaitUntil
) -> None:
    host, person = hosts.a, hosts.person
    hosts.worker(host)
    feature = hosts.submit()
    session = person.until(feature, "waiting")["session"]
    assert hosts.served() > 0
    hosts.network.cut("db")
    code, took_s = hosts.command(host, "list")
    assert (code, took_s < ANSWER_S) == (6, True), took_s
    wait_until(lambda: hosts.connections(host) == 0)
    wait_until(lambda: hosts.served() == 0)

    approving = hosts.approving(session, wait_until)
    assert host.commits() == []
    hosts.network.mend("db")
    another = hosts.submit()
    assert approving.wait(60) == 0
    person.until(feature, "done")
    assert host.commits() == ["add a greeting"]
    person.until(another, "waiting")


def test_a_host_that_is_cut_off_and_comes_back_delivers_nothing_that_another_one_has(
    hosts: Hosts, wait_until: WaitUntil
) -> None:
    gone, person = hosts.a, hosts.person
    hosts.worker(gone)
    feature = hosts.submit()
    session = person.until(feature, "waiting")["session"]
    hosts.network.cut("a")
    hosts.worker(hosts.b)

    def abandoned() -> bool:
        return person.run("retry", feature, "--abandon", "--yes").returncode == 0

    wait_until(abandoned, 3 * LEASE_S)
    shown = person.until(feature, "waiting")
    assert (shown["host"], shown["epoch"]) == ("b", 2)
    approving = hosts.approving(session, wait_until)
    hosts.network.mend("a")
    person.ok("approve", feature, "--yes")
    person.until(feature, "done")

    def stopped() -> bool:
        return "agentmux" not in gone.project.program("tmux", "list-sessions").stdout

    wait_until(stopped, what=gone.log)
    assert approving.wait(60) != 0
    assert gone.commits() == ["add a greeting"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_ends_in_seconds_although_the_database_does_not_answer(
    hosts: Hosts, number: signal.Signals
) -> None:
    host = hosts.a
    worker = hosts.worker(host)
    hosts.network.cut("db")
    began = time.monotonic()
    worker.signal(number)
    assert worker.wait() == 0
    assert time.monotonic() - began < 10
    with hosts.network.at("a"):
        late = Worker(host)
        assert late.wait() == 6
    assert "does not answer" in late.said()
    assert time.monotonic() - began < 10 + ANSWER_S
