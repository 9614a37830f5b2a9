"""Makes the man page from the data file of the commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentmux.cli.fast.commands import Command, Parameter, load
from agentmux.cli.fast.help import argument, group_commands, meaning, spelling, usage

_DESCRIPTION = (
    "agentmux runs a software feature through a pipeline of coding agents in tmux: architects, "
    "planners, coders and reviewers, each in a pane. You decide on the result. After a crash, a "
    "reboot or a closed terminal, agentmux resume goes on where the work stopped."
)
_FILES = (
    (".agentmux/config.yaml", "Settings of the project; agentmux init writes them."),
    (".agentmux/.sessions/", "The sessions of the project."),
    ("$XDG_CONFIG_HOME/agentmux/config.yaml", "Your own settings."),
    ("$XDG_STATE_HOME/agentmux/", "What you trust, and reports of bugs."),
)
_CODES = (
    ("0", "Done."),
    ("1", "The pipeline or a delivery failed, or a bug, with the path of a report."),
    ("2", "Wrong usage."),
    ("3", "Blocked: the session is live or locked, or a person has to do this."),
    ("4", "Nothing to resume, not found, or ambiguous."),
    ("5", "Data is unreadable, of a newer version, or not writable."),
    ("6", "Something is missing or does not answer: tmux, git, an agent."),
    ("7", "The configuration is wrong, or the project is not trusted."),
    ("8", "A submission was refused."),
    ("9", "A wait timed out, or a delivery is still at work."),
    ("130", "Interrupted."),
)


def page() -> str:
    """Return the page ``agentmux.1`` in the macros of ``man``."""
    program = load()
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Command) -> Iterator[str]:
    yield '.TH AGENTMUX 1 "" "AgentMux" "User Commands"'
    yield from (".nh", ".ad l")
    yield from _section("NAME")
    yield _text(f"agentmux - {program.summary[:1].lower()}{program.summary[1:]}")
    yield from _section("SYNOPSIS")
    yield f".B agentmux\n{_text('[OPTIONS] COMMAND [ARGS]...')}"
    yield from _section("DESCRIPTION")
    yield _text(_DESCRIPTION)
    yield ".PP"
    yield _text("agentmux alone says where the project stands and what comes next.")
    yield from _section("GLOBAL OPTIONS")
    for option in program.options:
        yield from _entry(option)
    for title, commands in group_commands(program):
        yield from _section(f"COMMANDS: {title.upper()}")
        for command in commands:
            yield from _command((program, command))
    yield from _section("EXAMPLES")
    yield from _examples(program)
    for title, rows in (("FILES", _FILES), ("EXIT STATUS", _CODES)):
        yield from _section(title)
        for name, says in rows:
            yield from (".TP", f".B {_text(name)}", _text(says))
    yield from _section("SEE ALSO")
    yield from (".BR tmux (1),", ".BR git (1)")


def _command(path: Sequence[Command]) -> Iterator[str]:
    command = path[-1]
    yield f'.SS "{_text(usage(path))}"'
    yield _text(f"{command.summary}.")
    for paragraph in filter(None, command.text.split("\n\n")):
        yield from (".PP", _text(paragraph))
    for each in command.arguments:
        yield from (".TP", f".I {_text(argument(each))}", _text(meaning(each)) or "\\&")
    for each in command.options:
        if "--help" not in each.names:
            yield from _entry(each)
    yield from _examples(command)
    for below in command.commands:
        yield from _command((*path, below))


def _entry(option: Parameter) -> Iterator[str]:
    yield from (".TP", f".B {_text(spelling(option))}", _text(meaning(option)) or "\\&")


def _examples(command: Command) -> Iterator[str]:
    for line, says in command.examples:
        yield from (".PP", _text(f"{says[:1].upper()}{says[1:]}:"), ".RS 4", ".nf")
        yield from (_text(line), ".fi", ".RE")


def _section(title: str) -> Iterator[str]:
    yield f'.SH "{title}"'


def _text(text: str) -> str:
    """Return text in which roff finds no command, on one line."""
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    plain = plain.replace("'", "\\(aq").replace("`", "\\(ga")
    return f"\\&{plain}" if plain.startswith(".") else plain
