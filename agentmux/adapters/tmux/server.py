"""A tmux server: its process, its sessions, and creating a session of AgentMux on it.

It does not use libtmux, whose import takes 148 ms, and which has no timeout, no stdin and no escape
for words that end in ``;``. Tests and rarely used commands may use libtmux.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from agentmux.adapters.system.polling import pause
from agentmux.adapters.system.processes.processes import start_time
from agentmux.adapters.tmux import commands as tmux_commands
from agentmux.adapters.tmux.client import (
    INSTALL,
    NAME_IN_USE,
    NO_SERVER,
    NO_TARGET,
    SERVER_WENT,
    TmuxClient,
    TmuxReply,
    call,
)
from agentmux.adapters.tmux.own_session import OwnTmux
from agentmux.errors import NAME_TAKEN, BlockedError, NotInstalledError
from agentmux.ports.tmux.terminal import (
    CreatedSession,
    Server,
    ServerListing,
    Target,
    TerminalError,
    TerminalGoneError,
    TmuxSession,
    quote_target,
)

MINIMUM_VERSION: Final = (3, 2)
"""The oldest supported version of tmux: the first with ``new-session -e`` and ``copy-mode -q``."""

SOCKET_PATH_MAX: Final = 107
"""The maximum length of a socket's path in bytes: ``sun_path`` (unix(7)) without the final NUL."""

_CREATE_TRIES: Final = 3
_CREATE_WAIT_S: Final = 30.0
"""The minimum time limit for creating a session: tmux would create it even after a timeout."""


def version(*, timeout_s: float = 5.0) -> str:
    """Check that tmux is new enough; return the output of ``tmux -V``, such as ``tmux 3.3a``.

    A version that cannot be read is accepted.

    Raises:
        NotInstalledError: tmux is not installed, or is older than `MINIMUM_VERSION`.
        TerminalUnreachableError: tmux does not answer within ``timeout_s`` seconds.
    """
    text = call(["tmux", "-V"], timeout_s=timeout_s).stdout.strip()
    numbers = tmux_commands.parse_version(text)
    if numbers is not None and numbers < MINIMUM_VERSION:
        minimum = ".".join(map(str, MINIMUM_VERSION))
        raise NotInstalledError(
            f"{text} is too old: {minimum} or newer is needed", hints=(INSTALL,)
        )
    return text


def socket_path(*, name: str | None = None, tmux_tmpdir: str | None = None) -> str:
    """Return the socket path of the server ``name`` (as in ``tmux -L``).

    None means the default server. ``tmux_tmpdir`` is the value of ``TMUX_TMPDIR``; None if it is
    not set.
    """
    folder = os.path.realpath(tmux_tmpdir) if tmux_tmpdir and Path(tmux_tmpdir).is_dir() else "/tmp"  # noqa: S108 (tmux's own)
    return f"{folder}/tmux-{os.getuid()}/{name or 'default'}"


