"""Asks the person who runs a command for consent and trust, and recognises agents that run it.

If the person says no, the command ends without effect. Agents cannot run the commands by which a
person decides, such as ``approve``, so that no agent approves its own work. This is no security
boundary: a process that leaves its parents and clears its environment is not recognised as an
agent's.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from agentmux.adapters.system.processes.processes import agent_above
from agentmux.app.person import Person
from agentmux.cli import render
from agentmux.core.names.layout import PROJECT_FOLDER
from agentmux.errors import AgentmuxError, BlockedError, DeclinedError

if TYPE_CHECKING:
    from agentmux.app.commands.look.trust import Effect
    from agentmux.app.world import World
    from agentmux.cli.invocation import Invocation

YesOpt = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")]
"""The option ``--yes`` of commands that ask for consent."""

TrustOpt = Annotated[
    bool, typer.Option("--trust", help="Trust the project's files as they are now (for CI).")
]
"""The option ``--trust`` of commands that use the project's files."""


def require_person(invocation: Invocation, command: str) -> None:
    """Check that no agent, and no process that an agent started, runs this process.

    Args:
        invocation: Has the environment of this process.
        command: The command as typed after ``agentmux``, for the message.

    Raises:
        BlockedError: An agent runs the command; the error's reason is ``agent``.
    """
    agent = agent_above(invocation.environ)
    if agent is None:
        return
    raise BlockedError(
        f"`agentmux {command}` is for a person; it was called by the agent in seat "
        f"{agent.seat or '?'} (launch {agent.launch}, process {agent.pid})",
        reason="agent",
        hints=(f"type it in a terminal of your own: agentmux {command}",),
    )


def person_at(invocation: Invocation, *, yes: bool, trust: bool = False) -> Person:
    """Return the `Person` through whom an operation asks the person who runs the command.

    Args:
        invocation: Tells whether a person can be asked.
        yes: Whether the person has agreed to everything beforehand (``--yes``).
        trust: Whether the person trusts the project's files as they are now (``--trust``).
    """
    return Person(
        is_there=invocation.interactive,
        has_agreed=yes,
        note=render.note,
        consents=agrees,
        trust=partial(trusted_world, invocation, trust=trust),
    )


def agrees(question: str, *, usual: bool = False) -> bool:
    """Ask a person a question with the answers yes and no; return whether the answer is yes.

    The caller must know that a person can be asked. ``usual`` is the answer of an empty line.

    Raises:
        typer.Abort: The person pressed Ctrl-C, or standard input has ended.
    """
    asked = render.fold_lines(f"{question} {'[Y/n]' if usual else '[y/N]'}:", sys.stderr)
    return typer.confirm(asked, default=usual, show_default=False, prompt_suffix=" ", err=True)


# -- trust ---------------------------------------------------------------------------------------


def trusted_world(
    invocation: Invocation, world: World, effect: Effect, *, trust: bool = False
) -> World:
    """Return a world in which all parts of the project's files that the command needs are trusted.

    If some of these parts are not trusted yet, they are shown to the person, who is asked to trust
    them.

    Args:
        invocation: Tells whether a person can be asked.
        world: The project, with its settings and tools.
        effect: Returns what the command would do in a given world. The command needs a part of the
            files if that part changes the result.
        trust: Whether to trust all present parts without asking.

    Raises:
        NotTrustedError: Nobody can be asked.
        DeclinedError: The person said no.
        BlockedError: An agent, not a person, runs the command.
        DataError: The trust cannot be written to disk.
    """
    from agentmux.app.commands.look.trust import (
        NotTrustedError,
        find_untrusted,
        keep,
        keep_all,
        part_lines,
    )

    if trust:
        require_person(invocation, "trust")
        return keep_all(world)
    parts = find_untrusted(world, effect)
    if not parts:
        return world
    if not invocation.interactive:
        raise NotTrustedError(parts, command=_command(invocation, world))
    render.note("this project's files decide what runs here, and you do not trust these parts yet:")
    for line in part_lines(world, parts):
        render.note(f"  {line}")
    require_person(invocation, "trust")
    if not agrees(f"Trust this in {world.project}?"):
        render.note("to trust it later: agentmux trust")
        render.note(f"to go on without it, change it in {world.project / PROJECT_FOLDER}")
        if any(part.path[0] in {"defaults", "roles", "agents"} for part in parts):
            render.note("or say which agent plays the roles: agentmux start --agent NAME …")
        raise DeclinedError
    return keep(world, parts)


def _command(invocation: Invocation, world: World) -> str:
    """Return the ``agentmux trust`` command for the project, to be typed in this directory."""
    here = invocation.given is None and invocation.unchecked_project() == world.project
    return (
        "agentmux trust" if here else f"agentmux --project {shlex.quote(str(world.project))} trust"
    )


def trust_own_edit(invocation: Invocation, before: World, *, keys: Collection[str]) -> None:
    """Record that the user trusts what this command has just written into the project's files.

    If that fails, the reason is printed, and the next command asks the user.

    Args:
        invocation: The global options.
        before: The world before the files were written.
        keys: The keys that were written, such as ``defaults.agent``.
    """
    from agentmux.app.commands.look.trust import keep_written

    try:
        require_person(invocation, "trust")
        keep_written(before, invocation.world(before.project), keys)
    except AgentmuxError as error:
        render.note(f"what was written is not trusted yet: {error.message}")
