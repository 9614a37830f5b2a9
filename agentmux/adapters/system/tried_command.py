"""Run a command once, to see whether it works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from agentmux.core.checks.verdict import outcome_of
from agentmux.core.journal.results import CheckResult

_NOT_FOUND = 127
_NOT_STARTED = 126


def try_command(
    argv: tuple[str, ...], folder: Path, environ: Mapping[str, str], *, limit_s: float
) -> CheckResult:
    """Run a command, and return what it has shown; its output goes to stderr.

    It gets no input. After ``limit_s`` seconds, or if this process is to end (Ctrl-C, a closed
    terminal), all of its process group is killed. Call it in the main thread.
    """
    try:
        with (
            _interrupted_by(signal.SIGHUP, signal.SIGTERM),
            subprocess.Popen(
                argv,
                cwd=folder,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,
                stderr=sys.stderr,
                process_group=0,
            ) as process,
        ):
            return _ended(process, limit_s)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        status = _NOT_FOUND if missing else _NOT_STARTED
        return CheckResult(outcome=outcome_of(status, None, stopped=False), status=status)


@contextmanager
def _interrupted_by(*numbers: signal.Signals) -> Iterator[None]:
    """Let these Unix signals do what Ctrl-C does, except those that are ignored."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {each: signal.getsignal(each) for each in numbers}
    taken = [each for each in numbers if before[each] is not signal.SIG_IGN]
    for each in taken:
        signal.signal(each, interrupt)
    try:
        yield
    finally:
        for each in taken:
            signal.signal(each, before[each])


def _ended(process: subprocess.Popen[bytes], limit_s: float) -> CheckResult:
    timed_out = False
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    code = process.wait()
    status, number = (code, None) if code >= 0 else (None, -code)
    outcome = outcome_of(status, number, stopped=timed_out)
    return CheckResult(outcome=outcome, status=status, signal=number, timed_out=timed_out)
