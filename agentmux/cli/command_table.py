"""The table of the commands that typer parses, and the typer application that runs them.

To add a command, write a function in a module of `cli.commands` and add a line to the table.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from agentmux.cli import render
from agentmux.cli.fast import help as help_pages
from agentmux.core.names.version import VERSION
from agentmux.errors import UsageError
from agentmux.overriding import override

if TYPE_CHECKING:
    from typer._click import Command, Context  # older typers have click's

GROUPS: Final[Mapping[str, Mapping[str, str]]] = {
    "Work": {
        "start": "run.start:start_feature",
        "attach": "look.sessions:attach",
        "answer": "run.seat_input:answer",
        "tell": "run.seat_input:tell",
        "approve": "finish.approval:approve",
        "request-changes": "finish.approval:request_changes",
        "try": "run.tryout:try_session",
        "fleet": "fleet.app:app",
    },
    "Look": {
        "list": "look.sessions:list_",
        "status": "look.sessions:status",
        "show": "look.show:show",
        "diff": "look.diff:diff",
        "logs": "look.sessions:logs",
        "web": "web:web",
        "wait": "look.sessions:wait",
    },
    "Recover": {
        "resume": "run.resume:resume_session",
        "stop": "run.stop:stop_session",
        "restart": "run.restart:restart_seat",
        "unpark": "run.unpark:unpark_session",
        "rewind": "run.rewind:rewind_session",
        "export": "finish.moving:export_session",
        "import": "finish.moving:import_",
        "remove": "finish.remove:remove",
        "prune": "finish.prune:prune",
        "doctor": "project.doctor:doctor",
    },
    "Set up": {
        "init": "project.init:init",
        "config": "project.configuration:app",
        "trust": "project.trust:trust",
        "notify": "project.notify:notify",
        "agents": "project.agents:app",
        "pipelines": "project.pipelines:app",
        "completion": "completion:completion",
        "demo": "demo:demo",
        "help": "help:help_",
        "version": "version:show_version",
    },
}
"""The commands, by the group under which the help lists them and by name.

Each value is ``module:name``: a module of `cli.commands`, and in it the command's function or a
`typer.Typer` with subcommands.
"""

_COMMANDS: Final = {name: place for group in GROUPS.values() for name, place in group.items()}


class _Commands(TyperGroup):
    """All commands, as a click group that imports a command's module when the command is used."""

    @override
    def list_commands(
        self,
        ctx: Context,
    ) -> list[str]:
        """Return the command names in the order in which the help lists them."""
        return [*_COMMANDS, *(name for name in super().list_commands(ctx) if name not in _COMMANDS)]

    @override
    def get_command(
        self,
        ctx: Context,
        cmd_name: str,
    ) -> Command | None:
        """Return the click command ``cmd_name``; None if it is unknown.

        If the name is unknown, all commands are loaded, so that typer can suggest one.
        """
        for name in [cmd_name] if cmd_name in _COMMANDS else _COMMANDS:
            self.commands.setdefault(name, _load_command(name))
        return super().get_command(ctx, cmd_name)


class _Start(TyperCommand):
    """The command ``start``; accepts ``--branch`` without a value, which typer cannot do itself."""

    @override
    def parse_args(
        self,
        ctx: Context,
        args: list[str],
    ) -> list[str]:
        """Parse ``args``; read ``--branch`` without a value as ``--branch=``.

        ``--branch`` has no value if it is the last argument, or if an option follows.

        Returns:
            The arguments that belong to no parameter of the command.
        """
        end = args.index("--") if "--" in args else len(args)
        following = [*args[1:], "-"]
        given = [
            f"{word}=" if word == "--branch" and after.startswith("-") else word
            for word, after in zip(args[:end], following, strict=False)
        ]
        return super().parse_args(ctx, given + args[end:])


class _Diff(TyperCommand):
    """The command ``diff``; reads all words after ``--`` as paths.

    Otherwise typer would take the first of them for the session's name.
    """

    @override
    def parse_args(
        self,
        ctx: Context,
        args: list[str],
    ) -> list[str]:
        """Parse ``args``; read each word after ``--`` as a value of ``--path``."""
        end = args.index("--") if "--" in args else len(args)
        paths = [f"--path={word}" for word in args[end + 1 :]]
        return super().parse_args(ctx, args[:end] + paths)


_KINDS: Final = {"start": _Start, "diff": _Diff}


def _load_command(name: str) -> Command:
    """Import the module of the command ``name``; return the click command."""
    module, _, function = _COMMANDS[name].partition(":")
    command = getattr(importlib.import_module(f"agentmux.cli.commands.{module}"), function)
    holder = typer.Typer(**_TYPER_OPTIONS)
    if isinstance(command, typer.Typer):
        first = command.registered_callback
        holder.add_typer(command, name=name, help=_help(first.callback if first else None))
    else:
        kind = _KINDS.get(name, TyperCommand)
        holder.command(name, cls=kind, help=_help(command))(command)
    return typer.main.get_group(holder).commands[name]


def _help(function: object) -> str:
    """Return a function's docstring as a help text, without the full stop of its first line."""
    first, *rest = inspect.cleandoc(function.__doc__ or "").split("\n")
    return "\n".join([first.removesuffix("."), *rest])


_TYPER_OPTIONS: Final[dict[str, Any]] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}

app: Final = typer.Typer(name="agentmux", cls=_Commands, **_TYPER_OPTIONS)
"""The typer application that parses and runs all commands."""

_HELP: Final = """Run a feature through a pipeline of coding agents in tmux, and resume it

The global options may stand anywhere on the command line.
"""


@app.callback(invoke_without_command=True, help=_HELP)
def options(
    ctx: typer.Context,
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="DIR", help="Use this project, not the current one."),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option("--config", metavar="FILE", help="Settings that override the project's."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the log, and tracebacks of bugs.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Without a command: answer as JSON.")
    ] = False,
    show_version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Show the version for ``--version``, else the help if no command is given.

    The other options are here for the help only: `main` and `invocation_of` have dealt with them
    before.
    """
    del project, config, verbose
    if json:
        raise UsageError("`--json` comes after the command", hints=("agentmux list --json",))
    if show_version:
        render.out(VERSION)
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        help_pages.run((), ctx.obj.environ)
