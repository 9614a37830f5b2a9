"""Measure how soon a newcomer sees agents: from ``agentmux demo`` to the first one in its pane."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from typing import Final

from benchmarks.rows import Row, p50
from benchmarks.sandbox import AGENTMUX, Sandbox, wait_until

_TMUX: Final = ("tmux", "-L", "outer", "-f", "/dev/null")
_WORKS: Final = "esc to interrupt"


def demo(*, quick: bool) -> Iterator[Row]:
    """Run the demo in a terminal, and close the terminal once an agent is at work in a pane."""
    found: list[float] = []
    with Sandbox({}) as sandbox:
        place = sandbox.root / "t"
        for _ in range(1 if quick else 5):
            place.mkdir()
            begun = time.monotonic()
            size = ("-d", "-s", "s", "-x", "100", "-y", "30")
            line = f"env -u TMUX TMPDIR={place} {AGENTMUX} demo; exec cat"
            sandbox.run(*_TMUX, "new-session", *size, line)
            wait_until(
                lambda: _WORKS in sandbox.run(*_TMUX, "capture-pane", "-p", "-t", "s"),
                "an agent is at work",
            )
            found.append(time.monotonic() - begun)
            sandbox.run(*_TMUX, "kill-server")
            wait_until(lambda: not sandbox.processes(), "the demo is gone")
            shutil.rmtree(place)
    yield Row(name="demo to the first agent in a pane", value=p50(found), unit="s", limit=5)
