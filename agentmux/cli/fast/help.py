"""``agentmux help`` and ``--help``: prints the help, fitted to the terminal's width."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from agentmux.cli import render
from agentmux.cli.fast.commands import Command, Parameter, find_path, load
from agentmux.core.names.words.nearest import suggest_name
from agentmux.errors import ExitCode, UsageError

_NARROW: Final = 40
_PIPED: Final = 80
_TEXT_MAX: Final = 100
"""Longer lines of a paragraph are hard to read, however wide the terminal is."""
_FLAGS: Final = frozenset({"--help", "-h"})


def is_wanted(argv: Sequence[str]) -> bool:
    """Whether a command line asks for help: by the command ``help``, or by ``--help`` or ``-h``.

    ``argv`` is the words after ``agentmux``; those after ``--`` do not count.
    """
    end = argv.index("--") if "--" in argv else len(argv)
    return argv[:1] == ["help"] or not _FLAGS.isdisjoint(argv[:end])


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Print the help that a command line asks for, and return the exit code.

    Args:
        argv: The words after ``agentmux``.
        environ: The environment; its ``COLUMNS`` is the width of the help if stdout is no terminal.

    Raises:
        UsageError: The command line names an unknown command.
    """
    words = tuple(word for word in argv if not word.startswith("-"))
    asked = words[1:] if words[:1] == ("help",) and not _FLAGS.intersection(argv[:2]) else words
    program = load()
    path = find_path(program, asked)
    unknown = asked[len(path) - 1 : len(path)]
    if unknown and path[-1].commands:
        raise no_such_command(path, unknown[0])
    for line in lines(path, render.columns() or _columns(environ)):
        render.out(line, verbatim=True)
    return ExitCode.OK


def _columns(environ: Mapping[str, str]) -> int:
    """Return the width that ``COLUMNS`` asks for; without a positive number `_PIPED`."""
    asked = environ.get("COLUMNS", "")
    return (int(asked) if asked.isdecimal() else 0) or _PIPED


_DESK: Final = "`agentmux` alone opens the desk, in a terminal"


def no_such_command(path: Sequence[Command], word: str) -> UsageError:
    """Return, without raising it, the error that a command has no subcommand ``word``.

    ``path`` is the program, followed by that command and its subcommand, if any; the last counts.
    """
    known = [each.name for each in path[-1].commands]
    otherwise = (_DESK,) if word == "desk" and len(path) == 1 else ()
    hints = (*otherwise, *suggest_name(word, known), f"{_join_path(path)} --help")
    return UsageError(f"no such command `{word}`", hints=hints)


def lines(path: Sequence[Command], cols: int) -> Iterator[str]:
    """Yield the lines of the help of a command, wrapped to the width of the terminal.

    Args:
        path: The program, followed by the command and its subcommand, if any; the help is that of
            the last one.
        cols: Width of the terminal.
    """
    cols = max(cols, _NARROW)
    command = path[-1]
    yield from _wrap_paragraph(f"Usage: {usage(path)}", cols, "       ")
    yield ""
    yield from _wrap_paragraph(command.summary, cols)
    for paragraph in filter(None, command.text.split("\n\n")):
        yield ""
        yield from _wrap_paragraph(paragraph, cols)
    room = max((len(each.name) for each in command.commands), default=0)
    for title, rows in _sections(path):
        yield ""
        yield f"{title}:"
        yield from _table(list(rows), cols, room)
    if command.examples:
        yield ""
        yield "Examples:"
    for line, says in command.examples:
        yield f"  # {says}"
        yield f"  {line}"
    if len(path) == 1:
        yield ""
        yield from _wrap_paragraph("More about a command: agentmux help COMMAND", cols)


def usage(path: Sequence[Command]) -> str:
    """Return how the last command in ``path`` is typed, such as ``agentmux list [OPTIONS]``.

    ``path`` is the program, followed by the command and its subcommand, if any.
    """
    below = ["COMMAND [ARGS]..."] if path[-1].commands else []
    arguments = [argument(each) for each in path[-1].arguments]
    return " ".join([_join_path(path), "[OPTIONS]", *arguments, *below])


def argument(given: Parameter) -> str:
    """Return an argument as the help shows it, such as ``[SESSION]``, or ``NAME`` if required."""
    name = given.metavar if given.required else f"[{given.metavar}]"
    return f"{name}..." if given.repeats else name


def spelling(option: Parameter) -> str:
    """Return an option as the help shows it: all its spellings, and the name of its value, if any.

    For example ``-n, --lines N``, or ``--worktree / --no-worktree``.
    """
    names = ", ".join(sorted(option.names, key=len))
    both = " / ".join([names, *option.off])
    return f"{both} {option.metavar}" if option.metavar else both


def meaning(given: Parameter) -> str:
    """Return the help text of an option or argument, with its default value, if it shows one."""
    extra = f"[default: {given.default}]" if given.default else ""
    return " ".join(filter(None, (given.says, extra)))


def group_commands(program: Command) -> Iterator[tuple[str, tuple[Command, ...]]]:
    """Yield the heading and the commands of each group, in the order of the help."""
    for title in dict.fromkeys(each.group for each in program.commands):
        yield title, tuple(each for each in program.commands if each.group == title)


def _join_path(path: Sequence[Command]) -> str:
    return " ".join(each.name for each in path)


def _sections(path: Sequence[Command]) -> Iterator[tuple[str, Iterable[tuple[str, str]]]]:
    command = path[-1]
    if command.arguments:
        yield "Arguments", ((argument(each), meaning(each)) for each in command.arguments)
    if len(path) == 1:
        for title, commands in group_commands(command):
            yield title, ((each.name, each.summary) for each in commands)
    elif command.commands:
        yield "Commands", ((each.name, each.summary) for each in command.commands)
    title = "Global options (anywhere on the line)" if len(path) == 1 else "Options"
    yield title, ((spelling(each), meaning(each)) for each in command.options)


_ROOM: Final = 32
"""The widest first column; a longer entry has its text below it."""


def _table(rows: list[tuple[str, str]], cols: int, least: int) -> Iterator[str]:
    """Yield rows of two columns, the first of ``least`` columns or more; the second is wrapped."""
    fitting = [len(first) for first, _ in rows if len(first) <= min(_ROOM, cols // 2)]
    room = max(least, *fitting, 8)
    for first, second in rows:
        indent = " " * (room + 4)
        if len(first) <= room:
            yield from _wrap_paragraph(second, cols, indent, first=f"  {first:<{room}}  ")
        else:
            yield from _wrap_paragraph(first, cols, "      ", first="  ")
            yield from _wrap_paragraph(second, cols, indent, first=indent)


def _wrap_paragraph(text: str, cols: int, indent: str = "", *, first: str = "") -> Iterator[str]:
    """Yield a paragraph in lines of at most ``cols`` columns."""
    given = " ".join(text.split())
    width = min(cols, _TEXT_MAX + len(indent))
    yield from textwrap.wrap(
        given, width, initial_indent=first, subsequent_indent=indent,
        break_on_hyphens=False, break_long_words=False,
    ) or [first.rstrip()]  # fmt: skip
