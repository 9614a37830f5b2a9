"""``agentmux remove``: removes a session and everything that it has left."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from agentmux.app.commands.end.interrupted_removals import finish_removals
from agentmux.app.commands.end.remove_consent import forget_with_consent, remove_with_consent
from agentmux.app.session.search.lookup import SessionEntry, list_sessions, select_session
from agentmux.app.session.search.lost_sessions import LostSessionError, require_none_lost
from agentmux.cli.ask.person import YesOpt, person_at, require_person
from agentmux.cli.ask.session_argument import resolve_session, typed_command
from agentmux.cli.commands.look import orphan_agents
from agentmux.cli.invocation import Invocation

if TYPE_CHECKING:
    from agentmux.app.world import Site

_REMOVE: Final = "remove SESSION"


def remove(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(metavar="[SESSION]", help="As for `status`.", show_default=False),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Also lose work that is neither committed nor merged."),
    ] = False,
    yes: YesOpt = False,
) -> int:
    """Remove a session and everything that it has left.

    A live session is not removed. A session with a worktree of its own is not removed either, if
    worktree or branch has work that is nowhere else; files that git ignores, such as .env, do not
    count as work. A session that began on a detached HEAD stays until its commit is on a branch.
    """
    invocation: Invocation = ctx.obj
    require_person(invocation, "remove")
    person = person_at(invocation, yes=yes)
    try:
        site, entry = _chosen(invocation, session)
    except LostSessionError as error:
        forget_with_consent(invocation.site(), person, error)
        return 0
    remove_with_consent(
        *(site, person, entry),
        force=force,
        world=cache(partial(invocation.world, site.project)),
        left_behind=lambda each: orphan_agents.as_survivors(orphan_agents.left_behind(each)),
    )
    return 0


def _chosen(invocation: Invocation, session: str | None) -> tuple[Site, SessionEntry]:
    """Return the session to remove, and the site of its project."""
    if session is not None:
        site, entry = resolve_session(invocation, session, command=_REMOVE)
        finish_removals(site)
        return site, entry
    site = invocation.site()
    finish_removals(site)
    entries = list_sessions(site)
    if not entries:
        require_none_lost(site)
    return site, select_session(entries, command=typed_command(invocation, None, _REMOVE))
