"""Questions that a person answers with yes or no; no ends the command, and nothing was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from agentmux.cli import render
from agentmux.errors import UsageError

if TYPE_CHECKING:
    from agentmux.cli.face import Face

YesOpt = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")]


def require_consent(face: Face, question: str, *, yes: bool) -> None:
    """Ask a person, unless they said ``yes`` beforehand; no is the default.

    Raises:
        UsageError: Nobody is there to be asked.
        KeyboardInterrupt: They said no.
    """
    if yes:
        return
    if not face.interactive:
        raise UsageError(f"{question} There is nobody to ask", hints=("say it beforehand: --yes",))
    if not typer.confirm(render.printable(question), default=False, err=True):
        leave()


def leave() -> NoReturn:
    """End the command of a person who wants nothing of it.

    Raises:
        KeyboardInterrupt: Always.
    """
    render.note("nothing was done")
    raise KeyboardInterrupt
