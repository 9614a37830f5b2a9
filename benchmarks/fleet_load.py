"""Measure the fleet: features a second and the load of the database, with sessions of 50 ms."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Self

import sqlalchemy as sa

from agentmux.core.fleet.fleet_request import FleetRequest
from agentmux.core.fleet.statuses import FleetStatus
from agentmux.fleet.engine.database import engine_for
from agentmux.fleet.engine.fleet_home import place_of
from agentmux.fleet.engine.tables import FEATURES
from agentmux.fleet.queue.submission import submit
from benchmarks.fleet_worker import FORMAT
from benchmarks.idle import cpu_s
from benchmarks.rows import Row, p50
from benchmarks.sandbox import AGENTMUX, wait_until
from tests.fleet.postgres import PROGRAMS, Postgres

_STEP_S: Final = 0.05
_SLOTS: Final = 8
_REPO: Final = "/srv/calc"
"""Nothing is looked for there: the step takes the place of the session."""
_PATIENCE_S: Final = 300.0
_MIB: Final = 1 << 20


class Load(NamedTuple):
    """What was used until some moment.

    Attributes:
        statements: Sent by all workers, with `transactions`.
        workers_s: Processor time of all workers.
        server_s: That of PostgreSQL; 0 for SQLite.
    """

    at: float
    statements: float
    transactions: float
    workers_s: float
    server_s: float

    def since(self, before: Load) -> Load:
        """Return what was used since another moment."""
        return Load(*(now - then for now, then in zip(self, before, strict=True)))


@dataclass(slots=True)
class Worker:
    """A worker in a home of its own."""

    root: Path
    name: str
    url: str
    process: subprocess.Popen[bytes] | None = None

    @property
    def env(self) -> dict[str, str]:
        kept = {key: text for key, text in os.environ.items() if not key.startswith("AGENTMUX_")}
        home = self.root / self.name
        return kept | {"HOME": str(home)} | {
            f"XDG_{kind}_HOME": str(home / kind.lower())
            for kind in ("CONFIG", "STATE", "DATA", "CACHE")
        }  # fmt: skip

    def start(self) -> None:
        """Start it; do not wait until it runs."""
        folder = self.root / self.name / "config" / "agentmux"
        folder.mkdir(parents=True, exist_ok=True)
        config = {"version": 1, "fleet": {"repos": [_REPO]}}
        (folder / "config.yaml").write_text(json.dumps(config))
        place_of(self.env).keep_url(self.url)
        words = ("fleet", "worker", "--name", self.name, "--slots", str(_SLOTS))
        argv = (sys.executable, "-m", "benchmarks.fleet_worker", str(self.counts), str(_STEP_S))
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                [*argv, *words], env=self.env, stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )

    @property
    def _said(self) -> Path:
        return self.root / f"{self.name}.err"

    @property
    def counts(self) -> Path:
        """The file in which it counts what it asks the database."""
        return self.root / f"{self.name}.counts"

    def runs(self) -> bool:
        """Return whether it takes features."""
        return "runs with" in self._said.read_text()

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()


class Fleet:
    """A database, and workers beside it."""

    def __init__(self, postgres: Postgres | None) -> None:
        self.postgres = postgres
        self._root = Path(tempfile.mkdtemp(prefix="amx-bench-"))
        self.url = (
            postgres.make(f"fleet{time.monotonic_ns()}")
            if postgres is not None
            else f"sqlite:///{self._root / 'fleet.sqlite'}"
        )
        self.engine = engine_for(self.url)
        self.workers: list[Worker] = []
        subprocess.run(
            (AGENTMUX, "fleet", "init", "--url-file", "-"),
            input=self.url.encode(),
            env=Worker(self._root, "init", self.url).env,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self.workers:
            each.kill()
        self.engine.dispose()
        shutil.rmtree(self._root, ignore_errors=True)

    def grow(self, count: int) -> None:
        """Start workers until there are so many."""
        new = [Worker(self._root, f"w{number}", self.url) for number in range(count)]
        for each in new[len(self.workers) :]:
            each.start()
            self.workers.append(each)
        wait_until(lambda: all(each.runs() for each in self.workers), "all workers run")

    def submit(self, count: int) -> list[str]:
        """Submit so many features, in one transaction; return their ids."""
        wishes = [FleetRequest(repo=_REPO, feature=f"feature {number}") for number in range(count)]
        return [each.id for each in submit(self.engine, wishes)]

    def done(self, *where: sa.ColumnElement[bool]) -> list[float]:
        """Return when each feature that is done was; nothing while the database is away."""
        is_done = FEATURES.c.status == FleetStatus.DONE
        query = sa.select(FEATURES.c.updated_at).where(is_done, *where)
        with contextlib.suppress(sa.exc.DBAPIError), self.engine.connect() as connection:
            return sorted(connection.execute(query.order_by(FEATURES.c.updated_at)).scalars())
        return []

    def until_done(self, count: int) -> None:
        """Wait until so many features are done."""

        def reached() -> bool:
            time.sleep(0.2)  # to look costs the processor that is measured
            return len(self.done()) >= count

        wait_until(reached, f"{count} features", _PATIENCE_S)

    def load(self) -> Load:
        """Return what was used until now."""
        size = struct.calcsize(FORMAT)
        counts = [struct.unpack(FORMAT, each.counts.read_bytes()[:size]) for each in self.workers]
        return Load(
            time.time(),
            sum(each[0] for each in counts),
            sum(each[1] for each in counts),
            sum(cpu_s(each.pid) for each in self.workers),
            sum(map(cpu_s, self.postgres.processes())) if self.postgres is not None else 0.0,
        )

    def idle(self, seconds: float) -> Load:
        """Return what is used in so many seconds."""
        before = self.load()
        time.sleep(seconds)
        return self.load().since(before)

    def connections(self) -> int:
        """Return how many connections the workers hold."""
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        with self.engine.connect() as connection:
            return int(connection.exec_driver_sql(query).scalar_one()) - 1


def fleet_load(*, quick: bool) -> Iterator[Row]:
    """Measure with SQLite and, where there is one, with PostgreSQL."""
    if sys.platform != "linux":
        print("fleet-load: skipped, this system has no /proc", file=sys.stderr)
        return
    count = 200 if quick else 1000
    with Fleet(None) as made:
        yield from _measured("SQLite", made, count, workers=2)
    if not PROGRAMS:
        print("fleet-load: there is no PostgreSQL here", file=sys.stderr)
        return
    server = Postgres()
    try:
        with Fleet(server) as made:
            yield from _measured("PostgreSQL", made, count, workers=3)
            yield from _database_killed(made, server, count // 3)
        with Fleet(server) as made:
            yield from _many(made, (1, 3, 10) if quick else (1, 3, 10, 20))
    finally:
        server.close()


def _measured(name: str, fleet: Fleet, count: int, *, workers: int) -> Iterator[Row]:
    fleet.grow(workers)
    time.sleep(2)
    rest = fleet.idle(15)
    before = fleet.load()
    fleet.submit(count)
    submitted_s = time.time() - before.at
    fleet.until_done(count)
    used = fleet.load().since(before)
    took = fleet.done()[-1] - before.at
    yield Row(
        name=f"{name}, {workers} workers of {_SLOTS} slots: a feature of 50 ms",
        value=took / count * 1000,
        unit="ms",
        note=f"{count} in {took:.1f} s, {count / took:.1f} a second; submitted in"
        f" {submitted_s:.1f} s",
    )
    note = f"without what the workers ask at rest; with it {used.statements / count:.1f}"
    net = used.statements - rest.statements / rest.at * used.at
    yield Row(name=f"{name}: statements for a feature", value=net / count, unit="", note=note)
    note = f"with what the workers ask at rest; {used.transactions / used.at:.0f} a second"
    value = used.transactions / count
    yield Row(name=f"{name}: transactions for a feature", value=value, unit="", note=note)
    spent = f"{used.server_s / count * 1000:.1f} ms of the database's server"
    value = used.workers_s / count * 1000
    note = f"processor time, with that at rest; and {spent}"
    yield Row(name=f"{name}: processor of workers for a feature", value=value, unit="ms", note=note)
    yield from _at_rest(name, rest, workers, fleet)
    yield from _worker_killed(name, fleet, count, count // 3)


def _at_rest(name: str, rest: Load, workers: int, fleet: Fleet) -> Iterator[Row]:
    each = workers * rest.at
    memory = [_private(worker.pid) for worker in fleet.workers]
    note = (
        f"{rest.transactions / each:.1f} transactions a second, {rest.workers_s / each * 100:.1f} %"
        f" of a processor, {p50(memory) / _MIB:.0f} MiB"
    )
    if fleet.postgres is not None:
        note += (
            f"; of PostgreSQL {rest.server_s / each * 100:.2f} % of a processor and"
            f" {fleet.connections() / workers:.1f} connections"
        )
    yield Row(
        name=f"{name}: statements a second of one worker of {workers} at rest",
        value=rest.statements / each,
        unit="",
        note=note,
    )


def _private(pid: int) -> int:
    """Return the memory of a process that no other one shares, and its share of the rest."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    raise LookupError(pid)


