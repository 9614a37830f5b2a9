"""The entries of the agent registry: what AgentMux knows of each agent CLI, as data.

The adapter ``agent_registry`` reads the entries from ``agents.yaml``; ``command_lines`` and
``screens`` use them.
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
"""How long, in seconds, a launch waits for a probe at most: the agent's program may hang."""

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
"""Environment variables that tell an agent that it runs inside another agent.

They are removed at every launch.
"""

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
"""Environment variables with the user's settings and logins.

They are kept at a launch although they match `NESTED_MARKS`.
"""

SESSION_ID: Final = "{session_id}"
"""The placeholder for the id of a conversation in an argv."""
CHECKPOINT: Final = "{checkpoint}"
"""The placeholder for the path of the file that holds a conversation, in an argv."""

_SESSION_REF: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


class PromptBy(StrEnum):
    """How AgentMux passes a prompt to whoever plays a role.

    *argv*: as a word of the agent's command line. *paste*: pasted into its input field. *stdin*: on
    its standard input. *shown*: a person plays the role, and the shell in the pane shows the path
    of the prompt.
    """

    ARGV = "argv"
    PASTE = "paste"
    STDIN = "stdin"
    SHOWN = "shown"
    """A person plays the role: the pane is a shell that shows the path of the prompt."""


class TurnEnd(StrEnum):
    """How AgentMux learns that an agent has finished a turn.

    *hook*: by the agent's hooks. *notify*: by the command in the setting ``notify`` of codex.
    *screen*: by what the agent's screen shows.
    """

    HOOK = "hook"
    NOTIFY = "notify"
    SCREEN = "screen"


class StrategyKind(StrEnum):
    """How AgentMux identifies a conversation in order to resume it.

    *assign*: by the id that AgentMux chose at the launch. *learn*: by the id that the agent
    reported. *continue*: as the agent's latest conversation. *checkpoint*: by the file that holds
    it. *none*: it cannot be resumed.
    """

    ASSIGN = "assign"
    LEARN = "learn"
    CONTINUE = "continue"
    CHECKPOINT = "checkpoint"
    NONE = "none"


class HookFormat(StrEnum):
    """The form in which an agent's hooks (commands that it runs at its events) are configured.

    *claude*: a settings file with a shell command for each event. *argv*: a file with an argv for
    each event. *notify*: the setting ``notify`` of codex, an argv. *variable*: a settings file as
    for *claude*, whose path is in an environment variable.
    """

    CLAUDE = "claude"
    """The agent reads a settings file that has a shell command for each event."""
    ARGV = "argv"
    """The agent reads a file that has an argv for each event."""
    NOTIFY = "notify"
    """The setting ``notify`` of codex: an argv that runs at the end of each turn.

    The event is passed to it as JSON.
    """
    VARIABLE = "variable"
    """The agent reads a settings file as for `CLAUDE`; an environment variable has its path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """One way to resume an agent's conversation.

    ``launch``, ``resume`` and the values of ``env`` may contain the placeholders ``{session_id}``,
    ``{checkpoint_dir}`` and ``{checkpoint}``; a value with spaces remains one argv word.

    Attributes:
        kind: How AgentMux identifies the conversation.
        launch: Argv words that are added at a launch, not at a resume.
        resume: Argv words that are added at a resume, not at a launch.
        resume_first: Whether ``resume`` begins with a subcommand, which must come right after the
            command.
        probe: Maps a feature's name to a regular expression. The program supports the strategy if
            the output of the probe matches every expression.
        learn: For *learn*: how the agent reports the id of its conversation to AgentMux. Either
            ``hook``, or the name of the environment variable that the agent sets for the commands
            it runs. Empty for other kinds.
        env: Environment variables set at launch and at resume, such as a config home that only
            this seat uses.
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
        """Whether the strategy gives each seat its own directory of conversations.

        The latest conversation in that directory always belongs to the seat.
        """
        return any("{checkpoint_dir}" in word for word in (*self.launch, *self.env.values()))


