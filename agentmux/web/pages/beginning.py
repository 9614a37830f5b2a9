"""The page that starts a session: the choices that it offers, and the command that it runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.config.layers import names_an_agent
from agentmux.app.commands.begin.start_offer import StartOffer, read_reply, start_offer
from agentmux.core.codec.frozen import replace
from agentmux.core.codec.shape import as_code
from agentmux.core.names.agent_names import SHELL
from agentmux.core.terminal.text import command_words
from agentmux.web.pages.messages import CommandMessage
from agentmux.wiring import machine

if TYPE_CHECKING:
    from agentmux.adapters.system.processes.command_runs import CommandRuns
    from agentmux.app.world import World
    from agentmux.core.terminal.text.command_words import Words

_PLACES: Final = frozenset({"worktree", "no-worktree"})


def offer(world: World, config: Path | None) -> StartOffer:
    """Return the choices for a new session in a project.

    A shell is not offered, because nobody at a browser can use it.

    Args:
        world: The project's world.
        config: The file given with ``--config``; None if there was none.

    Raises:
        ConfigError: The project's configuration is invalid.
    """
    is_configured = names_an_agent(machine.config_dir(world.environment), world.project, config)
    offered = start_offer(world, is_configured=is_configured)
    return replace(offered, agents=tuple(e for e in offered.agents if e.name != SHELL))


def start_command(form: Mapping[str, str], *, dry_run: bool) -> Words:
    """Return the arguments of ``agentmux`` that start a session with a form's values; run nothing.

    The command reads the feature from stdin, unless the form has an issue and no text.

    Args:
        form: The fields ``agent`` and ``pipeline`` (names), ``place`` (``worktree`` or
            ``no-worktree``), ``issue`` and ``text`` (the feature). For an agent, pipeline or place
            that is empty or missing, the command uses what is configured.
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
    """Start a session with the values of a form, and return once the command has ended.

    It starts nothing if there is neither a request nor an issue, or if neither the form nor the
    configuration names an agent. If the command would ask for consent in a terminal, the hints of
    the message have the command to run there. It starts no agent that was not offered, either,
    because the command accepts any program.

    Args:
        commands: Runs the command.
        offered: The choices that the form offered.
        form: The form's fields ``agent``, ``pipeline``, ``place``, ``issue`` and ``text``, as
            `start_command` describes them; each may be missing.

    Returns:
        The name of the new session, empty if none was started; and the message for the user.
    """
    agent, text = form.get("agent", ""), form.get("text", "").strip() or None
    if text is None and not form.get("issue", "").strip():
        words = "the request is missing: say what should be built"
        return "", CommandMessage(is_ok=False, words=words)
    if agent and agent not in {each.name for each in offered.agents if each.is_installed}:
        words = f"no agent {as_code(agent)} is installed here"
        return "", CommandMessage(is_ok=False, words=words, hints=("agentmux agents",))
    if not offered.configured and not agent:
        words = "no configuration says which agent plays the roles: choose one"
        return "", CommandMessage(is_ok=False, words=words)
    project = offered.project
    planned = await commands.run(project, start_command(form, dry_run=True), text=text)
    asks = read_reply(planned.out).asks if planned.is_ok else ()
    if asks:
        return "", CommandMessage(is_ok=False, words=asks[0], hints=(_asks(offered),))
    reply = planned
    if planned.is_ok:
        reply = await commands.run(project, start_command(form, dry_run=False), text=text)
    if not reply.is_ok:
        return "", CommandMessage(is_ok=False, words=reply.words, hints=reply.hints)
    begun = read_reply(reply.out)
    return begun.session, CommandMessage(
        is_ok=True, done="Started", words=f"session {begun.session}", hints=begun.warnings
    )


def _asks(offered: StartOffer) -> str:
    return f'agentmux --project {offered.project} start "…"'
