"""The page that starts a session: the choices that it offers, and the command that it runs."""

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
    """The choices for a new session in a project.

    Attributes:
        project: The project's folder.
        agents: The names of the installed agents.
        is_configured: Whether the configuration names an agent; if not, the user has to choose one.
        pipelines: The pipelines, each with a description; the default comes first.
        places: The kinds of work tree, each with a description; the default comes first.
    """

    project: Path
    agents: tuple[str, ...]
    is_configured: bool
    pipelines: tuple[tuple[str, str], ...]
    places: tuple[tuple[str, str], ...]


def offer(world: World, config: Path | None) -> StartOffer:
    """Return the choices for a new session in a project. It runs no command.

    Args:
        world: The project's world, with everything trusted. The start command checks the trust.
        config: The file given with ``--config``; None if there was none.

    Raises:
        ConfigError: The project's configuration is invalid.
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


def start_command(form: Mapping[str, str], *, dry_run: bool) -> Words:
    """Return the `start` command for the values of a form; it reads the feature from stdin.

    Args:
        form: The form's fields.
        dry_run: Whether the command only reports what it would do.
    """
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
    """Start a session with the values of a form.

    It starts nothing if the command would ask for consent in a terminal; the message then names the
    command to run there. Nor does it start an agent that was not offered, because the command
    accepts any program as an agent.

    Args:
        commands: Runs the command.
        offered: The choices that the form offered.
        form: The form's fields.

    Returns:
        The name of the new session, empty if none was started; and the message for the user.
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
    planned = await commands.run(project, start_command(form, dry_run=True), text=text)
    asks = to_be_agreed_to(_read_texts(planned.out, "warnings")) if planned.is_ok else ()
    if asks:
        return "", CommandMessage(is_ok=False, words=asks[0], hints=(_asks(offered),))
    reply = planned
    if planned.is_ok:
        reply = await commands.run(project, start_command(form, dry_run=False), text=text)
    if not reply.is_ok:
        return "", CommandMessage(is_ok=False, words=reply.words, hints=reply.hints)
    (name,) = _read_texts(reply.out, "session")
    return name, CommandMessage(
        is_ok=True, words=f"session {name} has started", hints=_read_texts(reply.out, "warnings")
    )


def _asks(offered: StartOffer) -> str:
    return f'agentmux --project {offered.project} start "…"'


def _read_texts(out: Words, field: str) -> Words:
    """Return the texts in a field of a command's JSON output."""
    value = json.loads("\n".join(out)).get(field) or ()
    return (value,) if isinstance(value, str) else tuple(map(str, value))
