"""``agentmux remove``: removes a session and everything that it left."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from agentmux.app.commands.remove import finish_removals, remove_session, require_removable
from agentmux.app.session.lookup import list_sessions, select_session
from agentmux.cli import render
from agentmux.cli.ask.consent import YesOpt, require_consent
from agentmux.cli.ask.person import require_person
from agentmux.cli.ask.session_argument import named
from agentmux.cli.face import Face

_REMOVE: Final = "remove SESSION"


def remove(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(metavar="[SESSION]", help="As for `status`.", show_default=False),
    ] = None,
    yes: YesOpt = False,
) -> int:
    """Remove a session and everything that it left.

    A session that is live is not removed.
    """
    face: Face = ctx.obj
    require_person(face, "remove")
    if session is not None:
        site, entry = named(face, session, command=_REMOVE)
        finish_removals(site)
    else:
        site = face.site()
        finish_removals(site)
        entry = select_session(list_sessions(site), command=_REMOVE)
    require_removable(site, entry)
    how = "done" if entry.is_done else f"not done: {entry.phase or 'unreadable'}"
    question = f"Remove session {entry.name} ({how}) with its history and conversations?"
    require_consent(face, question, yes=yes)
    remove_session(site, entry)
    render.note(f"removed {entry.path}")
    return 0
