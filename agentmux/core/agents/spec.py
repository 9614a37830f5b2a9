"""What is known of each agent CLI, as data.

Where the facts about an agent come from: ``agents.yaml``, which ``agent_registry`` reads. What
follows from them is in ``command_lines`` and ``screens``.
"""

from __future__ import annotations

import fnmatch
import functools
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import PurePath
from typing import Final

from agentmux.core.codec.frozen import dataclass, field, replace
from agentmux.errors import UsageError

NESTED_MARKS: Final = (
    "CLAUDECODE",
    "CLAUDE_CODE_*",
    "CODEX_*",
    "GEMINI_CLI",
    "QWEN_CODE_*",
    "COPILOT_AGENT_*",
    "OPENCODE",
    "OPENCODE_PID",
    "DEMO_THREAD_ID",
)
"""Variables by which an agent knows that it runs inside another: taken away from every launch."""

KEPT: Final = (
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_*",
    "CLAUDE_CODE_SKIP_*",
    "CLAUDE_CODE_DISABLE_*",
    "CLAUDE_CODE_ENABLE_*",
    "CLAUDE_CODE_MAX_*",
    "QWEN_CODE_SYSTEM_*",
    "CODEX_HOME",
    "CODEX_API_KEY",
)
"""Settings and logins of the user that only look like such marks: left alone."""

_SESSION_REF: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


class PromptBy(StrEnum):
    """How the first prompt reaches an agent."""

    ARGV = "argv"
    PASTE = "paste"
    STDIN = "stdin"
    SHOWN = "shown"
    """A person plays: the pane is a shell that says where the prompt lies."""


class TurnEnd(StrEnum):
    """What tells us that an agent has finished a turn."""

    HOOK = "hook"
    NOTIFY = "notify"
    SCREEN = "screen"


class StrategyKind(StrEnum):
    """How a conversation is found again."""

    ASSIGN = "assign"
    LEARN = "learn"
    CONTINUE = "continue"
    CHECKPOINT = "checkpoint"
    NONE = "none"


