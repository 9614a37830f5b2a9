"""The agents of the registry: which are installed, what they can do, and their command lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from agentmux.app.result import SCHEMA, OperationResult, SessionProblem, worst
from agentmux.core.agents.command_lines import (
    hook_words,
    launch_argv,
    mcp_words,
    resume_argv,
    strategy_env,
)
from agentmux.core.agents.spec import (
    NO_STRATEGY,
    AgentSpec,
    Probe,
    ProbeResult,
    Registry,
    Strategy,
    StrategyKind,
    choose_strategy,
)
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.core.names import layout
from agentmux.core.names.words.nearest import suggest_name
from agentmux.core.prompts.prompt import launch_line
from agentmux.errors import ExitCode

if TYPE_CHECKING:
    from agentmux.app.world import World


def installed_agents(world: World, names: Iterable[str]) -> list[str]:
    """Return those of the agents ``names`` whose programs are installed; runs no program."""
    return [
        each
        for each in names
        if world.agents.programs.find(world.agents.spec(each).command[0]) is not None
    ]


SESSION: Final = "SESSION"
SEAT: Final = "SEAT"
LAUNCH: Final = "LAUNCH"
CONVERSATION: Final = "CONVERSATION"
"""Placeholder in shown command lines: only a real session has an id of a conversation.

