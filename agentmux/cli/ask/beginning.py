"""The question in which phase a new cycle begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click
import typer

from agentmux.cli import render
from agentmux.core.definitions.definition import Kind
from agentmux.core.pipeline.registry import beginnings, pipeline_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentmux.core.journal.state import SessionState

_WORDS: Final[Mapping[Kind, str]] = {
    Kind.FIX: "a small wish: one coder makes it",
    Kind.WORK: "the plan stays, and is carried out again",
    Kind.PLAN: "a large wish: it is planned anew",
    Kind.DOCUMENT: "a large wish: it begins with this phase",
    Kind.CHECK: "the session begins anew",
    Kind.REVIEW: "the session begins anew",
    Kind.COMPLETE: "the session begins anew",
}


def asked_beginning(state: SessionState) -> str:
    """Ask a person in which phase the next cycle of this session begins; return its name.

    Where there is only one such phase, nothing is asked.
    """
    pipeline, names = pipeline_of(state), beginnings(state)
    if len(names) == 1:
        return names[0]
    for name in names:
        render.note(f"  {name:<20} {_WORDS[pipeline[name].kind]}")
    asked: str = typer.prompt(
        "Where does the next cycle begin?",
        type=click.Choice(names),
        default=pipeline.again(state),
        show_choices=False,
        err=True,
    )
    return asked
