"""Runs commands without a shell, and captures their output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

NOT_FOUND: Final = 127
"""The exit status of a command that cannot be started."""
TIMEOUT: Final = 124
"""The exit status of a command that takes too long."""
TIMEOUT_S: Final = 120.0
"""The most seconds that a command may take."""


class CommandResult(NamedTuple):
    """The result of a command.

    Attributes:
        status: The exit status; negative if a signal ended the command.
        text: The output: stdout and stderr in one text.
    """

    status: int
    text: str


def run(argv: Sequence[str], env: dict[str, str], stdin: str = "") -> CommandResult:
    """Run a command, and wait until it ends; end it after `TIMEOUT_S`; never raise.

    Args:
        argv: The command line; its first word is the program.
        env: All environment variables of the command.
        stdin: The command's standard input.

    Returns:
        The result. Its status is `NOT_FOUND` if the command cannot be started, and `TIMEOUT` if it
        takes too long.
    """
    import subprocess  # a prompt is handled before the first command

    try:
        done = subprocess.run(  # noqa: TID251 (a program of its own, without our modules)
            list(argv), env=env, input=stdin, text=True, encoding="utf-8", errors="replace",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
    except OSError as error:
        return CommandResult(NOT_FOUND, f"{argv[0]}: {error.strerror}")
    except subprocess.TimeoutExpired:
        return CommandResult(TIMEOUT, f"{argv[0]}: no end after {TIMEOUT_S:g} s")
    return CommandResult(done.returncode, done.stdout.strip())


def kill(argv: Sequence[str]) -> CommandResult:
    """Start a command and kill it at once, as the system does when memory runs out.

    ``argv`` is the command line; its first word is the program.

    Returns:
        The result, with a negative status, and ``Killed`` as its text.

    Raises:
        OSError: The command cannot be started.
    """
    import subprocess  # as above

    process = subprocess.Popen(list(argv), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.kill()
    return CommandResult(process.wait(), "Killed")
