"""A PostgreSQL of its own: on a private socket, not as root, removed at its end."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from agentmux.fleet.engine.database import engine_for

PROGRAMS: Final = os.environ.get("AGENTMUX_TEST_POSTGRES", "")
"""The folder of PostgreSQL's programs; empty where nothing is to be run on it."""

_START_S: Final = 60.0


class Postgres:
    """A running server. Its tables survive `kill`, as they survive a crash of the program."""

    def __init__(self, programs: str = PROGRAMS, *settings: str) -> None:
        """Start it.

        Args:
            programs: The folder of its programs.
            settings: Words like ``fsync=off``. With ``listen_addresses=0.0.0.0`` it trusts all who
                reach it.
        """
        self.programs = Path(programs)
        self.folder = Path(tempfile.mkdtemp(prefix="amx-pg-", dir="/tmp"))
        self._settings = ("listen_addresses=", "max_connections=300", *settings)
        self._as: dict[str, Any] = {}
        try:
            if os.getuid() == 0:
                self._be_another_user()
            self.run("initdb", "-D", str(self.data), "-U", "fleet", "-A", "trust", "--no-sync")
            with (self.data / "pg_hba.conf").open("a") as file:
                file.write("host all all 0.0.0.0/0 trust\n")
            self.start()
        except BaseException:
            self.close()
            raise

    def _be_another_user(self) -> None:
        """Run its programs as the user whom its package makes, else as nobody."""
        names = {each.pw_name: each for each in pwd.getpwall()}
        user = names.get("postgres") or names["nobody"]
        os.chown(self.folder, user.pw_uid, user.pw_gid)
        self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def run(self, program: str, *words: str) -> None:
        """Run one of its programs; raise if that fails."""
        done = subprocess.run(
            [self.programs / program, *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=_START_S,
            stdin=subprocess.DEVNULL,
            **self._as,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        words = [word for each in self._settings for word in ("-c", each)]
        options = " ".join(("-k", str(self.folder), *words))
        log = str(self.folder / "log")
        deadline = time.monotonic() + _START_S
        while True:
            try:
                self.run("pg_ctl", "-D", str(self.data), "-w", "-l", log, "-o", options, "start")
            except AssertionError:
                # What a killed server has left holds its memory for a moment.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                return

    @property
    def pid(self) -> int:
        """The pid of the server's first process."""
        return int((self.data / "postmaster.pid").read_text().splitlines()[0])

    def processes(self) -> list[int]:
        """Return the pids of the server's first process and of its children."""
        found = [self.pid]
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
        return found

    def hang(self) -> None:
        """Stop all of the server: it answers nothing, and closes no connection."""
        self._signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Let a server that hangs go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for pid in self.processes():
            with suppress(ProcessLookupError):  # a child has just ended
                os.kill(pid, number)

    def kill(self) -> None:
        """End the server's first process with SIGKILL; the others end when they notice."""
        os.kill(self.pid, signal.SIGKILL)

    def crash(self) -> None:
        """End all of the server at once: it has to recover from its log."""
        self.run("pg_ctl", "-D", str(self.data), "-m", "immediate", "stop")

    def url(self, database: str, address: str = "") -> str:
        """Return the URL of a database: by its private socket, or by a network."""
        if address:
            return f"postgresql://fleet@{address}/{database}"
        return f"postgresql://fleet@/{database}?host={self.folder}"

    def make(self, database: str, template: str = "template0") -> str:
        """Make a database; return its URL."""
        engine = engine_for(self.url("postgres")).execution_options(isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(f'CREATE DATABASE "{database}" TEMPLATE "{template}"')
        engine.dispose()
        return self.url(database)

    def close(self) -> None:
        """End the server, and remove all that it wrote."""
        with suppress(AssertionError, OSError):
            self.wake()
            self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)
