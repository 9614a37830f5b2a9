"""Measure the web page: a page of a session, and how soon a browser is told of a change."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, Self

from benchmarks.commands import MANY, killed_sessions
from benchmarks.desk import PROJECTS, spread
from benchmarks.rows import Row, milliseconds, ratio
from benchmarks.sandbox import AGENTMUX, DEADLINE_S, PASS, Sandbox, side_by_side, wait_until

_CALM_S: Final = 2.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")


class Server:
    """``agentmux web``, and a browser that is logged in."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.process = subprocess.Popen(
            (AGENTMUX, "web"),
            cwd=sandbox.project,
            env=sandbox.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        if self.process.stdout is None:
            raise RuntimeError
        link = self.process.stdout.readline().strip()
        origin, _, secret = link.partition("/login/")
        self.host = origin.partition("//")[2]
        self.port = int(self.host.rpartition(":")[2])
        self.headers = {"Host": self.host, "Origin": origin}
        cookie = self.ask("POST", f"/login/{secret}").headers["set-cookie"]
        self.headers["Cookie"] = cookie.partition(";")[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.communicate(timeout=DEADLINE_S)

    def ask(self, method: str, path: str) -> http.client.HTTPResponse:
        """Return the answer to one request, read whole."""
        address = ("127.0.0.1", self.port)
        with closing(http.client.HTTPConnection(*address, timeout=DEADLINE_S)) as made:
            made.request(method, path, headers=self.headers)
            answer = made.getresponse()
            answer.read()
            return answer

    def time(self, path: str) -> float:
        """Return how many seconds a page takes."""
        began = time.perf_counter()
        answer = self.ask("GET", path)
        if answer.status != http.client.OK:
            msg = f"{path}: {answer.status}"
            raise RuntimeError(msg)
        return time.perf_counter() - began

    def listen(self) -> socket.socket:
        """Return a connection on which the stream of events has begun."""
        made = socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_S)
        lines = (f"{name}: {text}" for name, text in self.headers.items())
        made.sendall("\r\n".join(("GET /events HTTP/1.1", *lines, "", "")).encode())
        while b"event: hello" not in made.recv(1 << 16):
            pass
        return made

    def busy_s(self) -> float:
        """Return the processor time of the server so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS


def web(*, quick: bool) -> Iterator[Row]:
    """Measure the pages of a session that waits for a decision, the events, and the rest."""
    rounds = 10 if quick else 30
    with Sandbox({}) as sandbox:
        session = sandbox.start()
        wait_until(lambda: json.loads(_state(session)).get("summary_submitted"), "a decision")
        with Server(sandbox) as server:
            path = f"/sessions/{session.name}"

            def page(part: str) -> float:
                return server.time(f"{path}{part}")

            whole, screens, diff, base = side_by_side(
                rounds,
                lambda: page(""),
                lambda: page("/screens"),
                lambda: page("/diff"),
                lambda: sandbox.time(PASS),
            )
            yield ratio("web: page of a session to decide on, against `python -c pass`", whole,
                        base, 8)  # fmt: skip
            yield ratio("web: its screens", screens, base, 8)
            yield ratio("web: its diff", diff, base, 8)
            with server.listen() as stream:
                time.sleep(_CALM_S)
                told, base = side_by_side(
                    rounds, lambda: _told(session, stream), lambda: sandbox.time(PASS)
                )
                yield ratio("web: event to browser, against `python -c pass`", told, base, 20)
                yield from _idle(server, 5.0 if quick else 30.0)
    with killed_sessions(MANY // PROJECTS) as many:
        spread(many)
        with Server(many) as server:
            listed, base = side_by_side(rounds, lambda: server.time("/"), lambda: many.time(PASS))
    yield ratio(f"web: list of {MANY} in {PROJECTS} projects, against `python -c pass`", listed,
                base, 45)  # fmt: skip
    ends = []
    with Sandbox({}) as sandbox:
        for _ in range(3):
            with Server(sandbox) as server, server.listen():
                began = time.perf_counter()
                server.process.terminate()
                server.process.wait(DEADLINE_S)
                ends.append(time.perf_counter() - began)
    yield milliseconds("web: from SIGTERM to its end, with an open stream", ends, 2000)


def _state(session: Path) -> str:
    return (session / "state.json").read_text()


def _told(session: Path, stream: socket.socket) -> float:
    """Return how many seconds pass from a new state to its event."""
    time.sleep(0.3)  # the events of the time before
    stream.setblocking(False)
    try:
        while stream.recv(1 << 16):
            pass
    except BlockingIOError:
        stream.settimeout(DEADLINE_S)
    new = session / ".tmp-bench"
    shutil.copyfile(session / "state.json", new)
    began = time.perf_counter()
    new.replace(session / "state.json")
    while session.name.encode() not in stream.recv(1 << 16):
        pass
    return time.perf_counter() - began


def _idle(server: Server, seconds: float) -> Iterator[Row]:
    time.sleep(_CALM_S)
    before = server.busy_s()
    time.sleep(seconds)
    share = (server.busy_s() - before) / seconds * 100
    yield Row(name="web: processor time with one browser, at rest", value=share, unit="%",
              limit=0.5)  # fmt: skip
