"""Starts workers without the second that it takes to import DBOS.

A server imports the fleet once, and forks for each worker, which is then a process of its own, in a
process session of its own, with its own environment, folder and streams.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

from tests.conftest import TEST_ID

ROOT = Path(__file__).parents[2]
_OURS = re.compile("agentmux_(features|decisions)")


class WorkerServer:
    """The server of one test process; it starts with the first worker."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(
        self, words: Sequence[str], *, cwd: str, env: dict[str, str], errors: str, dies_at: int = 0
    ) -> int:
        """Run ``agentmux WORDS``; return the pid. What it says is appended to ``errors``.

        It is killed before it has committed its ``dies_at``-th change of features and decisions.
        """
        asked = {"words": [*words], "cwd": cwd, "env": env, "errors": errors, "dies_at": dies_at}
        return self._ask(asked)

    def wait(self, pid: int) -> int:
        """Wait until a worker has ended; return its exit code, negative for a signal."""
        return self._ask({"wait": pid})

    def _ask(self, request: dict[str, Any]) -> int:
        if self._process is None:
            argv = [sys.executable, "-m", "tests.fleet.worker_server"]
            pipe = subprocess.PIPE
            env = {name: text for name, text in os.environ.items() if name != TEST_ID}
            self._process = subprocess.Popen(
                argv, cwd=ROOT, env=env, stdin=pipe, stdout=pipe, start_new_session=True
            )
            atexit.register(self._process.kill)
        given, said = self._process.stdin, self._process.stdout
        assert given is not None
        assert said is not None
        given.write(json.dumps(request).encode() + b"\n")
        given.flush()
        return int(said.readline())


def _serve() -> None:
    import agentmux.cli.commands.fleet.app
    import agentmux.cli.main
    import agentmux.fleet.worker.worker  # noqa: F401 (as above)

    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "wait" in request:
            answer = os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1])
        else:
            answer = os.fork()
            if answer == 0:
                _become(request)
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def _become(request: dict[str, Any]) -> NoReturn:
    """Be the worker: run it in this process, and end."""
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        errors = os.open(request["errors"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for number, descriptor in ((0, os.open(os.devnull, os.O_RDONLY)), (1, errors), (2, errors)):
            os.dup2(descriptor, number)
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        if request["dies_at"]:
            _die_at(request["dies_at"])
        from agentmux.cli.main import main

        code = main(request["words"], request["env"])
    finally:
        sys.stderr.flush()
        os._exit(code)


def _die_at(number: int) -> None:
    """Kill this process before it has committed so many changes."""
    from sqlalchemy import Connection, Engine, event

    changes = count(1)

    def note(connection: Connection, _: object, statement: str, *__: object) -> None:
        if statement.startswith(("INSERT", "UPDATE")) and _OURS.search(statement):
            connection.info["changes"] = True

    def commit(connection: Connection) -> None:
        if connection.info.pop("changes", False) and next(changes) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "before_cursor_execute", note)
    event.listen(Engine, "commit", commit)


if __name__ == "__main__":
    _serve()