NO_STRATEGY: Final = Strategy(kind=StrategyKind.NONE)
"""The strategy of an agent whose conversations cannot be resumed."""
BY_ID: Final = (StrategyKind.ASSIGN, StrategyKind.LEARN)
"""The strategies that resume a conversation by its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A call of an agent's program whose output shows what the installed version supports.

    Attributes:
        argv: The argv words after the command.
        version: A regular expression whose one group matches the version in the output; None if
            the output does not show the version.
    """

    argv: tuple[str, ...] = ("--help",)
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mcp:
    """How an agent is told about AgentMux's MCP server without changing the user's settings.

    Attributes:
        args: Argv words. They may contain ``{mcp_json}`` (the text of `mcp_document`),
            ``{mcp_file}`` (the path of a file with that text), ``{mcp_command}`` and
            ``{mcp_args}`` (the server's program and arguments as JSON, which is valid TOML).
    """

    args: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddDir:
    """How an agent gets access to a directory outside its working directory, for one launch.

    Attributes:
        args: Argv words. They may contain ``{dir}``, the absolute path of the directory.
        probe: A regular expression that matches the output of the probe if the installed program
            supports ``args``; None if every version does.
    """

    args: tuple[str, ...]
    probe: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """How an agent is made to call AgentMux at each turn without changing the user's settings.

    Attributes:
        flag: The option that takes the path of a file with `hook_document`; with
            `HookFormat.NOTIFY` the option that takes the setting itself; with
            `HookFormat.VARIABLE` the name of the environment variable.
        format: The form of the file or setting.
        unless: The path of a machine-wide settings file that setting the variable would override.
            If this file exists, or if the user has set the variable, AgentMux sets up no hooks.
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
"""The kinds of agent screens that AgentMux has to recognise; see `KnownScreens`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownScreens:
    """Which screens of an agent's real program were recorded to test its patterns.

    Attributes:
        version: The version of the program that was recorded.
        recorded: The kinds of `SCREENS` that were recorded.
        none: The kinds of `SCREENS` that the agent does not have, each with the reason.
    """

    version: str
    recorded: tuple[str, ...] = ()
    none: Mapping[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        """The kinds of `SCREENS` that may exist but were not recorded yet."""
        return tuple(kind for kind in SCREENS if kind not in {*self.recorded, *self.none})


_LOGIN: Final = (
    r"(?i)\b(?:401|unauthori[sz]ed|api key|authentication|credentials?"
    r"|log(?:ged)? ?(?:in|out)|sign(?:ed)? ?(?:in|out))\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """An entry of the agent registry: what AgentMux knows of one agent CLI.

    The patterns are regular expressions for the screen (``^`` matches at the start of a line); None
    if no pattern is known.

    Attributes:
        name: The agent's name in the registry; for a command that the user typed, the base name of
            its program.
        known: False for a command that matches no entry of the registry.
        match: Base names of the programs that this entry describes.
        command: The program, and argv words that always follow it.
        args: Argv words for every launch and resume.
        model_flag: The option before the model; None if the command line takes no model.
        prompt: How the agent gets its first prompt.
        prompt_flag: The option before the prompt in argv; None if the prompt needs no option.
        resume_prompt: How the agent gets its message at a resume; None means as at launch.
        permission_args: Argv words that extend what the agent may do without asking. Empty unless
            the user's configuration sets them.
        edit_args: What the user may set as ``permission_args`` so that the agent edits files in its
            workspace and hands in its work without asking, but asks before anything else.
        mcp: How the agent is told about AgentMux's MCP server; None if that is not possible.
        add_dir: How the agent gets access to the session's directory, if that is outside of the
            worktree; None if that is not possible.
        hooks: How the agent is made to call AgentMux at each turn; None if it has no hooks.
        unattended_args: What the user may set as ``permission_args`` for a run without a person.
        turn_end: How AgentMux learns that the agent has finished a turn.
        ready: Pattern: the agent's input field waits for input. Unless ``blind`` is set, AgentMux
            types a text only when this matches.
        blind: The user has agreed that texts are typed at the cursor although no input field can be
            recognised: ``ready: any`` in the configuration, or *type it now* for one prompt.
        commands: Pattern: the start of a text that the input field interprets as a command; None
            if it has no commands.
        busy: Pattern: the agent is at work.
        waiting: Pattern: the agent asks its user something.
        trust: Pattern: a first-run dialog (trust, login, terms).
        limit: Pattern: a usage limit. The group ``resets`` is the time at which it ends.
        limit_menu: Pattern: a menu that appears at a usage limit and that Enter closes, because the
            answer that closes it is preselected.
        trouble: Pattern: an error of the agent's service. The group ``cause`` says which; the last
            match on the screen counts.
        login: Pattern for the group ``cause`` of ``trouble``: an error that persists until the user
            logs in.
        rejected: Pattern: the message that the agent does not know the conversation to resume.
        switched: Pattern: the message that the user has switched to another conversation
            (``/clear``); only for agents that do not report the id of their conversation.
        probe: The call that shows what the installed program supports.
        home_env: The environment variable with the path of the agent's config home; None if there
            is none.
        model_bound: Whether a conversation can be resumed only with the model that it began with.
        env: Environment variables to set for the agent.
        unset: Environment variables to remove: names, or prefixes with ``*``.
        keep: Environment variables to keep although they match ``unset``, in the same form.
        screens: The recorded screens against which the patterns are tested; None if unknown.
        install: The command that installs the program; empty if none is known.
        former: Former npm packages of the program, which get no new versions any more.
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
    edit_args: tuple[str, ...] = ()
    unattended_args: tuple[str, ...] = ()
    mcp: Mcp | None = None
    add_dir: AddDir | None = None
    hooks: Hooks | None = None
    turn_end: TurnEnd = TurnEnd.SCREEN
    ready: str | None = None
    blind: bool = False
    commands: str | None = "[/!]"
    busy: str | None = None
    waiting: str | None = None
    trust: str | None = None
    limit: str | None = None
    limit_menu: str | None = None
    trouble: str | None = None
    login: str | None = _LOGIN
    rejected: str | None = None
    switched: str | None = None
    probe: Probe = Probe()
    home_env: str | None = None
    model_bound: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = NESTED_MARKS
    keep: tuple[str, ...] = KEPT
    screens: KnownScreens | None = None
    install: str = ""
    former: tuple[str, ...] = ()
    notes: str = ""
    strategies: tuple[Strategy, ...] = ()

    def prompt_by(self, *, resuming: bool) -> PromptBy:
        """Return how the agent gets a prompt: at a resume if ``resuming``, else at a launch."""
        return (self.resume_prompt or self.prompt) if resuming else self.prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What a `Probe` has found out about an agent's program.

    Attributes:
        installed: Whether the program is installed.
        path: The program's absolute path; None if it is not installed.
        version: The program's version; empty if the output does not show it.
        strategies: Maps each kind of strategy to whether all its features were found.
        missing: Maps a kind of strategy to the names of its features that were not found.
        add_dir: Whether the program supports `AddDir.args`; None if that is not known.
        problem: Why the probe failed; None if it did not.
        former: The npm package that contains the program, if it is one of `AgentSpec.former`; else
            empty.
    """

    installed: bool
    path: str | None = None
    version: str = ""
    strategies: Mapping[str, bool] = field(default_factory=dict)
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    add_dir: bool | None = None
    problem: str | None = None
    former: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the probe has failed, so that it is not known what the program supports."""
        return self.installed and self.problem is not None and not self.strategies


ANY_SCREEN: Final = "any"
"""The value of ``ready`` in the configuration that sets `AgentSpec.blind`; it is not a pattern."""

Registry = Mapping[str, AgentSpec]
"""The agent registry: maps the names of agents to their entries."""
Commands = Mapping[str, tuple[str, ...]]
"""The setting ``resume.commands``: maps base names of programs to the words that resume."""


def typed_blind(spec: AgentSpec) -> AgentSpec:
    """Return a copy of ``spec`` that allows texts to be typed at the cursor on any screen.

    For a user who has agreed to that; see `AgentSpec.blind`.
    """
    return replace(spec, ready=None, blind=True)


def is_session_ref(text: str) -> bool:
    """Whether ``text`` can be a conversation id: it is not empty, not an option and not a path."""
    return _SESSION_REF.fullmatch(text) is not None


def choose_strategy(spec: AgentSpec, probe: ProbeResult | None) -> Strategy:
    """Return the first strategy of ``spec`` that the installed program supports.

    A strategy is a way to resume conversations. If ``probe`` is None, or the probe has failed,
    assume that all strategies are supported. A strategy whose ``probe`` is empty is always
    supported. If none is supported, return `NO_STRATEGY`.
    """
    unknown = probe is None or probe.is_open
    shown = {} if probe is None else probe.strategies
    for strategy in spec.strategies:
        if unknown or not strategy.probe or shown.get(strategy.kind, False):
            return strategy
    return NO_STRATEGY


def assumed_strategy(spec: AgentSpec, last: str | None, *, failed: bool) -> Strategy:
    """Return the strategy to assume while the probe of the agent's program has no result yet.

    It is the strategy with which the seat last started this agent, or the first strategy of
    ``spec`` if the seat has never started it. It is `NO_STRATEGY` if the last start failed, or if
    ``spec`` no longer has the strategy of that start.

    Args:
        spec: The agent's registry entry.
        last: The kind of strategy of the seat's last start, such as ``assign`` (a `StrategyKind`);
            None if there was none.
        failed: Whether the last start failed at once.
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
    """Return the registry entry for an agent's name or for a command that the user typed.

    A command is always run as typed; everything else comes from the entry that matches its program,
    or from the defaults of `AgentSpec` if none matches. The entry of a shell does not match a
    command with arguments, because a shell with arguments runs another program.

    Args:
        name_or_command: An agent's name in ``registry``, or a command as text or as an argv.
        registry: The entries by name.
        resume_commands: The setting ``resume.commands``, which overrides how the entry resumes
            (see `with_resume`); None overrides nothing.

    Raises:
        UsageError: The text is empty, or a quote in it is not closed.
    """
    spec = None if not isinstance(name_or_command, str) else registry.get(name_or_command)
    if spec is None:
        spec = _match_command(_split(name_or_command), registry)
    return with_resume(spec, resume_commands or {})


def _split(command: str | Sequence[str]) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command) if isinstance(command, str) else command)
    except ValueError as error:
        raise UsageError(f"agent command `{command}`: {error}".lower()) from None
    if not words or not words[0]:
        raise UsageError("the agent command is empty", hints=("agentmux agents",))
    return words


def _match_command(words: tuple[str, ...], registry: Registry) -> AgentSpec:
    program = PurePath(words[0]).name
    for spec in registry.values():
        if program in spec.match and (len(words) == 1 or spec.prompt is not PromptBy.SHOWN):
            return replace(spec, command=words)
    return AgentSpec(name=program, known=False, command=words)


def program_name(spec: AgentSpec) -> str:
    """Return the base name of the agent's program, as the setting ``resume.commands`` calls it."""
    return _base_name(spec.command[0])


@functools.lru_cache(maxsize=64)
def _base_name(program: str) -> str:
    return PurePath(program).name


def with_resume(spec: AgentSpec, commands: Commands) -> AgentSpec:
    """Return ``spec`` with the resume words that ``commands`` contains for its program.

    If ``commands`` has none, return ``spec`` unchanged. Words without ``{session_id}`` resume the
    agent's latest conversation: the strategy becomes *continue*. If the words are empty, or if they
    contain ``{session_id}`` although the agent does not resume by id, the result has no strategies
    and nothing is resumed. Words that begin with a subcommand come right after the agent's command.

    Args:
        commands: The setting ``resume.commands``: resume words by the base name of a program.
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
    """Return which of the environment variables ``names`` are removed for the agent, sorted.

    Variables that ``spec`` sets (``env``), and its ``home_env``, are never removed.
    """
    kept, removed = _any_of(spec.keep), _any_of(spec.unset)
    others = set(names) - {spec.home_env, *spec.env}
    return tuple(sorted(e for e in others if removed.match(e) and not kept.match(e)))


@functools.lru_cache(maxsize=64)
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(fnmatch.translate, patterns)) or r"(?!)")


def home_of(spec: AgentSpec, env: Mapping[str, str]) -> str:
    """Return the directory below which the agent keeps its conversations.

    It is the agent's config home in ``env``, the environment that the agent gets, else the user's
    home; empty if neither is set.
    """
    own = env.get(spec.home_env, "") if spec.home_env else ""
    return own or env.get("HOME", "")


def how_to_install(spec: AgentSpec) -> str:
    """Return what the user can do if the agent's program is not on PATH.

    Either the command that installs the program, or a sentence that ends in a command.
    """
    if spec.install:
        return spec.install
    return (
        f"install it, or name another program in agents.{spec.name}.command; see what it is now:"
        f" agentmux agents show {spec.name}"
    )
