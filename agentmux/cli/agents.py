"""``agentmux agents``: which agents there are, what they can do, and how they are run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.cli import render

if TYPE_CHECKING:
    from agentmux.app.agents import AgentReport
    from agentmux.cli.face import Face
    from agentmux.core.agents import AgentSpec, ProbeResult

# Other commands load this module too: what only these three need is imported in them.
# ruff: noqa: PLC0415

app: Final = typer.Typer(
    add_completion=False, context_settings={"help_option_names": ["-h", "--help"]}
)

# Variants of the offline agent, of use to tests only.
_VARIANTS: Final = "demo-"


def _also_before(ctx: typer.Context, given: bool) -> bool:
    """Whether the option was given, behind the command or before it."""
    return given or (ctx.parent is not None and ctx.parent.params.get("json") is True)


JsonOpt = Annotated[bool, typer.Option("--json", help="Answer as JSON.", callback=_also_before)]
NameArg = Annotated[
    str, typer.Argument(metavar="NAME", help="An agent's name, or a command as you would type it.")
]


@app.callback(invoke_without_command=True)
def agents(
    ctx: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Also the variants of the offline agent.")
    ] = False,
    json: JsonOpt = False,
) -> int:
    """List the agents, and whether their conversations come back."""
    if ctx.invoked_subcommand is not None:
        return 0
    from agentmux.adapters.agents import load_registry
    from agentmux.app.agents import envelope, list_agents
    from agentmux.cli.agents_text import NATIVE, list_lines

    face: Face = ctx.obj
    world = face.world()
    result = list_agents(world, load_registry(world.settings))
    if json:
        render.as_json(envelope(result.data, result.problems))
        return result.exit_code
    shown = [each for each in result.data if everything or _is_shown(each)]
    for line in list_lines(shown):
        render.out(line)
    render.note(
        f"{NATIVE} conversations come back · * the default · more: agentmux agents show NAME"
    )
    return result.exit_code


def _is_shown(report: AgentReport) -> bool:
    return not report.spec.name.startswith(_VARIANTS) or report.is_default


@app.command("probe", help="Ask an installed agent what it can do")
def probe_(ctx: typer.Context, name: NameArg, json: JsonOpt = False) -> int:
    """Ask an installed agent what it can do."""
    from agentmux.adapters.agents import probe
    from agentmux.app.agents import envelope, probe_agent
    from agentmux.cli.agents_text import probe_lines

    face: Face = ctx.obj
    world = face.world()

    def look(spec: AgentSpec) -> ProbeResult:
        return probe(spec, path_env=world.programs.path, cache_dir=None)

    result = probe_agent(world, name, look)
    if json:
        render.as_json(envelope((result.data,), result.problems))
        return result.exit_code
    for line in probe_lines(result.data):
        render.out(line)
    render.show_problems(result.problems)
    return result.exit_code


@app.command("show", help="Show how an agent is launched and resumed")
def show(ctx: typer.Context, name: NameArg, json: JsonOpt = False) -> int:
    """Show how an agent is launched and resumed."""
    from agentmux.app.agents import envelope, show_agent
    from agentmux.cli.agents_text import show_lines

    face: Face = ctx.obj
    found = show_agent(face.world(), name)
    if json:
        render.as_json(envelope((found,), ()))
        return 0
    for line in show_lines(found):
        render.out(line)
    return 0
