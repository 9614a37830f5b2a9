"""The page that starts a session: what it offers, and the command that it runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.config.agent_registry import load_registry
from agentmux.adapters.config.layers import names_an_agent
from agentmux.app.commands.begin.start import to_be_agreed_to
from agentmux.app.commands.look.agents import installed_agents
from agentmux.app.commands.look.pipelines import usable_pipelines
from agentmux.core.codec.frozen import dataclass
from agentmux.core.codec.shape import as_code
from agentmux.core.decisions.workplace import workplace_choices
from agentmux.core.names.agent_names import SHELL, is_for_tests
from agentmux.core.terminal.text import command_words
from agentmux.web.pages.messages import CommandMessage
from agentmux.wiring import machine

if TYPE_CHECKING:
    from agentmux.adapters.system.processes.command_runs import CommandRuns
    from agentmux.app.world import World
    from agentmux.core.terminal.text.command_words import Words

_PLACES: Final = frozenset({"worktree", "no-worktree"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOffer:
    """What can be chosen for a new session in a project.

    Attributes:
        agents: The agents that are installed.
        is_configured: Whether a configuration says which agent plays the roles.
        pipelines: Each with a sentence about it, the usual one first.
        places: Where it can work, each with a sentence about it, the usual one first.
    """

    project: Path
    agents: tuple[str, ...]
    is_configured: bool
    pipelines: tuple[tuple[str, str], ...]
    places: tuple[tuple[str, str], ...]


def offer(world: World, config: Path | None) -> StartOffer:
    """Return what can be chosen in a project; it runs nothing.

    Args:
        world: The project's world, as if its user trusted all of it: the command will ask.
        config: The file of ``--config``; None without it.

    Raises:
        ConfigError: The configuration is wrong.
    """
    registry = load_registry(world.settings)
    names = [each for each in registry if each != SHELL and not is_for_tests(each)]
    user = machine.config_dir(world.environment)
    return StartOffer(
        project=world.project,
        agents=tuple(installed_agents(world, names)),
        is_configured=names_an_agent(user, world.project, config),
        pipelines=usable_pipelines(world),
        places=tuple(workplace_choices(world.settings.git.worktree)),
    )


def words_of(form: Mapping[str, str], *, dry_run: bool) -> Words:
    """Return the command for a form; the feature comes on its standard input."""
    return command_words.start_described(
        agent=form.get("agent", ""),
        pipeline=form.get("pipeline", ""),
        place=place if (place := form.get("place", "")) in _PLACES else "",
        issue=form.get("issue", "").strip(),
        is_described=bool(form.get("text", "").strip()),
        dry_run=dry_run,
    )


async def begin(
    commands: CommandRuns, offered: StartOffer, form: Mapping[str, str]
) -> tuple[str, CommandMessage]:
    """Start a session as the form says; return its name, and what the command said.

    What the command would ask a person at a terminal is refused, with the command that asks it.
    An agent that is not offered is refused: the command takes any program as an agent. The name is
    empty if nothing was started.
    """
    agent = form.get("agent", "")
    if agent and agent not in offered.agents:
        words = f"no agent {as_code(agent)} is installed here"
        return "", CommandMessage(is_ok=False, words=words, hints=("agentmux agents",))
    if not offered.is_configured and not agent:
        words = "no configuration says which agent plays the roles: choose one"
        return "", CommandMessage(is_ok=False, words=words, hints=(_asks(offered),))
    text = form.get("text", "").strip() or None
    project = offered.project
    planned = await commands.run(project, words_of(form, dry_run=True), text=text)
    asks = to_be_agreed_to(_read_texts(planned.out, "warnings")) if planned.is_ok else ()
    if asks:
        return "", CommandMessage(is_ok=False, words=asks[0], hints=(_asks(offered),))
    reply = planned
    if planned.is_ok:
        reply = await commands.run(project, words_of(form, dry_run=False), text=text)
    if not reply.is_ok:
        return "", CommandMessage(is_ok=False, words=reply.words, hints=reply.hints)
    (name,) = _read_texts(reply.out, "session")
    return name, CommandMessage(
        is_ok=True, words=f"session {name} has started", hints=_read_texts(reply.out, "warnings")
    )


def _asks(offered: StartOffer) -> str:
    return f'agentmux --project {offered.project} start "…"'


def _read_texts(out: Words, field: str) -> Words:
    """Return the texts of a field of a command's JSON answer."""
    value = json.loads("\n".join(out)).get(field) or ()
    return (value,) if isinstance(value, str) else tuple(map(str, value))
