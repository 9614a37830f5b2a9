"""The project's own commands that a session runs: setup steps, and commands of checks.

They are in a module of their own so that submitting a signal need not import all other settings.
"""

from __future__ import annotations

from typing import Final

from agentmux.core.codec.frozen import dataclass

_TIMEOUT_S: Final = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupStep:
    """A command that prepares a new worktree before the first agent starts there.

    Attributes:
        name: The name for people; unique among the steps.
        run: The argv.
        timeout_s: The number of seconds after which the command is ended and counts as failed.
    """

    name: str
    run: tuple[str, ...]
    timeout_s: float = _TIMEOUT_S


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyCommand:
    """A command that checks the result of a session, such as the tests of the project.

    Attributes:
        name: The name for people; unique among the commands.
        run: The argv.
        timeout_s: The number of seconds after which the command is ended and counts as a command
            that could not run.
        required: Whether the check passes only if this command does; otherwise its outcome is only
            reported.
    """

    name: str
    run: tuple[str, ...]
    timeout_s: float = _TIMEOUT_S
    required: bool = True
