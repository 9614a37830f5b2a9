"""Asks, in ``agentmux init``, which commands check results; each command is tried first."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.disk.files import read_limited
from agentmux.adapters.system.processes.tried_command import try_command
from agentmux.cli import render
from agentmux.cli.ask.yes_or_no import ask_yes
from agentmux.core.checks.proposals import READ, TEST_FILES, proposals
from agentmux.core.checks.report import check_words
from agentmux.core.names.statuses import PASSED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentmux.cli.ask.agent_choice import Ask
    from agentmux.core.config.commands import VerifyCommand

_LARGEST: Final = 1 << 20
_TESTS_READ: Final = 20
"""How many test files are read of each folder, to see how they are run."""


def found_commands(project: Path) -> tuple[VerifyCommand, ...]:
    """Return commands that, judging by the project's files, run its tests and other checks.

    Empty if no such command is known. Reads the few files that say so, such as ``pyproject.toml``;
    runs no command.
    """
    tests = (each for pattern in TEST_FILES for each in sorted(project.glob(pattern))[:_TESTS_READ])
    names = (*READ, *(each.relative_to(project).as_posix() for each in tests))
    contents = {name: read_limited(project / name, _LARGEST) for name in names}
    return proposals(
        {
            name: data.decode("utf-8", "replace")
            for name, data in contents.items()
            if data is not None
        }
    )


def ask_checks(
    found: tuple[VerifyCommand, ...], project: Path, environ: Mapping[str, str], ask: Ask
) -> tuple[VerifyCommand, ...]:
    """Ask a person which commands should check results, and return these; writes nothing.

    A command to which the person agrees is run once. If it does not pass, the person is asked
    whether it should check results all the same.

    Args:
        found: The proposed commands.
        project: The directory in which they are run.
        environ: The environment with which they are run.
        ask: Shows a text and returns the line that the person then typed.
    """
    return tuple(each for each in found if _is_taken(each, project, environ, ask))


def _is_taken(command: VerifyCommand, project: Path, environ: Mapping[str, str], ask: Ask) -> bool:
    typed = shlex.join(command.run)
    if not ask_yes(ask, f"Let `{typed}` check results? It runs once now, in {project}"):
        return False
    seen = try_command(command.run, project, environ, limit_s=command.timeout_s)
    render.note(check_words(command.name, seen))
    if seen.outcome == PASSED:
        return True
    again = f"It did not pass. Let `{typed}` check results all the same?"
    return ask_yes(ask, again, usual=False)
