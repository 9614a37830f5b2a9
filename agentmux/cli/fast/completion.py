"""``agentmux _complete``: prints completions; called by the shell scripts in ``agentmux/shell``.

Each line of the output is a word, a tab and the word's description. A single line ``:file`` or
``:dir`` asks the shell to complete a path. Errors are never printed.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from agentmux.cli.fast.commands import COMMAND, FILE, FOLDER, Command, Parameter, load
from agentmux.core.codec.frozen import dataclass
from agentmux.errors import AgentmuxError

if TYPE_CHECKING:
    from agentmux.cli.fast.candidates import Candidate

_PLAIN: Final = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
"""Matches words that need no quotes in any shell; other words are not offered."""


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Print the completions of the last word of a command line; return 0, even after an error.

    Args:
        argv: Either ``--`` and the words after ``agentmux``, the last one up to the cursor; or
            ``--line`` and the whole command line up to the cursor, which bash passes.
        environ: Environment of the process.
    """
    words = split_line(argv[1])[1:] if argv[:1] == ["--line"] else list(argv[1:])
    try:
        lines = completion_lines(load(), words or [""], environ)
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    except (AgentmuxError, OSError):  # such as a folder that is gone: nothing completes
        return 0
    return 0


def split_line(line: str) -> list[str]:
    """Split a command line into words as a shell does; a quote in the last word may be open.

    The last word is empty if a space follows the others. An empty line has no words.
    """
    import shlex

    for end in ("", '"', "'"):
        try:
            words = shlex.split(f"{line}{end}")
        except ValueError:
            continue
        return [*words, ""] if not end and line[-1:].isspace() else words
    return [*line.split()]


