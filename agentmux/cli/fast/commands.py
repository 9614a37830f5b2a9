"""The commands and their options as data, for what must not import typer: help and completion.

The data file is made from typer's declarations by ``python docs/generate.py``; a test says when it
is out of date.
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
"""The folder of what the user's shell reads: the data file, completion scripts and the man page."""

DATA: Final = f"{PLACE}/commands.json"

SHELLS: Final = {"bash": "agentmux.bash", "zsh": "_agentmux", "fish": "agentmux.fish"}
"""The shells that have completion, and the name of each one's script in `PLACE`."""


FILE: Final = "file"
FOLDER: Final = "dir"
COMMAND: Final = "command"
"""The kinds of values that the shell or the table itself completes; the others: `candidates`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """An option or an argument of a command.

    Attributes:
        names: The spellings of an option, such as ``--yes`` and ``-y``; empty for an argument.
        off: The spellings that turn a flag off, such as ``--no-worktree``.
        metavar: What stands for the value in the help; empty for a flag.
        kind: What completes the value: a name of `candidates.KINDS`; empty for nothing.
        choices: The only values that are allowed; empty where any is.
        repeats: Whether it may be given several times.
        required: Whether it must be given.
        default: The value without it, as the help shows it; empty where it says nothing.
        says: One or more sentences.
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
        """Whether it is an argument, known by its place."""
        return not self.names

    @property
    def may_lack_value(self) -> bool:
        """Whether its value may be left out, as that of ``--branch``."""
        return self.metavar.startswith("[")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command, or the program itself.

    Attributes:
        name: The word that is typed.
        group: The heading under which the help lists it; empty for a subcommand.
        summary: One line, in the imperative, without a full stop.
        text: The paragraphs after the summary; may be empty.
        parameters: In the order of the help.
        examples: Command lines, each with what it does.
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
        """The arguments, in the order in which they are typed."""
        return tuple(each for each in self.parameters if each.is_argument)

    @property
    def options(self) -> tuple[Parameter, ...]:
        """The options, in the order of the help."""
        return tuple(each for each in self.parameters if each.names)


def load() -> Command:
    """Return the program ``agentmux`` with all of its commands."""
    with open(DATA, encoding="utf-8") as file:
        return command_of(json.load(file))


def command_of(fields: Mapping[str, Any]) -> Command:
    """Return the command that a record of the data file describes."""
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
    """Return the program, the command that ``words`` begin with, and its subcommand, if any.

    Words that are no command are left out.
    """
    path: tuple[Command, ...] = (program,)
    for word in words:
        below = path[-1].command(word)
        if below is None:
            break
        path = (*path, below)
    return path
