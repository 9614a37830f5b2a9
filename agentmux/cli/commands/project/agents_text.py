"""The text output of ``agentmux agents`` and its subcommands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from agentmux.app.commands.look.agents import (
    CONVERSATION,
    LAUNCH,
    SEAT,
    SESSION,
    AgentCommands,
    AgentReport,
    StrategyCommands,
)
from agentmux.cli import render
from agentmux.core.agents.spec import AgentSpec, PromptBy, StrategyKind, how_to_install
from agentmux.core.names.agent_names import OFFLINE
from agentmux.core.names.status_labels import NATIVE_MARK, Colour

EXPLAINED: Final = {
    StrategyKind.ASSIGN: "AgentMux chooses the conversation's id and resumes by it",
    StrategyKind.LEARN: "the agent tells its conversation's id, and AgentMux resumes by it",
    StrategyKind.CONTINUE: "a resume continues the latest conversation of the directory",
    StrategyKind.CHECKPOINT: "a resume loads the file in which the agent saved its conversation",
    StrategyKind.NONE: "a resume starts a new conversation with the full prompt",
}

_REGULAR: Final = re.compile(r"\^|\\[sb][*+]?|\\(?=\W)")
"""What makes a text a pattern, and is not shown: the rest is nearly the text that is looked for."""

_PROMPTS: Final = {
    PromptBy.ARGV: "on its command line",
    PromptBy.PASTE: "pasted into it",
    PromptBy.STDIN: "on its standard input",
    PromptBy.SHOWN: "shown to the person who plays the role",
}


def list_lines(reports: Sequence[AgentReport], *, colours: bool) -> list[str]:
    """Return what ``agentmux agents`` prints: a table, then how to install the missing agents.

    Installed agents come first. If ``colours``, colours show which agents are installed.
    """
    ordered = sorted(reports, key=lambda each: not each.probe.installed)
    rows = [("AGENT", "INSTALLED", "COMES BACK", "ASKS FOR PERMISSION")]
    rows += [
        (
            f"{each.spec.name}{' *' if each.is_default else ''}",
            _describe_install(each),
            _describe_resume(each),
            _asks(each.spec),
        )
        for each in ordered
    ]
    painted = {
        (row, 1): Colour.DIM
        if not each.probe.installed
        else Colour.RED
        if each.probe.problem
        else Colour.GREEN
        for row, each in enumerate(ordered, start=1)
    }
    ways = [(f"  {each.spec.name}", how) for each in ordered if (how := _way(each))]
    lines = render.table(rows, painted if colours else None)
    return [*lines, "", "to install:", *render.table(ways)] if ways else lines


def _describe_install(report: AgentReport) -> str:
    if not report.probe.installed:
        return "no"
    return "does not run" if report.probe.problem else report.version or "yes"


def _describe_resume(report: AgentReport) -> str:
    """Return whether a resume brings the agent's conversations back, in a word."""
    if report.spec.prompt is PromptBy.SHOWN:
        return "-"
    if report.probe.installed and report.probe.problem:
        return "unknown"
    return "no" if report.strategy.kind is StrategyKind.NONE else "yes"


def _asks(spec: AgentSpec) -> str:
    """Return whether the agent asks for permission before it acts, in a few words."""
    if spec.prompt is PromptBy.SHOWN:
        return "-"
    if spec.permission_args:
        return "as you set it"
    if spec.unattended_args or spec.edit_args:
        return "yes"
    never = spec.screens is not None and "permission" in spec.screens.none
    return "no" if never or spec.name == OFFLINE else "unknown"


def _way(report: AgentReport) -> str:
    """Return how to install an agent that is missing or has a successor; else empty."""
    if report.successor:
        return f"{how_to_install(report.spec)}  ({report.successor})"
    return "" if report.probe.installed or not report.spec.install else report.spec.install


def probe_table(reports: Sequence[AgentReport], *, colours: bool) -> list[str]:
    """Return what ``agentmux agents --probe`` prints: a heading, then one line for each agent.

    If ``colours``, colours show which agents are installed, and what was found about them.
    """
    rows = [("", "NAME", "INSTALLED", "VERSION", "STRATEGY", "PROBE")]
    rows += [
        (
            NATIVE_MARK if each.resumes else "",
            f"{each.spec.name}{' *' if each.is_default else ''}",
            "yes" if each.probe.installed else "no",
            each.version or "-",
            each.strategy.kind.value if each.probe.installed else f"({each.strategy.kind.value})",
            _verdict(each),
        )
        for each in reports
    ]
    painted = {
        (row, column): colour
        for row, each in enumerate(reports, start=1)
        for column, colour in _colours(each)
    }
    return render.table(rows, painted if colours else None)


def _colours(report: AgentReport) -> Iterator[tuple[int, Colour]]:
    """Yield the coloured columns of an agent, INSTALLED and PROBE, with their colours."""
    if not report.probe.installed:
        yield 2, Colour.DIM
    elif report.probe.problem:
        yield 5, Colour.RED
    else:
        yield 2, Colour.GREEN
        yield 5, Colour.YELLOW if report.probe.missing else Colour.NONE


