"""The agents that a user can choose for a new session, in the order in which they are offered."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Final

from agentmux.core.agents.spec import AgentSpec, StrategyKind, choose_strategy, how_to_install
from agentmux.core.codec.frozen import dataclass
from agentmux.core.names.agent_names import OFFLINE, SHELL, is_for_tests

if TYPE_CHECKING:
    from agentmux.app.world import World

# As many as the machine runs at once: more would only make each of them slower.
_AT_ONCE: Final = 4

_OWN: Final = {
    OFFLINE: "scripted, works offline, to try AgentMux",
    SHELL: "you play the roles yourself, in a shell",
}
"""The agents that need no installation, each with its description."""

_RISKS: Final = {
    StrategyKind.NONE: "a resume starts a new conversation",
    StrategyKind.CONTINUE: "a resume takes the latest conversation of its folder",
}
"""What a resume does if it is not sure to bring an agent's own conversation back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOffer:
    """An agent that a user can choose for a new session.

    Attributes:
        name: The agent's name in the registry.
        says: A description: whether its conversations come back, or how to install it.
        resumes: Whether a resume continues the agent's conversations.
        is_installed: Whether the agent's program is installed.
    """

    name: str
    says: str
    resumes: bool = False
    is_installed: bool = True


def offer_agents(world: World) -> tuple[AgentOffer, ...]:
    """Return the agents that can play the roles: first those that are installed.

    Then come those that are not installed, and last the offline agent and the shell. The program of
    each installed agent is run for at most a second, unless its answer is cached.
    """
    names = [each for each in world.agents.names() if not is_for_tests(each)]
    with ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1)) as pool:
        offers = list(pool.map(partial(_offer, world), map(world.agents.spec, names)))
    return tuple(sorted(offers, key=lambda each: (each.name in _OWN, not each.is_installed)))


def describe_agent(world: World, agent: str) -> str:
    """Return an agent's name or command; in brackets, what its conversation risks at a resume.

    Nothing is added for an agent whose conversation comes back by its id, or for a person. The
    program is run for at most a second, unless its answer is cached.
    """
    spec = world.agents.spec(agent)
    risk = _RISKS.get(choose_strategy(spec, world.agents.programs.probe(spec)).kind)
    return agent if risk is None or spec.name in _OWN else f"{agent} ({risk})"


def _offer(world: World, spec: AgentSpec) -> AgentOffer:
    if spec.name in _OWN:
        return AgentOffer(name=spec.name, says=_OWN[spec.name], resumes=spec.name == OFFLINE)
    if world.agents.programs.find(spec.command[0]) is None:
        says = f"not installed: {how_to_install(spec)}"
        return AgentOffer(name=spec.name, says=says, is_installed=False)
    probe = world.agents.programs.probe(spec)
    resumes = choose_strategy(spec, probe).kind is not StrategyKind.NONE
    says = "its conversations come back" if resumes else _RISKS[StrategyKind.NONE]
    if probe.problem is not None and not resumes:
        says = "unknown whether its conversations come back"
    return AgentOffer(name=spec.name, says=says, resumes=resumes)
