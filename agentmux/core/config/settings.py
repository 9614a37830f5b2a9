"""The configuration as frozen values; the defaults here are the built-in layer.

Durations are seconds as ``float``. Reading files and merging layers is ``layers``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from agentmux.core.codec.frozen import dataclass, field

_DAY_S: Final = 86_400.0
_MINUTE_S: Final = 60.0


class Policy(StrEnum):
    """Whether a pane of a resumed session runs at once, asks first, or starts afresh."""

    NEVER = "never"
    CONFIRM = "confirm"
    AUTO = "auto"


def policy_of(configured: Policy | None, *, asked: bool, yes: bool) -> Policy:
    """Return the policy of one resume.

    Args:
        configured: What the configuration says; None leaves it to the terminal.
        asked: Somebody sits at the terminal of the command.
        yes: The command was told to ask nothing; it has the last word over asking.
    """
    if configured is Policy.CONFIRM and not yes:
        return configured
    if configured is None and asked and not yes:
        return Policy.CONFIRM
    return Policy.NEVER if configured is Policy.NEVER else Policy.AUTO


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What holds where nothing else is said.

    Attributes:
        agent: A name of the agent registry, or a command as typed.
        model: Goes with ``agent``; None leaves the choice to the agent.
        session_name: The tmux session of a state that names none.
    """

    agent: str = "claude"
    model: str | None = None
    session_name: str = "agentmux"
    max_review_iterations: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """The agent that plays a role, with its model (None leaves that to it) and added arguments."""

    agent: str
    model: str | None
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSettings:
    """Who plays a role.

    Attributes:
        agent: None for the default agent.
        args: Added to the agent's command line, at launch and at resume.
        single: One coder does the whole plan; only read for ``coder``.
    """

    agent: str | None = None
    model: str | None = None
    args: tuple[str, ...] = ()
    single: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeSettings:
    """How conversations come back.

    Attributes:
        policy: None decides by the terminal: ``confirm`` with one, ``auto`` without.
        max_age_s: An older conversation is started afresh.
        reject_after_s: A resumed agent that fails sooner than this has rejected its conversation.
        commands: Resume arguments by the base name of an agent's command.
    """

    native: bool = True
    policy: Policy | None = None
    max_age_s: float = 7 * _DAY_S
    reject_after_s: float = 15.0
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSettings:
    """How often the screens of busy panes are kept."""

    interval_s: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TmuxSettings:
    """Which tmux server, and the size of a session that nobody is attached to.

    Attributes:
        socket_name: As in ``tmux -L``; None is the user's default server.
        size: Columns, rows.
    """

    socket_name: str | None = None
    size: tuple[int, int] = (220, 60)


@dataclass(frozen=True, slots=True, kw_only=True)
class StallSettings:
    """How long an idle agent without its artifact is left alone.

    Attributes:
        turn_ended_after_s: Where it has said that its turn is over.
    """

    turn_ended_after_s: float = 10.0
    nudge_after_s: float = 10 * _MINUTE_S
    report_after_s: float = 20 * _MINUTE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionSettings:
    """How a session ends."""

    require_approval: bool = True
    commit: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The whole configuration, checked.

    Attributes:
        roles: By role name; a role that is absent has the defaults of `RoleSettings`.
        agents: Overrides of, and additions to, the agent registry, as checked plain values
            (``agent_registry.load_registry`` makes the registry of them).
    """

    defaults: Defaults = Defaults()
    roles: Mapping[str, RoleSettings] = field(default_factory=dict)
    agents: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    resume: ResumeSettings = field(default_factory=ResumeSettings)
    snapshots: SnapshotSettings = SnapshotSettings()
    tmux: TmuxSettings = TmuxSettings()
    stall: StallSettings = StallSettings()
    completion: CompletionSettings = CompletionSettings()

    def role(self, role: str) -> RoleSettings:
        """Return what is configured for ``role``; the defaults where nothing is."""
        return self.roles.get(role, _PLAIN_ROLE)

    def agent_for(self, role: str) -> str:
        """Return the agent that plays ``role``: a name of the registry, or a command as typed."""
        return self.role(role).agent or self.defaults.agent

    def model_for(self, role: str) -> str | None:
        """Return the model for ``role``; None leaves the choice to the agent.

        The default model belongs to the default agent: a role that another agent plays gets it
        only when its own settings say so, since one agent's model names mean nothing to another.
        """
        own = self.role(role)
        if own.model is not None or self.agent_for(role) != self.defaults.agent:
            return own.model
        return self.defaults.model

    def played(self, role: str, agents: Mapping[str, str], models: Mapping[str, str]) -> Player:
        """Say who plays ``role`` under the flags of a start, as `state.Options` keeps them.

        A model and args that were configured for the agent that a flag replaces go with it.
        """
        configured = self.agent_for(role)
        agent = agents.get(role) or agents.get("*") or configured
        if agent == configured:
            model = models.get(role) or self.model_for(role)
            return Player(agent=agent, model=model, args=self.role(role).args)
        default = self.defaults.model if agent == self.defaults.agent else None
        return Player(agent=agent, model=models.get(role) or default, args=())


_PLAIN_ROLE: Final = RoleSettings()