class HookFormat(StrEnum):
    """How an agent wants to be told what to run."""

    CLAUDE = "claude"
    """A file of settings with a shell line per event."""
    ARGV = "argv"
    """A file with an argv per event."""
    NOTIFY = "notify"
    """codex's setting of that name: an argv that gets each turn's end as its last word."""
    VARIABLE = "variable"
    """As `CLAUDE`, but a variable of the environment takes the path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """One way to bring an agent's conversation back.

    ``launch``, ``resume`` and the values of ``env`` may hold ``{session_id}``,
    ``{checkpoint_dir}`` and ``{checkpoint}``; what is filled in stays inside its word.

    Attributes:
        launch: Words added at launch only.
        resume: Words added at resume only.
        resume_first: ``resume`` comes right after the command (it is a subcommand).
        probe: Feature name to a regular expression that the output of the probe must hold for
            the strategy to be usable; all must.
        learn: Where the agent tells its own id: ``hook``, or the name of a variable in the
            environment of the calls that it makes to us; empty for other kinds.
        env: Variables set at launch and at resume, such as a config home of the seat's own.
    """

    kind: StrategyKind
    launch: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()
    resume_first: bool = False
    probe: Mapping[str, str] = field(default_factory=dict)
    learn: str = ""
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def private(self) -> bool:
        """Whether the seat has a place of its own, so that "the latest" can only be its own."""
        return any("{checkpoint_dir}" in word for word in (*self.launch, *self.env.values()))


NO_STRATEGY: Final = Strategy(kind=StrategyKind.NONE)
_WITH_ID: Final = (StrategyKind.ASSIGN, StrategyKind.LEARN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """The one call that shows what the installed program can do.

    Attributes:
        argv: Added to the command.
        version: A regular expression with one group, searched in the output; None: not shown.
    """

    argv: tuple[str, ...] = ("--help",)
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mcp:
    """How an agent is told about our MCP server for one launch alone.

    Attributes:
        args: May hold ``{mcp_file}`` (path of a file with `mcp_document`), ``{mcp_json}`` (that
            text itself), ``{mcp_command}`` and ``{mcp_args}`` (as JSON, which TOML reads too).
    """

    args: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """How an agent is told, for one launch alone, to call us at the ends of its turns.

    Attributes:
        flag: Takes the path of a file with `hook_document`; with `HookFormat.NOTIFY` the setting
            itself. With `HookFormat.VARIABLE` it is the name of the variable.
        format: The form of that.
        unless: A file of the machine that the variable would put out of force: where it is, or
            where the user has set the variable, the agent is told nothing.
    """

    flag: str
    format: HookFormat = HookFormat.CLAUDE
    unless: str = ""


SCREENS: Final = (
    "ready",
    "busy",
    "question",
    "permission",
    "trust",
    "limit",
    "trouble",
    "resumed",
    "rejected",
    "update",
)
"""The kinds of an agent's screens that matter. Each is recorded from it, or it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownScreens:
    """Which screens of an agent were recorded from the real program, to hold the patterns against.

    Attributes:
        version: Of the program.
        recorded: Kinds of `SCREENS`.
        none: Kinds that the agent does not have, with the reason.
    """

    version: str
    recorded: tuple[str, ...] = ()
    none: Mapping[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        """The kinds of which nothing is known."""
        return tuple(kind for kind in SCREENS if kind not in {*self.recorded, *self.none})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """One agent CLI. Patterns are regular expressions over lines (``^`` is a line's start).

    Attributes:
        name: In the registry; for a command as typed, its base name.
        known: False for a command that the registry does not have.
        match: Base names of commands that this entry stands for.
        command: The program and words that always come first.
        args: Words that every launch and resume gets.
        model_flag: None where the agent takes no model on its command line.
        prompt: How the first prompt arrives.
        prompt_flag: Comes before the prompt in argv; None for a bare last word.
        resume_prompt: The same for the message at a resume; None for as at launch.
        permission_args: Empty unless the user's configuration fills them.
        unattended_args: What the user may put there for a run that nobody watches.
        ready: The composer waits for input.
        waiting: It asks its user something.
        trust: A first-run dialog (trust, login, terms).
        limit: A usage limit holds it up; the group ``resets`` is the time at which it ends.
        trouble: What its service says went wrong, in the group ``cause``; the last that is on
            the screen counts.
        rejected: Said of a conversation that it does not know.
        switched: Said when its user has gone on in another conversation (``/clear``); for agents
            that have no way to tell us to which.
        home_env: The variable that moves its config home; None where there is none.
        model_bound: A conversation is of use only with the model that it was started with.
        unset: Names, or prefixes with ``*``, taken out of its environment, except ``keep``.
        screens: Which of its screens the patterns were held against.
        notes: For people.
        strategies: Best first.
    """

    name: str
    known: bool = True
    match: tuple[str, ...] = ()
    command: tuple[str, ...]
    args: tuple[str, ...] = ()
    model_flag: str | None = None
    prompt: PromptBy = PromptBy.PASTE
    prompt_flag: str | None = None
    resume_prompt: PromptBy | None = None
    permission_args: tuple[str, ...] = ()
    unattended_args: tuple[str, ...] = ()
    mcp: Mcp | None = None
    hooks: Hooks | None = None
    turn_end: TurnEnd = TurnEnd.SCREEN
    ready: str | None = None
    busy: str | None = None
    waiting: str | None = None
    trust: str | None = None
    limit: str | None = None
    trouble: str | None = None
    rejected: str | None = None
    switched: str | None = None
    probe: Probe = Probe()
    home_env: str | None = None
    model_bound: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = NESTED_MARKS
    keep: tuple[str, ...] = KEPT
    screens: KnownScreens | None = None
    notes: str = ""
    strategies: tuple[Strategy, ...] = ()

    def prompt_by(self, *, resuming: bool) -> PromptBy:
        """Return how a prompt reaches it now."""
        return (self.resume_prompt or self.prompt) if resuming else self.prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What one look at the installed program showed.

    Attributes:
        path: Absolute; None where nothing is installed under the command.
        version: Empty where the probe does not show it.
        strategies: By kind: whether every feature that it needs was found.
        missing: By kind: the names of the features that were not.
        problem: Why the look failed; None when it did not.
    """

    installed: bool
    path: str | None = None
    version: str = ""
    strategies: Mapping[str, bool] = field(default_factory=dict)
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problem: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether the program is there, and has not said yet what it can do."""
        return self.installed and self.problem is not None and not self.strategies


Registry = Mapping[str, AgentSpec]
Commands = Mapping[str, tuple[str, ...]]


def is_session_ref(text: str) -> bool:
    """Whether ``text`` may be a conversation's id: never an option, never empty, no path."""
    return _SESSION_REF.fullmatch(text) is not None


def choose_strategy(spec: AgentSpec, probe: ProbeResult | None) -> Strategy:
    """Return the first strategy that the installed program shows; without an answer, the first.

    A strategy that needs no feature always holds.
    """
    unknown = probe is None or probe.is_open
    shown = {} if probe is None else probe.strategies
    for strategy in spec.strategies:
        if unknown or not strategy.probe or shown.get(strategy.kind, False):
            return strategy
    return NO_STRATEGY


def assumed_strategy(spec: AgentSpec, last: str | None, *, failed: bool) -> Strategy:
    """Return the strategy by which a program is started that has not said yet what it can do.

    Args:
        last: The kind by which the seat was last started with this agent; None: it never was.
        failed: That start failed at once: its words were a guess, which is not made again.
    """
    if failed:
        return NO_STRATEGY
    if last is None:
        return choose_strategy(spec, None)
    return next((each for each in spec.strategies if each.kind == last), NO_STRATEGY)


def spec_for(
    name_or_command: str | Sequence[str],
    registry: Registry,
    *,
    resume_commands: Commands | None = None,
) -> AgentSpec:
    """Return the entry of that name, or the one whose program this command starts.

    A command that no entry matches gets an entry of its own that runs exactly as typed. A command
    that one does match is kept as typed too, and has all else from the entry; a shell's entry
    matches the bare shell alone, since with more words it runs something else. The shorthand
    ``resume.commands`` has the last word about resuming.

    Raises:
        UsageError: The text is empty or its quotes do not close.
    """
    spec = None if not isinstance(name_or_command, str) else registry.get(name_or_command)
    if spec is None:
        spec = _typed(_split(name_or_command), registry)
    return with_resume(spec, resume_commands or {})


def _split(command: str | Sequence[str]) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command) if isinstance(command, str) else command)
    except ValueError as error:
        raise UsageError(f"agent command `{command}`: {error}".lower()) from None
    if not words or not words[0]:
        raise UsageError("the agent command is empty", hints=("agentmux agents",))
    return words


