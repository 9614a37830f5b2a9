"""``agentmux help``: shows the help of a command. `fast.help` answers before typer is loaded."""

from __future__ import annotations

from typing import Annotated

import typer

from agentmux.cli.fast import help as fast


def help_(
    ctx: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="A command, and its subcommand if it has one."),
    ] = None,
) -> int:
    """Show the help of a command, or all commands."""
    return fast.run(["help", *(command or [])], ctx.obj.environ)
