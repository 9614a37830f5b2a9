"""The commands of a project that a session runs: the steps of its setup, and its checks.

They stand apart from the other settings, which a signal does not need.
"""

from __future__ import annotations

from typing import Final

from agentmux.core.codec.frozen import dataclass

_TIMEOUT_S: Final = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupStep:
    """A command that prepares a new worktree before the first agent starts there.

    Attributes:
        name: What people see; unique among the steps.
        run: The command line.
        timeout_s: The command is ended after this time, and has failed.
    """

    name: str
    run: tuple[str, ...]
    timeout_s: float = _TIMEOUT_S


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyCommand:
    """A command that checks the result, such as the tests of the project.

    Attributes:
        name: What people see; unique among the commands.
        run: The command line.
        timeout_s: The command is ended after this time, and could not be run.
        required: Whether the result has to pass it; else it is only reported.
    """

    name: str
    run: tuple[str, ...]
    timeout_s: float = _TIMEOUT_S
    required: bool = True