def _verdict(report: AgentReport) -> str:
    """Return the PROBE column of an agent: in a few words, what the probe of its program found."""
    if not report.probe.installed:
        return "-"
    if report.probe.problem:
        return report.probe.problem
    if not report.was_asked:
        return "as typed" if not report.spec.known else "nothing to check"
    lacking = [f"{kind} lacks {', '.join(names)}" for kind, names in report.probe.missing.items()]
    return "; ".join(lacking) or "all found"


def probe_lines(report: AgentReport) -> Iterator[str]:
    """Yield the lines that ``agentmux agents probe`` prints for one agent."""
    spec = report.spec
    version = f" {report.version}" if report.version else ""
    yield f"{spec.name}{version}: {report.probe.path or 'not installed'}"
    if report.successor:
        yield f"  {report.successor}: {how_to_install(spec)}"
    if not report.probe.installed or report.probe.problem:
        return
    if not report.was_asked:
        known = "the registry has nothing to check" if spec.known else "runs exactly as typed"
        yield f"  {known}"
    for each in spec.strategies:
        missing = report.probe.missing.get(each.kind, ())
        names = [name for name in each.probe if name not in missing]
        parts = [f"found: {', '.join(names)}"] if names else []
        parts += [f"missing: {', '.join(missing)}"] if missing else []
        mark = NATIVE_MARK if not missing else " "
        yield f"  {mark} {each.kind.value:<10} {'; '.join(parts) or 'nothing to check'}"
    yield from _screens(report)
    yield f"  used: {report.strategy.kind.value}, {EXPLAINED[report.strategy.kind]}"


def _screens(report: AgentReport) -> Iterator[str]:
    """Yield lines about the recordings of the agent's screen with which AgentMux is tested.

    They say from which version of the agent the recordings are, and which ones are missing. No line
    if the registry lists no screens for the agent.
    """
    known = report.spec.screens
    if known is None:
        return
    newer = "" if report.version in {"", known.version} else f", not from {report.version}"
    yield f"  screens recorded from {known.version}{newer}: {', '.join(known.recorded) or 'none'}"
    for kind, reason in known.none.items():
        yield f"  has no screen `{kind}`: {reason}"
    if known.missing:
        yield f"  screens missing: {', '.join(known.missing)}"


def _typing(spec: AgentSpec) -> Iterator[str]:
    """Yield a line about an agent whose input field is not recognised."""
    if spec.blind:
        yield "  typing      at the cursor, whatever its screen shows (ready: any)"
    elif spec.ready is None and spec.prompt is not PromptBy.SHOWN:
        yield f"  typing      none: its input field is not known; agents.{spec.name}.ready says it"


def show_lines(found: AgentCommands) -> Iterator[str]:
    """Yield the lines that ``agentmux agents show`` prints for one agent."""
    report, spec = found.report, found.report.spec
    yield f"{spec.name}: {report.probe.path or report.probe.problem}"
    if not spec.known:
        yield "  not in the registry: it runs exactly as typed"
    used = found.used_strategy
    mark = f"{NATIVE_MARK} " if used.resume is not None else ""
    yield f"  comes back  {mark}{used.kind.value}: {EXPLAINED[used.kind]}"
    yield from _command_lines(used)
    yield f"  prompt      {_PROMPTS[spec.prompt]}{_at_resume(spec)}"
    yield from _typing(spec)
    yield f"  unattended  {describe_unattended(spec)}"
    for each in found.strategies:
        if not each.used:
            yield f"  otherwise   {each.kind.value}: {EXPLAINED[each.kind]}"
            yield from _lacking(report, each.kind)
            yield from _command_lines(each)
    for line in spec.notes.strip().splitlines():
        yield f"  note        {line}"
    yield f"  A session fills in {SESSION}, {SEAT}, {LAUNCH} and {CONVERSATION}."


def _lacking(report: AgentReport, kind: StrategyKind) -> Iterator[str]:
    """Yield a line with what the help of the installed program does not show of a strategy."""
    probes = (each.probe for each in report.spec.strategies if each.kind is kind)
    missing = report.probe.missing.get(kind, ())
    lacks = [f"`{_REGULAR.sub('', probe[name])}`" for probe in probes for name in missing]
    if lacks:
        version = f"version {report.version}" if report.version else "the installed version"
        yield f"    not with {version}: its help does not show {', '.join(lacks)}"


def _command_lines(commands: StrategyCommands) -> Iterator[str]:
    yield f"  launch      {shlex.join(commands.launch)}"
    resume = shlex.join(commands.resume) if commands.resume is not None else "as launch"
    yield f"  resume      {resume}"
    for name, value in commands.env.items():
        yield f"  with        {name}={shlex.quote(value)}"


def _at_resume(spec: AgentSpec) -> str:
    again = spec.prompt_by(resuming=True)
    return "" if again is spec.prompt else f"; on resume {_PROMPTS[again]}"


def describe_unattended(spec: AgentSpec) -> str:
    """Return in words which arguments let the agent run unattended, and whether they are set."""
    if spec.permission_args:
        return f"runs with {shlex.join(spec.permission_args)}, as you configured it"
    if not spec.unattended_args:
        return "needs no arguments that AgentMux knows of"
    words = shlex.join(spec.unattended_args)
    edits = f"; for edits alone {shlex.join(spec.edit_args)}" if spec.edit_args else ""
    where = f"agents.{spec.name}.permission_args in the configuration"
    return f"needs {words}; not set ({where}){edits}"
