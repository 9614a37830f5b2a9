"""The entries of the agent registry: what is known of each agent CLI, as data.

The entries are read from ``agents.yaml`` by ``agent_registry``, and used by ``command_lines`` and
``screens``.
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

PROBE_ANSWER_S: Final = 1.0
"""Seconds that a launch waits for a probe: a program whose ``--help`` hangs must not delay it."""

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
"""Variables that tell an agent that it runs inside another one: removed at every launch."""

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
"""Settings and logins of the user that match `NESTED_MARKS` and are kept."""

SESSION_ID: Final = "{session_id}"
"""In the words of a command: stands for the id of the conversation."""
CHECKPOINT: Final = "{checkpoint}"
"""Likewise for the file that holds the conversation."""

_SESSION_REF: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


class PromptBy(StrEnum):
    """How an agent is given a prompt."""

    ARGV = "argv"
    PASTE = "paste"
    STDIN = "stdin"
    SHOWN = "shown"
    """A person plays the role: the pane is a shell that shows the path of the prompt."""


class TurnEnd(StrEnum):
    """How we learn that an agent has finished a turn."""

    HOOK = "hook"
    NOTIFY = "notify"
    SCREEN = "screen"


class StrategyKind(StrEnum):
    """How a conversation is found again, to resume it."""

    ASSIGN = "assign"
    LEARN = "learn"
    CONTINUE = "continue"
    CHECKPOINT = "checkpoint"
    NONE = "none"


class HookFormat(StrEnum):
    """The form in which an agent takes its hooks."""

    CLAUDE = "claude"
    """A settings file with a shell command per event."""
    ARGV = "argv"
    """A file with an argv per event."""
    NOTIFY = "notify"
    """codex's setting ``notify``: an argv; codex adds the event, at each turn's end, as JSON."""
    VARIABLE = "variable"
    """As `CLAUDE`, but an environment variable has the file's path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """One way to bring an agent's conversation back.

    ``launch``, ``resume`` and the values of ``env`` may contain ``{session_id}``,
    ``{checkpoint_dir}`` and ``{checkpoint}``; a value with spaces stays one word.

    Attributes:
        launch: Words added at launch only.
        resume: Words added at resume only.
        resume_first: ``resume`` is a subcommand and comes right after the command.
        probe: A regular expression by feature name; the strategy is usable only if the output of
            the probe matches all of them.
        learn: Where the agent tells us its conversation's id: ``hook``, or the name of a variable
            in the environment of its calls to us; empty for other kinds.
        env: Variables set at launch and at resume, such as a config home for the seat alone.
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
        """Whether the seat has a store of its own, where "the latest" is always its own."""
        return any("{checkpoint_dir}" in word for word in (*self.launch, *self.env.values()))


