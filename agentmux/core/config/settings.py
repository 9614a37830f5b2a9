"""The settings of AgentMux as frozen values.

The defaults of the fields are the built-in defaults, which configuration files override.
Durations are in seconds. ``adapters/config/layers`` reads the files and merges them.
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
    """What an agent's pane does at a resume.

    *never*: start a new conversation. *confirm*: wait for the user's choice. *auto*: resume the
    conversation at once. If no policy is set, ``resume`` shows its plan and, if a person can be
    asked, asks once; apart from that, it acts as with *auto*.
    """

    NEVER = "never"
    CONFIRM = "confirm"
    AUTO = "auto"


class WorktreeMode(StrEnum):
    """Whether a new session gets a worktree of its own.

    *never*: it works in the checkout. *auto*: it gets one if another session is live in the
    checkout, or began there and is not done. *always*: it gets one in any case.
    """

    NEVER = "never"
    AUTO = "auto"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """The defaults for all roles.

    Attributes:
        agent: A name in the agent registry, or a command as typed.
        pipeline: The name of the pipeline if the user names none at the start of a session.
        model: The model for ``agent``; None leaves the choice to the agent.
        session_name: The name of the tmux session of a session from an older version whose state
            contains no name.
        max_review_iterations: How many fixes each review or check may require in one cycle.
    """

    agent: str = "claude"
    pipeline: str = "feature"
    model: str | None = None
    session_name: str = "agentmux"
    max_review_iterations: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """The agent that plays a role, with its model and extra arguments for its command line.

    ``agent`` is a name in the agent registry or a command as typed. If ``model`` is None, the agent
    chooses its model.
    """

    agent: str
    model: str | None
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSettings:
    """The settings of one role.

    Attributes:
        agent: A name in the agent registry, or a command as typed; None means the default agent.
        model: The agent's model. None means the default model if the default agent plays the role;
            otherwise the agent chooses.
        args: Arguments that are added to the agent's command line, at launch and at resume.
        single: Whether one coder does the whole plan; ignored for roles other than ``coder``.
    """

    agent: str | None = None
    model: str | None = None
    args: tuple[str, ...] = ()
    single: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeSettings:
    """How agents' conversations are resumed.

    Attributes:
        native: Whether conversations are resumed at all; if not, every agent starts a new one.
        policy: What an agent's pane does at a resume. None: a resume shows its plan and asks once,
            if a person can be asked; apart from that, it is *auto*.
        max_age_s: The age, in seconds, after which a recorded conversation is not resumed any more.
        reject_after_s: An agent that fails within so many seconds after its resume counts as having
            rejected its conversation.
        commands: The arguments that resume a conversation, by the base name of an agent's program.
            ``{session_id}`` in them stands for the conversation's id; without it, they resume the
            latest conversation of the directory. Empty arguments resume nothing.
    """

    native: bool = True
    policy: Policy | None = None
    max_age_s: float = 7 * _DAY_S
    reject_after_s: float = 15.0
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSettings:
    """How often changed screens of panes are saved: every ``interval_s`` seconds."""

    interval_s: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TmuxSettings:
    """The tmux server to use, and the size of tmux sessions without clients.

    Attributes:
        socket_name: The socket of the server, as in ``tmux -L``; None means the default server.
        size: Columns and rows of a tmux session to which no client is attached.
    """

    socket_name: str | None = None
    size: tuple[int, int] = (220, 60)


@dataclass(frozen=True, slots=True, kw_only=True)
class StallSettings:
    """When AgentMux reminds an idle agent that has not handed in, and when it tells the user.

    Attributes:
        turn_ended_after_s: After how many seconds without work an agent is reminded if its hooks
            have reported the end of its turn. If only its screen shows the end of the turn, the
            time is `stall.SCREEN_FACTOR` times as long.
        nudge_after_s: After how many seconds without work any agent is reminded.
        report_after_s: After how many seconds without work a reminded agent is reported as stalled.
    """

    turn_ended_after_s: float = 10.0
    nudge_after_s: float = 10 * _MINUTE_S
    report_after_s: float = 20 * _MINUTE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """How AgentMux handles usage limits of agents.

    Attributes:
        retry_s: The number of seconds after which an agent at a limit is told to go on if it does
            not say when the limit ends.
    """

    retry_s: float = 30 * _MINUTE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class GitSettings:
    """How sessions use git: worktrees, branches and checkpoints.

    Attributes:
        worktree: Whether a new session gets a worktree of its own.
        root: The directory of worktrees, relative to the top of the repository; None means
            ``<repository>-worktrees`` beside the repository.
        branch_prefix: The prefix of the branches that are named after sessions.
        base: The commit, branch or tag from which a worktree is created; None means the commit
            that is checked out.
        copy: The path, relative to the top of the repository, of a file with patterns: ignored
            files that match them are copied into a new worktree. None means that no files are
            copied.
        setup: The commands that prepare a new worktree, in the order in which they run.
        checkpoints: Whether the orchestrator saves the work tree when a phase ends, when a sub-plan
            is done, and when the session stops.
        timeout_s: The longest time, in seconds, that a git command may take to read the repository.
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
        require_approval: Whether the user has to approve the result.
        commit: Whether the result is committed.
        then: What happens to the commit after a user's approval: ``keep`` (nothing), ``merge``,
            ``push`` or ``pr`` (a pull request).
        then_alone: What happens to the commit, out of the same values, in a session that ends
            without a user's approval. A project's file cannot set it: it comes from the user's own
            file.
        draft: Whether a pull request is opened as a draft.
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
"""The addresses that AgentMux serves itself; all others are URLs for Apprise."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a notification is sent: ``bell``, ``tmux``, ``desktop``, or a URL for Apprise.

    A URL may contain a secret token. ``value`` is the whole address; ``str`` shows only the scheme
    of a URL, and ``repr`` nothing.
    """

    value: str = field(repr=False)

    @override
    def __str__(self) -> str:
        """Return the address without anything secret."""
        scheme, mark, _ = self.value.partition("://")
        return f"{scheme}://…" if mark else self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyRule:
    """A rule of the setting ``notify``.

    Attributes:
        on: The occasions on which a person is notified.
        to: The addresses to which the notification is sent.
    """

    on: tuple[Occasion, ...] = tuple(Occasion)
    to: tuple[Address, ...]


