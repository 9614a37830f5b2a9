"""The configuration as frozen values; the defaults here are the built-in layer.

Durations are seconds as ``float``. ``adapters/config/layers`` reads files and merges layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from agentmux.core.codec.frozen import dataclass, field

_DAY_S: Final = 86_400.0
_MINUTE_S: Final = 60.0


class Policy(StrEnum):
    """Whether a resumed pane continues its conversation: never, by choice, or at once."""

    NEVER = "never"
    CONFIRM = "confirm"
    AUTO = "auto"


def policy_of(configured: Policy | None, *, asked: bool, yes: bool) -> Policy:
    """Return the policy of one resume.

    Args:
        configured: What the configuration says; None leaves it to the terminal.
        asked: A person is at the terminal of the command.
        yes: The command was told to ask nothing; it overrides ``confirm``.
    """
    if configured is Policy.CONFIRM and not yes:
        return configured
    if configured is None and asked and not yes:
        return Policy.CONFIRM
    return Policy.NEVER if configured is Policy.NEVER else Policy.AUTO


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """The defaults for all roles.

    Attributes:
        agent: A name in the agent registry, or a command as typed.
        model: The model for ``agent``; None leaves the choice to the agent.
        session_name: The tmux session's name for a state without one.
    """

    agent: str = "claude"
    model: str | None = None
    session_name: str = "agentmux"
    max_review_iterations: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """The agent that plays a role, its model (None: the agent's choice) and extra arguments."""

    agent: str
    model: str | None
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSettings:
    """The agent that plays a role, as configured.

    Attributes:
        agent: None means the default agent.
        args: Added to the agent's command line, at launch and at resume.
        single: One coder does the whole plan; only used for ``coder``.
    """

    agent: str | None = None
    model: str | None = None
    args: tuple[str, ...] = ()
    single: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeSettings:
    """How conversations are resumed.

    Attributes:
        policy: None means ``confirm`` with a terminal and ``auto`` without one.
        max_age_s: An older conversation is not resumed.
        reject_after_s: A resumed agent that fails within this time has rejected its conversation.
        commands: Resume arguments, by base name of an agent's program.
    """

    native: bool = True
    policy: Policy | None = None
    max_age_s: float = 7 * _DAY_S
    reject_after_s: float = 15.0
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSettings:
    """How often snapshots of busy panes are saved."""

    interval_s: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TmuxSettings:
    """The tmux server to use, and the size of a session without clients.

    Attributes:
        socket_name: As in ``tmux -L``; None means the user's default server.
        size: Columns and rows.
    """

    socket_name: str | None = None
    size: tuple[int, int] = (220, 60)


@dataclass(frozen=True, slots=True, kw_only=True)
class StallSettings:
    """How long an idle agent that has not handed in is left alone.

    Attributes:
        turn_ended_after_s: The time after its hooks or screen showed that its turn has ended.
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
        roles: By role name; a role that is missing has the defaults of `RoleSettings`.
        agents: Entries that override or extend the agent registry, as checked plain values for
            ``agent_registry.load_registry``.
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
        """Return the settings of ``role``; the defaults where it has none."""
        return self.roles.get(role, _PLAIN_ROLE)

    def agent_for(self, role: str) -> str:
        """Return the agent that plays ``role``: a name in the registry, or a command as typed."""
        return self.role(role).agent or self.defaults.agent

    def model_for(self, role: str) -> str | None:
        """Return the model for ``role``; None leaves the choice to the agent.

        The default model is for the default agent only: another agent does not know its name. A
        role with another agent has the model of its own settings.
        """
        own = self.role(role)
        if own.model is not None or self.agent_for(role) != self.defaults.agent:
            return own.model
        return self.defaults.model

    def played(self, role: str, agents: Mapping[str, str], models: Mapping[str, str]) -> Player:
        """Return who plays ``role``, given the options of a start (see `state.Options`).

        Where an option replaces the configured agent, the model and args configured for that
        agent do not apply.
        """
        configured = self.agent_for(role)
        agent = agents.get(role) or agents.get("*") or configured
        if agent == configured:
            model = models.get(role) or self.model_for(role)
            return Player(agent=agent, model=model, args=self.role(role).args)
        default = self.defaults.model if agent == self.defaults.agent else None
        return Player(agent=agent, model=models.get(role) or default, args=())


_PLAIN_ROLE: Final = RoleSettings()
