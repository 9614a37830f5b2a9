"""A small project with its own tmux server, home and demo agents; it ends all its processes.

Programs run as in a user's installation: ``agentmux`` by its console script, with compiled modules.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from agentmux.adapters.system.processes.processes import end, left_after, processes_with_variable

DEADLINE_S: Final = 60.0
MARK: Final = "AGENTMUX_BENCH_ID"
"""An environment variable of all processes of a sandbox, by which they are found and ended."""

_FOREIGN: Final = ("TMUX", "XDG_", "AGENTMUX_", "CLAUDE", "CODEX_", "GIT_", "PYTHON")
_BIN: Final = Path(sys.executable).parent
AGENTMUX: Final = str(_BIN / "agentmux")
PASS: Final = (sys.executable, "-c", "pass")
"""The program that ratios are measured against."""

Fields = dict[str, Any]


class Sandbox:
    """One git project with its own tmux server, home and demo agents."""

    def __init__(self, scenario: Mapping[str, object], config: str = "") -> None:
        """Make the project.

        Args:
            scenario: How the demo agents behave.
            config: Lines of the project's configuration.
        """
        self.root = Path(tempfile.mkdtemp(prefix="amx-bench-"))
        self.project = self.root / "calc"
        self.trace_file = self.root / "trace.jsonl"
        home = self.root / "home"
        self._id = uuid.uuid4().hex
        kept = {key: text for key, text in os.environ.items() if not key.startswith(_FOREIGN)}
        self.env = kept | {
            "HOME": str(home),
            "TMUX_TMPDIR": str(self.root),
            "PATH": f"{_BIN}:{os.environ['PATH']}",
            "AGENTMUX_DEMO_HOME": str(home / "demo"),
            "AGENTMUX_DEMO_SCENARIO": str(self.root / "scenario.json"),
            "AGENTMUX_DEMO_TRACE": str(self.trace_file),
            "TERM": "xterm-256color",
            MARK: self._id,
        }
        self.env |= {
            f"XDG_{kind}_HOME": str(home / kind.lower())
            for kind in ("CONFIG", "STATE", "DATA", "CACHE")
        }
        home.mkdir()
        (home / ".gitconfig").write_text("[user]\n\tname = Bench\n\temail = bench@localhost\n")
        (self.root / "scenario.json").write_text(json.dumps(scenario))
        (self.project / ".agentmux").mkdir(parents=True)
        if config:
            (self.project / ".agentmux" / "config.yaml").write_text("version: 1\n" + config)
        (self.project / "calc.py").write_text("def add(a, b):\n    return a + b\n")
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "Begin")):
            self.run("git", *words)
        if config:
            self.run(sys.executable, "-m", "agentmux", "trust", "--yes")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end_all()
        shutil.rmtree(self.root, ignore_errors=True)

    # -- programs ----------------------------------------------------------------------------

    def run(self, *argv: str, env: Mapping[str, str] | None = None, code: int = 0) -> str:
        """Run a program in the project; return what it printed.

        Raises:
            RuntimeError: The program did not exit with ``code``.
        """
        done = subprocess.run(
            argv,
            check=False,
            cwd=self.project,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
        )
        if done.returncode != code:
            msg = f"{argv}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
            raise RuntimeError(msg)
        return done.stdout

    def time(self, argv: Sequence[str], env: Mapping[str, str] | None = None) -> float:
        """Run a program, and return how many seconds it took."""
        whole = {**self.env, **(env or {})}
        begun = time.perf_counter()
        process = subprocess.Popen(
            argv,
            cwd=self.project,
            env=whole,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        left_after(((process.pid, 0),), wait_s=DEADLINE_S)  # quicker to notice than `wait`
        process.wait(1)
        return time.perf_counter() - begun

    def start(self, feature: str = "add a greeting", *words: str) -> Path:
        """Start a feature with the demo agent; return the session's directory."""
        argv = (AGENTMUX, "start", "--json", "--detach", "--agent", "demo", *words, "--", feature)
        found: Fields = json.loads(self.run(*argv))
        return Path(self.project, found["path"])

    # -- what happened -----------------------------------------------------------------------

    def trace(self) -> list[Fields]:
        """Return what the demo agents have done so far, in order."""
        if not self.trace_file.exists():
            return []
        return [json.loads(line) for line in self.trace_file.read_text().splitlines()]

    def prompted(self) -> int:
        """Return how many prompts the demo agents have received so far."""
        return sum(each["did"] == "prompted" for each in self.trace())

    def phase(self, session: Path) -> str:
        """Return the session's phase."""
        return str(json.loads((session / "state.json").read_text())["phase"])

    def processes(self) -> tuple[tuple[int, int], ...]:
        """Return the pid and start time of every process that was started for this project."""
        return processes_with_variable(f"{MARK}={self._id}")

    def kill_server(self) -> None:
        """Kill the tmux server with SIGKILL, and wait until the project has no processes."""
        if not (self.root / f"tmux-{os.getuid()}").exists():
            return
        said = subprocess.run(
            ("tmux", "display-message", "-p", "#{pid}"),
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        if said.returncode == 0:
            os.kill(int(said.stdout), 9)
        wait_until(lambda: not self.processes(), "everything has ended")

    def end_all(self) -> None:
        """End every process that was started for this project."""
        end(self.processes(), grace_s=0.2)


def wait_until(is_true: Callable[[], object], what: str, timeout_s: float = DEADLINE_S) -> None:
    """Wait until a condition is true.

    Raises:
        TimeoutError: It was not true in time.
    """
    deadline = time.monotonic() + timeout_s
    while not is_true():
        if time.monotonic() > deadline:
            msg = f"not within {timeout_s:g} s: {what}"
            raise TimeoutError(msg)
        time.sleep(0.02)


def side_by_side(rounds: int, *sides: Callable[[], float]) -> list[list[float]]:
    """Measure each side in turn, ``rounds`` times, so that changing load affects all sides alike.

    Returns:
        The values of each side. Each side runs once before, unmeasured, to fill its caches.
    """
    found: list[list[float]] = [[] for _ in sides]
    for side in sides:
        side()
    for _ in range(rounds):
        for side, values in zip(sides, found, strict=True):
            values.append(side())
    return found
