"""``fleet init``, ``fleet worker`` and ``fleet drain``: what a host does for the fleet."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Annotated, Final

import typer

from agentmux.app.result import SCHEMA
from agentmux.cli import render
from agentmux.cli.ask.person import require_person
from agentmux.cli.commands.fleet.place import anywhere, engine_of, place_of_fleet
from agentmux.cli.commands.group import GroupJsonOpt
from agentmux.cli.fast.given_text import given_text
from agentmux.cli.invocation import Invocation, absolute
from agentmux.core.fleet.fleet_request import FleetRequest, require_request
from agentmux.core.names.words.counts import format_count
from agentmux.errors import UsageError
from agentmux.wiring import machine

_URL_BYTES: Final = 100_000


def init(
    ctx: typer.Context,
    url_file: Annotated[
        str | None,
        typer.Option(
            "--url-file",
            metavar="FILE",
            help="A private file with the URL of the database, or - for stdin"
            " (default: a file of SQLite, for this host alone).",
        ),
    ] = None,
) -> int:
    """Set up the fleet and its database on this host."""
    invocation: Invocation = ctx.obj
    require_person(invocation, "fleet init")
    place = place_of_fleet(invocation)
    from agentmux.fleet.engine.fleet_home import is_private, require_url, shown_url
    from agentmux.fleet.engine.setup import set_up_fleet

    if url_file is None:
        url = place.url() if place.is_set_up() else place.default_url
    else:
        path = None if url_file == "-" else absolute(Path(url_file))
        if path is not None and path.is_file() and not is_private(path):
            raise UsageError(
                f"{path} can be read by others, and a URL may hold a password",
                hints=(f"chmod 600 {path}",),
            )
        text = given_text(path, _URL_BYTES)
        url = require_url(text.strip())
    set_up_fleet(place, url)
    render.out(f"the fleet is set up: {shown_url(url)}")
    if not invocation.world(anywhere(invocation), read_only=True).settings.fleet.repos:
        render.note("name the repositories that this host may run in your configuration, such as")
        render.note(f"  fleet: {{repos: ['{invocation.unchecked_project()}']}}")
    render.note("then: agentmux fleet worker")
    return 0


def worker(
    ctx: typer.Context,
    slots: Annotated[
        int, typer.Option("--slots", min=1, max=1000, metavar="N", help="Features at once.")
    ] = 2,
    name: Annotated[
        str,
        typer.Option(
            "--name", metavar="HOST", help="What the fleet calls this host (default: its name)."
        ),
    ] = "",
    systemd: Annotated[
        bool, typer.Option("--systemd", help="Print a unit for systemd instead.")
    ] = False,
) -> int:
    """Run the worker of this host, until Ctrl-C."""
    invocation: Invocation = ctx.obj
    place = place_of_fleet(invocation)
    called = require_request(FleetRequest(repo="/", feature="-", host=name or platform.node())).host
    if systemd:
        from agentmux.fleet.worker.systemd import unit

        render.out(unit(machine.program(), slots=slots, name=name, environ=invocation.environ))
        return 0
    require_person(invocation, "fleet worker")
    from agentmux.fleet.worker.worker import WorkerOptions, work

    def print_line(line: str) -> None:
        render.note(line)

    settings = invocation.world(anywhere(invocation), read_only=True).settings.fleet
    return work(
        WorkerOptions(
            name=called,
            slots=slots,
            place=place,
            settings=settings,
            environ=invocation.environ,
            config=invocation.config,
            said=print_line,
        )
    )


def drain(
    ctx: typer.Context,
    host: Annotated[str, typer.Argument(metavar="HOST", help="The name of the host.")],
    json: GroupJsonOpt = False,
) -> int:
    """Let a host finish the features that run there, and start no more."""
    invocation: Invocation = ctx.obj
    require_person(invocation, "fleet drain")
    engine = engine_of(ctx)
    from agentmux.fleet.decisions import drain

    begun = drain.drain(engine, host)
    if json:
        render.as_json({"schema": SCHEMA, "host": host, "begun": begun})
        return 0
    if begun:
        left = "what is left goes on when its worker starts again"
        render.out(f"host {host} has begun {format_count(begun, 'feature')}: {left}")
    render.out(f"host {host} takes nothing more; its worker ends when nothing runs there")
    return 0
