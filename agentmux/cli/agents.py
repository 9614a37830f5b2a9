"""``agentmux agents``: which agents there are, what they can do, and how they are run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.adapters.agents import load_registry, probe
from agentmux.app.agents import (
    CONVERSATION,
    LAUNCH,
    SEAT,
    SESSION,
    AgentCommands,
    AgentReport,
    StrategyCommands,
    envelope,
    list_agents,
    probe_agent,
    show_agent,
)
from agentmux.cli import render
from agentmux.core.agents import PromptBy, StrategyKind

if TYPE_CHECKING:
    from agentmux.cli.face import Face
    from agentmux.core.agents import AgentSpec, ProbeResult

app: Final = typer.Typer(
    add_completion=False, context_settings={"help_option_names": ["-h", "--help"]}
)

NATIVE: Final = "↻"
"""Marks what comes back with its conversation."""

EXPLAINED: Final = {
    StrategyKind.ASSIGN: "the conversation gets an id of ours and is resumed by it",
    StrategyKind.LEARN: "the agent tells the id of its conversation, which is resumed by it",
    StrategyKind.CONTINUE: "the latest conversation of the directory is resumed",
    StrategyKind.CHECKPOINT: "the file that the agent keeps of its conversation is resumed",
    StrategyKind.NONE: "a resume starts it afresh, with the full prompt",
}

_PROMPTS: Final = {
    PromptBy.ARGV: "on its command line",
    PromptBy.PASTE: "pasted into it",
    PromptBy.STDIN: "on its standard input",
}
# Variants of the offline agent, of use to tests only.
_VARIANTS: Final = "demo-"

JsonOpt = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]
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
    face: Face = ctx.obj
    found = show_agent(face.world(), name)
    if json:
        render.as_json(envelope((found,), ()))
        return 0
    for line in show_lines(found):
        render.out(line)
    return 0


# -- as text -------------------------------------------------------------------------------------


def list_lines(reports: Sequence[AgentReport]) -> list[str]:
    """Return the table of ``agentmux agents``."""
    rows = [("", "NAME", "INSTALLED", "VERSION", "STRATEGY", "PROBE")]
    rows += [
        (
            NATIVE if each.resumes else "",
            f"{each.spec.name}{' *' if each.is_default else ''}",
            "yes" if each.probe.installed else "no",
            each.version or "-",
            each.strategy.kind.value if each.probe.installed else f"({each.strategy.kind.value})",
            _verdict(each),
        )
        for each in reports
    ]
    return render.table(rows)


def _verdict(report: AgentReport) -> str:
    """Say in a few words what the probe showed."""
    if not report.probe.installed:
        return "-"
    if report.probe.problem:
        return report.probe.problem
    if not report.was_asked:
        return "as typed" if not report.spec.known else "nothing to look for"
    lacking = [f"{kind} lacks {', '.join(names)}" for kind, names in report.probe.missing.items()]
    return "; ".join(lacking) or "all found"


def probe_lines(report: AgentReport) -> Iterator[str]:
    """Return what ``agentmux agents probe`` says."""
    spec = report.spec
    version = f" {report.version}" if report.version else ""
    yield f"{spec.name}{version}: {report.probe.path or 'not installed'}"
    if not report.probe.installed or report.probe.problem:
        return
    if not report.was_asked:
        known = "the registry has nothing to look for" if spec.known else "runs exactly as typed"
        yield f"  {known}"
    for each in spec.strategies:
        missing = report.probe.missing.get(each.kind, ())
        found = [name for name in each.probe if name not in missing]
        said = [f"found: {', '.join(found)}"] if found else []
        said += [f"missing: {', '.join(missing)}"] if missing else []
        mark = NATIVE if not missing else " "
        yield f"  {mark} {each.kind.value:<10} {'; '.join(said) or 'needs no feature'}"
    yield f"  used: {report.strategy.kind.value}, {EXPLAINED[report.strategy.kind]}"


def show_lines(found: AgentCommands) -> Iterator[str]:
    """Return what ``agentmux agents show`` says."""
    report, spec = found.report, found.report.spec
    yield f"{spec.name}: {report.probe.path or report.probe.problem}"
    if not spec.known:
        yield "  not in the registry: it runs exactly as typed"
    mark = f"{NATIVE} " if found.used.resume is not None else ""
    yield f"  strategy    {mark}{found.used.kind.value}: {EXPLAINED[found.used.kind]}"
    yield from _command_lines(found.used)
    yield f"  prompt      {_PROMPTS[spec.prompt]}{_at_resume(spec)}"
    yield f"  unattended  {unattended(spec)}"
    for each in found.strategies:
        if not each.used:
            works = report.probe.strategies.get(each.kind, True)
            state = "" if not report.probe.installed or works else ", not with this program"
            yield f"  otherwise   {each.kind.value}{state}: {EXPLAINED[each.kind]}"
            yield from _command_lines(each)
    for line in spec.notes.strip().splitlines():
        yield f"  note        {line}"
    yield f"  {SESSION}, {SEAT}, {LAUNCH} and {CONVERSATION} are filled in by a session."


def _command_lines(commands: StrategyCommands) -> Iterator[str]:
    yield f"  launch      {shlex.join(commands.launch)}"
    resume = shlex.join(commands.resume) if commands.resume is not None else "as launch"
    yield f"  resume      {resume}"
    for name, value in commands.env.items():
        yield f"  with        {name}={shlex.quote(value)}"


def _at_resume(spec: AgentSpec) -> str:
    again = spec.prompt_by(resuming=True)
    return "" if again is spec.prompt else f"; at a resume {_PROMPTS[again]}"


def unattended(spec: AgentSpec) -> str:
    """Say what a run that nobody watches needs, and whether it is set."""
    if spec.permission_args:
        return f"it runs with {shlex.join(spec.permission_args)}, as you configured it"
    if not spec.unattended_args:
        return "nothing is known that it needs"
    words = shlex.join(spec.unattended_args)
    return f"needs {words}; not set (agents.{spec.name}.permission_args in the configuration)"
