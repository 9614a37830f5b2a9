"""The errors that a user can act on, and the exit codes.

A bug in AgentMux has no class here; it raises an ordinary exception, which `cli.main` reports.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar, Final

NAME_TAKEN: Final = "name_taken"
"""The ``reason`` of a `BlockedError` for a name that is in use already."""


class ExitCode(IntEnum):
    """The exit codes of all ``agentmux`` commands: each member's value is the number.

    Scripts rely on them, so they never change.

    docs/reference/exit-codes.md says when each one is returned.
    """

    OK = 0
    FAILED = 1
    USAGE = 2
    BLOCKED = 3
    NOT_FOUND = 4
    DATA = 5
    MISSING = 6
    CONFIG = 7
    REFUSED = 8
    TIMED_OUT = 9
    INTERRUPTED = 130


class AgentmuxError(Exception):
    """Base class of every error that a user can act on.

    Attributes:
        message: What is wrong and where; in lower case, without a full stop.
        hints: Commands to type next, or other advice; the most likely one first.
        exit_code: The exit code of the process if no caller handles the error.
        lasting: Whether the same command will fail again until a person changes its arguments, the
            configuration or the installed programs. The fleet does not retry such a command.
    """

    exit_code = ExitCode.FAILED
    lasting: ClassVar[bool] = False

    def __init__(self, message: str, *, hints: tuple[str, ...] = ()) -> None:
        self.message = message
        self.hints = hints
        super().__init__(message)


class UsageError(AgentmuxError):
    """The command line is invalid."""

    exit_code = ExitCode.USAGE
    lasting = True


class BlockedError(AgentmuxError):
    """A live tmux session, a locked session, a name in use or the like prevents the command.

    Attributes:
        reason: The kind of obstacle, for programs: ``session_live``, ``locked``, ``agents_alive``,
            ``name_taken`` and the like.
    """

    exit_code = ExitCode.BLOCKED

    def __init__(self, message: str, *, reason: str, hints: tuple[str, ...] = ()) -> None:
        self.reason = reason
        super().__init__(message, hints=hints)


class SupersededError(BlockedError):
    """Another process has changed the session's state since this process read it.

    This process must not write to the session any more.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="locked")


class NotFoundError(AgentmuxError):
    """The thing that a command names does not exist, or its name matches more than one thing."""

    exit_code = ExitCode.NOT_FOUND
    lasting = True


class DataError(AgentmuxError):
    """A file cannot be read or written, is damaged, or was written by a newer version."""

    exit_code = ExitCode.DATA


def reason_of(error: OSError) -> str:
    """Return the operating system's description of an error, in lower case, without the path."""
    return (error.strerror or str(error)).lower()


def data_error_from(error: OSError) -> DataError:
    """Return a `DataError` for an error of the operating system; does not raise it.

    Its message has the path of the file, if ``error`` contains one, and the reason.
    """
    reason = reason_of(error)
    return DataError(f"{error.filename}: {reason}" if error.filename else reason)


class MissingError(AgentmuxError):
    """A program that AgentMux needs is not installed, does not answer or fails."""

    exit_code = ExitCode.MISSING


class NotInstalledError(MissingError):
    """A program that AgentMux needs is not installed or is too old."""

    lasting = True


class InstallationGoneError(MissingError):
    """The installed files of AgentMux from which this process was started no longer exist."""


class ConfigError(AgentmuxError):
    """The configuration is invalid; the message names the file and the line."""

    exit_code = ExitCode.CONFIG
    lasting = True


class RefusedError(AgentmuxError):
    """An agent's signal was refused because its work breaks rules.

    Attributes:
        problems: A sentence for every broken rule, so that the agent can fix all of them at once.
    """

    exit_code = ExitCode.REFUSED

    def __init__(self, message: str, *, problems: tuple[str, ...] = ()) -> None:
        self.problems = problems
        super().__init__(message)


class TimedOutError(AgentmuxError):
    """What a command waited for did not happen within its time limit."""

    exit_code = ExitCode.TIMED_OUT


class DeclinedError(Exception):
    """A person has answered a question with no, so the command ends.

    The message says what was not done: by default, ``nothing was done``.
    """

    def __init__(self, message: str = "nothing was done") -> None:
        super().__init__(message)
