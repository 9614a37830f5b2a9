"""The errors that a user can act on, and the exit codes that scripts rely on.

Bugs have no class here: they stay ordinary exceptions, which ``cli.main`` catches.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

NAME_TAKEN: Final = "name_taken"
"""The ``reason`` of a `BlockedError` whose name is in use already."""


class ExitCode(IntEnum):
    """The exit codes of all ``agentmux`` commands; documented, and never changed."""

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
        message: Names the thing and the place; lower case, no full stop.
        hints: Commands to type next, or what else to do; the most likely one first.
        exit_code: The exit code of the process when no caller handles the error.
    """

    exit_code = ExitCode.FAILED

    def __init__(self, message: str, *, hints: tuple[str, ...] = ()) -> None:
        self.message = message
        self.hints = hints
        super().__init__(message)


class UsageError(AgentmuxError):
    """The command line is invalid."""

    exit_code = ExitCode.USAGE


class BlockedError(AgentmuxError):
    """Something else is in the way: a live tmux session, a locked session, a taken name.

    Attributes:
        reason: One word for programs: ``session_live``, ``locked``, ``twin``,
            ``agents_alive``, ``name_taken`` and the like.
    """

    exit_code = ExitCode.BLOCKED

    def __init__(self, message: str, *, reason: str, hints: tuple[str, ...] = ()) -> None:
        self.reason = reason
        super().__init__(message, hints=hints)


class SupersededError(BlockedError):
    """Another process has committed the session's state since this one read it.

    The session belongs to that process from then on.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="locked")


class NotFoundError(AgentmuxError):
    """Nothing, or more than one thing, matches the given name."""

    exit_code = ExitCode.NOT_FOUND


class DataError(AgentmuxError):
    """A file of a session is unreadable, from a newer version, or cannot be written."""

    exit_code = ExitCode.DATA


def reason_of(error: OSError) -> str:
    """Return the system's words for an error, in lower case."""
    return (error.strerror or str(error)).lower()


def of_system(error: OSError) -> DataError:
    """Return a system error as a `DataError`, for callers that have nothing to add."""
    reason = reason_of(error)
    return DataError(f"{error.filename}: {reason}" if error.filename else reason)


class MissingError(AgentmuxError):
    """A program that AgentMux needs is not installed, or does not answer."""

    exit_code = ExitCode.MISSING


class ConfigError(AgentmuxError):
    """The configuration is wrong; the message names file and line."""

    exit_code = ExitCode.CONFIG


class RefusedError(AgentmuxError):
    """A submission breaks a rule.

    Attributes:
        problems: Every broken rule, so that the agent can fix all of them at once.
    """

    exit_code = ExitCode.REFUSED

    def __init__(self, message: str, *, problems: tuple[str, ...] = ()) -> None:
        self.problems = problems
        super().__init__(message)


class TimedOutError(AgentmuxError):
    """What ``agentmux wait`` waited for did not happen in time."""

    exit_code = ExitCode.TIMED_OUT
