"""Asks which agent plays the roles, at the first ``start`` in a project.

The person is asked once, if no configuration names an agent, and the answer is written into the
project's configuration. `level_choice` then asks how much the agent may do without asking.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agentmux.adapters.config.agent_registry import load_registry
from agentmux.adapters.config.edit import set_value
from agentmux.adapters.config.layers import names_an_agent
from agentmux.app.commands.look.agent_offers import AgentOffer, offer_agents
from agentmux.cli import render
from agentmux.cli.ask.level_choice import ask_level
from agentmux.core.agents.spec import Registry
from agentmux.core.names import layout
from agentmux.core.names.agent_names import OFFLINE, SHELL
from agentmux.core.names.status_labels import NATIVE_MARK
from agentmux.errors import AgentmuxError, ConfigError, DataError
from agentmux.wiring import machine

if TYPE_CHECKING:
    from agentmux.app.world import World

Ask = Callable[[str], str]
"""A function that shows a text and returns the line that a person then typed."""

CUSTOM: Final = "custom…"
"""The name of the menu's line for a command that the person types."""

_ESCAPE: Final = "\x1b"


def asking() -> Ask:
    """Return a function that shows a text on stderr and returns a line that is read from stdin.

    The returned function raises `KeyboardInterrupt` at the end of stdin, and if the line begins
    with Esc.
    """

    def ask(text: str) -> str:
        asked = text.rstrip(" ")
        sys.stderr.write(render.fold_lines(asked, sys.stderr) + text.removeprefix(asked))
        sys.stderr.flush()
        answer = sys.stdin.readline()
        if not answer or answer.startswith(_ESCAPE):
            raise KeyboardInterrupt
        return answer.strip()

    return ask


def choose_agent(world: World, ask: Ask | None, *, config: Path | None = None) -> str | None:
    """Ask which agent plays the roles and how much it may do; write both into the configuration.

    The project's configuration is meant. Nothing is asked if a configuration names an agent
    already, or if nobody can be asked. If writing fails, the reason is printed.

    Args:
        world: The project, with its settings and tools.
        ask: Shows a text and returns the line that a person then typed; None if nobody can be
            asked.
        config: The file of ``--config``, in which an agent may be named, too; None without this
            option.

    Returns:
        An agent's name or a command as typed; None if nothing was asked.

    Raises:
        ConfigError: A configuration file has a mistake, or ``config`` does not exist.
    """
    if ask is None or is_configured(world, config):
        return None
    agent = ask_agent(world, ask, question="Which agent should play the roles in this project?")
    _remember(world, ("defaults", "agent"), agent)
    registry = _registry(world)
    if agent in registry:
        level = ask_level(registry[agent], ask)
        if level is not None and level.args:
            _remember(world, ("agents", agent, "permission_args"), list(level.args))
        elif level is not None:
            render.note(f"{agent} will ask for permission")
    return agent


def ask_agent(world: World, ask: Ask, *, question: str, usual: str = "") -> str:
    """Show a menu of agents and ask until the chosen agent can be run; writes nothing.

    Args:
        world: The project, with its settings and tools.
        ask: Shows a text and returns the line that a person then typed.
        question: The line above the menu.
        usual: The agent that an empty answer chooses. If this is empty, an empty answer chooses
            the default agent, or else the first installed one.

    Returns:
        An agent's name, or a command as typed.
    """
    return _answer(world, _offers(world), ask, question, usual)


def _registry(world: World) -> Registry:
    return load_registry(world.settings)


def is_configured(world: World, config: Path | None) -> bool:
    """Whether a configuration file names an agent, for all roles or for one.

    Args:
        world: The project, with its settings and tools.
        config: The file of ``--config``, which is searched as well; None without this option.

    Raises:
        ConfigError: A configuration file has a mistake, or ``config`` does not exist.
    """
    return names_an_agent(machine.config_dir(world.environment), world.project, config)


def _offers(world: World) -> tuple[AgentOffer, ...]:
    """Return the lines of the menu from which a person chooses an agent.

    The first is a shell, in which the person plays the roles. Then come the installed agents, and
    last a line for a command that the person types.
    """
    there = [each for each in offer_agents(world) if each.is_installed]
    there.sort(key=lambda each: each.name != SHELL)
    return (*there, AgentOffer(name=CUSTOM, says="a command that you type"))


def _answer(
    world: World, choices: Sequence[AgentOffer], ask: Ask, question: str, preferred: str
) -> str:
    """Show the menu and ask until the chosen agent can be run.

    Returns:
        An agent's name, or a command as typed.
    """
    named = AgentOffer(name=preferred, says="") if preferred else None
    usual = named or _usual(world, choices)
    # A person who is asked again has seen the menu, so the names are enough.
    menu = [f"  {', '.join(each.name for each in choices)}"] if preferred else _menu(choices)
    text = "\n".join([question, *menu, ""])
    prompt = f"Number or name{f' [{usual.name}]' if usual else ''}: "
    while True:
        typed = ask(text + prompt)
        text = ""
        chosen = usual if not typed else _match_choice(choices, typed)
        if chosen is None:
            render.note(f"`{typed}` is not in the list" if typed else "choose one of the list")
            continue
        agent = ask("Command: ") if chosen.name == CUSTOM else chosen.name
        problem = _problem(world, agent)
        if problem is None:
            return agent
        render.note(problem)


def _menu(choices: Sequence[AgentOffer]) -> list[str]:
    rows = [
        (f"  {number}", NATIVE_MARK if each.resumes else " ", each.name, each.says)
        for number, each in enumerate(choices, start=1)
    ]
    return render.table(rows)


def _usual(world: World, choices: Sequence[AgentOffer]) -> AgentOffer | None:
    """Return the line of the menu that an empty answer chooses.

    It is the default agent of the settings if that is installed, else the first agent. None if no
    agent but the offline one is installed.
    """
    agents = [each for each in choices if each.name not in {SHELL, CUSTOM, OFFLINE}]
    built_in = world.settings.defaults.agent
    default = (each for each in agents if each.name == built_in)
    return next(default, next(iter(agents), None))


def _match_choice(choices: Sequence[AgentOffer], typed: str) -> AgentOffer | None:
    if typed.isdecimal():
        return choices[int(typed) - 1] if 0 < int(typed) <= len(choices) else None
    names = {each.name.rstrip("…"): each for each in choices}
    return names.get(typed.lower().rstrip(".…"))


def _problem(world: World, agent: str) -> str | None:
    """Return why ``agent``, a name or a command, cannot be run; None if it can."""
    try:
        program = world.agents.spec(agent).command[0]
    except AgentmuxError as error:
        return error.message
    return (
        None if world.agents.programs.find(program) is not None else f"`{program}` is not on PATH"
    )


def _remember(world: World, keys: Sequence[str], value: object) -> None:
    """Write a value into the project's configuration; if that fails, print why.

    Args:
        world: The project, with its settings and tools.
        keys: The path of the value in the file, such as ``("defaults", "agent")``.
        value: The value.
    """
    try:
        set_value(world.project / layout.PROJECT_CONFIG, keys, value)
    except (ConfigError, DataError) as error:
        render.failure(error.message, error.hints)
        return
    render.note(f"wrote {'.'.join(keys)}: {json.dumps(value)} into {layout.PROJECT_CONFIG}")
