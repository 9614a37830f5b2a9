"""What can go wrong in a way the user can act on, and the exit codes that scripts rely on.

Bugs are not in this tree: they travel as ordinary exceptions up to ``cli.main``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

NAME_TAKEN: Final = "name_taken"
"""The reason of the `BlockedError` for a name that somebody else has."""


class ExitCode(IntEnum):
    """The exit codes of every ``agentmux`` command; fixed, documented, mapped in one place."""

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
    """A failure that names the thing and the place, with commands to type next.

    Attributes:
        message: Lower case, no full stop.
        hints: Each one something the user can do, most likely first.
        exit_code: What the process exits with when nobody handles the error.
    """

    exit_code = ExitCode.FAILED

    def __init__(self, message: str, *, hints: tuple[str, ...] = ()) -> None:
        self.message = message
        self.hints = hints
        super().__init__(message)


class UsageError(AgentmuxError):
    """The command line asks for something that makes no sense."""

    exit_code = ExitCode.USAGE


class BlockedError(AgentmuxError):
    """Somebody else is at it: a live tmux session, a held lock, a taken name.

    Attributes:
        reason: In a word, for programs: ``session_live``, ``locked``, ``twin``,
            ``agents_alive``, ``name_taken`` and the like.
    """

    exit_code = ExitCode.BLOCKED

    def __init__(self, message: str, *, reason: str, hints: tuple[str, ...] = ()) -> None:
        self.reason = reason
        super().__init__(message, hints=hints)


class SupersededError(BlockedError):
    """Another process has committed the session's state since we read it: it is theirs now."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="locked")


class NotFoundError(AgentmuxError):
    """Nothing, or more than one thing, answers to the name given."""

    exit_code = ExitCode.NOT_FOUND


class DataError(AgentmuxError):
    """A file of a session is unreadable, from a newer version, or cannot be written."""

    exit_code = ExitCode.DATA


def of_system(error: OSError) -> DataError:
    """Return what the system refused, for who cannot know more about it."""
    reason = (error.strerror or str(error)).lower()
    return DataError(f"{error.filename}: {reason}" if error.filename else reason)


class MissingError(AgentmuxError):
    """A program this needs is not on the machine, or does not answer."""

    exit_code = ExitCode.MISSING


class ConfigError(AgentmuxError):
    """The configuration is wrong; the message carries file and line."""

    exit_code = ExitCode.CONFIG


class RefusedError(AgentmuxError):
    """A submission breaks a rule.

    Attributes:
        problems: All of them, so that the agent can mend every one at once.
    """

    exit_code = ExitCode.REFUSED

    def __init__(self, message: str, *, problems: tuple[str, ...] = ()) -> None:
        self.problems = problems
        super().__init__(message)


class TimedOutError(AgentmuxError):
    """What ``wait`` was asked to wait for did not happen in time."""

    exit_code = ExitCode.TIMED_OUT