class TmuxTerminal:
    """A tmux server; implements `agentmux.ports.tmux.terminal.Terminal`.

    It keeps no state about the server, so several objects may use the same server.
    """

    def __init__(
        self,
        socket: str | None = None,
        *,
        name: str | None = None,
        config_file: str | None = None,
        timeout_s: float = 5.0,
        tmux_tmpdir: str | None = None,
        client: TmuxClient | None = None,
    ) -> None:
        """Choose the server by socket path, else by name, else the user's default server.

        Args:
            socket: The absolute path of the socket.
            name: The server's name, as in ``tmux -L``.
            config_file: The configuration file to use if a call starts the server; None for the
                user's.
            timeout_s: The time limit of each call, in seconds; creating a session may take longer.
            tmux_tmpdir: The value of ``TMUX_TMPDIR``; None if it is not set.
            client: The client to use; if given, the other arguments are ignored.
        """
        self._client = client or TmuxClient(
            socket=socket or socket_path(name=name, tmux_tmpdir=tmux_tmpdir),
            config_file=config_file,
            timeout_s=timeout_s,
        )

    @property
    def socket(self) -> str:
        return self._client.socket

    def server(self) -> Server:
        """Return the server that answers at the socket; its pid is 0 if no server is running.

        Raises:
            TerminalUnreachableError: The server does not answer, or its answer cannot be parsed.
        """
        reply = self._ask("display-message", "-p", "#{pid}")
        with self._client.parsing():
            return self._server(int(reply.stdout.strip() or 0) if reply else 0)

    def sessions(self) -> tuple[TmuxSession, ...]:
        """Return every session of the server, including the user's own.

        Empty if no server is running.

        Raises:
            TerminalUnreachableError: The server does not answer, or its answer cannot be parsed.
        """
        return self.listing().sessions

    def listing(self) -> ServerListing:
        """Return the server (pid 0 if none is running) and its sessions, with one call of tmux.

        Raises:
            TerminalUnreachableError: The server does not answer, or its answer cannot be parsed.
        """
        reply = self._ask(*tmux_commands.join(tmux_commands.LISTING))
        with self._client.parsing():
            pid, sessions = tmux_commands.parse_listing(reply.stdout) if reply else (0, ())
        return ServerListing(server=self._server(pid), sessions=sessions)

    def own(self, target: Target) -> OwnTmux:
        return OwnTmux(self._client, target)

    def create_session(
        self,
        *,
        name: str,
        uuid: str,
        path: str,
        cwd: Path,
        size: tuple[int, int],
        argv: Sequence[str],
    ) -> CreatedSession:
        """Create a detached tmux session whose first pane, the monitor, runs ``argv``.

        If no server runs at the socket, this starts one.

        Args:
            name: The tmux session's name.
            uuid: Set on the tmux session, to mark it as ours.
            path: The session's directory; stored in an option of the tmux session.
            cwd: The directory in which ``argv`` runs.
            size: Columns and rows.
            argv: The monitor's command line; at least two words, so that tmux starts no shell.

        Returns:
            The tmux session, its server and the id of the monitor's pane. Its ``warnings`` are
            sentences for the user, such as one about mistakes in their ``tmux.conf``.

        Raises:
            BlockedError: The name is taken (reason `NAME_TAKEN`).
            TerminalError: tmux refused, the user's settings would end the session, or the socket's
                folder cannot be used.
        """
        self._make_folder()
        commands = tmux_commands.create(
            name=name, uuid=uuid, path=path, cwd=str(cwd), size=size, argv=argv
        )
        reply = self._create(tmux_commands.join(commands), uuid)
        if reply.says((NAME_IN_USE,)):
            raise BlockedError(
                f"a tmux session named {name} exists already",
                reason=NAME_TAKEN,
                hints=(f"look at it: tmux attach -t {quote_target(name)}",),
            )
        words = tmux_commands.created_line(reply.stdout).split("\t")
        # If a hook renamed the session after it was marked, find it by its uuid.
        if reply.returncode != 0 and not (words[0] and self._has_marked(uuid)):
            if words[0]:
                self._client.run(
                    *tmux_commands.join([tmux_commands.kill_on(int(words[4]), words[0])])
                )
                self._raise_ended(reply.stdout)
            self._client.expect(reply)
        with self._client.parsing():
            session, real_name, window, pane, pid, exits, mode, files = words
            created = CreatedSession(
                session=TmuxSession(id=session, name=real_name, uuid=uuid, path=path),
                pane=pane,
                server=self._server(int(pid)),
                warnings=_mistakes(files) if mode == tmux_commands.VIEW else (),
            )
        if exits == "1" and not self._client.run("list-clients").stdout:
            self.own(created.target).kill()
            raise TerminalError(
                f"the tmux server at {self.socket} ends when no client is attached",
                hints=("remove `exit-unattached on` from your tmux.conf",),
            )
        try:
            self.own(created.target).keep_layout(window)
        except TerminalGoneError:
            self._raise_ended(reply.stdout)
            raise
        return created

    def _has_marked(self, uuid: str) -> bool:
        return any(each.uuid == uuid for each in self.sessions())

    def _raise_ended(self, created: str) -> None:
        """Raise an error that names the user's hook that may have ended a new session, if any.

        Args:
            created: The output of the commands of `commands.create`, which lists the hooks.

        Raises:
            TerminalError: A global hook may have ended the session.
        """
        for name, command in tmux_commands.ending_hooks(created):
            client = shlex.join(tmux_commands.client_argv(self.socket))
            unset = f"{client} set-hook -gu {shlex.quote(name)}"
            raise TerminalError(
                f"your tmux hook {name} ends new sessions: `{command}`",
                hints=(f"remove it from your tmux.conf; from a server that runs: {unset}",),
            )

    def _server(self, pid: int) -> Server:
        return Server(socket=self.socket, pid=pid, started=start_time(pid))

    def _ask(self, *words: str) -> TmuxReply | None:
        """Run a command that only reads.

        Return its reply, or None if there is no server or session. If the server ended during the
        call, it is repeated once: the second call finds no server.
        """
        reply = self._client.run(*words)
        if reply.says(SERVER_WENT):
            reply = self._client.run(*words)
        return None if reply.says((*NO_SERVER, *NO_TARGET)) else self._client.expect(reply)

    def _create(self, words: Sequence[str], uuid: str) -> TmuxReply:
        """Run the words that create the session ``uuid``; return the last reply, even a failure.

        If the session does not exist afterwards, it tries again a few times in two cases: a server
        at the socket was just ending and dropped the call, or the session ended before it was
        marked. (With the user's ``destroy-unattached``, it ends when a client leaves while a hook
        still runs.)
        """
        limit = max(self._client.timeout_s, _CREATE_WAIT_S)
        reply = self._client.run(*words, timeout_s=limit)
        for _ in range(_CREATE_TRIES):
            if reply.says(SERVER_WENT):
                pause(0.05)  # no event for the end of the old server's socket
                gone = ""
            elif reply.returncode != 0 and (line := tmux_commands.created_line(reply.stdout)):
                gone = line.partition("\t")[0]
            else:
                break
            if any(each.uuid == uuid or each.id == gone for each in self.sessions()):
                break
            reply = self._client.run(*words, timeout_s=limit)
        return reply

    def _make_folder(self) -> None:
        """Create the socket's folder with the permissions that tmux gives it.

        Raises:
            TerminalError: The socket's path is too long, or the folder cannot be created or is
                unsafe.
        """
        if len(os.fsencode(self.socket)) > SOCKET_PATH_MAX:
            raise TerminalError(
                f"the tmux socket's path is longer than {SOCKET_PATH_MAX} bytes: {self.socket}",
                hints=("set a shorter TMUX_TMPDIR",),
            )
        folder = Path(self.socket).parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            facts = folder.stat()
        except OSError as error:
            raise TerminalError(f"cannot make {folder}: {error.strerror}") from error
        if facts.st_uid != os.getuid() or facts.st_mode & (stat.S_IWGRP | stat.S_IRWXO):
            raise TerminalError(
                f"{folder} has unsafe permissions",
                hints=(f"fix it: chmod 700 {shlex.quote(str(folder))}",),
            )


def _mistakes(files: str) -> tuple[str, ...]:
    """Return a warning that tmux found mistakes in its configuration files, with how to see them.

    Args:
        files: The paths of the configuration files, separated by commas, as tmux lists them.
    """
    words = [word for file in files.split(",") if file for word in ("-f", file)]
    look = shlex.join(("tmux", "-L", "mistakes", *words, "new-session"))
    return (f"tmux found mistakes in your configuration, and shows them if you run: {look}",)
