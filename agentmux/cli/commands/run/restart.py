"""``restart``: starts one seat of a live session again, or goes on without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.adapters.wake.pipe import poke
from agentmux.app.commands.resume.restart import restart, skip
from agentmux.app.session.search.orchestrator_version import require_own_version
from agentmux.cli import render
from agentmux.cli.ask.person import require_person
from agentmux.cli.ask.session_argument import chosen_session, resolve_world, typed_command
from agentmux.cli.ask.shared_options import SessionArg
from agentmux.core.documents.review import seat_named
from agentmux.errors import UsageError

if TYPE_CHECKING:
    from agentmux.cli.invocation import Invocation


def restart_seat(
    ctx: typer.Context,
    session: SessionArg = None,
    role: Annotated[
        str, typer.Option("--role", metavar="SEAT", help="The seat, such as coder-2.")
    ] = "",
    native: Annotated[
        bool | None,
        typer.Option(
            "--resume/--fresh",
            help="Continue its conversation, or start a new one.",
            show_default=False,
        ),
    ] = None,
    skipped: Annotated[
        bool, typer.Option("--skip", help="Go on without a command of a check that could not run.")
    ] = False,
) -> int:
    """Start the agent of one seat, or a command of a check, again.

    The session must be live.
    """
    invocation: Invocation = ctx.obj
    if skipped:
        require_person(invocation, "restart --skip")
    if not role:
        raise UsageError("missing option --role SEAT", hints=("to see the seats: agentmux status",))
    command = typed_command(invocation, session, "restart SESSION")
    world, named = resolve_world(invocation, session, command=command)
    entry = chosen_session(world, named, command=command)
    require_own_version(world.locks.session(entry.path), entry.name)
    files = world.files(entry.path)
    fresh = None if native is None else not native
    seat = seat_named(role)
    if skipped:
        skip(world, files, role, poke=lambda: poke(entry.path))
        render.out(f"session {entry.name} goes on without {role}")
        return 0
    restart(world, files, seat, fresh=fresh, poke=lambda: poke(entry.path))
    render.out(f"restarting {seat} of session {entry.name}")
    return 0
