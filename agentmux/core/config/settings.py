"""The configuration as frozen values.

The defaults of the fields are the built-in defaults, which configuration files override.
Durations are seconds as ``float``. ``adapters/config/layers`` reads the files and merges them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from agentmux.core.codec.frozen import dataclass, field
from agentmux.core.config.commands import SetupStep, VerifyCommand
from agentmux.core.names.occasion import Occasion
from agentmux.core.names.phase import ROLES
from agentmux.core.names.statuses import KEEP
from agentmux.overriding import override

_DAY_S: Final = 86_400.0
_MINUTE_S: Final = 60.0


class Policy(StrEnum):
    """What a resumed pane does: start a new conversation, wait for the user, or resume at once."""

    NEVER = "never"
    CONFIRM = "confirm"
    AUTO = "auto"


def policy_of(configured: Policy | None, *, asked: bool, yes: bool) -> Policy:
    """Return the policy of one resume.

    Args:
        configured: The setting ``resume.policy``. None means ``confirm`` if there is a person to
            ask, else ``auto``.
        asked: Whether a person is at the terminal of the command.
        yes: Whether the command was told to ask nothing; then ``confirm`` becomes ``auto``.
    """
    if configured is Policy.CONFIRM and not yes:
        return configured
    if configured is None and asked and not yes:
        return Policy.CONFIRM
    return Policy.NEVER if configured is Policy.NEVER else Policy.AUTO


class WorktreeMode(StrEnum):
    """Whether a session gets a worktree of its own: never, where it needs one, or always."""

    NEVER = "never"
    AUTO = "auto"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """The defaults for all roles.

    Attributes:
        agent: A name in the agent registry, or a command as typed.
        pipeline: The name of the pipeline of a session whose start names none.
        model: The model for ``agent``; None leaves the choice to the agent.
        session_name: The name of the tmux session, if a session of an older version has none in its
            state.
    """

    agent: str = "claude"
    pipeline: str = "feature"
    model: str | None = None
    session_name: str = "agentmux"
    max_review_iterations: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """The agent that plays a role, its model, and extra arguments for its command line.

    If ``model`` is None, the agent chooses its model.
    """

    agent: str
    model: str | None
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSettings:
    """The agent that plays a role, as configured.

    Attributes:
        agent: The agent; None means the default agent.
        model: The agent's model; see `Settings.model_for` for None.
        args: Words that are added to the agent's command line, at launch and at resume.
        single: Whether one coder does the whole plan; ignored for roles other than ``coder``.
    """

    agent: str | None = None
    model: str | None = None
    args: tuple[str, ...] = ()
    single: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeSettings:
    """How conversations are resumed.

    Attributes:
        native: Whether conversations are resumed at all; else every agent starts a new one.
        policy: None means ``confirm`` if the command has a terminal, else ``auto``.
        max_age_s: A conversation that was recorded longer ago is not resumed.
        reject_after_s: An agent that fails within this time after its resume counts as having
            rejected its conversation.
        commands: The arguments that resume a conversation, by the base name of an agent's program.
    """

    native: bool = True
    policy: Policy | None = None
    max_age_s: float = 7 * _DAY_S
    reject_after_s: float = 15.0
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSettings:
    """How often the screens that have changed are saved: every ``interval_s`` seconds."""

    interval_s: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TmuxSettings:
    """The tmux server to use, and the size of a session without clients.

    Attributes:
        socket_name: The socket of the server, as in ``tmux -L``; None means the default server.
        size: Columns and rows of a session that no client is attached to.
    """

    socket_name: str | None = None
    size: tuple[int, int] = (220, 60)


@dataclass(frozen=True, slots=True, kw_only=True)
class StallSettings:
    """How long an idle agent that has not handed in is left alone.

    Attributes:
        turn_ended_after_s: The quiet time after which an agent is reminded if its hooks have shown
            the end of its turn. If just its screen has shown it, the time is
            `stall.SCREEN_FACTOR` times as long.
        nudge_after_s: The quiet time after which any agent is reminded.
        report_after_s: The quiet time after which a reminded agent is reported as stalled.
    """

    turn_ended_after_s: float = 10.0
    nudge_after_s: float = 10 * _MINUTE_S
    report_after_s: float = 20 * _MINUTE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """What is done about usage limits.

    Attributes:
        retry_s: An agent that does not say when its limit ends is told to go on after this time.
    """

    retry_s: float = 30 * _MINUTE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class GitSettings:
    """Where sessions work in a git repository.

    Attributes:
        root: The directory of worktrees, relative to the top of the repository; None means
            ``<repository>-worktrees`` beside it.
        branch_prefix: Begins the name of each branch that is named after a session.
        base: The commit that a worktree begins on; None means what is checked out.
        copy: The file with the patterns of the ignored files that are copied into a new worktree,
            relative to the top of the repository; None for none.
        setup: What prepares a new worktree, in this order.
        checkpoints: Whether the work tree is saved at the end of each phase.
        timeout_s: How long a command of git may look at the repository, in seconds.
    """

    worktree: WorktreeMode = WorktreeMode.AUTO
    root: str | None = None
    branch_prefix: str = "agentmux/"
    base: str | None = None
    copy: str | None = ".worktreeinclude"
    setup: tuple[SetupStep, ...] = ()
    checkpoints: bool = True
    timeout_s: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionSettings:
    """How a session ends: whether the user has to approve, and where the result goes.

    Attributes:
        commit: Whether the result is committed.
        then: Where a user's approval takes the result: one of `statuses.WAYS`.
        then_alone: Where the result goes if nobody approves it: as `then`, but never as a
            project's file says.
    """

    require_approval: bool = True
    commit: bool = True
    then: str = KEEP
    then_alone: str = KEEP
    draft: bool = True


BELL: Final = "bell"
TMUX: Final = "tmux"
DESKTOP: Final = "desktop"
OWN_ADDRESSES: Final = (BELL, TMUX, DESKTOP)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a notification goes: ``bell``, ``tmux``, ``desktop``, or a URL as Apprise takes it.

    A URL may hold a token: ``str`` shows its scheme only, ``repr`` nothing; ``value`` is the whole.
    """

    value: str = field(repr=False)

    @override
    def __str__(self) -> str:
        """Return the address without anything secret."""
        scheme, mark, _ = self.value.partition("://")
        return f"{scheme}://…" if mark else self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyRule:
    """Where a person is notified of these occasions."""

    on: tuple[Occasion, ...] = tuple(Occasion)
    to: tuple[Address, ...]


