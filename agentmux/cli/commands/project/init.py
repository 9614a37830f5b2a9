"""``agentmux init``: writes the configuration of a project."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.cli import render
from agentmux.cli.ask.check_choice import ask_checks, found_commands
from agentmux.cli.ask.person import trust_own_edit
from agentmux.cli.ask.yes_or_no import ask_yes
from agentmux.cli.commands.project import config_template
from agentmux.cli.commands.project.config_template import Choices, config_text, verify_lines
from agentmux.cli.invocation import Invocation
from agentmux.errors import DeclinedError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux.app.world import World
    from agentmux.cli.ask.agent_choice import Ask
    from agentmux.core.config.commands import VerifyCommand


def init(
    ctx: typer.Context,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Use the built-in values without asking.")
    ] = False,
) -> int:
    """Write a configuration for this project.

    In a terminal, it asks which agent plays the roles, how much it may do without asking, where
    features are worked on, and which of the commands that it finds (pytest, npm test, cargo test,
    go test, make test) check results; each is run once first. It shows the file before it writes.
    """
    invocation: Invocation = ctx.obj
    if not defaults and not invocation.interactive:
        raise UsageError("cannot ask without a terminal", hints=("agentmux init --defaults",))
    path = config_template.require_free(invocation.site().project)
    world = invocation.world()
    commands = found_commands(world.project)
    if defaults:
        chosen = Choices(agent=world.settings.defaults.agent)
    else:
        chosen = _answers(invocation, world, commands, path)
    world.agents.spec(chosen.agent)  # an agent of the user's own configuration may be wrong
    config_template.write(path, config_text(chosen))
    render.note(f"wrote {path}")
    trust_own_edit(invocation, world, keys=chosen.keys)
    _say_what_is_next(world, chosen, commands, asked=not defaults)
    return 0


def _answers(
    invocation: Invocation, world: World, found: tuple[VerifyCommand, ...], path: Path
) -> Choices:
    """Ask a person all questions, and return the answers; writes nothing.

    Raises:
        KeyboardInterrupt: The person left.
        DeclinedError: The person does not want the file.
    """
    from agentmux.cli.ask import setup_questions as questions
    from agentmux.cli.ask.agent_choice import ask_agent, asking

    ask = asking()
    render.note("Enter takes the answer in brackets. Ctrl-C leaves, and nothing is written.")
    agent = ask_agent(world, ask, question="Which agent should play the roles in this project?")
    roles = questions.ask_roles(world, agent, ask)
    chosen = Choices(
        agent=agent,
        roles=roles,
        permissions=questions.ask_levels(world, [agent, *roles.values()], ask),
        worktree=questions.ask_worktrees(ask),
        verify=ask_checks(found, world.project, invocation.environ, ask),
    )
    _require_wanted(config_text(chosen), path, ask)
    return chosen


def _require_wanted(text: str, path: Path, ask: Ask) -> None:
    """Show the lines that the file sets, and ask whether to write it.

    Raises:
        DeclinedError: The person said no.
    """
    lines = (line.partition("  #")[0].rstrip() for line in text.splitlines())
    sets = [line for line in lines if line and not line.startswith("#")]
    shown = "\n".join(f"  {line}" for line in sets)
    above = f"{path} would say, beside comments:\n{shown}\n"
    if not ask_yes(ask, "Write it?", before=above):
        render.note("nothing was written")
        raise DeclinedError


def _say_what_is_next(
    world: World, chosen: Choices, found: tuple[VerifyCommand, ...], *, asked: bool
) -> None:
    spec = world.agents.spec(chosen.agent)
    render.note(f'next: agentmux start "…" (say what to build; {chosen.agent} plays the roles)')
    if world.agents.programs.find(spec.command[0]) is None:
        render.note(f"{spec.command[0]} is not installed; to see what is: agentmux agents")
    if chosen.agent in chosen.permissions:
        words = shlex.join(chosen.permissions[chosen.agent])
        render.note(f"{chosen.agent} runs with {words}; to change it, edit that file")
    elif not (asked and spec.unattended_args):  # else a person has just said that it should ask
        for line in config_template.explain_unattended(spec):
            render.note(line)
    if found and not chosen.verify:
        render.note(f"to verify results, write into that file:\n{verify_lines(found)}")
