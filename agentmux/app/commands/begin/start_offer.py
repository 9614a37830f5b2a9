"""What a user can choose for a new session, and what a start answers to a face that asks for it.

A face runs ``start --json`` twice: first with ``--dry-run``, to ask the user about the warnings
that the command would ask about in a terminal, then without.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.app.commands.begin.start import to_be_agreed_to
from agentmux.app.commands.look.agent_offers import AgentOffer, offer_agents
from agentmux.app.commands.look.pipelines import usable_pipelines
from agentmux.app.world import as_if_trusted
from agentmux.core.codec.frozen import dataclass
from agentmux.core.decisions.workplace import workplace_choices
from agentmux.core.names.agent_names import OFFLINE, SHELL

if TYPE_CHECKING:
    from agentmux.app.world import World
    from agentmux.core.config.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOffer:
    """The choices for a new session in a project.

    Attributes:
        project: The project's folder.
        agents: The agents, those that are installed first.
        configured: The names of the agents that the configuration names, separated by commas; empty
            if it names none, so that the user has to choose one.
        pipelines: Name and description of each pipeline; the default comes first.
        places: Name and description of each choice of where the session works. The first one is
            ``as usual``, which leaves it to the configuration; then come ``worktree`` and
            ``no-worktree``.
    """

    project: Path
    agents: tuple[AgentOffer, ...]
    configured: str
    pipelines: tuple[tuple[str, str], ...]
    places: tuple[tuple[str, str], ...]

    @property
    def advice(self) -> str:
        """How to install an agent, and what needs none; empty if one is configured or installed."""
        real = [each for each in self.agents if each.name not in {OFFLINE, SHELL}]
        if self.configured or not real or any(each.is_installed for each in real):
            return ""
        how = f"No coding agent is installed here; {real[0].name} is {real[0].says}"
        offers = any(each.name == OFFLINE for each in self.agents)
        return f"{how}. {OFFLINE}, in the list, needs none" if offers else how

    def is_missing(self, name: str) -> bool:
        """Return whether the agent ``name`` is one of `agents` and is not installed."""
        return any(each.name == name and not each.is_installed for each in self.agents)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartReply:
    """The answer of ``start --json``.

    Attributes:
        session: The name of the session.
        warnings: The warnings of the start.
    """

    session: str
    warnings: tuple[str, ...]

    @property
    def asks(self) -> tuple[str, ...]:
        """The warnings to which the user must agree before the start."""
        return to_be_agreed_to(self.warnings)


def start_offer(world: World, *, is_configured: bool) -> StartOffer:
    """Return the choices for a new session in a project.

    Pipelines and settings of the project are offered even if they are not trusted, because the
    start command checks the trust. No program that they name is run.

    Args:
        world: The project's world.
        is_configured: Whether a configuration file names an agent.
    """
    whole = as_if_trusted(world)
    return StartOffer(
        project=world.project,
        agents=offer_agents(world),
        configured=_name_agents(whole.settings) if is_configured else "",
        pipelines=usable_pipelines(whole),
        places=workplace_choices(whole.settings.git.worktree),
    )


def _name_agents(settings: Settings) -> str:
    named = (settings.defaults.agent, *(each.agent for each in settings.roles.values()))
    return ", ".join(dict.fromkeys(filter(None, named)))


def read_reply(out: Iterable[str]) -> StartReply:
    """Return the answer in ``out``, the lines that ``agentmux start --json`` has printed.

    Raises:
        ValueError: The lines are not JSON.
        KeyError: The JSON object has no ``session``, or no ``warnings``.
    """
    fields = json.loads("\n".join(out))
    return StartReply(session=str(fields["session"]), warnings=tuple(fields["warnings"]))
