"""The commands and their options as data, for help and completion, which must not import typer.

``python docs/generate.py`` generates the data file from typer's declarations; a test fails if it is
out of date.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Final

from agentmux.core.codec.frozen import dataclass

PLACE: Final = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
    "shell",
)
"""The folder with the data file, the completion scripts of the shells and the man page."""

DATA: Final = f"{PLACE}/commands.json"
"""The path of the data file."""

SHELLS: Final = {"bash": "agentmux.bash", "zsh": "_agentmux", "fish": "agentmux.fish"}
"""The name of the completion script in `PLACE`, for each shell that has one."""


FILE: Final = "file"
FOLDER: Final = "dir"
COMMAND: Final = "command"
"""The kinds of values that `candidates` does not complete.

The shell completes files and folders; commands are completed from the table of commands.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """An option or an argument of a command.

    Attributes:
        names: The spellings of an option, such as ``--yes`` and ``-y``; empty for an argument.
        off: The spellings that turn a flag off, such as ``--no-worktree``.
        metavar: The placeholder for the value in the help; empty for a flag.
        kind: How the value is completed: a key of `candidates.KINDS`, such as ``session``; empty if
            it is not completed.
        choices: The allowed values; empty if any value is allowed.
        repeats: Whether the parameter may be given several times.
        required: Whether the parameter must be given.
        default: The default value, as the help shows it; empty if the help shows none.
        says: The help text, one or more sentences.
    """

    names: tuple[str, ...]
    off: tuple[str, ...]
    metavar: str
    kind: str
    choices: tuple[str, ...]
    repeats: bool
    required: bool
    default: str
    says: str

    @property
    def is_argument(self) -> bool:
        """Whether this is a positional argument; otherwise it is an option."""
        return not self.names

    @property
    def may_lack_value(self) -> bool:
        """Whether the option may be given without its value, like ``--branch``."""
        return self.metavar.startswith("[")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command or subcommand, or the program itself.

    Attributes:
        name: The word that the user types.
        group: The heading under which the help lists the command; empty for a subcommand.
        summary: The first line of the help text, in the imperative, without a full stop.
        text: The paragraphs of the help text after the summary; may be empty.
        parameters: The options and arguments, in the order of the help.
        examples: Command lines, each with a description.
        commands: The subcommands, in the order of the help.
    """

    name: str
    group: str
    summary: str
    text: str
    parameters: tuple[Parameter, ...]
    examples: tuple[tuple[str, str], ...]
    commands: tuple[Command, ...]

    def command(self, name: str) -> Command | None:
        """Return the subcommand ``name``; None if there is none."""
        return next((each for each in self.commands if each.name == name), None)

    def option(self, name: str) -> Parameter | None:
        """Return the option with the spelling ``name``; None if there is none."""
        return next((each for each in self.parameters if name in {*each.names, *each.off}), None)

    @property
    def arguments(self) -> tuple[Parameter, ...]:
        """The positional arguments, in the order in which they are typed."""
        return tuple(each for each in self.parameters if each.is_argument)

    @property
    def options(self) -> tuple[Parameter, ...]:
        """The options, in the order of the help."""
        return tuple(each for each in self.parameters if each.names)


def load() -> Command:
    """Read the data file `DATA`; return the program ``agentmux`` with all of its commands."""
    with open(DATA, encoding="utf-8") as file:
        return command_of(json.load(file))


def command_of(fields: Mapping[str, Any]) -> Command:
    """Return the `Command` that a record of the data file `DATA` describes.

    The keys of the record are the attributes of a `Command`, with lists and mappings as in JSON.
    """
    return Command(
        name=fields["name"],
        group=fields["group"],
        summary=fields["summary"],
        text=fields["text"],
        parameters=tuple(_parameter(each) for each in fields["parameters"]),
        examples=tuple((line, says) for line, says in fields["examples"]),
        commands=tuple(command_of(each) for each in fields["commands"]),
    )


def _parameter(fields: Mapping[str, Any]) -> Parameter:
    lists = {name: tuple(fields[name]) for name in ("names", "off", "choices")}
    return Parameter(**{**fields, **lists})


def find_path(program: Command, words: tuple[str, ...]) -> tuple[Command, ...]:
    """Return the program, the command that the first word names, and its subcommand, if any.

    The search ends at the first word that names no command; the program is always in the result.
    ``words`` are those after ``agentmux``.
    """
    path: tuple[Command, ...] = (program,)
    for word in words:
        below = path[-1].command(word)
        if below is None:
            break
        path = (*path, below)
    return path
