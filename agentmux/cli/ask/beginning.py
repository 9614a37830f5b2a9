"""Asks in which phase a new cycle begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import typer

from agentmux.cli import render
from agentmux.core.pipeline.beginnings import beginning_choices

if TYPE_CHECKING:
    from agentmux.core.journal.state import SessionState


def asked_beginning(state: SessionState) -> str:
    """Ask a person in which phase the next cycle of a session begins, and return the phase.

    An empty answer chooses a fix phase if there is one, else the phase after which the fewest
    others run. If only one phase is possible, it is returned without asking.

    Raises:
        typer.Abort: The person pressed Ctrl-C, or standard input has ended.
    """
    choices = beginning_choices(state)
    names = [name for name, _ in choices]
    if len(names) == 1:
        return names[0]
    for name, says in choices:
        render.note(f"  {name:<20} {says}")
    asked: str = typer.prompt(
        "Where does the next cycle begin?",
        type=click.Choice(names),
        default=names[0],
        show_choices=False,
        err=True,
    )
    return asked
