"""``agentmux init``: writes the configuration of a project."""

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
        bool, typer.Option("--defaults", help="Use the built-in values without asking.")
    ] = False,
) -> int:
    """Write a configuration for this project."""
    face: Face = ctx.obj
    if not defaults and not face.interactive:
        raise UsageError("cannot ask without a terminal", hints=("agentmux init --defaults",))
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
        render.note(f"{spec.command[0]} is not installed; to see what is: agentmux agents")
    for line in config_template.unattended(spec):
        render.note(line)
    return 0


def _chosen(world: World) -> str:
    """Ask a person which agent plays the roles.

    Returns:
        An agent's name or a command; its program is installed.
    """
    from agentmux.cli.ask.agent_choice import ask_agent, asking  # noqa: PLC0415 (only with a person)

    return ask_agent(world, asking(), question="Which agent should play the roles in this project?")
