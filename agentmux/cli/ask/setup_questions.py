"""Asks the further questions of ``agentmux init``: about roles, permissions and worktrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.adapters.config.agent_registry import load_registry
from agentmux.cli import render
from agentmux.cli.ask.agent_choice import Ask, ask_agent
from agentmux.cli.ask.level_choice import ask_level
from agentmux.cli.ask.numbered_choice import ask_one
from agentmux.cli.ask.yes_or_no import ask_yes
from agentmux.core.config.settings import WorktreeMode
from agentmux.core.names.phase import REVIEWERS, ROLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentmux.app.world import World

_WRITES: Final = ("coder",)
_RESEARCHES: Final = ("code-researcher", "web-researcher")
_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "plan": tuple(each for each in ROLES if each not in {*_WRITES, *_RESEARCHES, *REVIEWERS}),
    "research": _RESEARCHES,
    "write the code": _WRITES,
    "review": tuple(REVIEWERS),
}

_WORKTREES: Final = {
    WorktreeMode.AUTO: "in your checkout; in a worktree while another one works there",
    WorktreeMode.ALWAYS: "each in a worktree and branch of its own; yours stay as they are",
    WorktreeMode.NEVER: "always in your checkout, one after the other",
}


def ask_roles(world: World, agent: str, ask: Ask) -> dict[str, str]:
    """Ask whether ``agent`` plays all roles; if not, ask which agents play them. Writes nothing.

    Args:
        world: The project, with its settings and tools.
        agent: The agent's name, or a command as typed.
        ask: Shows a text and returns the line that a person then typed.

    Returns:
        The other agents, by role; empty if ``agent`` plays all roles.
    """
    words = "plan, research, write the code and review"
    if ask_yes(ask, f"Should {agent} {words}, all of it?"):
        return {}
    agents: dict[str, str] = {}
    for does, roles in _GROUPS.items():
        question = f"Which agent should {does}? ({', '.join(roles)})"
        chosen = ask_agent(world, ask, question=question, usual=agent)
        if chosen != agent:
            agents |= dict.fromkeys(roles, chosen)
    return agents


def ask_levels(world: World, agents: list[str], ask: Ask) -> dict[str, tuple[str, ...]]:
    """Ask a person how much each agent may do without asking; writes nothing.

    Args:
        world: The project, with its settings and tools.
        agents: The names of the agents, or commands as typed; each one is asked about once.
        ask: Shows a text and returns the line that the person then typed.

    Returns:
        The ``permission_args`` for the configuration, by agent. Left out are agents whose arguments
        stay as they are, and agents that are not in the registry.
    """
    registry = load_registry(world.settings)
    permissions: dict[str, tuple[str, ...]] = {}
    for name in dict.fromkeys(agents):
        level = ask_level(registry[name], ask) if name in registry else None
        if level is not None and level.args:
            permissions[name] = level.args
    return permissions


def ask_worktrees(ask: Ask) -> WorktreeMode:
    """Ask whether sessions get worktrees of their own; return the answer, and write nothing.

    ``ask`` shows a text and returns the line that a person then typed.
    """
    rows = [
        (f"  {number}", mode.value, says)
        for number, (mode, says) in enumerate(_WORKTREES.items(), start=1)
    ]
    text = "\n".join(["Where should features be worked on?", *render.table(rows), ""])
    return ask_one(ask, text, {mode.value: mode for mode in _WORKTREES}, WorktreeMode.AUTO.value)