Places = Mapping[Address, tuple[Occasion, ...]]
"""Maps each address to the occasions of which a person is notified there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetSettings:
    """What this host does for the fleet; only the user's own file can set it.

    Attributes:
        repos: Paths and URLs of the repositories in which this host's worker may run sessions; a
            ``*`` matches any characters except ``/``.
        lease_s: How many seconds a session of the fleet may go on after its worker has last
            reported that it is alive.
    """

    repos: tuple[str, ...] = ()
    lease_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskSettings:
    """The user's own keys and colours in the desk; only the user's own file can set them.

    Attributes:
        keys: Maps the names of commands (out of `key_table.OWN_KEYS`) to their keys; commands that
            are missing keep the keys that AgentMux gives them.
        theme: The name of a theme of Textual; None means the terminal's own colours.
    """

    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    theme: str | None = None


_NOTIFY: Final = (NotifyRule(to=(Address(BELL), Address(TMUX))),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of AgentMux, merged from the configuration files and validated.

    Attributes:
        defaults: The agent, model and pipeline that apply unless something else is set.
        roles: The settings of roles by name; a missing role has the defaults of `RoleSettings`.
        agents: Entries that override or extend the agent registry, by the agent's name: the keys
            below ``agents.NAME`` in the configuration, checked, for
            ``agent_registry.load_registry``.
        verify: The commands that check results, in the order in which they run.
        notify: Where a person is notified of which occasions; only the user's own file can set it.
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
    desk: DeskSettings = field(default_factory=DeskSettings)
    verify: tuple[VerifyCommand, ...] = ()
    notify: tuple[NotifyRule, ...] = _NOTIFY

    @property
    def own_roles(self) -> tuple[str, ...]:
        """The roles that the configuration adds to the built-in ones."""
        return tuple(role for role in self.roles if role not in ROLES)

    def addresses(self, on: Occasion) -> tuple[Address, ...]:
        """Return the addresses at which a person is notified of ``on``, without duplicates."""
        every = (address for rule in self.notify if on in rule.on for address in rule.to)
        return tuple(dict.fromkeys(every))

    @property
    def occasions_by_address(self) -> Places:
        """The occasions of which a person is notified at each address, by address."""
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

        The default model applies only to roles without a model of their own that the default agent
        plays: another agent may not know the default model.
        """
        own = self.role(role)
        if own.model is not None or self.agent_for(role) != self.defaults.agent:
            return own.model
        return self.defaults.model

    def choose_player(
        self, role: str, agents: Mapping[str, str], models: Mapping[str, str]
    ) -> Player:
        """Return who plays ``role`` in a session that is started with certain options.

        If an option replaces the configured agent, the model and the arguments that are configured
        for the role do not apply.

        Args:
            role: The name of the role.
            agents: The agents given as options, by role; ``*`` stands for every other role.
            models: The models given as options, by role; ``*`` stands for every other role that is
                not in ``agents``.
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
