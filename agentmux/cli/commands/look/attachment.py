"""Attaches this terminal to a session's tmux session, or says what to type instead."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Mapping
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Final, NoReturn

import typer

from agentmux.adapters.system.processes import foreground
from agentmux.adapters.system.processes.processes import is_alive, left_after
from agentmux.adapters.wake.pipe import poke
from agentmux.app.session.search.lookup import SessionEntry, entry_at, live, require_live
from agentmux.app.views.session_words import lines_after_detach
from agentmux.app.views.status import look
from agentmux.cli import render
from agentmux.core.names.status_labels import SessionStatus
from agentmux.errors import AgentmuxError, UsageError
from agentmux.ports.tmux.terminal import OwnSession, Server, Target, TerminalError

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux.app.world import Site
    from agentmux.cli.invocation import Invocation

_UNSUITABLE: Final = re.compile(
    r"missing or unsuitable terminal|terminal does not support|can't find terminfo"
)
"""Matches tmux's errors about a terminal with no description here, or with an unusable one."""

_END_S: Final = 10.0
"""How many seconds to wait for the end of an orchestrator that has lost its tmux session."""


def attach(invocation: Invocation, site: Site, entry: SessionEntry) -> NoReturn:
    """Show a session in this terminal; then exit with the exit status of the tmux client.

    Raises:
        AgentmuxError: The session is not live, or this terminal cannot show it.
        typer.Exit: The tmux client has ended.
    """
    target = require_live(entry, live(site, (entry,))[entry.path])
    raise typer.Exit(go(invocation, site, entry.path, target))


def go(invocation: Invocation, site: Site, path: Path, target: Target) -> int:
    """Show a session in this terminal until the person leaves it; then print its state.

    Inside tmux, the person's tmux client switches to the session, and this process waits until the
    client comes back. This process does not wait, and prints nothing, if it runs in no pane, as in
    a popup of tmux, or in a pane of the session itself; the client then switches to the monitor.

    Args:
        invocation: The global options.
        site: The session's project.
        path: Directory of the session.
        target: Its tmux session.

    Returns:
        The exit status for the shell.

    Raises:
        UsageError: This terminal cannot show the session.
        TerminalError: The session has just ended, or no client shows this process.
    """
    argv = attach_argv(target, invocation.environ, on_terminal=invocation.interactive)
    render.flush()
    status = 0
    if _place(target.server, invocation.environ) is not _Place.INSIDE:
        # tmux refuses to attach where $TMUX is set, even if its server has ended.
        environ = {name: text for name, text in invocation.environ.items() if name != "TMUX"}
        status = _client(argv, environ, path.name)
    elif not _visit_session(site, path, target, invocation.environ):
        return 0
    has_ended = _await_end(site, path)
    (view,) = look(site, (entry_at(site, path),)).data
    is_cut_off = view.live is False and view.status != SessionStatus.DONE
    if is_cut_off and (status or not has_ended):
        # An orchestrator that has not ended yet is no sign that the session runs.
        render.note(f"tmux has ended under session {view.session}; its work is saved")
        render.note(f"to go on: agentmux resume {view.session}")
        return status
    from agentmux.app.delivery.steps.outcome import describe_ways_to_get

    world = partial(invocation.world, site.project, read_only=True)
    render.out("\n".join(lines_after_detach(view, partial(describe_ways_to_get, world, path))))
    return status


def _client(argv: tuple[str, ...], environ: Mapping[str, str], session: str) -> int:
    """Run a tmux client in this terminal; return its exit status.

    Raises:
        TerminalError: tmux does not know this kind of terminal.
    """
    with tempfile.TemporaryFile() as file:
        status = foreground.run(argv, environ, errors=file.fileno())
        file.seek(0)
        output = file.read().decode(errors="replace").strip()
    if status and _UNSUITABLE.search(output):
        term = environ.get("TERM", "")
        known = "xterm-256color" if term != "xterm-256color" else "xterm"
        copied = f"infocmp -x {shlex.quote(term)} | ssh HOST tic -x -"
        raise TerminalError(
            f"tmux cannot use this kind of terminal, TERM={shlex.quote(term)}: {output}",
            hints=(
                f"TERM={known} agentmux attach {session}",
                f"or, on the machine that knows it: {copied}",
            ),
        )
    if output:
        render.note(output)
    return status


def _await_end(site: Site, path: Path) -> bool:
    """Wait for the orchestrator of a session whose tmux session is gone; return whether it ended.

    The orchestrator records the end of the session; only then the person may be told about it.
    """
    entry = entry_at(site, path)
    liveness = live(site, (entry,))[path]
    if liveness.live is not False or not liveness.locked or liveness.orchestrator is None:
        return not liveness.locked
    return not left_after([(liveness.orchestrator, 0)], wait_s=_END_S)


