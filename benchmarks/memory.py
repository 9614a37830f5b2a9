"""Watch the memory of desk, page and orchestrators while sessions come and go.

Not a part of ``./dev bench``: it takes as long as it is told to. ``python -m benchmarks.memory
--minutes 60 --csv FILE`` writes one line a minute for each process, in KiB. With Playwright and
Chromium, a real browser has the page open; without, a client reads the stream of events.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Protocol

from benchmarks.sandbox import AGENTMUX, Sandbox, wait_until
from benchmarks.web import Server

_THINK_S: Final = 1.0
_KEPT: Final = 8
"""So many sessions that are done stay; older ones are removed, so that the list does not grow."""

_CHECK: Final = "verify:\n- {name: tests, run: ['true'], timeout: 1m}\n"
_OUTER: Final = ("tmux", "-L", "outer")
_KEYS: Final = ("Down", "2", "3", "5", "1", "Up")


class _Rows(Protocol):
    """What takes the samples."""

    def writerow(self, row: Iterable[object], /) -> object:
        """Write one line."""


Note = Callable[[float, str, int], None]


def main() -> int:
    """Run the loop, and write what each process had every minute."""
    options = _options()
    with (
        Path(options.csv).open("w", newline="") as file,
        Sandbox({"default": {"think": _THINK_S}}, _CHECK) as sandbox,
    ):
        _measure(sandbox, csv.writer(file), file.flush, options.minutes * 60)
    return 0


def _measure(sandbox: Sandbox, rows: _Rows, flush: Callable[[], None], seconds: float) -> None:
    rows.writerow(("minute", "process", "pid", "rss_kib", "pss_kib", "sessions", "cycles"))
    begun = time.monotonic()
    sandbox.run(AGENTMUX, "trust", "--yes")
    busy = sandbox.start("a feature that is never right", "--worktree", "--name", "busy")
    with (
        _desk(sandbox) as desk,
        Server(sandbox) as server,
        _listening(server),
        _browsing(server) as look,
    ):
        done: list[str] = []
        cycles, sampled = 1, begun - 60
        while time.monotonic() - begun < seconds:
            cycles += _once_more(sandbox, busy)
            name = f"run-{len(done):04}"
            session = sandbox.start("fix the typo", "--quick", "--name", name)
            look(f"/sessions/{session.name}")
            wait_until(lambda: _state(session).get("summary_submitted"), "a summary", 300)  # noqa: B023 (called at once)
            for key in _KEYS:
                sandbox.run(*_OUTER, "send-keys", "-t", "desk", key)
            look(f"/sessions/{session.name}/diff")
            if time.monotonic() - sampled >= 60:
                sampled = time.monotonic()
                minute = round((sampled - begun) / 60, 1)
                watched = {
                    "desk": desk,
                    "web": server.process.pid,
                    "orchestrator busy": _orchestrator(busy),
                    "orchestrator new": _orchestrator(session),
                }
                for what, pid in watched.items():
                    rows.writerow((minute, what, pid, *_memory(pid), len(done), cycles))
                flush()
            sandbox.run(AGENTMUX, "approve", session.name, "--yes")
            wait_until(lambda: _state(session)["phase"] == "done", "its end", 300)  # noqa: B023 (called at once)
            look("/")
            done.append(session.name)
            if len(done) > _KEPT:
                with suppress(RuntimeError):
                    sandbox.run(AGENTMUX, "remove", done[-_KEPT - 1], "--yes", "--force")


def _once_more(sandbox: Sandbox, busy: Path) -> int:
    """Request changes of the session that never ends, if it waits for a decision."""
    if not _state(busy).get("summary_submitted"):
        return 0
    with suppress(RuntimeError):
        sandbox.run(AGENTMUX, "request-changes", "-s", busy.name, "--from", "fixing", "again")
        return 1
    return 0


@contextmanager
def _desk(sandbox: Sandbox) -> Iterator[int]:
    """Open the desk in a pane of another tmux server; yield its pid."""
    command = ("sh", "-c", f"exec env -u TMUX -u TMUX_PANE {AGENTMUX}")
    sandbox.run(*_OUTER, "new-session", "-d", "-s", "desk", "-x", "120", "-y", "36", *command)
    try:
        yield int(sandbox.run(*_OUTER, "list-panes", "-t", "desk", "-F", "#{pane_pid}"))
    finally:
        sandbox.run(*_OUTER, "kill-server")


@contextmanager
def _listening(server: Server) -> Iterator[None]:
    """Read the stream of events, as a browser does."""
    with server.listen() as stream:
        stream.settimeout(None)
        reader = threading.Thread(target=_read, args=(stream,), daemon=True)
        reader.start()
        yield
        stream.shutdown(socket.SHUT_RDWR)
        reader.join()


def _read(stream: socket.socket) -> None:
    with suppress(OSError):
        while stream.recv(1 << 16):
            pass


@contextmanager
def _browsing(server: Server) -> Iterator[Callable[[str], object]]:
    """Show pages in Chromium; without it, fetch them."""
    chromium = shutil.which("chromium")
    if not chromium or importlib.util.find_spec("playwright") is None:
        print("memory: no Playwright or no chromium: a client instead", file=sys.stderr)
        yield lambda path: server.ask("GET", path)
        return
    from playwright.sync_api import sync_playwright

    origin = server.headers["Origin"]
    name, _, value = server.headers["Cookie"].partition("=")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context()
        context.add_cookies([{"name": name, "value": value, "url": origin}])
        home, page = context.new_page(), context.new_page()
        home.goto(f"{origin}/")

        def look(path: str) -> None:
            with suppress(Exception):  # a slow page is not what is measured here
                page.goto(f"{origin}{path}", timeout=60_000)

        yield look
        browser.close()


def _state(session: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((session / "state.json").read_text())
    return found


def _orchestrator(session: Path) -> int:
    state = json.loads((session / "runtime_state.json").read_text())
    return int(state["orchestrator_pid"])


def _memory(pid: int) -> tuple[int, int]:
    """Return the resident memory of a process and its share of it, in KiB; 0 if it has ended."""
    found = {"Rss": 0, "Pss": 0}
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            key, _, rest = line.partition(":")
            if key in found:
                found[key] = int(rest.split()[0])
    return found["Rss"], found["Pss"]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--csv", required=True)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
