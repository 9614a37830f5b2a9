"""The question in which phase a new cycle begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import typer

from agentmux.cli import render
from agentmux.core.pipeline.beginnings import beginning_words, in_order
from agentmux.core.pipeline.registry import pipeline_of

if TYPE_CHECKING:
    from agentmux.core.journal.state import SessionState


def asked_beginning(state: SessionState) -> str:
    """Ask a person in which phase the next cycle of this session begins; return its name.

    Where there is only one such phase, nothing is asked.
    """
    pipeline, names = pipeline_of(state), in_order(state)
    if len(names) == 1:
        return names[0]
    for name in names:
        render.note(f"  {name:<20} {beginning_words(pipeline[name].kind)}")
    asked: str = typer.prompt(
        "Where does the next cycle begin?",
        type=click.Choice(names),
        default=pipeline.again(state),
        show_choices=False,
        err=True,
    )
    return asked
