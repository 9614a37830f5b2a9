"""``stop``: ends a session so that it can be resumed later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer

from agentmux.adapters.system.processes import processes
from agentmux.adapters.system.processes.lost_work import end_lost_work
from agentmux.adapters.wake.pipe import STOP, poke
from agentmux.app.commands.end.stop import stop
from agentmux.app.session.search.lookup import live, require_live, select_session, users_panes
from agentmux.cli import render
from agentmux.cli.ask.person import YesOpt, person_at
from agentmux.cli.ask.session_argument import resolve_world, unfinished_sessions
from agentmux.cli.ask.shared_options import SessionArg
from agentmux.cli.commands.look import orphan_agents

if TYPE_CHECKING:
    from agentmux.cli.invocation import Invocation
    from agentmux.ports.tmux.terminal import OwnSession

_COMMAND: Final = "stop SESSION"


def stop_session(ctx: typer.Context, session: SessionArg = None, yes: YesOpt = False) -> int:
    """Stop a session: keep the last screens, end its agents, kill its tmux session.

    Panes that you opened in its tmux session yourself stay, in a tmux session of another name.
    Processes that agents have detached from it are named, and ended if you agree.
    """
    invocation: Invocation = ctx.obj
    world, entry = resolve_world(invocation, session, command=_COMMAND)
    if entry is None:
        entries = unfinished_sessions(world, command=_COMMAND)
        lives = live(world, entries)
        running = [each for each in entries if lives[each.path].live is not False]
        entry = select_session(running or entries, command=_COMMAND)

    def tmux() -> OwnSession:
        target = require_live(entry, live(world, (entry,))[entry.path])
        # A killed orchestrator has left its programs running, and they could still commit.
        ended = end_lost_work(entry.text("session_id"), entry.path)
        if ended:
            render.note(f"ended what its orchestrator had left at work: {ended}")
        return world.terminal(target.server.socket).own(target)

    stopped = stop(
        world,
        entry.path,
        tmux,
        ask=lambda path: poke(path, STOP),
        wait_gone=lambda pid, started, limit: (
            not processes.left_after([(pid, started)], wait_s=limit)
        ),
    )
    for each in filter(None, (stopped.stays, stopped.unsaved)):
        render.note(f"warning: {each}")
    forced = "" if stopped.by == "orchestrator" else " by force"
    render.out(f"stopped {entry.name}{forced}" + (", which is done" if entry.is_done else ""))
    stays = users_panes(world, entry)
    if stays:
        render.out(stays)
    if not entry.is_done:
        render.out(f"to resume it: agentmux resume {entry.name}")
    orphan_agents.offer_to_end(person_at(invocation, yes=yes), entry, yes=yes)
    return 0