def _typed(words: tuple[str, ...], registry: Registry) -> AgentSpec:
    program = PurePath(words[0]).name
    for spec in registry.values():
        if program in spec.match and (len(words) == 1 or spec.prompt is not PromptBy.SHOWN):
            return replace(spec, command=words)
    return AgentSpec(name=program, known=False, command=words)


def program_name(spec: AgentSpec) -> str:
    """Return the base name of the agent's command: what ``resume.commands`` goes by."""
    return _base_name(spec.command[0])


@functools.lru_cache(maxsize=64)
def _base_name(program: str) -> str:
    return PurePath(program).name


def with_resume(spec: AgentSpec, commands: Commands) -> AgentSpec:
    """Return ``spec`` under the shorthand ``resume.commands`` (base name to resume words).

    Words without ``{session_id}`` resume the latest conversation, so the strategy counts as
    *continue* then; no words at all, or an id for an agent that has none, mean that nothing is
    resumed. Words that begin with a subcommand go right behind the command.
    """
    words = commands.get(program_name(spec))
    if words is None:
        return spec
    old = spec.strategies[0] if spec.strategies else NO_STRATEGY
    by_id = any("{session_id}" in word for word in words)
    if not words or (by_id and old.kind not in _WITH_ID):
        return replace(spec, strategies=())
    new = replace(old, resume=words, resume_first=not words[0].startswith("-"))
    if not by_id:
        launch = () if any("{session_id}" in word for word in old.launch) else old.launch
        new = replace(new, kind=StrategyKind.CONTINUE, launch=launch, probe={})
    return replace(spec, strategies=(new,))


def unset_names(spec: AgentSpec, names: Iterable[str]) -> tuple[str, ...]:
    """Return those of ``names`` that are taken out of the agent's environment, sorted."""
    kept = {spec.home_env, *spec.env}
    return tuple(
        sorted(
            name
            for name in set(names)
            if name not in kept and _in(name, spec.unset) and not _in(name, spec.keep)
        )
    )


def _in(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def home_of(spec: AgentSpec, env: Mapping[str, str]) -> str:
    """Return what decides where the agent keeps its conversations: its variable, else the home."""
    own = env.get(spec.home_env, "") if spec.home_env else ""
    return own or env.get("HOME", "")
