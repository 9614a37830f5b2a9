"""Measure what the fleet adds to the time in which a feature's first agent has its prompt."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from benchmarks.pipelines import NS
from benchmarks.rows import Row, milliseconds, p50
from benchmarks.sandbox import AGENTMUX, Sandbox, side_by_side, wait_until

_LIMIT_MS: Final = 1000.0


def overhead(*, quick: bool) -> Iterator[Row]:
    """Measure a start in a worktree, and a feature of the fleet with a worker at rest, in turns.

    The feature's time begins when ``fleet submit`` has ended: that the feature is in the database
    is what the worker waits for. The worker and its database are on this host.
    """
    submits: list[float] = []
    with Sandbox({"default": {"silent": True}}) as sandbox, _worker(sandbox):
        plain, ours = side_by_side(
            5 if quick else 15,
            lambda: _started(sandbox),
            lambda: _submitted(sandbox, submits),
        )
    more_ms = (p50(ours) - p50(plain)) * 1000
    yield Row(
        name="a feature of the fleet, more than a start, to its first prompt",
        value=more_ms,
        unit="ms",
        limit=_LIMIT_MS,
        note=f"{p50(ours) * 1000:.0f} ms against {p50(plain) * 1000:.0f} ms",
    )
    yield milliseconds("`fleet submit`", submits[1:])


@contextmanager
def _worker(sandbox: Sandbox) -> Iterator[None]:
    """Have a worker of a new fleet on SQLite run in the block."""
    config = sandbox.root / "home" / "config" / "agentmux"
    config.mkdir(parents=True)
    settings = {"version": 1, "fleet": {"repos": [str(sandbox.project)]}}
    (config / "config.yaml").write_text(json.dumps(settings))
    sandbox.run(AGENTMUX, "fleet", "init")
    said = sandbox.root / "worker.err"
    with said.open("wb") as errors:
        worker = subprocess.Popen(
            (AGENTMUX, "fleet", "worker", "--slots", "1"),
            cwd=sandbox.project,
            env=sandbox.env,
            stdin=subprocess.DEVNULL,
            stderr=errors,
        )
    try:
        wait_until(lambda: "runs with" in said.read_text(), "the worker runs")
        yield
    finally:
        worker.kill()
        worker.wait()


def _started(sandbox: Sandbox) -> float:
    sandbox.trace_file.unlink(missing_ok=True)
    begun_s = time.time()
    session = sandbox.start("add a greeting", "--name", "run", "--worktree")
    wait_until(sandbox.prompted, "the first prompt")
    taken: float = sandbox.trace()[0]["at"] / NS - begun_s
    sandbox.run(AGENTMUX, "stop", session.name)
    sandbox.run(AGENTMUX, "remove", session.name, "--yes")
    return taken


def _submitted(sandbox: Sandbox, submits: list[float]) -> float:
    sandbox.trace_file.unlink(missing_ok=True)
    begun_s = time.time()
    words = (AGENTMUX, "fleet", "submit", "add a greeting", "--agent", "demo", "--json")
    (made,) = json.loads(sandbox.run(*words))["features"]
    submitted_s = time.time()
    submits.append(submitted_s - begun_s)
    wait_until(sandbox.prompted, "the first prompt")
    taken: float = sandbox.trace()[0]["at"] / NS - submitted_s
    sandbox.run(AGENTMUX, "fleet", "cancel", made["id"], "--yes")
    wait_until(lambda: _status(sandbox, made["id"]) == "failed", "its session has ended")
    return taken


def _status(sandbox: Sandbox, feature: str) -> str:
    said = sandbox.run(AGENTMUX, "fleet", "show", feature, "--json")
    return str(json.loads(said)["status"])
