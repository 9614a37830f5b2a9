"""``agentmux init``: writes the configuration of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.cli import render
from agentmux.cli.ask.check_choice import ask_checks, found_commands
from agentmux.cli.commands import config_template
from agentmux.cli.commands.config_template import verify_lines
from agentmux.cli.commands.trust import trust_own_edit
from agentmux.cli.face import Face
from agentmux.errors import UsageError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.cli.ask.agent_choice import Ask


def init(
    ctx: typer.Context,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Use the built-in values without asking.")
    ] = False,
) -> int:
    """Write a configuration for this project.

    In a terminal, it asks which agent plays the roles, and which of the commands that it finds
    (pytest, npm test, cargo test, go test, make test) check results; each is run once first.
    """
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
    found = found_commands(site.project)
    verify = () if defaults else ask_checks(found, site.project, face.environ, _asking())
    config_template.write(path, agent, verify)
    render.note(f"wrote {path}")
    trust_own_edit(face, world, keys=("defaults.agent", "verify"))
    render.note(f"next: agentmux start FEATURE (played by {agent})")
    if world.programs.find(spec.command[0]) is None:
        render.note(f"{spec.command[0]} is not installed; to see what is: agentmux agents")
    for line in config_template.unattended(spec):
        render.note(line)
    if found and not verify:
        render.note(f"to verify results, write into that file:\n{verify_lines(found)}")
    return 0


def _asking() -> Ask:
    from agentmux.cli.ask.agent_choice import asking  # noqa: PLC0415 (only with a person)

    return asking()


def _chosen(world: World) -> str:
    """Ask a person which agent plays the roles.

    Returns:
        An agent's name or a command; its program is installed.
    """
    from agentmux.cli.ask.agent_choice import ask_agent, asking  # noqa: PLC0415 (only with a person)

    return ask_agent(world, asking(), question="Which agent should play the roles in this project?")
