"""Runs `start`, `resume`, `approve` and the like for a worker, as a person would type them.

Each is a process of its own: it does exactly what the command does, and goes on to its end if the
worker is killed.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from agentmux.adapters.disk import files
from agentmux.adapters.system.processes.child import Child
from agentmux.adapters.system.python.installation import require_installed
from agentmux.core.codec.frozen import dataclass
from agentmux.errors import InstallationGoneError
from agentmux.fleet.host.stopping import StoppingError
from agentmux.wiring import machine

_LIMIT_S: Final = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOutcome:
    """How a command ended.

    Attributes:
        answer: Its JSON answer; empty where it gave none.
        said: Its error, in one sentence, with its first hint.
        lasting: Whether it says that a new try would fail again.
    """

    code: int
    answer: Mapping[str, Any]
    said: str
    lasting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCommands:
    """Runs commands of AgentMux in a project.

    Attributes:
        locks: The folder of the locks that the commands of each feature hold.
        config: The file of ``--config``; None without one.
    """

    environ: Mapping[str, str]
    locks: Path
    config: Path | None = None

    @contextmanager
    def alone(self, feature: str) -> Iterator[int]:
        """Hold the feature's lock in the block; wait for commands that a killed worker has left."""
        files.make_dir(self.locks)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        fd = os.open(self.locks / f"{feature}.lock", flags, files.FILE_MODE)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield fd
        finally:
            os.close(fd)

    def run(
        self, project: Path, words: Sequence[str], *, lock: int, text: str = ""
    ) -> CommandOutcome:
        """Run a command to its end.

        Args:
            project: The project that it is about.
            words: What is typed after ``agentmux``.
            lock: The feature's lock, which the command holds as long as it runs.
            text: What it reads from its standard input.

        Raises:
            StoppingError: The worker is about to end, since AgentMux was removed or replaced.
        """
        config = ("--config", str(self.config)) if self.config is not None else ()
        try:
            require_installed(way_on="start the worker again: agentmux fleet worker")
        except InstallationGoneError as error:
            raise StoppingError from error
        argv = (*machine.program(), "--project", str(project), *config, *words)
        try:
            done = Child(
                argv=argv,
                env=self.environ,
                cwd=project,
                stdin=text.encode("utf-8", "replace"),
                limit_s=_LIMIT_S,
                keep_open=(lock,),
            ).run()
        except subprocess.TimeoutExpired:
            return CommandOutcome(code=1, answer={}, said=f"`{words[0]}` took over {_LIMIT_S:g} s")
        answer = _json(done.out)
        return CommandOutcome(
            code=done.status,
            answer=answer,
            said=machine.locate(
                _summarize_output(done.err.decode("utf-8", "replace"), words[0], done.status),
                project,
            ),
            lasting=_lasts(answer),
        )


def _json(data: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _lasts(answer: Mapping[str, Any]) -> bool:
    """Return whether a command's answer is an error that a new try does not change."""
    problems = answer.get("problems")
    entries = problems if isinstance(problems, list) else []
    return any(isinstance(each, dict) and each.get("lasting") is True for each in entries)


def _summarize_output(text: str, command: str, code: int) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    error = next((each.removeprefix("error: ") for each in lines if each.startswith("error: ")), "")
    hint = next((each.removeprefix("hint: ") for each in lines if each.startswith("hint: ")), "")
    summary = error or (lines[-1] if lines else f"`agentmux {command}` ended with exit code {code}")
    return f"{summary} ({hint})" if hint else summary
