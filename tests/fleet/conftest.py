"""A fleet on a real database, with real workers; its sessions are real ones of the offline agent.

The database is SQLite. If ``AGENTMUX_TEST_POSTGRES`` names the folder of PostgreSQL's programs, it
is a PostgreSQL that is started for them (`./dev test-fleet`).
"""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest
import sqlalchemy as sa

from agentmux.cli.main import main
from agentmux.fleet.engine import rows
from agentmux.fleet.engine.database import engine_for
from agentmux.fleet.engine.fleet_home import FleetHome, place_of
from tests.conftest import _wait_until
from tests.e2e.conftest import Project, Said, Session, make_root
from tests.fleet.postgres import PROGRAMS, Postgres
from tests.fleet.worker_server import WorkerServer

DATABASE = "postgres" if PROGRAMS else "sqlite"
LEASE_S = 60
LOOK_S = 0.2
"""How often a wait looks at the database: to look costs the processor that is waited for."""

SERVER = WorkerServer()


def init_fleet(home: Path, url: str | None) -> FleetHome:
    """Set a fleet up with the command, in a process of its own."""
    env = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    words = ["fleet", "init", *(["--url-file", "-"] if url else [])]
    done = subprocess.run(
        [sys.executable, "-m", "agentmux", *words],
        env=env,
        cwd=home,
        input=url or "",
        text=True,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return place_of(env)


@pytest.fixture(scope="session")
def empty_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of SQLite with a fleet, to copy."""
    place = init_fleet(tmp_path_factory.mktemp("fleet"), None)
    return Path(place.url().removeprefix("sqlite:///"))


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A running PostgreSQL with a fleet in the database ``template``."""
    server = Postgres(PROGRAMS, "fsync=off")
    try:
        url = server.make("template")
        init_fleet(tmp_path_factory.mktemp("fleet"), url)
        yield server
    finally:
        server.close()


@pytest.fixture(params=[DATABASE])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database with a new fleet."""
    if request.param == "sqlite":
        made = tmp_path / "fleet.sqlite"
        shutil.copy(request.getfixturevalue("empty_sqlite"), made)
        return f"sqlite:///{made}"
    server: Postgres = request.getfixturevalue("postgres")
    return server.make(f"fleet-{uuid.uuid4().hex}", "template")


@pytest.fixture
def engine(database: str) -> Iterator[sa.Engine]:
    made = engine_for(database)
    yield made
    made.dispose()


class Worker:
    """A worker process."""

    def __init__(self, host: "FleetHost", *words: str, dies_at: int = 0) -> None:
        self.host = host
        self.errors = host.project.root / f"worker-{uuid.uuid4().hex}.err"
        self.pid = host.server.start(
            ["fleet", "worker", "--name", host.name, *words],
            cwd=str(host.project.root),
            env=host.project.env,
            errors=str(self.errors),
            dies_at=dies_at,
        )
        self._code: int | None = None

    def ready(self) -> Self:
        _wait_until(lambda: "runs with" in self.said() or "error: " in self.said())
        assert "runs with" in self.said(), self.said()
        return self

    def said(self) -> str:
        return self.errors.read_text() if self.errors.exists() else ""

    def signal(self, number: int) -> None:
        if self._code is None:
            os.kill(self.pid, number)

    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        try:
            state = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        return state == "Z"

    def kill(self) -> None:
        """End the worker, and nothing else, as a crash does."""
        self.signal(signal.SIGKILL)
        self.wait()

    def wait(self) -> int:
        """Wait until it has ended; return its exit code."""
        if self._code is None:
            self._code = self.host.server.wait(self.pid)
        return self._code

    def end(self) -> int:
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        return self.wait()


class FleetHost:
    """One host: a home, a tmux server and a project of its own, and perhaps a worker."""

    def __init__(
        self,
        database: str,
        name: str = "a",
        *,
        repos: tuple[str, ...] = (),
        server: WorkerServer = SERVER,
    ) -> None:
        self.project = Project(make_root())
        self.server = server
        self.name = name
        self.database = database
        self.place = place_of(self.project.env)
        self.place.keep_url(database)
        self.allow(str(self.project.path), *repos)
        self.workers: list[Worker] = []

    def allow(self, *repos: str, lease_s: int = LEASE_S, **more: object) -> None:
        """Write the user's configuration: what its worker may run, and ``more`` of its keys."""
        folder = self.project.home / "config" / "agentmux"
        folder.mkdir(parents=True, exist_ok=True)
        settings = {"repos": [*repos], "lease": f"{lease_s}s"}
        (folder / "config.yaml").write_text(
            json.dumps({"version": 1, "fleet": settings, "snapshots": {"interval": "1s"}} | more)
        )

    def worker(self, *words: str) -> Worker:
        """Start a worker, and wait until it runs."""
        made = Worker(self, *words)
        self.workers.append(made)
        return made.ready()

    def run(self, *words: str) -> Said:
        """Run a command of the fleet in this process: to import DBOS takes a second."""
        out, errors = io.StringIO(), io.StringIO()
        argv = ["--project", str(self.project.path), "fleet", *words]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = main(argv, self.project.env)
        assert "this is a bug" not in errors.getvalue(), errors.getvalue()
        return subprocess.CompletedProcess(argv, code, out.getvalue(), errors.getvalue())

    def ok(self, *words: str) -> str:
        done = self.run(*words)
        assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def fails(self, code: int, *words: str) -> str:
        done = self.run(*words)
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stderr

    def json(self, *words: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.ok(*words, "--json"))
        assert found["schema"] == 1
        return found

    def submit(self, *words: str, agent: str = "demo", feature: str = "add a greeting") -> str:
        """Submit a small feature of the offline agent; return its id."""
        given = ("--agent", agent, "--pipeline", "quick", *words)
        made: str = self.json("submit", feature, *given)["features"][0]["id"]
        return made

    def show(self, feature: str) -> dict[str, Any]:
        return self.json("show", feature)

    def until(self, feature: str, *statuses: str) -> dict[str, Any]:
        """Wait until a feature has one of these statuses; return all that is known of it."""
        self.look_until(feature, lambda row: row.status in statuses)
        return self.show(feature)

    def until_session(self, feature: str) -> Session:
        """Wait until a feature's session is known to the fleet."""
        self.look_until(feature, lambda row: bool(row.session))
        return self.session(feature)

    def look_until(self, feature: str, holds: Callable[[rows.Feature], bool]) -> rows.Feature:
        """Wait until a feature's row is as wanted; return it."""
        found: list[rows.Feature] = []
        engine = engine_for(self.database)

        def reached() -> bool:
            time.sleep(LOOK_S)
            with engine.connect() as connection:
                row = rows.feature(connection, feature)
            found[:] = [] if row is None else [row]
            return row is not None and holds(row)

        try:
            _wait_until(reached, 90, lambda: f"{self.show(feature)}\n{self.log()}")
        finally:
            engine.dispose()
        return found[0]

    def log(self) -> str:
        return self.place.log.read_text()[-4000:] if self.place.log.exists() else ""

    def session(self, feature: str) -> Session:
        return Session(self.project, Path(self.show(feature)["path"]))

    def commits(self) -> list[str]:
        """Return the subjects of all commits but the first, on all branches."""
        lines = self.project.git("log", "--all", "--format=%s", "--", "*.py").splitlines()
        return [line for line in lines if line != "Begin"]

    def change(self, feature: str, **values: object) -> None:
        """Change a feature's row as nothing of ours does."""
        engine = engine_for(self.database)
        with engine.begin() as connection:
            assert rows.change(connection, feature, **values)
        engine.dispose()

    def close(self) -> None:
        for each in self.workers:
            each.end()
        self.project.close()


@pytest.fixture
def host(database: str) -> Iterator[FleetHost]:
    """A host of a new fleet, without a worker."""
    made = FleetHost(database)
    yield made
    made.close()
