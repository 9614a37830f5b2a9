"""``agentmux list``: shows the sessions of a project, without importing typer, to start fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentmux.app.commands.end.interrupted_removals import finish_removals
from agentmux.app.session.search.further_up import listed_further_up
from agentmux.app.session.search.lookup import (
    SessionEntry,
    list_sessions,
    newest_sessions,
    sessions_dir,
)
from agentmux.app.session.search.lost_sessions import lost_lines
from agentmux.app.views.rows import session_row
from agentmux.app.views.status import look
from agentmux.cli import render, session_text

if TYPE_CHECKING:
    from agentmux.app.world import Site
    from agentmux.cli.invocation import Invocation

_SHOWN: Final = 50
"""How many sessions are shown without ``--all``; JSON always has all of them."""


def run(invocation: Invocation, *, everything: bool, json: bool) -> int:
    """Print the sessions of the project, newest first, and return the exit code.

    Before that, delete what interrupted removals of sessions have left.

    Args:
        invocation: The global options.
        everything: Whether to show all sessions, and not only the newest 50.
        json: Whether to print JSON, which always has all sessions.
    """
    site = invocation.site()
    finish_removals(site)
    listed, count = _select_sessions(site, everything=everything or json)
    result = look(site, listed)
    if json:
        render.sessions_json(result)
        return result.exit_code
    lines = session_text.session_list(
        [session_row(view) for view in result.data],
        site.folders.names(sessions_dir(site.project)),
        cols=render.columns(),
        colours=invocation.colours,
    )
    for line in lines if listed else ():
        render.out(line)
    if not listed:
        render.note(f'no sessions in {site.project}: agentmux start "…"')
    for text in listed_further_up(site):
        render.note(text)
    if len(listed) < count:
        render.note(f"and {count - len(listed)} older: agentmux list --all")
    for text in lost_lines(site):
        render.note(text)
    render.show_problems(result.problems)
    return result.exit_code


def _select_sessions(site: Site, *, everything: bool) -> tuple[tuple[SessionEntry, ...], int]:
    """Return the sessions to show, newest first, and the number of all sessions."""
    if not everything:
        return newest_sessions(site, _SHOWN)
    entries = list_sessions(site)
    return entries, len(entries)
