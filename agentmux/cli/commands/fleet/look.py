"""``fleet list``, ``fleet show`` and ``fleet attach``: show the fleet, and change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.app.result import SCHEMA
from agentmux.cli import render
from agentmux.cli.commands.fleet.place import IdArg, engine_of, place_of_fleet
from agentmux.cli.commands.fleet.text import feature_lines, list_lines, stale_lines
from agentmux.cli.commands.group import GroupJsonOpt

if TYPE_CHECKING:
    from agentmux.cli.invocation import Invocation


def list_(
    ctx: typer.Context,
    stale: Annotated[
        bool, typer.Option("--stale", help="Only hosts not seen for 60 s, and what waits for them.")
    ] = False,
    json: GroupJsonOpt = False,
) -> int:
    """List the features of the fleet."""
    invocation: Invocation = ctx.obj
    engine = engine_of(ctx)
    from agentmux.fleet.queue.listing import feature_fields, fleet_view, host_fields

    view = fleet_view(engine)
    hosts = view.stale if stale else tuple(view.hosts.values())
    features = view.features
    if stale:
        features = tuple(each for host in hosts for each in view.waiting_for(host))
    if json:
        render.as_json(
            {
                "schema": SCHEMA,
                "features": [feature_fields(view, each) for each in features],
                "hosts": [host_fields(view, each) for each in hosts],
            }
        )
        return 0
    for line in stale_lines(view) if stale else list_lines(view, colours=invocation.colours):
        render.out(line)
    return 0


def show(ctx: typer.Context, feature: IdArg, json: GroupJsonOpt = False) -> int:
    """Show everything that the fleet knows about a feature."""
    invocation: Invocation = ctx.obj
    engine = engine_of(ctx)
    from agentmux.fleet.queue.listing import find, fleet_view, shown_fields

    fields = shown_fields(engine, fleet_view(engine), find(engine, feature))
    if json:
        render.as_json({"schema": SCHEMA, **fields})
        return 0
    for line in feature_lines(fields, colours=invocation.colours):
        render.out(line)
    return 0


def attach(
    ctx: typer.Context,
    feature: IdArg,
    prints: Annotated[bool, typer.Option("--print", help="Print the command instead.")] = False,
) -> int:
    """Show a feature's session in this terminal, also on another host."""
    invocation: Invocation = ctx.obj
    engine = engine_of(ctx)
    from agentmux.fleet.decisions.attaching import attach_words
    from agentmux.fleet.queue.listing import find

    words = attach_words(engine, place_of_fleet(invocation), find(engine, feature))
    if prints or not invocation.on_screen:
        render.out(words.shell_line)
        return 0
    code = words.run(invocation.environ)
    if hint := words.hint(code):
        render.hint(hint)
    return code