`SESSION`, `SEAT` and `LAUNCH` are placeholders, too.
"""

_VERSION: Final = Probe(argv=("--version",), version=r"(?<![\w.])v?(\d+\.\d+(?:[\w.+-]*\w)?)")
# How many programs are asked at the same time; the slowest one needs seconds to print its help.
_AT_ONCE: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReport:
    """One agent, and what its installed program can do.

    Attributes:
        spec: The description of the agent in the registry, with the configuration's overrides.
        probe: What the installed program can do.
        strategy: How a conversation is resumed: the first strategy that the installed program
            supports; if no program is installed, the agent's first strategy.
        version: The version that the program reports; empty if it reports none, or was not asked.
        is_default: Whether the agent plays all roles to which the configuration assigns no other.
    """

    spec: AgentSpec
    probe: ProbeResult
    strategy: Strategy
    version: str = ""
    is_default: bool = False

    @property
    def resumes(self) -> bool:
        """Whether the agent's conversations can be resumed with the installed program."""
        return self.probe.installed and self.strategy.kind is not StrategyKind.NONE

    @property
    def successor(self) -> str:
        """A sentence that the program's package has a successor; empty if it has none."""
        if not self.probe.former:
            return ""
        return f"its package {self.probe.former} has a successor"

    @property
    def was_asked(self) -> bool:
        """Whether the program was run to see what it can do."""
        return self.probe.installed and any(each.probe for each in self.spec.strategies)

    def as_json(self) -> dict[str, object]:
        """Return this report as one entry of ``agents`` in a JSON answer.

        Its keys are ``name``, ``known``, ``default``, ``command``, ``installed``, ``path``,
        ``version``, ``strategy`` (its kind), ``resumes``, ``probe`` (what the program was asked,
        and what it can do) and ``screens`` (which screens of the real program were recorded).
        """
        return {
            "name": self.spec.name,
            "known": self.spec.known,
            "default": self.is_default,
            "command": list(self.spec.command),
            "installed": self.probe.installed,
            "path": self.probe.path,
            "version": self.version or None,
            "strategy": self.strategy.kind.value,
            "resumes": self.resumes,
            "probe": self._probe_json(),
            "screens": self._screens_json(),
        }

    def _screens_json(self) -> dict[str, object] | None:
        """Return which screens were recorded from the real program, and which are missing.

        None if the registry says nothing about the agent's screens.
        """
        known = self.spec.screens
        if known is None:
            return None
        return {
            "version": known.version,
            "recorded": list(known.recorded),
            "none": dict(known.none),
            "missing": list(known.missing),
        }

    def _probe_json(self) -> dict[str, object]:
        held = {
            each.kind.value: {
                "works": self.probe.strategies.get(each.kind, not each.probe),
                "features": sorted(each.probe),
                "missing": list(self.probe.missing.get(each.kind, ())),
            }
            for each in self.spec.strategies
        }
        asked = [self.probe.path or "", *self.spec.command[1:], *self.spec.probe.argv]
        return {
            "asked": asked if self.was_asked else None,
            "strategies": held if self.probe.installed else {},
            "problem": self.probe.problem,
            "former": self.probe.former or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyCommands:
    """The command lines that launch an agent and resume its conversation with one strategy.

    A strategy is a way to find the conversation again.

    Attributes:
        kind: By what the conversation is found again, such as its id; ``none`` if it cannot be.
        used: Whether the agent would be launched with this strategy now.
        launch: The command line that launches the agent, beginning with the program.
        resume: The command line that resumes a conversation; None if the strategy cannot.
        env: Variables that are added to the agent's environment.
    """

    kind: StrategyKind
    used: bool
    launch: tuple[str, ...]
    resume: tuple[str, ...] | None
    env: Mapping[str, str]

    def as_json(self) -> dict[str, object]:
        """Return the attributes, by name, as one entry of ``strategies`` in a JSON answer."""
        return {
            "kind": self.kind.value,
            "used": self.used,
            "launch": list(self.launch),
            "resume": None if self.resume is None else list(self.resume),
            "env": dict(self.env),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCommands:
    """The command lines of one agent, for each of its strategies.

    A strategy is a way to find the agent's conversation again, such as by its id.

    Attributes:
        report: The agent, and what its program can do.
        strategies: One entry for each strategy of the agent, in the order in which AgentMux prefers
            them. Exactly one has ``used``, the strategy with which the agent would be launched now.
    """

    report: AgentReport
    strategies: tuple[StrategyCommands, ...]

    @property
    def used_strategy(self) -> StrategyCommands:
        """The entry of ``strategies`` with which the agent would be launched now."""
        return next(each for each in self.strategies if each.used)

    def as_json(self) -> dict[str, object]:
        """Return the agent as one entry of ``agents`` in a JSON answer.

        It has the keys of `AgentReport.as_json`; ``launch``, ``resume`` and ``env`` of the strategy
        that is used now; ``strategies``, one entry each; ``prompt``, ``resume_prompt`` and
        ``notes``; and the arguments for permissions: ``permission_args``, ``edit_args`` and
        ``unattended_args``.
        """
        spec = self.report.spec
        return {
            **self.report.as_json(),
            "launch": list(self.used_strategy.launch),
            "resume": None
            if self.used_strategy.resume is None
            else list(self.used_strategy.resume),
            "env": dict(self.used_strategy.env),
            "prompt": spec.prompt.value,
            "resume_prompt": spec.prompt_by(resuming=True).value,
            "permission_args": list(spec.permission_args),
            "edit_args": list(spec.edit_args),
            "unattended_args": list(spec.unattended_args),
            "strategies": [each.as_json() for each in self.strategies],
            "notes": spec.notes,
        }


def envelope(
    agents: Iterable[AgentReport | AgentCommands], problems: Iterable[SessionProblem]
) -> dict[str, object]:
    """Return the JSON answer of the commands that show agents.

    Its keys are ``schema`` (the version of the format, a number), ``agents`` and ``problems``; the
    latter two are lists with one entry (`as_json`) each.
    """
    return {
        "schema": SCHEMA,
        "agents": [each.as_json() for each in agents],
        "problems": [each.as_json() for each in problems],
    }


def list_agents(world: World, registry: Registry) -> OperationResult[tuple[AgentReport, ...]]:
    """Report on every agent of the registry, and on those that only the configuration names.

    Each installed program is run at most twice (for its help and its version), several programs at
    the same time. The answers of a program are cached until the program changes.
    """
    specs = [
        world.agents.spec(name) for name in (*registry, *_list_unknown_agents(world, registry))
    ]
    by_program: dict[tuple[str, ...], list[AgentSpec]] = {}
    for spec in specs:
        by_program.setdefault(spec.command, []).append(spec)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        groups = pool.map(lambda same: [_report(world, each) for each in same], by_program.values())
        reports = {report.spec.name: report for group in groups for report in group}
    return OperationResult(data=tuple(reports[spec.name] for spec in specs))


def _list_unknown_agents(world: World, registry: Registry) -> Sequence[str]:
    """Return the commands that the configuration names as agents but the registry lacks."""
    settings = world.settings
    named = [settings.defaults.agent, *(each.agent for each in settings.roles.values())]
    unique = dict.fromkeys(name for name in named if name is not None)
    return [name for name in unique if name not in registry and not world.agents.spec(name).known]


def probe_agent(
    world: World, name: str, look: Callable[[AgentSpec], ProbeResult]
) -> OperationResult[AgentReport]:
    """Report what the installed program of an agent can do.

    If no program is installed, or if it could not be asked, the result has a problem, and the exit
    code `ExitCode.MISSING`.

    Args:
        world: The outside world.
        name: The agent: a name in the registry, or a command.
        look: Takes the description of the agent. Returns what its program can do, and may run the
            program for that.

    Raises:
        UsageError: The name is empty, or has a quote that is not closed.
    """
    spec = world.agents.spec(name)
    report = _report(world, spec, look(spec))
    problems = tuple(_problems(report, name, world.agents.names()))
    return OperationResult(
        data=report, problems=problems, exit_code=worst(each.code for each in problems)
    )


def _problems(report: AgentReport, name: str, agents: Iterable[str]) -> Iterable[SessionProblem]:
    if report.probe.problem is None:
        return
    spec = report.spec
    hints = [*(suggest_name(name, agents) if not spec.known else ())]
    hints += ["see which are installed: agentmux agents"]
    if report.probe.installed:
        hints = [f"run it by hand: {' '.join((*spec.command, *spec.probe.argv))}"]
    message = f"agent {name}: {report.probe.problem}"
    yield SessionProblem(
        session="",
        code=ExitCode.MISSING,
        message=message,
        hints=tuple(hints),
        lasting=not report.probe.installed,
    )


def show_agent(world: World, name: str) -> AgentCommands:
    """Return the command lines of an agent with each of its strategies.

    ``name`` is a name in the registry, or a command. The agent's program is run to learn what it
    can do, unless its answer is cached.

    Raises:
        UsageError: The name is empty, or has a quote that is not closed.
    """
    report = _report(world, world.agents.spec(name))
    kinds = [*report.spec.strategies] or [NO_STRATEGY]
    if report.strategy not in kinds:
        kinds.append(report.strategy)
    return AgentCommands(
        report=report,
        strategies=tuple(_commands(world, report, name, each) for each in kinds),
    )


def _report(world: World, spec: AgentSpec, probe: ProbeResult | None = None) -> AgentReport:
    answer = probe or world.agents.programs.ask(spec)
    # Without a program nothing was probed: take the registry's first strategy.
    strategy = choose_strategy(spec, answer if answer.installed else None)
    default = world.settings.defaults.agent
    return AgentReport(
        spec=spec,
        probe=answer,
        strategy=strategy,
        version=answer.version or _version(world, spec, answer),
        is_default=world.agents.spec(default).name == spec.name,
    )


def _version(world: World, spec: AgentSpec, probe: ProbeResult) -> str:
    """Run an agent's program to get its version; empty if it reports none.

    A program that the registry does not know is not run; then the version is empty, too.
    """
    asked = any(each.probe for each in spec.strategies) and not probe.problem
    if not probe.installed or not asked:
        return ""
    # A separate name, because answers are cached by name and command.
    question = replace(spec, name=f"{spec.name} --version", probe=_VERSION, strategies=())
    return world.agents.programs.ask(question).version


def _commands(world: World, report: AgentReport, name: str, strategy: Strategy) -> StrategyCommands:
    spec = report.spec
    base = world.project / layout.SESSIONS_DIR / SESSION
    folder = base / layout.launch(LAUNCH)
    line = launch_line(str(folder / "prompt.md"))
    kept = str(base / layout.checkpoint(SEAT))
    model = world.settings.defaults.model if name == world.settings.defaults.agent else None
    ours = (
        *mcp_words(spec, world.agents.own.mcp_server, str(folder / "mcp.json")),
        *hook_words(spec, world.agents.own.hook, str(folder / "hooks.json")),
    )
    resume = None
    if strategy.resume:
        resume = resume_argv(
            spec,
            strategy,
            model=model,
            args=ours,
            session_ref=CONVERSATION,
            checkpoint_dir=kept,
            checkpoint=f"{kept}/session-latest.json",
            prompt=line,
        )
    return StrategyCommands(
        kind=strategy.kind,
        used=strategy == report.strategy,
        launch=launch_argv(
            spec,
            strategy,
            model=model,
            args=ours,
            session_ref=CONVERSATION,
            checkpoint_dir=kept,
            prompt=line,
        ),
        resume=resume,
        env=strategy_env(spec, strategy, session_ref=CONVERSATION, checkpoint_dir=kept),
    )
