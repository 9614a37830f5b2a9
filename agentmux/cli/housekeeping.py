"""The commands around sessions: take one away, begin a configuration, tell the version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.app.commands.remove import finish_removals, remove_session, require_removable
from agentmux.app.session.lookup import list_sessions, select_session
from agentmux.cli import beginning, render
from agentmux.cli.ask.consent import YesOpt, require_consent
from agentmux.cli.ask.person import require_person
from agentmux.cli.ask.session_argument import named
from agentmux.cli.face import Face
from agentmux.cli.trusting import trust_own_edit
from agentmux.errors import UsageError
from agentmux.wiring.machine import version

if TYPE_CHECKING:
    from agentmux.app.world import World

_REMOVE: Final = "remove SESSION"


def remove(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(metavar="[SESSION]", help="As for `status`.", show_default=False),
    ] = None,
    yes: YesOpt = False,
) -> int:
    """Remove a session with all that it left; refused while it is live."""
    face: Face = ctx.obj
    require_person(face, "remove")
    if session is not None:
        site, entry = named(face, session, command=_REMOVE)
        finish_removals(site)
    else:
        site = face.site()
        finish_removals(site)
        entry = select_session(list_sessions(site), command=_REMOVE)
    require_removable(site, entry)
    how = "it is done" if entry.is_done else f"it is not done: {entry.phase or 'unreadable'}"
    question = f"Remove {entry.name} ({how}) with its history and conversations?"
    require_consent(face, question, yes=yes)
    remove_session(site, entry)
    render.note(f"removed {entry.path}")
    return 0


def init(
    ctx: typer.Context,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Ask nothing; take the built-in values.")
    ] = False,
) -> int:
    """Begin the configuration of a project."""
    face: Face = ctx.obj
    if not defaults and not face.interactive:
        raise UsageError("nobody is here to be asked", hints=("agentmux init --defaults",))
    site = face.site()
    path = beginning.require_free(site.project)
    world = face.world()
    agent = world.settings.defaults.agent
    if not defaults:
        agent = _chosen(world)
    spec = world.spec(agent)
    beginning.write(path, agent)
    render.note(f"wrote {path}")
    trust_own_edit(face, world, keys=("defaults.agent",))
    render.note(f"next: agentmux start FEATURE (played by {agent})")
    if world.programs.find(spec.command[0]) is None:
        render.note(f"{spec.command[0]} is not installed here: agentmux agents lists what is")
    for line in beginning.unattended(spec):
        render.note(line)
    return 0


def _chosen(world: World) -> str:
    """Ask a person which agent plays the roles, among those that can be run here."""
    from agentmux.cli.ask.agent_choice import ask_agent, asking  # noqa: PLC0415 (only with a person)

    return ask_agent(world, asking(), question="Which agent plays the roles here?")


def show_version() -> int:
    """Show the version."""
    render.out(version())
    return 0