Places = Mapping[Address, tuple[Occasion, ...]]
"""Of what a person is notified at each address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetSettings:
    """What this host does for the fleet; only the user's own file can set it.

    Attributes:
        repos: Paths and URLs of the repositories that the worker may run; a ``*`` stands for any
            characters but ``/``.
        lease_s: How long a session of the fleet may act after its worker was heard last.
    """

    repos: tuple[str, ...] = ()
    lease_s: float = 60.0


_NOTIFY: Final = (NotifyRule(to=(Address(BELL), Address(TMUX))),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The whole configuration, checked.

    Attributes:
        roles: Settings by the name of a role; a missing role has the defaults of `RoleSettings`.
        agents: Entries that override or extend the agent registry, as checked plain values for
            ``agent_registry.load_registry``.
        verify: The commands that check results, in this order.
        notify: Who is notified of what; only the user's own file can set it.
    """

    defaults: Defaults = Defaults()
    roles: Mapping[str, RoleSettings] = field(default_factory=dict)
    agents: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    resume: ResumeSettings = field(default_factory=ResumeSettings)
    snapshots: SnapshotSettings = SnapshotSettings()
    tmux: TmuxSettings = TmuxSettings()
    stall: StallSettings = StallSettings()
    limits: LimitSettings = LimitSettings()
    git: GitSettings = GitSettings()
    completion: CompletionSettings = CompletionSettings()
    fleet: FleetSettings = FleetSettings()
    verify: tuple[VerifyCommand, ...] = ()
    notify: tuple[NotifyRule, ...] = _NOTIFY

    @property
    def own_roles(self) -> tuple[str, ...]:
        """The roles that the configuration adds to the built-in ones."""
        return tuple(role for role in self.roles if role not in ROLES)

    def addresses(self, on: Occasion) -> tuple[Address, ...]:
        """Return where a person is notified of ``on``; each address once."""
        every = (address for rule in self.notify if on in rule.on for address in rule.to)
        return tuple(dict.fromkeys(every))

    @property
    def places(self) -> Places:
        """Of what a person is notified at each address, in the order of the configuration."""
        occasions: dict[Address, list[Occasion]] = {}
        for rule in self.notify:
            for address in rule.to:
                occasions.setdefault(address, []).extend(rule.on)
        return {to: tuple(on for on in Occasion if on in ons) for to, ons in occasions.items()}

    def role(self, role: str) -> RoleSettings:
        """Return the settings of ``role``; the defaults of `RoleSettings` if it has none."""
        return self.roles.get(role, _PLAIN_ROLE)

    def agent_for(self, role: str) -> str:
        """Return the agent that plays ``role``: a name in the registry, or a command as typed."""
        return self.role(role).agent or self.defaults.agent

    def model_for(self, role: str) -> str | None:
        """Return the model for ``role``; None leaves the choice to the agent.

        A role with the default agent has its own model, else the default model. A role with another
        agent has just its own model, since that agent does not know the default model's name.
        """
        own = self.role(role)
        if own.model is not None or self.agent_for(role) != self.defaults.agent:
            return own.model
        return self.defaults.model

    def choose_player(
        self, role: str, agents: Mapping[str, str], models: Mapping[str, str]
    ) -> Player:
        """Return the agent that plays ``role``, given the options of a start.

        If an option replaces the configured agent, the model and the arguments that are configured
        for the role do not apply.

        Args:
            role: The name of the role.
            agents: Agents by role from the options; ``*`` stands for every other role.
            models: Models by role from the options, likewise.
        """
        configured = self.agent_for(role)
        named = models.get(role) or (None if role in agents else models.get("*"))
        agent = agents.get(role) or agents.get("*") or configured
        if agent == configured:
            model = named or self.model_for(role)
            return Player(agent=agent, model=model, args=self.role(role).args)
        default = self.defaults.model if agent == self.defaults.agent else None
        return Player(agent=agent, model=named or default, args=())


_PLAIN_ROLE: Final = RoleSettings()
