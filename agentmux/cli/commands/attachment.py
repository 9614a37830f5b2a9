"""Put this terminal in front of a tmux session, or say what to type instead."""

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
    """Show the session in this terminal, and end with the status of its tmux client.

    Raises:
        AgentmuxError: It is not live, or this is no terminal to show it in.
    """
    target = require_live(entry, live(site, (entry,))[entry.path])
    argv = attach_argv(target, face.environ, on_terminal=face.interactive)
    raise typer.Exit(go(face, site, entry.path, argv))


def go(face: Face, site: Site, path: Path, argv: tuple[str, ...]) -> int:
    """Show the session at ``path`` in this terminal, by ``argv``; then say how it stands.

    Inside tmux the client that is there goes to the session, and this does not wait for it.
    """
    render.flush()
    if face.environ.get("TMUX"):
        become(argv)
    status = foreground.run(argv, face.environ)
    (view,) = look(site, (entry_at(site, path),)).data
    render.out("\n".join(render.standing(view)))
    return status


def require_live(entry: SessionEntry, found: Liveness) -> Target:
    """Return where the session's tmux session is.

    Raises:
        BlockedError: It is another one's, or this directory is a copy of a live session.
        AgentmuxError: There is none, or it cannot be reached.
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
    """Return the tmux client to become; it shows this session, or fails.

    Inside the same server it switches the client that is there; inside another one it refuses,
    since a tmux in a tmux takes its own prefix key away.

    Raises:
        UsageError: This is no terminal for it; the hint is what to type in one.
    """
    from agentmux.adapters.tmux.commands import client_of, goes_to  # noqa: PLC0415 (only who goes)

    socket = target.server.socket
    to_attach = (*client_of(socket), "attach-session", "-t", target.session)
    outer = environ.get("TMUX", "").rsplit(",", 2)[0]
    if not on_terminal:
        raise UsageError("there is no terminal here to attach to", hints=(shlex.join(to_attach),))
    if not outer:
        return (*client_of(socket), *goes_to(target, "attach-session"))
    if os.path.realpath(outer) == os.path.realpath(socket):
        return (*client_of(socket), *goes_to(target, "switch-client"))
    raise UsageError(
        f"this terminal is inside another tmux server ({outer})",
        hints=(f"detach from it first, then: {shlex.join(to_attach)}",),
    )


def require_place(face: Face, socket: str, *, asked: bool | None) -> None:
    """Check, before a session is begun, that this terminal can show it where ``asked`` to.

    Raises:
        UsageError: This is no terminal for it.
    """
    if not asked:
        return
    try:
        nowhere = Target(server=Server(socket=socket, pid=0, started=0), session="", uuid="")
        attach_argv(nowhere, face.environ, on_terminal=face.interactive)
    except UsageError as error:
        hint = "say --detach, and in a terminal: agentmux attach"
        raise UsageError(error.message, hints=(hint,)) from None


def become(argv: tuple[str, ...]) -> NoReturn:
    """Replace this process by a program.

    Raises:
        MissingError: It is not on this machine.
    """
    try:
        os.execvp(argv[0], argv)  # noqa: S606 (that is what attaching means)
    except OSError as error:
        raise MissingError(f"{argv[0]} cannot be started: {error.strerror}") from None
