"""Arguments and options that many commands have; imports nothing of what these commands do."""

from __future__ import annotations

from typing import Annotated

import typer

SessionArg = Annotated[
    str | None,
    typer.Argument(
        metavar="[SESSION]",
        help="A session's name or slug, the start of one, its path, or its request's first words.",
        show_default=False,
    ),
]
"""The session that a command is about; without it, the command chooses or asks."""
JsonOpt = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]
"""The option ``--json`` of a command without subcommands."""
