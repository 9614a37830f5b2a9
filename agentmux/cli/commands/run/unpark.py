"""``unpark``: ends the waiting for usage limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from agentmux.adapters.wake.pipe import poke
from agentmux.app.commands.talk.unpark import unpark
from agentmux.app.session.search.orchestrator_version import require_own_version
from agentmux.cli import render
from agentmux.cli.ask.person import require_person
from agentmux.cli.ask.session_argument import chosen_session, resolve_world
from agentmux.cli.ask.shared_options import SessionArg

if TYPE_CHECKING:
    from agentmux.cli.invocation import Invocation


def unpark_session(ctx: typer.Context, session: SessionArg = None) -> int:
    """Let agents go on that wait for the end of their usage limits.

    Agents of one account are told one after the other.
    """
    invocation: Invocation = ctx.obj
    require_person(invocation, "unpark")
    world, named = resolve_world(invocation, session, command="unpark SESSION")
    entry = chosen_session(world, named, command="unpark SESSION")
    require_own_version(world.locks.session(entry.path), entry.name)
    done = unpark(world, world.files(entry.path), poke=lambda: poke(entry.path))
    seats = ", ".join(done.seats)
    if done.live:
        render.out(f"session {entry.name}: {seats} may go on")
    else:
        render.out(f"session {entry.name}: {seats} will not wait after the next resume")
        render.out(f"to resume it: agentmux resume {entry.name}")
    return 0