def _worker_killed(name: str, fleet: Fleet, there: int, count: int) -> Iterator[Row]:
    """Kill a worker while it works, and start another one at once in its place."""
    worker = fleet.workers[0]
    mine = FEATURES.c.host == place_of(worker.env).identity()
    ids = fleet.submit(count)
    fleet.until_done(there + count // 4)
    worker.kill()
    killed_at = time.time()
    left = sum(_running(fleet, mine))
    worker.start()
    fleet.until_done(there + count)
    back = next(at for at in fleet.done(mine, FEATURES.c.id.in_(ids)) if at > killed_at)
    yield Row(
        name=f"{name}: a worker is killed; until its next one has done a feature",
        value=back - killed_at,
        unit="s",
        note=f"all {count} features were done; it had {left}; starting it takes most of the time",
    )


def _running(fleet: Fleet, *where: sa.ColumnElement[bool]) -> Iterator[bool]:
    query = sa.select(FEATURES.c.id).where(FEATURES.c.status == FleetStatus.RUNNING, *where)
    with fleet.engine.connect() as connection:
        for _ in connection.execute(query):
            yield True


def _database_killed(fleet: Fleet, server: Postgres, count: int) -> Iterator[Row]:
    """Kill PostgreSQL while the workers work, and start it again."""
    there = len(fleet.done())
    found = []
    for _ in range(3):
        fleet.submit(count)
        fleet.until_done(there + count // 4)
        server.kill()
        killed_at = time.time()
        time.sleep(2)
        server.start()
        started_at = time.time()
        there += count
        fleet.until_done(there)
        found.append(next(at for at in fleet.done() if at > killed_at) - started_at)
    yield Row(
        name="PostgreSQL is killed; from its start until a feature is done",
        value=p50(found),
        unit="s",
        note=f"3 times, {min(found):.2f} to {max(found):.2f} s; all {3 * count} features were done",
    )


def _many(fleet: Fleet, counts: Sequence[int]) -> Iterator[Row]:
    """Measure what more workers ask at rest."""
    for count in counts:
        fleet.grow(count)
        time.sleep(3)
        yield from _at_rest("PostgreSQL", fleet.idle(15), count, fleet)
