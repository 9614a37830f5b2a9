"""Measure a work-tree checkpoint of a small and of a large repository."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agentmux.adapters.git.program import GitProgram
from agentmux.adapters.trees.checkpoints import GitCheckpoints
from agentmux.app.loop.work.tree_saver import PATIENCE_S
from benchmarks.repositories import filled
from benchmarks.rows import Row, milliseconds

_FEW: Final = 50
_MANY: Final = 50_000
_CHANGED: Final = 30


def checkpoint(*, quick: bool) -> Iterator[Row]:
    """Measure checkpoints after 30 files were changed.

    The next agent waits `PATIENCE_S` seconds at most, which a test checks with a git that hangs. So
    the limit for the large repository says that it does not wait in vain.
    """
    for count, limit in ((_FEW, 100.0), (_MANY, PATIENCE_S * 1000)):
        taken = _measured(count, 5 if quick else 12)
        note = f"{_CHANGED} changed; the next agent waits {PATIENCE_S:g} s at most"
        yield milliseconds(f"checkpoint of {count} files", taken, limit, note)


def _measured(count: int, rounds: int) -> list[float]:
    with tempfile.TemporaryDirectory(prefix="amx-bench-") as folder:
        top, home = Path(folder, "project"), Path(folder, "session")
        home.mkdir()
        files = filled(top, count)
        store = GitCheckpoints(GitProgram(top, dict(os.environ)), home, "bench")
        return [_once(store, files, number) for number in range(rounds)]


def _once(store: GitCheckpoints, files: list[Path], number: int) -> float:
    for path in files[:_CHANGED]:
        path.write_text(f"CHANGED = {number}\n")
    begun = time.perf_counter()
    saved = store.take("a checkpoint", limit_s=60)
    taken = time.perf_counter() - begun
    if saved is None or saved.missing:
        msg = "not everything was saved"
        raise RuntimeError(msg)
    return taken