def completion_lines(
    program: Command, words: Sequence[str], environ: Mapping[str, str]
) -> list[str]:
    """Return the lines that complete the last word: the whole word, a tab and a description each.

    A single line ``:file`` or ``:dir`` asks the shell to complete a path.

    Args:
        program: The program with all its commands.
        words: The words after ``agentmux``; the last one is completed, and may be empty.
        environ: Environment of the process.
    """
    line = read(program, words[:-1])
    word = words[-1]
    option, equals, value = word.partition("=")
    named = line.command.option(option) or program.option(option)
    if line.open is not None and not (word.startswith("-") and line.open.may_lack_value):
        return _values(program, line, line.open, word, environ)
    if equals and option.startswith("--") and not line.only_words and named is not None:
        lines = _values(program, line, named, value, environ)
        return [each if each.startswith(":") else f"{option}={each}" for each in lines]
    if word.startswith("-") and not line.only_words:
        return _matching(_options(program, line), word)
    return _words(program, line, word, environ)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The parsed words of a command line before the word that is to be completed.

    Attributes:
        command: The command or subcommand that the words name; the program if they name none.
        given: The spellings of the options that were given.
        values: The first value of each kind (`Parameter.kind`), of an option or an argument.
        arguments: How many positional arguments were given.
        open: The option whose value is to be completed; None if no option needs a value.
        only_words: Whether ``--`` was given, after which no options follow.
        texts: The last value of each option, by its spelling, such as ``--project``.
    """

    command: Command
    given: frozenset[str]
    values: Mapping[str, str]
    arguments: int
    open: Parameter | None
    only_words: bool
    texts: Mapping[str, str]


def read(program: Command, words: Sequence[str]) -> Line:
    """Parse the words of a command line that precede the one to complete; reads no input.

    Unknown options count as flags.
    """
    reader = _LineReader(program)
    for word in words:
        reader.take(word)
    return Line(
        command=reader.command,
        given=frozenset(reader.given),
        values=reader.values,
        arguments=reader.arguments,
        open=reader.open,
        only_words=reader.only_words,
        texts=reader.texts,
    )


class _LineReader:
    """Parses a command line word by word; its public attributes are those of `Line`."""

    def __init__(self, program: Command) -> None:
        self._program = program
        self.command = program
        self.given: set[str] = set()
        self.values: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.arguments = 0
        self.open: Parameter | None = None
        self.only_words = False

    def take(self, word: str) -> None:
        """Parse the next word, and note in the attributes what it is."""
        waiting, self.open = self.open, None
        if waiting is not None and not (waiting.may_lack_value and word.startswith("-")):
            self._value(waiting, word)
        elif self.only_words or word == "-" or not word.startswith("-"):
            self._word(word)
        elif word == "--":
            self.only_words = True
        else:
            self._option(word)

    def _option(self, word: str) -> None:
        name, equals, value = word.partition("=")
        self.given.add(name)
        option = self.command.option(name) or self._program.option(name)
        if option is None or not option.metavar:
            return
        if equals:
            self._value(option, value)
        else:
            self.open = option

    def _word(self, word: str) -> None:
        below = None if self.arguments else self.command.command(word)
        if below is not None:
            self.command = below
            return
        argument = _argument(self.command, self.arguments)
        if argument is not None:
            self._value(argument, word)
        self.arguments += 1

    def _value(self, parameter: Parameter, word: str) -> None:
        self.values.setdefault(parameter.kind, word)
        for name in parameter.names:
            self.texts[name] = word


def _argument(command: Command, number: int) -> Parameter | None:
    arguments = command.arguments
    if number < len(arguments):
        return arguments[number]
    return arguments[-1] if arguments and arguments[-1].repeats else None


def _words(program: Command, line: Line, word: str, environ: Mapping[str, str]) -> list[str]:
    """Return commands, the values of the next argument, or options if no argument can follow."""
    below = line.command.commands
    if below:
        offered = () if line.arguments else below
        return _matching(((each.name, each.summary) for each in offered), word)
    argument = _argument(line.command, line.arguments)
    if argument is not None:
        return _values(program, line, argument, word, environ)
    return [] if line.only_words else _matching(_options(program, line), word)


def _options(program: Command, line: Line) -> Iterator[Candidate]:
    """Yield the options of the command that may still be given, its own ones first."""
    both = (line.command, program) if line.command is not program else (program,)
    shown: set[str] = set()
    for option in (each for command in both for each in command.options):
        names = {*option.names, *option.off}
        if names & shown or (names & line.given and not option.repeats):
            continue
        shown |= names
        for name in (option.names[0], *option.off):
            yield name, option.says


def _values(
    program: Command, line: Line, parameter: Parameter, word: str, environ: Mapping[str, str]
) -> list[str]:
    if parameter.choices:
        return _matching(((each, "") for each in parameter.choices), word)
    if parameter.kind in {FILE, FOLDER}:
        return [f":{parameter.kind}"]
    if parameter.kind == COMMAND:
        return _matching(_suggest_subcommands(program, line), word)
    from agentmux.cli.fast.candidates import SOURCES, CompletionContext

    source = SOURCES.get(parameter.kind)
    if source is None:
        return []
    place = CompletionContext(
        environ=environ,
        project=os.path.expanduser(line.texts.get("--project", ".")),  # noqa: PTH111 (pathlib raises where no home is known)
        config=line.texts.get("--config", ""),
        session=line.values.get("session", ""),
        word=word,
        command=line.command.name,
    )
    return _matching(source(place), word)


def _suggest_subcommands(program: Command, line: Line) -> Iterable[Candidate]:
    """Return the commands after ``help``, or the subcommands of the one that is named already."""
    named = program.command(line.values.get(COMMAND, "")) if line.arguments else program
    return ((each.name, each.summary) for each in (named.commands if named else ()))


def _matching(candidates: Iterable[Candidate], word: str) -> list[str]:
    matches = {
        name: says for name, says in candidates if name.startswith(word) and _PLAIN.fullmatch(name)
    }
    return [f"{name}\t{' '.join(says.split())}" for name, says in matches.items()]
