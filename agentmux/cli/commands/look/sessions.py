"""The commands that show sessions, wait for them and attach to them.

They change no session; ``list`` only finishes a removal that was interrupted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Final

import typer

from agentmux.adapters.disk import files
from agentmux.adapters.disk.session.log_file import LogFile
from agentmux.adapters.system.processes.lost_work import lost_programs
from agentmux.app.delivery.steps.outcome import describe_ways_to_get
from agentmux.app.session.search.lookup import (
    STATUS,
    SessionEntry,
    entry_at,
    list_sessions,
    live,
    select_session,
    sessions_dir,
)
from agentmux.app.session.search.lost_sessions import require_none_lost
from agentmux.app.views.rows import session_row
from agentmux.app.views.session.decision import with_digest
from agentmux.app.views.session.seat_screens import with_screens
from agentmux.app.views.session.session_view import SessionView
from agentmux.app.views.session_words import next_step
from agentmux.app.views.status import look, with_branch
from agentmux.app.views.wait import Goal, wait_for
from agentmux.app.world import Site
from agentmux.cli import render, session_text
from agentmux.cli.ask.session_argument import resolve_session, typed_command
from agentmux.cli.ask.shared_options import JsonOpt, SessionArg
from agentmux.cli.commands.look import attachment
from agentmux.cli.commands.look.orphan_agents import how_to_end, left_behind, left_words
from agentmux.cli.fast import session_list
from agentmux.cli.invocation import Invocation, monotonic
from agentmux.core.codec.frozen import replace
from agentmux.core.names import layout
from agentmux.core.names.status_labels import SessionStatus
from agentmux.errors import DeclinedError, NotFoundError, UsageError

_ATTACH: Final = "attach SESSION"
_EVERY_S: Final = 60.0


def list_(
    ctx: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="List all sessions, not only the newest fifty.")
    ] = False,
    json: JsonOpt = False,
) -> int:
    """List the sessions of the project, newest first."""
    return session_list.run(ctx.obj, everything=everything, json=json)


def status(ctx: typer.Context, session: SessionArg = None, json: JsonOpt = False) -> int:
    """Show the state of a session.

    Without a name, show all sessions that are not done, or the newest one if all are done.
    """
    invocation: Invocation = ctx.obj
    site, entries = _named_or_going(invocation, session, command=STATUS)
    result, world = look(site, entries), partial(invocation.world, site.project, read_only=True)
    if json:
        both = zip(result.data, entries, strict=True)
        views = tuple(
            with_screens(entry, with_digest(world, entry.path, view), files.read_limited)
            for view, entry in both
        )
        render.sessions_json(replace(result, data=views))
        return result.exit_code
    chosen = _in_full(result.data)
    if chosen is not None:
        ways = partial(describe_ways_to_get, world, entries[result.data.index(chosen)].path)
        shown = with_branch(site, chosen)
        name, *lines = session_text.status_lines(shown, ways, colours=invocation.colours)
        render.out(name, verbatim=True)  # the whole name is said in one place
        render.out("\n".join(lines))
        _name_left_behind(chosen, entries)
    others = [each for each in result.data if each is not chosen]
    if others:
        _table(invocation, others, after=chosen is not None)
    render.show_problems(result.problems)
    return result.exit_code


def _name_left_behind(view: SessionView, entries: Sequence[SessionEntry]) -> None:
    """Print which processes a session without an orchestrator has left running."""
    entry = next((each for each in entries if each.name == view.session), None)
    if entry is None or view.orchestrator is not None:
        return
    lost = partial(lost_programs, entry.text("session_id"), entry.path)
    alive = left_behind(entry, wait_s=0) if view.live is False else lost()
    if alive:
        render.note(left_words(alive))
        render.note(f"to end them: {how_to_end(alive)}")


def _in_full(views: Sequence[SessionView]) -> SessionView | None:
    """Return the session to show in all details; None to show a table.

    It is the only live session, else the only session.
    """
    live_ones = [view for view in views if view.live]
    candidates = live_ones if len(live_ones) == 1 else views
    return candidates[0] if len(candidates) == 1 else None


def _table(invocation: Invocation, found: Sequence[SessionView], *, after: bool) -> None:
    """Print a table with one line for each session.

    Args:
        invocation: Tells whether to use colours.
        found: The sessions.
        after: Whether something was printed before; an empty line then comes first.
    """
    site = invocation.site()
    lines = session_text.session_list(
        [session_row(view) for view in found],
        site.folders.names(sessions_dir(site.project)),
        cols=render.columns(),
        colours=invocation.colours,
    )
    render.out("\n".join(["", *lines] if after else lines))
    render.note("details of one: agentmux status SESSION")


def logs(
    ctx: typer.Context,
    session: SessionArg = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep showing new lines.")] = False,
    lines: Annotated[
        int, typer.Option("--lines", "-n", min=0, metavar="N", help="Start with the last N lines.")
    ] = 50,
) -> int:
    """Show the log of a session's orchestrator."""
    invocation: Invocation = ctx.obj
    site, entry = one(invocation, session, command="logs SESSION")
    log = LogFile(entry.path / layout.LOG)
    for line in log.last(lines):
        render.out(session_text.log_line(line), verbatim=True)
    if not follow:
        return 0
    for _ in site.follow(entry.path, _EVERY_S):
        for line in log.more():
            render.out(session_text.log_line(line), verbatim=True)
        render.flush()
    return 0


