"""Runs a command once, to find out whether it works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, Self

from agentmux.core.checks.verdict import outcome_of
from agentmux.core.journal.results import CheckResult

_NOT_FOUND = 127
_NOT_STARTED = 126


def try_command(
    argv: tuple[str, ...], folder: Path, environ: Mapping[str, str], *, limit_s: float
) -> CheckResult:
    """Run a command in ``folder`` until it ends; return its result; its output goes to stderr.

    The command gets no input. It is killed after ``limit_s`` seconds, or if this process is asked
    to end (Ctrl-C, a closed terminal). What it leaves running in its process group is killed in any
    case. Call this in the main thread.

    Returns:
        The result, with ``outcome``, ``status``, ``signal`` and ``timed_out``. The outcome is
        ``passed``, ``failed``, or ``broken`` if the command cannot be started, is killed by a
        signal, or takes too long.

    Raises:
        KeyboardInterrupt: This process was asked to end.
    """
    try:
        with _Interruption() as interruption:
            process = subprocess.Popen(
                argv,
                cwd=folder,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,
                stderr=sys.stderr,
                process_group=0,
            )
            return _wait_for_end(process, limit_s, interruption)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        status = _NOT_FOUND if missing else _NOT_STARTED
        return CheckResult(outcome=outcome_of(status, None, stopped=False), status=status)


class _Interruption:
    """Makes the Unix signals that end this process raise KeyboardInterrupt, except ignored ones.

    A signal that arrives before `allow` is kept until then, so that a command that has just been
    started is known to the code that ends it.
    """

    def __init__(self) -> None:
        self._before: dict[signal.Signals, Any] = {}
        self._allowed = self._came = False

    def __enter__(self) -> Self:
        for each in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(each) is not signal.SIG_IGN:
                self._before[each] = signal.signal(each, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)
        if self._came and not self._allowed:
            raise KeyboardInterrupt

    def allow(self) -> None:
        """Let the next signal raise KeyboardInterrupt; raise it now if one has arrived."""
        self._allowed = True
        if self._came:
            raise KeyboardInterrupt

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self._came = True
        if self._allowed:
            raise KeyboardInterrupt


def _wait_for_end(
    process: subprocess.Popen[bytes], limit_s: float, interruption: _Interruption
) -> CheckResult:
    timed_out = False
    try:
        interruption.allow()
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
