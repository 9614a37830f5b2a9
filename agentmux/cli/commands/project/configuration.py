"""``agentmux config``: shows the settings in effect, their schema and their files."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.app.result import SCHEMA
from agentmux.cli import render
from agentmux.cli.commands.group import GroupJsonOpt, group
from agentmux.wiring import build

if TYPE_CHECKING:
    from agentmux.adapters.config.effective import SettingValue
    from agentmux.cli.invocation import Invocation

app: Final = group()


@app.callback(invoke_without_command=True)
def config(ctx: typer.Context, json: GroupJsonOpt = False) -> int:
    """Show the settings in effect, their schema and their files."""
    return 0 if ctx.invoked_subcommand is not None else show(ctx, json=json)


@app.command(help="Show every setting that is in effect")
def show(
    ctx: typer.Context,
    origin: Annotated[
        bool, typer.Option("--origin", help="Add the layer, file and line of each value.")
    ] = False,
    json: GroupJsonOpt = False,
) -> int:
    """Show every setting that is in effect."""
    invocation: Invocation = ctx.obj
    values, left_out = build.configuration(
        invocation.unchecked_project(), config=invocation.config, environ=invocation.environ
    )
    if json:
        settings = [each.as_json() for each in values]
        render.as_json({"schema": SCHEMA, "values": settings, "untrusted": [*left_out]})
        return 0
    for line in render.table([_row(each, origin=origin) for each in values]):
        render.out(line)
    if left_out:
        render.note(f"without effect, as the project is not trusted: {', '.join(left_out)}")
        render.note("see what it is: agentmux trust --show")
    return 0


def _row(found: SettingValue, *, origin: bool) -> tuple[str, ...]:
    value = render.printable(_as_yaml(found.value))
    # The value is the last column, as it may be long.
    return (found.key, f"{found.layer} {found.at}".strip(), value) if origin else (found.key, value)


def _as_yaml(value: object) -> str:
    """Return a value as YAML on one line: plain words as they are, everything else as JSON."""
    plain = isinstance(value, str) and value not in {"", "null", "true", "false"}
    return str(value) if plain else json_text.dumps(value, ensure_ascii=False)


@app.command(help="Print the JSON Schema of the configuration files")
def schema() -> int:
    """Print the JSON Schema of the configuration files, for an editor.

    `agentmux init` writes it beside the configuration. To renew it:
    agentmux config schema > .agentmux/config.schema.json
    """
    from agentmux.adapters.config.config_schema import config_schema_text

    render.out(config_schema_text().rstrip("\n"), verbatim=True)
    return 0


@app.command(help="Show which files and folders are used")
def path(ctx: typer.Context, json: GroupJsonOpt = False) -> int:
    """Show which files and folders are used, and which of them exist."""
    invocation: Invocation = ctx.obj
    places = build.config_paths(
        invocation.unchecked_project(), config=invocation.config, environ=invocation.environ
    )
    if json:
        paths = [
            {"name": name, "path": str(place), "exists": place.exists()} for name, place in places
        ]
        render.as_json({"schema": SCHEMA, "paths": paths})
        return 0
    rows = [(name, str(place), "" if place.exists() else "missing") for name, place in places]
    for line in render.table(rows):
        render.out(line)
    return 0
