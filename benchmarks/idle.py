"""Measure the processor time and memory of an orchestrator while nothing happens."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from benchmarks.pipelines import coders
from benchmarks.rows import Row
from benchmarks.sandbox import Sandbox, wait_until

_SETTLE_S: Final = 25.0
"""Wait this long after a launch, while the orchestrator still looks for proof of the prompt."""

_MIB: Final = 1 << 20


def idle(*, quick: bool) -> Iterator[Row]:
    """Measure with one silent agent, then with twenty."""
    if sys.platform != "linux":
        print("idle: skipped, this system has no /proc", file=sys.stderr)
        return
    wait_s = 30.0 if quick else 60.0
    yield from _measure(1, {"default": {"silent": True}}, 1, wait_s)
    yield from _measure(20, coders(20, {"silent": True}), 22, wait_s)


def _measure(
    panes: int, scenario: Mapping[str, object], prompts: int, wait_s: float
) -> Iterator[Row]:
    with Sandbox(scenario) as sandbox:
        session = sandbox.start()
        wait_until(lambda: sandbox.prompted() == prompts, f"{prompts} prompts")
        wait_until(lambda: _reached(session) == panes, "every prompt is known to have arrived")
        pid = json.loads((session / "runtime_state.json").read_text())["orchestrator_pid"]
        time.sleep(_SETTLE_S)
        before, begun = cpu_s(pid), time.monotonic()
        time.sleep(wait_s)
        used = (cpu_s(pid) - before) / (time.monotonic() - begun)
        memory = _rss(pid)
    name = f"idle with {panes} pane{'s' if panes > 1 else ''}"
    note = f"over {wait_s:g} s, with its children"
    yield Row(name=f"{name}: processor", value=used * 100, unit="%", limit=0.2, note=note)
    yield Row(name=f"{name}: memory", value=memory / _MIB, unit="MiB", limit=45, note="resident")


def _reached(session: Path) -> int:
    """Return how many seats are known to have received their prompt."""
    seats = json.loads((session / "state.json").read_text()).get("seats", {}).values()
    return sum(seat["status"] == "launched" for seat in seats)


def cpu_s(pid: int) -> float:
    """Return the processor time, in seconds, of a process and of its children that have ended."""
    stat = Path(f"/proc/{pid}/stat").read_text()
    fields = stat[stat.rindex(")") + 2 :].split()  # proc(5): the name may hold anything
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _rss(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