NO_STRATEGY: Final = Strategy(kind=StrategyKind.NONE)
BY_ID: Final = (StrategyKind.ASSIGN, StrategyKind.LEARN)
"""The strategies that resume a conversation by its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """The call that shows what the installed program can do.

    Attributes:
        argv: The words after the command.
        version: A regular expression with one group, searched in the output; None where the
            output does not show it.
    """

    argv: tuple[str, ...] = ("--help",)
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mcp:
    """How an agent is told about our MCP server, for one launch only.

    Attributes:
        args: May contain ``{mcp_file}`` (path of a file with `mcp_document`), ``{mcp_json}`` (that
            document itself), ``{mcp_command}`` and ``{mcp_args}`` (as JSON, which is valid TOML).
    """

    args: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """How an agent is told, for one launch only, to call us when a turn begins or ends.

    Attributes:
        flag: The option that takes the path of a file with `hook_document`; with
            `HookFormat.NOTIFY` the option that takes the setting itself; with
            `HookFormat.VARIABLE` the name of the variable.
        format: The form of the file or setting.
        unless: A settings file of the machine that the variable would override: where it exists,
            or where the user has set the variable, no hooks are set up.
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
"""The kinds of screens that matter: each was recorded from the agent, or it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownScreens:
    """Which screens were recorded from the real program, to test the entry's patterns.

    Attributes:
        version: The program's version.
        recorded: The kinds of `SCREENS` that were recorded.
        none: The kinds that the agent does not have, each with the reason.
    """

    version: str
    recorded: tuple[str, ...] = ()
    none: Mapping[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        """The kinds that were not recorded and may exist."""
        return tuple(kind for kind in SCREENS if kind not in {*self.recorded, *self.none})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """One agent CLI. Patterns are regular expressions (``^`` matches at the start of a line).

    Attributes:
        name: Its name in the registry; for a command as typed, the base name.
        known: False for a command that is not in the registry.
        match: Base names of the programs that this entry describes.
        command: The program, and words that always follow it.
        args: Words for every launch and resume.
        model_flag: None where the agent takes no model on its command line.
        prompt: How the agent is given its first prompt.
        prompt_flag: The option before the prompt in argv; None where the prompt is the last word.
        resume_prompt: The same for the message at a resume; None means as at launch.
        permission_args: Empty unless the user's configuration fills them.
        unattended_args: What the user may set as ``permission_args`` for a run without a person.
        ready: Matches when the composer waits for input.
        waiting: Matches when it asks its user something.
        trust: Matches a first-run dialog (trust, login, terms).
        limit: Matches a usage limit; the group ``resets`` is the time at which it ends.
        trouble: Matches an error of its service, with the group ``cause``; the last match on the
            screen counts.
        rejected: Matches the message for a conversation that it does not know.
        switched: Matches the message for a switch to another conversation (``/clear``); for
            agents that cannot tell us which one.
        home_env: The variable with the path of its config home; None where there is none.
        model_bound: A conversation can only be resumed with the model that it was started with.
        unset: Names, or prefixes with ``*``, of variables to remove, except those in ``keep``.
        screens: The recorded screens against which the patterns are tested.
        notes: Notes for people.
        strategies: The ways to resume a conversation, best first.
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
        """Return how it is given a prompt at a launch, or at a resume."""
        return (self.resume_prompt or self.prompt) if resuming else self.prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """The result of probing the installed program.

    Attributes:
        path: Absolute; None where the program is not installed.
        version: Empty where the probe does not show it.
        strategies: Whether all features of a strategy were found, by kind.
        missing: The names of the features that were not found, by kind.
        problem: Why the probe failed; None when it did not.
    """

    installed: bool
    path: str | None = None
    version: str = ""
    strategies: Mapping[str, bool] = field(default_factory=dict)
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problem: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether the program is installed, but the probe did not show what it can do."""
        return self.installed and self.problem is not None and not self.strategies


Registry = Mapping[str, AgentSpec]
Commands = Mapping[str, tuple[str, ...]]


def is_session_ref(text: str) -> bool:
    """Whether ``text`` is a valid conversation id: not empty, not an option, not a path."""
    return _SESSION_REF.fullmatch(text) is not None


def choose_strategy(spec: AgentSpec, probe: ProbeResult | None) -> Strategy:
    """Return the first strategy that the installed program supports.

    Without a probe result it is the first one. A strategy without features is always supported.
    """
    unknown = probe is None or probe.is_open
    shown = {} if probe is None else probe.strategies
    for strategy in spec.strategies:
        if unknown or not strategy.probe or shown.get(strategy.kind, False):
            return strategy
    return NO_STRATEGY


def assumed_strategy(spec: AgentSpec, last: str | None, *, failed: bool) -> Strategy:
    """Return the strategy for a program whose probe has not yet shown what it can do.

    Args:
        last: The kind with which the seat last started this agent; None if it never did.
        failed: That start failed at once, so its strategy is not tried again.
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
    """Return the entry of that name, or the one that matches the command's program.

    A command is always run as typed; everything else comes from the matching entry, if there is
    one. A shell's entry matches the shell without arguments only: with arguments it runs another
    program. ``resume.commands`` overrides the entry's way to resume.

    Raises:
        UsageError: The text is empty, or a quote in it is not closed.
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
    """Return the base name of the agent's program, which is the key in ``resume.commands``."""
    return _base_name(spec.command[0])


@functools.lru_cache(maxsize=64)
def _base_name(program: str) -> str:
    return PurePath(program).name


def with_resume(spec: AgentSpec, commands: Commands) -> AgentSpec:
    """Return ``spec`` with the resume words from ``resume.commands`` (by base name), if it has any.

    Words without ``{session_id}`` resume the latest conversation: the strategy becomes *continue*.
    Without words, or with an id for an agent that has none, nothing is resumed. Words that begin
    with a subcommand come right after the command.
    """
    words = commands.get(program_name(spec))
    if words is None:
        return spec
    old = spec.strategies[0] if spec.strategies else NO_STRATEGY
    by_id = any(SESSION_ID in word for word in words)
    if not words or (by_id and old.kind not in BY_ID):
        return replace(spec, strategies=())
    new = replace(old, resume=words, resume_first=not words[0].startswith("-"))
    if not by_id:
        launch = () if any(SESSION_ID in word for word in old.launch) else old.launch
        new = replace(new, kind=StrategyKind.CONTINUE, launch=launch, probe={})
    return replace(spec, strategies=(new,))


def unset_names(spec: AgentSpec, names: Iterable[str]) -> tuple[str, ...]:
    """Return which of ``names`` are removed from the agent's environment, sorted."""
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
    """Return the directory that decides where the agent keeps its conversations."""
    own = env.get(spec.home_env, "") if spec.home_env else ""
    return own or env.get("HOME", "")
