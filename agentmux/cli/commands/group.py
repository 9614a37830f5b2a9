"""What commands with subcommands, such as ``agentmux agents``, have in common."""

from __future__ import annotations

from typing import Annotated

import typer


def group() -> typer.Typer:
    """Return a new typer app for a command with subcommands; the caller adds these."""
    return typer.Typer(
        add_completion=False, context_settings={"help_option_names": ["-h", "--help"]}
    )


def _also_before(ctx: typer.Context, given: bool) -> bool:
    """Return whether ``--json`` was given, before the subcommand or after it (``given``)."""
    return given or (ctx.parent is not None and ctx.parent.params.get("json") is True)


GroupJsonOpt = Annotated[
    bool, typer.Option("--json", help="Answer as JSON.", callback=_also_before)
]
"""The option ``--json`` of a command with subcommands, and of each subcommand."""
