"""``trust``: shows and changes which parts of the project's files the user trusts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.app.commands.look.trust import (
    describe_keys,
    keep_all,
    part_lines,
    untrusted_parts,
)
from agentmux.app.result import SCHEMA
from agentmux.cli import render
from agentmux.cli.ask.person import YesOpt, person_at, require_person
from agentmux.cli.ask.shared_options import JsonOpt
from agentmux.core.config.trust import TrustState, trust_state
from agentmux.errors import UsageError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.cli.invocation import Invocation


def trust(
    ctx: typer.Context,
    show: Annotated[
        bool, typer.Option("--show", help="Show what needs trust; change nothing.")
    ] = False,
    revoke: Annotated[
        bool, typer.Option("--revoke", help="Stop trusting the files of this project.")
    ] = False,
    yes: YesOpt = False,
    json: JsonOpt = False,
) -> int:
    """Trust the files of this project.

    Parts of these files make AgentMux run programs or tell agents what to do. They have no effect
    until you trust them. In a terminal, the command shows these parts and asks. Without a terminal
    it does not ask: running it is your consent. A part that changes later needs trust again.
    """
    invocation: Invocation = ctx.obj
    if show and revoke:
        raise UsageError("--show and --revoke cannot be combined", hints=("agentmux trust --help",))
    if not show:
        require_person(invocation, "trust")
    world = invocation.world()
    if revoke:
        world.consent.trust.revoke()
        world = invocation.world()
    elif not show:
        world = _trust_project(invocation, world, yes=yes, json=json)
    if json:
        render.as_json(_fields(world))
    elif revoke:
        render.note(f"the files of {world.project} are not trusted any more")
    elif show:
        render.out("\n".join(part_lines(world, world.consent.trust.parts())) or _NOTHING)
    return 0


_NOTHING = "nothing in the files of this project needs trust"


def _trust_project(invocation: Invocation, world: World, *, yes: bool, json: bool) -> World:
    parts = world.consent.trust.parts()
    if parts and not json:
        render.note("\n".join(part_lines(world, parts)))
    person = person_at(invocation, yes=yes or json)
    if person.is_asked and untrusted_parts(world):
        person.agree(f"Trust this in {world.project}?")
    keep_all(world)
    if not json:
        render.note(f"trusted: {describe_keys(parts)}" if parts else _NOTHING)
    return invocation.world()


def _fields(world: World) -> dict[str, object]:
    parts, known = world.consent.trust.parts(), world.consent.trust.trusted_parts()
    return {
        "schema": SCHEMA,
        "project": str(world.project),
        "trusted": all(trust_state(each, known) is TrustState.TRUSTED for each in parts),
        "parts": [
            {"key": each.key, "standing": trust_state(each, known).value, "value": each.value}
            for each in parts
        ],
        "problems": [],
    }
