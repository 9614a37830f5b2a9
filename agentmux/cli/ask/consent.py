"""Questions that a person answers with yes or no; after a no, the command ends without effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from agentmux.cli import render
from agentmux.errors import DeclinedError, UsageError

if TYPE_CHECKING:
    from agentmux.cli.face import Face

YesOpt = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")]


def require_consent(face: Face, question: str, *, yes: bool) -> None:
    """Ask a person to agree; only ``y`` or ``yes`` agrees.

    Args:
        face: Tells whether a person can be asked.
        question: The question.
        yes: Return at once, without asking, because the person has agreed beforehand.

    Raises:
        UsageError: Nobody can be asked.
        DeclinedError: The person said no.
    """
    if yes:
        return
    if not face.interactive:
        raise UsageError(
            f"cannot ask without a terminal: {question}", hints=("to agree beforehand, add --yes",)
        )
    if not agrees(question):
        leave()


def agrees(question: str) -> bool:
    """Ask a person, who can be asked, to agree; only ``y`` or ``yes`` agrees."""
    return typer.confirm(render.printable(question), default=False, err=True)


def leave() -> NoReturn:
    """Print "nothing was done" and end the command, because the person declined.

    Raises:
        DeclinedError: Always.
    """
    render.note("nothing was done")
    raise DeclinedError
