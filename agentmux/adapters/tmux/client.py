"""Runs the ``tmux`` program; every call to any tmux server goes through this module.

`server.TmuxTerminal` lists a server's sessions and creates sessions. `own_session.OwnTmux` works
in one of our own sessions, and checks in every call that it reaches that very session.
"""

from __future__ import annotations

import os
import shlex
import socket
import struct
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from agentmux.adapters.system.processes.child import Child
from agentmux.adapters.tmux.commands import in_short
from agentmux.core.codec.frozen import dataclass, replace
from agentmux.errors import NotInstalledError
from agentmux.ports.tmux.terminal import (
    ScreensUnreadableError,
    TerminalError,
    TerminalUnreachableError,
)

INSTALL: Final = "install it: `apt install tmux`, `dnf install tmux` or `brew install tmux`"

# Parts of tmux's error messages (client.c, cmd-find.c, spawn.c, cmd-join-pane.c), unchanged from
# 3.2 to 3.8.
NO_SERVER: Final = ("no server running on", "No such file or directory", "Connection refused")
SERVER_WENT: Final = ("server exited unexpectedly", "lost server", "server exited")
NAME_IN_USE: Final = "duplicate session"
NO_TARGET: Final = (
    "can't find",
    "no such session",
    "no such window",
    "no such pane",
    "no current",
)
NO_SPACE: Final = ("no space for", "too small")
TOO_LONG: Final = ("command too long", "failed to send command")
_OTHER_VERSION: Final = "protocol version mismatch"
_CREDENTIALS: Final = struct.Struct("3i")
"""The pid, user and group of a process, as Linux tells them; see unix(7)."""
_LISTENER_S: Final = 0.2
_UNREACHABLE: Final = ("error connecting to", "access not allowed", _OTHER_VERSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class TmuxReply:
    """The result of one call of tmux: exit status, standard output and standard error."""

    returncode: int
    stdout: str
    stderr: str

    def says(self, words: Sequence[str]) -> bool:
        """Return whether the call failed with an error message that contains one of ``words``."""
        return self.returncode != 0 and any(word in self.stderr for word in words)


@dataclass(frozen=True, slots=True, kw_only=True)
class TmuxClient:
    """Runs the tmux program for the server at one socket: `run` makes one call.

    Attributes:
        socket: The absolute path of the socket.
        config_file: The configuration file that a server started by a call reads; None for the
            user's own.
        timeout_s: The time limit of each call, in seconds.
    """

    socket: str
    config_file: str | None = None
    timeout_s: float = 5.0

    def run(
        self, *words: str, stdin: str | None = None, timeout_s: float | None = None
    ) -> TmuxReply:
        """Run tmux once and return its reply; it does not raise if tmux reports a failure.

        ``words`` are those of one call, as `commands.join` returns them; tmux gets them unchanged,
        except for short forms of the commands' names. ``timeout_s`` replaces the client's own time
        limit. ``stdin`` is tmux's whole input. A failure without a message comes from a user's
        hook, and counts as success.

        Raises:
            NotInstalledError: tmux is not installed.
            TerminalUnreachableError: tmux did not answer in time; it may still carry the command
                out.
        """
        config = ["-f", self.config_file] if self.config_file else []
        argv = ["tmux", "-u", *config, "-S", self.socket, *in_short(words)]
        reply = call(argv, stdin=stdin, timeout_s=timeout_s or self.timeout_s)
        if reply.returncode > 0 and not reply.stderr:
            # tmux prints a message for each failure of its own. Without one, the status is that of
            # a shell command in a hook of the user.
            return replace(reply, returncode=0)
        return reply

    @contextmanager
    def parsing(self) -> Iterator[None]:
        """Turn a ValueError of the ``with`` block, which parses an answer of tmux, into our error.

        Raises:
            ScreensUnreadableError: The block raised ValueError.
        """
        try:
            yield
        except ValueError as error:
            raise self.unreadable(error) from error

    def unreadable(self, why: object) -> ScreensUnreadableError:
        """Return the error for an answer of tmux that cannot be parsed; do not raise it.

        ``why``, an error or a text, becomes the end of its message.
        """
        return ScreensUnreadableError(
            f"the answer of the tmux server at {self.socket} cannot be parsed: {why}",
            hints=(
                "see the version (3.2 to 3.8 are known to work): tmux -V",
                "see whether a hook in your tmux.conf prints something: tmux show-hooks -g",
            ),
        )

    def expect(self, reply: TmuxReply) -> TmuxReply:
        """Check that the call succeeded; return ``reply`` unchanged.

        Raises:
            TerminalUnreachableError: The server does not answer.
            TerminalError: tmux refused the command.
        """
        if reply.returncode == 0:
            return reply
        words = reply.stderr.strip() or f"exit status {reply.returncode}"
        if reply.says((*NO_SERVER, *SERVER_WENT, *_UNREACHABLE)):
            hint = f"look at it: `tmux -S {shlex.quote(self.socket)} list-sessions`"
            if reply.says((_OTHER_VERSION,)):
                pid = _find_listener(self.socket)
                # Linux lets the program of a process be run even when its file was replaced.
                way = f"/proc/{pid}/exe -S {shlex.quote(self.socket)} list-sessions"
                which = f"the one that started them, as in: {way}" if pid else "the old one"
                hint = f"tmux was upgraded: end the sessions there with {which}"
            raise TerminalUnreachableError(
                f"the tmux server at {self.socket} cannot be reached: {words}", hints=(hint,)
            )
        raise TerminalError(f"tmux refused: {words}")


def call(argv: list[str], *, timeout_s: float, stdin: str | None = None) -> TmuxReply:
    """Run ``argv``, a tmux command line that begins with ``tmux``, and return the reply.

    It does not raise if tmux reports a failure. ``stdin`` is tmux's whole input; None for none.

    Raises:
        NotInstalledError: tmux is not installed.
        TerminalUnreachableError: tmux did not answer within ``timeout_s`` seconds.
    """
    try:
        done = Child(
            argv=[_encode_word(word) for word in argv],
            stdin=(stdin or "").encode(),
            limit_s=timeout_s,
        ).run()
    except FileNotFoundError:
        raise NotInstalledError("tmux is not installed", hints=(INSTALL,)) from None
    except subprocess.TimeoutExpired:
        pid = _find_listener(argv[argv.index("-S") + 1]) if "-S" in argv else None
        raise TerminalUnreachableError(
            f"tmux did not answer within {timeout_s:g} s: {' '.join(argv[:5])}",
            hints=(f"if the server was stopped, continue it: kill -CONT {pid or 'PID'}",),
        ) from None
    return TmuxReply(
        returncode=done.status,
        stdout=done.out.decode(errors="replace"),
        stderr=done.err.decode(errors="replace"),
    )


def _find_listener(path: str) -> int | None:
    """Return the pid of the process that listens at a socket, also if it is stopped.

    None if the system does not tell (macOS), or if nobody listens.
    """
    with socket.socket(socket.AF_UNIX) as asked, suppress(OSError, AttributeError):
        asked.settimeout(_LISTENER_S)
        asked.connect(path)
        told = asked.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        return int(_CREDENTIALS.unpack(told)[0])
    return None


def _encode_word(word: str) -> bytes:
    """Encode a word as the system encodes paths or, if that is impossible, as UTF-8."""
    try:
        return os.fsencode(word)
    except UnicodeEncodeError:
        return word.encode()
