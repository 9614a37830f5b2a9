"""``agentmux init``: writes the configuration of a project."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.cli import render
from agentmux.cli.ask.check_choice import ask_checks, found_commands
from agentmux.cli.ask.person import trust_own_edit
from agentmux.cli.ask.yes_or_no import ask_yes
from agentmux.cli.commands.project import config_template
from agentmux.cli.commands.project.config_template import Choices, config_text, verify_lines
from agentmux.cli.invocation import Invocation
from agentmux.core.checks.proposals import LOOKED_FOR
from agentmux.core.names import layout
from agentmux.errors import DeclinedError, NotFoundError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux.app.world import World
    from agentmux.cli.ask.agent_choice import Ask
    from agentmux.core.config.commands import VerifyCommand

_EXAMPLE: Final = "verify: [{name: tests, run: [COMMAND]}]"
"""How a configuration lists a command that checks results."""


def init(
    ctx: typer.Context,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Use the built-in values without asking.")
    ] = False,
    checks: Annotated[
        bool,
        typer.Option(
            "--checks", help="Only find the tests, try them, and write what checks results."
        ),
    ] = False,
    schema: Annotated[
        bool,
        typer.Option("--schema", help="Write the file's JSON Schema beside it, for editors."),
    ] = False,
) -> int:
    """Write a configuration for this project.

    In a terminal, it asks which agent plays the roles, how much it may do without asking, where
    features are worked on, and which of the commands that it finds (pytest, unittest, npm test,
    cargo test, go test, make test) check results; each is run once first. It shows the file before
    it writes. With --checks it asks only for these commands, and keeps everything else that the
    file says.
    """
    invocation: Invocation = ctx.obj
    if not defaults and not invocation.interactive:
        raise UsageError("cannot ask without a terminal", hints=("agentmux init --defaults",))
    if checks:
        return _write_checks(invocation, asks=not defaults)
    path = config_template.require_free(invocation.site().project)
    world = invocation.world()
    commands = found_commands(world.project)
    if defaults:
        chosen = Choices(agent=world.settings.defaults.agent)
    else:
        chosen = _answers(invocation, world, commands, path)
    world.agents.spec(chosen.agent)  # an agent of the user's own configuration may be wrong
    config_template.write(path, config_text(chosen, with_schema=schema))
    render.note(f"wrote {path}")
    trust_own_edit(invocation, world, keys=chosen.keys)
    _say_what_is_next(world, chosen, commands, asked=not defaults)
    return 0


def _write_checks(invocation: Invocation, *, asks: bool) -> int:
    """Write the commands that check results into the project's configuration.

    Args:
        invocation: The global options.
        asks: Whether to ask a person about each command; otherwise all that pass are written.

    Raises:
        NotFoundError: No command was found.
        UsageError: The configuration lists commands already.
        ConfigError: The file cannot be edited.
    """
    from agentmux.adapters.config.edit import set_value
    from agentmux.cli.ask.agent_choice import asking

    world = invocation.world()
    path = world.project / layout.PROJECT_CONFIG
    if world.settings.verify:
        names = ", ".join(each.name for each in world.settings.verify)
        raise UsageError(f"results are verified already by: {names}", hints=(f"edit it: {path}",))
    commands = found_commands(world.project)
    if not commands:
        raise NotFoundError(
            f"no tests were found in {world.project}; looked for: {LOOKED_FOR}",
            hints=(f"write into {path}: {_EXAMPLE}",),
        )
    ask = asking() if asks else _take_usual_answer
    chosen = ask_checks(commands, world.project, invocation.environ, ask)
    if not chosen:
        render.note("nothing was written")
        return 0
    set_value(path, ("verify",), [{"name": each.name, "run": [*each.run]} for each in chosen])
    render.note(f"wrote into {path}: verify: {', '.join(each.name for each in chosen)}")
    trust_own_edit(invocation, world, keys=("verify",))
    render.note("a session that began before takes it with: agentmux resume --repin")
    return 0


def _take_usual_answer(_: str) -> str:
    """Answer a question of `ask_checks` with an empty line: each command that passes is taken."""
    return ""


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

    ask = _with_blank_line(asking())
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


def _with_blank_line(ask: Ask) -> Ask:
    """Return an `Ask` that leaves a blank line above each question."""
    return lambda text: ask(f"\n{text}")


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
        raise DeclinedError("nothing was written")


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
    if not found:
        render.note(f"no tests were found in {world.project}, so nothing will be verified")
    if not chosen.verify:
        render.note(
            "to verify results, write into that file:\n"
            + (verify_lines(found) if found else _EXAMPLE)
        )
