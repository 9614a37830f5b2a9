"""Runs a program in the foreground of this process's terminal."""

from __future__ import annotations

import contextlib
import os
import signal
import termios
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Final

from agentmux.adapters.system import terminal
from agentmux.errors import MissingError

_USABLE: Final = (
    "\x1b[r\x1b[?1l\x1b>\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1006l\x1b[?25h\x1b[m\x1b[?1049l\r\n"
)
"""Resets what tmux clients change: scrolling, keys, paste, mouse, cursor, colours, second screen.
"""

_PASSED_ON: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


def run(argv: tuple[str, ...], environ: Mapping[str, str], *, errors: int = 2) -> int:
    """Run a program in the foreground of this terminal until it ends; return its exit status.

    The result is 128 + N if signal N ended the program.

    TERM, HUP, INT and QUIT are passed on to the program. If the program stops (as a tmux client
    does at ``suspend-client``), this process stops with it; a shell's ``fg`` continues both. If the
    program leaves the terminal in another mode (as a tmux client does when its server is killed),
    the mode is restored.

    Args:
        argv: The command line, the program first.
        environ: The program's whole environment.
        errors: The file descriptor to which its error messages go.

    Raises:
        MissingError: The program cannot be started.
    """
    with terminal_kept():
        return _run(argv, environ, errors)


def _run(argv: tuple[str, ...], environ: Mapping[str, str], errors: int) -> int:
    # Signals wait until there is a program to pass them on to.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
    try:
        moved = [(os.POSIX_SPAWN_DUP2, errors, 2)]
        pid = os.posix_spawnp(argv[0], argv, environ, file_actions=moved, setsigmask=mask)
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        raise MissingError(f"{argv[0]} cannot be started: {error.strerror}") from None

    def pass_on(number: int, _frame: FrameType | None) -> None:
        os.kill(pid, number)

    before = {number: signal.signal(number, pass_on) for number in _PASSED_ON}
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    try:
        return _status(pid)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def terminal_kept() -> Iterator[None]:
    """Restore the mode of the terminal at stdin after the ``with`` block, if it has changed.

    Do nothing if stdin is no terminal.
    """
    try:
        before = terminal.mode(0)
    except termios.error:  # there is no terminal
        yield
        return
    yield
    with contextlib.suppress(OSError, termios.error):
        if terminal.mode(0) != before:
            terminal.restore(0, before)
            terminal.write(0, _USABLE)


def _status(pid: int) -> int:
    """Wait until the program ends, and return its exit status; 128 + N if signal N ended it.

    While the program is stopped, this process is stopped too.
    """
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        os.kill(os.getpid(), signal.SIGSTOP)