def attach(ctx: typer.Context, session: SessionArg = None) -> None:
    """Show a live session in this terminal."""
    invocation: Invocation = ctx.obj
    site, entries = _named_or_going(invocation, session, command=_ATTACH)
    if len(entries) > 1:
        entries = _live(site, entries)
    there = len(entries) > 1 and invocation.interactive
    entry = (
        _pick_session(invocation, entries) if there else select_session(entries, command=_ATTACH)
    )
    attachment.attach(invocation, site, entry)


def _live(site: Site, entries: Sequence[SessionEntry]) -> Sequence[SessionEntry]:
    """Return the sessions that are live, and those whose tmux server does not answer.

    Raises:
        NotFoundError: No session is live.
    """
    lives = live(site, entries)
    live_ones = [each for each in entries if lives[each.path].live is not False]
    if not live_ones:
        raise NotFoundError("no session is live", hints=("agentmux resume", "agentmux list"))
    return live_ones


def _pick_session(invocation: Invocation, entries: Sequence[SessionEntry]) -> SessionEntry:
    """Let a person pick one of several live sessions in the full-screen picker.

    Raises:
        NotFoundError: The terminal cannot show the picker.
        KeyboardInterrupt: The person left the picker without a choice.
    """
    from agentmux.cli.picker import screen

    if not screen.can_draw(invocation.environ):
        return select_session(entries, command=_ATTACH)
    choice = screen.pick(invocation.world(read_only=True), entries, attaches=True)
    if choice is None:
        raise DeclinedError
    return choice.entry


def wait(
    ctx: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="As for `status`.")],
    goal: Annotated[
        str, typer.Option("--for", metavar="PHASE|END", help="A phase, done, failed or decision.")
    ] = "done",
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", min=0, metavar="S", help="Wait at most S seconds (exit 9)."),
    ] = None,
) -> int:
    """Wait until a session has reached a phase."""
    invocation: Invocation = ctx.obj
    if timeout is not None:
        require_seconds(timeout, hints=("to wait without a limit, leave --timeout out",))
    site, entry = resolve_session(invocation, session, command="wait SESSION")
    wanted = Goal(goal, entry.fields)
    (view,) = look(site, (entry,)).data
    if view.status in {SessionStatus.STOPPED, SessionStatus.INTERRUPTED} and not wanted.is_met(
        entry
    ):
        render.note(f"session {entry.name} has no orchestrator now; next: {next_step(view)}")
    reached = wait_for(site, entry, wanted, timeout_s=timeout, monotonic=monotonic)
    render.out(f"{reached.name}: {reached.phase}")
    return 0


def require_seconds(timeout: float, *, hints: tuple[str, ...] = ()) -> None:
    """Check that the value of ``--timeout`` is a finite number of seconds.

    Args:
        timeout: The value.
        hints: The hints of the error.

    Raises:
        UsageError: The value is infinite, or is not a number.
    """
    if not math.isfinite(timeout):
        raise UsageError(
            f"--timeout must be a finite number of seconds, not `{timeout}`", hints=hints
        )


def _named_or_going(
    invocation: Invocation, name: str | None, *, command: str
) -> tuple[Site, Sequence[SessionEntry]]:
    """Return the sessions to which an optional name refers, and the site of their project.

    Without a name, these are the session in which the command is run, else all sessions that are
    not done, else the newest one.

    Args:
        invocation: The global options.
        name: A name, a path, or the beginning of a name; None without one.
        command: The command that hints show, with ``SESSION`` in place of the name.

    Raises:
        NotFoundError: No session matches the name, or several do; or there is no session at all.
    """
    if name is not None:
        site, entry = resolve_session(invocation, name, command=command)
        return site, (entry,)
    site, own = invocation.site(), invocation.own_session()
    if own is not None:
        return site, (entry_at(site, own),)
    entries = list_sessions(site)
    if not entries:
        require_none_lost(site)
    going = tuple(entry for entry in entries if not entry.is_done)
    return site, going or entries[:1] or (select_session(()),)


def one(invocation: Invocation, name: str | None, *, command: str) -> tuple[Site, SessionEntry]:
    """Return the site of a session's project, and the session to which an optional name refers.

    Without a name, it is the session in which the command is run, else the only one that is not
    done, else the newest one.

    Args:
        invocation: The global options.
        name: A name, a path, or the beginning of a name; None without one.
        command: The command that hints show, with ``SESSION`` in place of the name.

    Raises:
        NotFoundError: No session matches, or several do; without a name, there is no session, or
            several are not done.
    """
    site, entries = _named_or_going(invocation, name, command=command)
    return site, select_session(entries, command=typed_command(invocation, name, command))
