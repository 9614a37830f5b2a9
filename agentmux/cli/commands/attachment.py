"""Attaches this terminal to a session's tmux session, or says what to type instead."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

import typer

from agentmux.adapters.system import foreground
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
    """Show the session in this terminal, and exit with the status of the tmux client.

    Raises:
        AgentmuxError: The session is not live, or this terminal cannot show it.
    """
    target = require_live(entry, live(site, (entry,))[entry.path])
    argv = attach_argv(target, face.environ, on_terminal=face.interactive)
    raise typer.Exit(go(face, site, entry.path, argv))


def go(face: Face, site: Site, path: Path, argv: tuple[str, ...]) -> int:
    """Run the tmux client ``argv``, then print the state of the session at ``path``.

    Inside tmux, the client that is there switches to the session, and this process does not wait.
    """
    render.flush()
    if face.environ.get("TMUX"):
        become(argv)
    status = foreground.run(argv, face.environ)
    (view,) = look(site, (entry_at(site, path),)).data
    render.out("\n".join(render.standing(view)))
    return status


def require_live(entry: SessionEntry, found: Liveness) -> Target:
    """Return the server and the tmux session of a live session.

    Raises:
        BlockedError: Its tmux session cannot be reached, belongs to somebody else, or belongs to
            the session that this directory is a copy of.
        AgentmuxError: There is no tmux session, or it is unknown whether there is one.
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
    """Return the argv of a tmux client that shows the session.

    Inside the same tmux server, it switches the current client. Inside another server, attaching is
    refused, because a tmux inside a tmux takes the prefix key away from the inner one.

    Raises:
        UsageError: This terminal cannot show the session; the hint says what to type in one.
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
    """Check, before a session is started, that this terminal can show it; only if ``asked``.

    Raises:
        UsageError: This terminal cannot show it.
    """
    if not asked:
        return
    try:
        nowhere = Target(server=Server(socket=socket, pid=0, started=0), session="", uuid="")
        attach_argv(nowhere, face.environ, on_terminal=face.interactive)
    except UsageError as error:
        hint = "use --detach, and type in a terminal: agentmux attach"
        raise UsageError(error.message, hints=(hint,)) from None


def become(argv: tuple[str, ...]) -> NoReturn:
    """Replace this process by a program.

    Raises:
        MissingError: The program cannot be started.
    """
    try:
        os.execvp(argv[0], argv)  # noqa: S606 (that is what attaching means)
    except OSError as error:
        raise MissingError(f"{argv[0]} cannot be started: {error.strerror}") from None
