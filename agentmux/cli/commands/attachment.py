"""Attaches this terminal to a session's tmux session, or says what to type instead."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import typer

from agentmux.adapters.system import foreground
from agentmux.adapters.wake.pipe import poke
from agentmux.app.delivery.kept_remote import kept_remote
from agentmux.app.session.lookup import entry_at, live, own_tmux
from agentmux.app.views.status import look
from agentmux.cli import render
from agentmux.errors import AgentmuxError, BlockedError, MissingError, NotFoundError, UsageError
from agentmux.ports.terminal import Server, Target

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux.app.session.lookup import Liveness, SessionEntry
    from agentmux.app.world import Site
    from agentmux.cli.face import Face


def attach(face: Face, site: Site, entry: SessionEntry) -> NoReturn:
    """Show a session in this terminal; then exit with the exit status of the tmux client.

    Raises:
        AgentmuxError: The session is not live, or this terminal cannot show it.
        typer.Exit: The tmux client has ended.
    """
    target = require_live(entry, live(site, (entry,))[entry.path])
    raise typer.Exit(go(face, site, entry.path, target))


def go(face: Face, site: Site, path: Path, target: Target) -> int:
    """Show a session in this terminal until the person leaves it; then print its state.

    Inside tmux the person's client shows the session, and this process waits until it comes back
    from there. Where no pane waits with it, as in a popup of tmux, it does not wait, and prints
    nothing.

    Args:
        face: The global options.
        site: The session's project.
        path: Directory of the session.
        target: Its tmux session.

    Returns:
        The exit status for the shell.

    Raises:
        UsageError: This terminal cannot show the session.
        TerminalError: The session has just ended, or no client shows this process.
    """
    argv = attach_argv(target, face.environ, on_terminal=face.interactive)
    render.flush()
    status = 0
    if not face.environ.get("TMUX"):
        status = foreground.run(argv, face.environ)
    elif not _visited(site, path, target, face.environ):
        return 0
    (view,) = look(site, (entry_at(site, path),)).data
    remote = partial(kept_remote, site, environ=face.environ)
    render.out("\n".join(render.standing(view, remote)))
    return status


def _visited(site: Site, path: Path, target: Target, environ: Mapping[str, str]) -> bool:
    """Have the person's client show the session; return whether it was waited for."""
    from agentmux.adapters.tmux.visit import Visit  # noqa: PLC0415 (libtmux: only who is in tmux)

    visit = Visit(target, environ)
    visit.begin()
    poke(path)  # the foot of the monitor says how to come back
    if not environ.get("TMUX_PANE"):
        return False
    back = site.terminal(target.server.socket).own(target).leave_keys().back
    render.note(f"your tmux client shows it; back here: {back or 'tmux switch-client -l'}")
    render.flush()
    visit.wait()
    return True


def require_live(entry: SessionEntry, found: Liveness) -> Target:
    """Return the tmux session of a session, with its server.

    Args:
        entry: The session.
        found: What was found out about the session's tmux session.

    Raises:
        BlockedError: The tmux session cannot be reached, is not the session's own, or belongs to
            the session of which this directory is a copy.
        NotFoundError: There is no tmux session.
        AgentmuxError: It is unknown whether there is a tmux session; tmux may be missing.
    """
    target = own_tmux(entry, found)
    if target is not None:
        return target
    if found.live is None:
        raise found.error or AgentmuxError(found.because)
    if found.live:
        raise BlockedError(
            f"session {entry.name} cannot be reached: {found.because}",
            reason="session_live",
            hints=found.way_back,
        )
    if isinstance(found.error, MissingError):
        raise found.error
    then = "show" if entry.is_done else "resume"
    raise NotFoundError(
        f"session {entry.name} is not live", hints=(f"agentmux {then} {entry.name}",)
    )


def attach_argv(
    target: Target, environ: Mapping[str, str], *, on_terminal: bool
) -> tuple[str, ...]:
    """Return the command line of a tmux client that shows a session.

    Inside the session's tmux server, the command switches the current client. Inside another
    server, attaching is refused: the outer tmux would take the inner one's prefix key away.

    Args:
        target: The tmux session to show.
        environ: Environment of this process; ``$TMUX`` tells whether it is inside tmux.
        on_terminal: Whether this process has a terminal.

    Raises:
        UsageError: This terminal cannot show the session; the hint says what to type in one that
            can.
    """
    from agentmux.adapters.tmux.commands import client_of, goes_to  # noqa: PLC0415 (only who goes)

    socket = target.server.socket
    to_attach = (*client_of(socket), "attach-session", "-t", target.session)
    outer = environ.get("TMUX", "").rsplit(",", 2)[0]
    if not on_terminal:
        raise UsageError("cannot attach without a terminal", hints=(shlex.join(to_attach),))
    if not outer:
        return (*client_of(socket), *goes_to(target, "attach-session"))
    if os.path.realpath(outer) == os.path.realpath(socket):
        return (*client_of(socket), *goes_to(target, "switch-client"))
    raise UsageError(
        f"this terminal is inside another tmux server ({outer})",
        hints=(f"detach from that server, then: {shlex.join(to_attach)}",),
    )


def require_place(face: Face, socket: str, *, asked: bool | None) -> None:
    """Check that this terminal can show a session that is about to be started.

    Args:
        face: The global options.
        socket: Socket of the tmux server that the session will be on.
        asked: Value of ``--attach``; unless it is True, nothing is checked.

    Raises:
        UsageError: This terminal cannot show the session.
    """
    if not asked:
        return
    try:
        nowhere = Target(server=Server(socket=socket, pid=0, started=0), session="", uuid="")
        attach_argv(nowhere, face.environ, on_terminal=face.interactive)
    except UsageError as error:
        hint = "use --detach, and type in a terminal: agentmux attach"
        raise UsageError(error.message, hints=(hint,)) from None
