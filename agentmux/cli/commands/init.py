"""``agentmux init``: begin the configuration of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.cli import render
from agentmux.cli.commands import config_template
from agentmux.cli.commands.trust import trust_own_edit
from agentmux.cli.face import Face
from agentmux.errors import UsageError

if TYPE_CHECKING:
    from agentmux.app.world import World


def init(
    ctx: typer.Context,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Ask nothing; take the built-in values.")
    ] = False,
) -> int:
    """Begin the configuration of a project."""
    face: Face = ctx.obj
    if not defaults and not face.interactive:
        raise UsageError("nobody is here to be asked", hints=("agentmux init --defaults",))
    site = face.site()
    path = config_template.require_free(site.project)
    world = face.world()
    agent = world.settings.defaults.agent
    if not defaults:
        agent = _chosen(world)
    spec = world.spec(agent)
    config_template.write(path, agent)
    render.note(f"wrote {path}")
    trust_own_edit(face, world, keys=("defaults.agent",))
    render.note(f"next: agentmux start FEATURE (played by {agent})")
    if world.programs.find(spec.command[0]) is None:
        render.note(f"{spec.command[0]} is not installed here: agentmux agents lists what is")
    for line in config_template.unattended(spec):
        render.note(line)
    return 0


def _chosen(world: World) -> str:
    """Ask a person which agent plays the roles, among those that can be run here."""
    from agentmux.cli.ask.agent_choice import ask_agent, asking  # noqa: PLC0415 (only with a person)

    return ask_agent(world, asking(), question="Which agent plays the roles here?")
