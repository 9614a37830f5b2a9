"""``agentmux agents``: lists the agents, what they can do and how they are run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.adapters.config.agent_registry import load_registry, probe
from agentmux.app.commands.look.agents import (
    AgentReport,
    envelope,
    list_agents,
    probe_agent,
    show_agent,
)
from agentmux.app.commands.look.trust import Effect, spec_of
from agentmux.cli import render
from agentmux.cli.ask.person import TrustOpt, trusted_world
from agentmux.cli.commands.group import GroupJsonOpt, group
from agentmux.cli.commands.project.agents_text import (
    list_lines,
    probe_lines,
    probe_table,
    show_lines,
)
from agentmux.core.names.agent_names import is_for_tests
from agentmux.core.names.status_labels import NATIVE_MARK
from agentmux.core.names.words.nearest import suggest_name
from agentmux.errors import ConfigError

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.cli.invocation import Invocation
    from agentmux.core.agents.spec import AgentSpec, ProbeResult


app: Final = group()


NameArg = Annotated[str, typer.Argument(metavar="AGENT", help="An agent's name, or a command.")]


@app.callback(invoke_without_command=True)
def agents(
    ctx: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Include the test variants of the offline agent.")
    ] = False,
    probed: Annotated[
        bool,
        typer.Option("--probe", help="Show how conversations come back, and what programs can do."),
    ] = False,
    trust: TrustOpt = False,
    json: GroupJsonOpt = False,
) -> int:
    """List the agents: installed, comes back, asks for permission, how to install."""
    if ctx.invoked_subcommand is not None:
        return 0
    invocation: Invocation = ctx.obj
    world = trusted_world(
        invocation, invocation.world(invocation.unchecked_project()), _every, trust=trust
    )
    result = list_agents(world, load_registry(world.settings))
    if json:
        render.as_json(envelope(result.data, result.problems))
        return result.exit_code
    shown = [each for each in result.data if everything or _is_shown(each)]
    lines = (probe_table if probed else list_lines)(shown, colours=invocation.colours)
    for line in lines:
        render.out(line)
    mark = f"{NATIVE_MARK} conversations come back · " if probed else ""
    render.note(f"{mark}* default · details: agentmux agents show NAME")
    return result.exit_code


def _every(world: World) -> object:
    """Return what the output of ``agentmux agents`` depends on in ``world``.

    That is: the names of the agents in use, and the definition of every agent. If the agent
    registry is wrong, return the error message instead.
    """
    settings = world.settings
    named = [settings.defaults.agent, *(each.agent or "" for each in settings.roles.values())]
    try:
        names = [*load_registry(settings), *filter(None, named)]
    except ConfigError as error:
        return error.message
    return named, [spec_of(world, name) for name in names]


def _one(name: str) -> Effect:
    """Return a function that tells what showing or probing the agent ``name`` does in a `World`.

    If the results for two worlds are equal, the command does the same in both.
    """
    return lambda world: (spec_of(world, name), world.settings.defaults)


def _is_shown(report: AgentReport) -> bool:
    return not is_for_tests(report.spec.name) or report.is_default


@app.command("probe", help="Ask an installed agent what it can do")
def probe_(ctx: typer.Context, name: NameArg, json: GroupJsonOpt = False) -> int:
    """Ask an installed agent what it can do."""
    invocation: Invocation = ctx.obj
    world = trusted_world(invocation, invocation.world(invocation.unchecked_project()), _one(name))

    def look(spec: AgentSpec) -> ProbeResult:
        return probe(spec, path_env=world.agents.programs.path, cache_dir=None)

    result = probe_agent(world, name, look)
    if json:
        render.as_json(envelope((result.data,), result.problems))
        return result.exit_code
    for line in probe_lines(result.data):
        render.out(line)
    render.show_problems(result.problems)
    return result.exit_code


@app.command("show", help="Show how an agent is launched and resumed")
def show(ctx: typer.Context, name: NameArg, json: GroupJsonOpt = False) -> int:
    """Show how an agent is launched and resumed."""
    invocation: Invocation = ctx.obj
    world = trusted_world(invocation, invocation.world(invocation.unchecked_project()), _one(name))
    commands = show_agent(world, name)
    if json:
        render.as_json(envelope((commands,), ()))
        return 0
    for line in show_lines(commands):
        render.out(line)
    if not commands.report.spec.known and not commands.report.probe.installed:
        for hint in suggest_name(name, world.agents.names()):
            render.note(f"hint: {hint}")
    return 0
