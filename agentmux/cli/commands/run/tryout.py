"""``agentmux try``: shows a session's state in the user's own checkout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.app.commands.end.tryout import begin_trial, end_trial
from agentmux.cli import render
from agentmux.cli.ask.person import require_person
from agentmux.cli.ask.shared_options import SessionArg
from agentmux.cli.commands.look.sessions import one

if TYPE_CHECKING:
    from agentmux.cli.invocation import Invocation


def try_session(
    ctx: typer.Context,
    session: SessionArg = None,
    off: Annotated[bool, typer.Option("--off", help="Go back to what was checked out.")] = False,
) -> int:
    """Show a session's files in your own checkout, to run them there.

    HEAD is detached at a commit with the session's files as they are now. The checkout must have no
    changes, and no session may be live there. The session itself is not touched.
    """
    invocation: Invocation = ctx.obj
    require_person(invocation, "try")
    if off:
        for line in end_trial(invocation.world()):
            render.note(line)
        return 0
    site, entry = one(invocation, session, command="try SESSION")
    trial = begin_trial(invocation.world(site.project), entry)
    render.note(f"your checkout has the files of {entry.name}, detached at {trial.commit[:12]}")
    render.note("go back: agentmux try --off")
    return 0
