"""Measure how long fifty agent panes take, against fifty windows of bare tmux."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Self

import agentmux
from agentmux.adapters.system.processes.processes import end
from agentmux.ports.tmux.terminal import NewPane
from benchmarks.rows import Row, ratio
from benchmarks.sandbox import side_by_side, wait_until
from tests.fakes.bench import Bench as TmuxTerminal

COUNT: Final = 50
_SIZE: Final = (220, 60)
_WRAPPER: Final = str(Path(agentmux.__file__).parent / "adapters" / "pane" / "wrapper.py")


def fifty(*, quick: bool) -> Iterator[Row]:
    """Measure AgentMux and bare tmux in turns, each time on a new server."""
    made: tuple[list[float], list[float]] = ([], [])
    rounds = 3 if quick else 7
    ours, bare, plain = side_by_side(
        rounds, lambda: _ours(made[0]), lambda: _bare(made[1]), _without_wrapper
    )
    yield ratio("50 panes until all agents run", ours, bare, 3)
    yield ratio("… of it the tmux calls alone", made[0][1:], made[1][1:], 3)
    yield ratio("… against `sleep` without our wrapper", ours, plain, None)


def _ours(called: list[float]) -> float:
    with _Server() as server:
        panes = [
            NewPane(seat=f"coder-{n}", launch=launch, label=f"coder-{n}", argv=server.argv(launch))
            for n, launch in enumerate(server.launches)
        ]
        begun = time.perf_counter()
        server.terminal.open_panes(server.session, panes)
        called.append(time.perf_counter() - begun)
        server.wait_all()
        return time.perf_counter() - begun


def _bare(called: list[float]) -> float:
    with _Server() as server:
        words = _windows(server.session, [server.argv(launch) for launch in server.launches])
        begun = time.perf_counter()
        server.terminal.run(*words)
        called.append(time.perf_counter() - begun)
        server.wait_all()
        return time.perf_counter() - begun


def _without_wrapper() -> float:
    with _Server() as server:
        words = _windows(server.session, [("sleep", "600")] * COUNT)
        begun = time.perf_counter()
        server.terminal.run(*words)
        return time.perf_counter() - begun


def _windows(session: str, argvs: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the arguments of one tmux call that makes a window for each program."""
    words: list[str] = []
    for argv in argvs:
        new = ("new-window", "-d", "-t", f"{session}:", "--", *argv)
        words += [*([";"] if words else []), *new]
    return words


class _Server:
    """A tmux server with one session, and the folders of fifty launches of ``sleep``."""

    def __init__(self) -> None:
        # A short path: fifty of them have to fit into one call of bare tmux.
        self.root = Path(tempfile.mkdtemp(prefix="amx"))
        self.launches = [f"{n:012x}" for n in range(COUNT)]
        self.terminal = TmuxTerminal(str(self.root / "s"), config_file="/dev/null", timeout_s=60)
        launch = {"argv": ["sleep", "600"], "cwd": "/", "env": {}, "unset": []}
        for each in self.launches:
            (self.root / each).mkdir()
            (self.root / each / "launch.json").write_text(json.dumps(launch))

    def __enter__(self) -> Self:
        made = self.terminal.create_session(
            name="bench", uuid="bench", cwd=self.root, size=_SIZE, argv=("sleep", "600")
        )
        self.session = made.session.id
        return self

    def __exit__(self, *_: object) -> None:
        pids = [(pane.pid, 0) for pane in self.terminal.panes(self.session)]
        self.terminal.kill_session(self.session)
        end(pids, grace_s=1)
        shutil.rmtree(self.root, ignore_errors=True)

    def argv(self, launch: str) -> tuple[str, ...]:
        return (sys.executable, "-IS", _WRAPPER, str(self.root / launch))

    def wait_all(self) -> None:
        """Wait until every launch has its ``started`` file: its program is about to run."""
        wait_until(
            lambda: all((self.root / each / "started").exists() for each in self.launches),
            "all programs run",
        )
