"""Measure how long a person waits for the monitor to answer a key, also while its loop is busy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from benchmarks.rows import Row, milliseconds
from benchmarks.sandbox import Sandbox, wait_until

_ANSWER: Final = "All keys of the monitor"
_LIMIT_MS: Final = 100
_BUSY: Final = "completion: {require_approval: false}\n"


def keys(*, quick: bool) -> Iterator[Row]:
    """Press ``?`` and Esc in turns: while agents come and go, then while nothing happens."""
    fails = [{"when": {"iteration": n}, "verdict": "fail"} for n in range(3)]
    roles = {"planner": {"plan": {"parts": 8}}, "reviewer_logic": {"attempts": fails}}
    with Sandbox({"roles": roles}, _BUSY) as sandbox:
        session = sandbox.start()
        busy: list[float] = []
        with suppress(RuntimeError):  # the session ended meanwhile
            while sandbox.phase(session) != "done":
                busy += _pressed(sandbox)
    with Sandbox({"roles": {"architect": {"think": 600}}}) as sandbox:
        session = sandbox.start()
        wait_until(lambda: "architect" in _screen(sandbox), "the monitor is shown")
        idle = [took for _ in range(5 if quick else 25) for took in _pressed(sandbox)]
    late = sorted(busy)[len(busy) * 95 // 100] * 1000
    slowest = max(busy) * 1000
    note = f"from tmux's send-keys to capture-pane; p95 {late:.0f} ms, the slowest {slowest:.0f} ms"
    yield milliseconds("a key in the monitor, the loop busy", busy, _LIMIT_MS, note)
    yield milliseconds("… while nothing happens", idle, _LIMIT_MS)


def _pressed(sandbox: Sandbox) -> Iterator[float]:
    for key, shown in (("?", True), ("Escape", False)):
        begun = time.perf_counter()
        sandbox.run("tmux", "send-keys", "-t", ":0.0", key)
        while (_ANSWER in _screen(sandbox)) is not shown:
            pass
        yield time.perf_counter() - begun


def _screen(sandbox: Sandbox) -> str:
    return sandbox.run("tmux", "capture-pane", "-p", "-t", ":0.0")
