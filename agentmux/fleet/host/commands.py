"""Runs commands of AgentMux such as `start`, `resume` and `approve` for a worker.

Each command is a separate process: it does the same as when a person types it, and it runs to its
end even if the worker is killed.
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
        code: The exit code.
        answer: The JSON object that the command wrote to stdout, parsed; its keys depend on the
            command. Empty if it wrote none.
        said: The error message, with the first hint. Without an error, the last line that the
            command wrote to stderr, or a sentence with the exit code.
        lasting: Whether the same command would fail again, so that a new try is useless.
    """

    code: int
    answer: Mapping[str, Any]
    said: str
    lasting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCommands:
    """Runs commands of AgentMux for the features of a host.

    Attributes:
        environ: The environment variables of the commands.
        locks: The folder with one lock file per feature.
        config: The configuration file that is passed with ``--config``; None for the usual files.
    """

    environ: Mapping[str, str]
    locks: Path
    config: Path | None = None

    @contextmanager
    def feature_lock(self, feature: str) -> Iterator[int]:
        """Context manager that holds a feature's lock, and yields the lock's file descriptor.

        It first waits, without a limit, for commands that still run for the feature, such as one of
        a killed worker.

        Args:
            feature: The feature's id.
        """
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
        """Run a command of AgentMux, and wait until it ends; end it after 15 minutes.

        Args:
            project: The folder of the project in which the command works.
            words: The command's name and arguments, without ``agentmux``.
            lock: The file descriptor that `feature_lock` yields; the command holds the lock while
                it runs.
            text: The command's standard input.

        Returns:
            How it ended. A command that fails does not raise; one that takes too long is ended, and
            has the exit code 1.

        Raises:
            StoppingError: AgentMux was removed or replaced, so the worker is about to end.
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
    """Return whether a command's JSON output reports an error that a new try would not fix."""
    problems = answer.get("problems")
    entries = problems if isinstance(problems, list) else []
    return any(isinstance(each, dict) and each.get("lasting") is True for each in entries)


def _summarize_output(text: str, command: str, code: int) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    error = next((each.removeprefix("error: ") for each in lines if each.startswith("error: ")), "")
    hint = next((each.removeprefix("hint: ") for each in lines if each.startswith("hint: ")), "")
    summary = error or (lines[-1] if lines else f"`agentmux {command}` ended with exit code {code}")
    return f"{summary} ({hint})" if hint else summary