def _visit_session(site: Site, path: Path, target: Target, environ: Mapping[str, str]) -> bool:
    """Let the person's tmux client show the session; return whether its return was awaited."""
    from agentmux.adapters.tmux.visit import Visit

    visit = Visit(target, environ)
    own = site.terminal(target.server.socket).own(target)
    if visit.is_showing_session():
        _go_to_monitor(own, path.name)
        return False
    visit.begin()
    poke(path)  # the foot of the monitor says how to come back
    if not environ.get("TMUX_PANE"):
        return False
    back = own.leave_keys().back
    render.note(f"your tmux client shows it; back here: {back or 'tmux switch-client -l'}")
    render.flush()
    visit.wait()
    return True


def _go_to_monitor(own: OwnSession, name: str) -> None:
    """Let the person's tmux client, which shows the session already, show the monitor.

    Raises:
        TerminalError: The monitor is gone.
    """
    monitor = next((pane.id for pane in own.panes() if pane.is_monitor), "")
    if not own.go_to(monitor):
        raise TerminalError(
            "your tmux client shows the session already, but its monitor is gone",
            hints=(f"agentmux resume --reattach {name}",),
        )


def attach_argv(
    target: Target, environ: Mapping[str, str], *, on_terminal: bool
) -> tuple[str, ...]:
    """Return the command line of a tmux client that shows a session in this terminal; run nothing.

    If this process runs inside the session's tmux server, the command switches the present client.
    Inside another tmux server, attaching is refused, because the outer tmux would intercept the
    prefix key of the inner one. A ``$TMUX`` of a server that has ended does not count.

    Args:
        target: The tmux session to show.
        environ: Environment of this process; ``$TMUX`` tells whether it is inside tmux.
        on_terminal: Whether this process has a terminal.

    Raises:
        UsageError: This terminal cannot show the session; the hints say what to type.
    """
    from agentmux.adapters.tmux.commands import client_argv, show_session_command

    client = client_argv(target.server.socket)
    to_attach = shlex.join((*client, "attach-session", "-t", target.session))
    if not on_terminal:
        raise UsageError("cannot attach without a terminal", hints=(f"in one: {to_attach}",))
    match _place(target.server, environ):
        case _Place.OUTSIDE:
            return (*client, *show_session_command(target, "attach-session"))
        case _Place.INSIDE:
            return (*client, *show_session_command(target, "switch-client"))
        case _Place.ELSEWHERE:
            outer = environ["TMUX"].rsplit(",", 2)[0]
            raise UsageError(
                f"this terminal is inside another tmux server ({outer})",
                hints=(
                    f"in a terminal outside that server: {to_attach}",
                    f"or here, each tmux with its own prefix key: env -u TMUX {to_attach}",
                    *_same_server(outer),
                ),
            )


def _same_server(outer: str) -> tuple[str, ...]:
    """Return a hint on how to start sessions on the server with the socket ``outer``.

    Empty if the socket is not in tmux's default folder.
    """
    folder, name = os.path.split(outer)
    if not folder.endswith(f"/tmux-{os.getuid()}"):
        return ()
    return (
        f"for new sessions on that server: `tmux: {{socket_name: {name}}}` in the configuration",
    )


class _Place(Enum):
    """Where this process runs, as seen from a tmux server."""

    OUTSIDE = "in no tmux"
    INSIDE = "in a pane of the server"
    ELSEWHERE = "in a pane of another server"


def _place(server: Server, environ: Mapping[str, str]) -> _Place:
    """Return where this process runs; the pid of ``server`` is 0 if that does not run yet."""
    outer, _, rest = environ.get("TMUX", "").partition(",")
    pid = rest.partition(",")[0]
    if not outer or not pid.isdecimal() or not is_alive(int(pid)):
        return _Place.OUTSIDE
    same = os.path.realpath(outer) == os.path.realpath(server.socket)
    return _Place.INSIDE if same and server.pid in {0, int(pid)} else _Place.ELSEWHERE


def require_place(invocation: Invocation, socket: str, *, asked: bool | None) -> None:
    """Check that this terminal can show a session that is about to be started.

    Args:
        invocation: The global options.
        socket: Socket of the tmux server that the session will be on.
        asked: Value of ``--attach``; unless it is True, nothing is checked.

    Raises:
        UsageError: This terminal cannot show the session.
    """
    if not asked:
        return
    try:
        nowhere = Target(server=Server(socket=socket, pid=0, started=0), session="", uuid="")
        attach_argv(nowhere, invocation.environ, on_terminal=invocation.interactive)
    except UsageError as error:
        hint = "use --detach, and type in a terminal: agentmux attach"
        raise UsageError(error.message, hints=(hint,)) from None


def note_not_attached(error: AgentmuxError) -> None:
    """Print why this terminal does not show a session that runs, and what to type."""
    render.note(f"not attached: {error.message}")
    for hint in error.hints:
        render.note(f"hint: {hint}")
