"""``agentmux show``: shows the last screens of a session's agents, whether it is live or not."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Annotated

import typer
from wcwidth import wcwidth

from agentmux.adapters.disk import files
from agentmux.app.result import envelope
from agentmux.app.session.search.lookup import SessionEntry, shown_path
from agentmux.app.views.session.last_screens import LastScreen, LastScreens, heading, last_screens
from agentmux.app.views.session.seat_screens import asking_seats
from agentmux.cli import render
from agentmux.cli.ask.shared_options import JsonOpt, SessionArg
from agentmux.cli.commands.look.sessions import one
from agentmux.core.documents.review import seat_named
from agentmux.core.names.status_labels import status_label
from agentmux.core.names.statuses import WAITING
from agentmux.errors import ExitCode

if TYPE_CHECKING:
    from agentmux.app.world import Site
    from agentmux.cli.invocation import Invocation


def show(
    ctx: typer.Context,
    session: SessionArg = None,
    role: Annotated[
        str | None,
        typer.Option("--role", metavar="SEAT", help="Show only this seat, such as coder-2."),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Show text without colours.")] = False,
    json: JsonOpt = False,
) -> int:
    """Show the last screens of a session's agents."""
    invocation: Invocation = ctx.obj
    site, entry = one(invocation, session, command="show SESSION")
    seat = None if role is None else seat_named(role)
    screens = last_screens(entry, files.read_limited, seat=seat)
    if json:
        render.as_json(envelope([_fields(site, entry, screens)], ()))
        return ExitCode.OK
    asking = asking_seats(site, entry)
    for place, screen in enumerate(screens.screens):
        render.out(("\n" if place else "") + heading(screen, site.now()))
        render.screen(screen_rows(invocation, screen, plain=plain))
        if screen.seat in asking:
            render.out(how_to_answer(entry.name, screen))
    for warning in screens.warnings:
        render.note(f"warning: {warning}")
    return ExitCode.OK


def _fields(site: Site, entry: SessionEntry, found: LastScreens) -> dict[str, object]:
    return {
        "session": entry.name,
        "path": shown_path(entry.path, site.project),
        "screens": [screen.as_json() for screen in found.screens],
        "warnings": list(found.warnings),
    }


def how_to_answer(session: str, screen: LastScreen) -> str:
    """Return the line to print below the screen of an agent that waits for its user: how to answer.

    ``session`` is the session's name.
    """
    named = f"agentmux answer {session} --role {screen.seat}"
    script = f"in a script: KEYS --screen {screen.digest}"
    return f"-- {status_label(WAITING)}; answer it: {named}; {script} --"


def screen_rows(invocation: Invocation, screen: LastScreen, *, plain: bool) -> tuple[str, ...]:
    """Return the rows of a screen for `render.screen`, cut to the terminal's width if there is one.

    A row is text, with escape sequences for its colours if they are shown.

    Args:
        invocation: Tells whether there is a terminal, and whether it shows colours.
        screen: The screen.
        plain: Whether to leave out colours in any case.
    """
    cols = shutil.get_terminal_size().columns if invocation.on_screen else None
    if plain or not invocation.colours:
        return screen.text(cols, cells=_cells)
    return screen.paint_rows(cols, cells=_cells)


def _cells(char: str) -> int:
    return max(0, wcwidth(char))
