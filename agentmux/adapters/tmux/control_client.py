"""tmux clients in control mode, which answer many calls without starting a process for each.

Such a client shows nothing to anybody and does not affect the size of windows. It is attached to
one of our sessions, because tmux ends a control client without a session. When that session ends,
so does the client; calls then run the tmux program again until a client for another session starts.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from agentmux.adapters.system.processes.child import ANSWER_MAX
from agentmux.adapters.tmux import commands as tmux_commands
from agentmux.adapters.tmux.client import TmuxClient, TmuxReply
from agentmux.core.codec.frozen import dataclass
from agentmux.errors import NotInstalledError
from agentmux.overriding import override
from agentmux.ports.tmux.terminal import Target

_FLAGS: Final = f"{tmux_commands.UNSEEN},ignore-size"
_CHUNK: Final = 1 << 16
_END_S: Final = 1.0
_BEGIN, _END, _ERROR = b"%begin ", b"%end ", b"%error "


class ControlPipe:
    """A tmux client process in control mode; several threads may use it, one call at a time.

    `ask` makes a call of tmux through it, `close` ends it.
    """

    def __init__(self, socket: str, session: str) -> None:
        """Attach a client to a session.

        Args:
            socket: The path of the server's socket.
            session: The id of the session, such as ``$3``.

        Raises:
            NotInstalledError: tmux is not installed.
        """
        attach = ("attach-session", "-f", _FLAGS, "-t", session)
        argv = ["tmux", "-u", "-C", "-S", socket, *tmux_commands.in_short(attach)]
        # With TMUX set, tmux would refuse to attach a client inside of one.
        theirs = os.environ  # noqa: TID251 (tmux gets the user's environment)
        env = {name: text for name, text in theirs.items() if name != "TMUX"}
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=env,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise NotInstalledError("tmux is not installed") from None
        self._lock = threading.Lock()
        self._rest = b""

    @property
    def is_open(self) -> bool:
        """Whether the client process is running."""
        return self._process.poll() is None

    def ask(self, words: Sequence[str], *, timeout_s: float) -> TmuxReply | None:
        """Make one call; return its reply, or None if the client cannot make it or has ended.

        If the call is not answered in time, the client is ended and None is returned: the server
        may have carried it out. If a command of the call fails, ``returncode`` of the reply is 1.

        Args:
            words: The words that the tmux program would get: escaped, with ``;`` between commands.
            timeout_s: The time limit, in seconds.
        """
        line = command_line(tmux_commands.in_short(words))
        if line is None:
            return None
        mark = os.urandom(16).hex()
        with self._lock:
            try:
                return self._send_and_read(f"{line}\ndisplay -p {mark}\n", mark.encode(), timeout_s)
            except (OSError, EOFError):
                self._end()
                return None

    def _send_and_read(self, text: str, mark: bytes, timeout_s: float) -> TmuxReply:
        writes, reads = self._process.stdin, self._process.stdout
        if writes is None or reads is None or not self.is_open:
            raise EOFError
        writes.write(text.encode("utf-8", "surrogateescape"))
        writes.flush()
        output: list[bytes] = []
        failed: list[bytes] = []
        for is_error, lines in self._blocks(reads.fileno(), time.monotonic() + timeout_s):
            if lines == [mark]:
                break
            (failed if is_error else output).extend(lines)
        return TmuxReply(
            returncode=1 if failed else 0,
            stdout="".join(f"{line.decode(errors='replace')}\n" for line in output),
            stderr="".join(f"{line.decode(errors='replace')}\n" for line in failed),
        )

    def _blocks(self, fd: int, deadline: float) -> Iterator[tuple[bool, list[bytes]]]:
        """Yield, for each command, whether it failed, and the lines that it printed.

        tmux ends a block with the same numbers with which it began it. Lines between two blocks are
        notifications, and are skipped.
        """
        number = b""
        lines: list[bytes] = []
        for line in self._lines(fd, deadline):
            if not number and line.startswith(_BEGIN):
                number, lines = line.removeprefix(_BEGIN), []
            elif number and line in {_END + number, _ERROR + number}:
                yield line.startswith(_ERROR), lines
                number = b""
            elif number:
                lines.append(line)

    def _lines(self, fd: int, deadline: float) -> Iterator[bytes]:
        """Yield the lines that tmux writes; bytes after the last line are kept for the next call.

        Raises:
            EOFError: The client has ended, the deadline has passed, or a line is too long.
        """
        with selectors.DefaultSelector() as selector:
            selector.register(fd, selectors.EVENT_READ)
            while True:
                line, newline, rest = self._rest.partition(b"\n")
                if newline:
                    self._rest = rest
                    yield line
                    continue
                left = deadline - time.monotonic()
                data = os.read(fd, _CHUNK) if left > 0 and selector.select(left) else b""
                if not data or len(self._rest) > ANSWER_MAX:
                    raise EOFError
                self._rest += data

    def close(self) -> None:
        """End the client; the server and its sessions are not affected."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        with suppress(OSError):
            self._process.kill()
        self._process.wait(_END_S)
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()


def command_line(words: Iterable[str]) -> str | None:
    """Return the words of a call as one line for a control client; None if a line cannot hold them.

    A line holds no word with a newline or NUL.

    In the words, ``;`` separates two commands, and a word that ends in a semicolon has a backslash
    before it (`commands.escape`). In the line, quotes keep each word as it is.
    """
    parts = []
    for word in words:
        if "\n" in word or "\0" in word:
            return None
        if word == ";":
            parts.append(word)
            continue
        plain = f"{word[:-2]};" if word.endswith("\\;") else word
        parts.append("'" + plain.replace("'", "'\\''") + "'")
    return " ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlClient(TmuxClient):
    """A `TmuxClient` whose calls go through a client in control mode as long as that runs.

    Calls with stdin, and calls that the control client cannot carry out, run the tmux program.

    Attributes:
        pipe: The client in control mode.
    """

    pipe: ControlPipe

    @override
    def run(
        self, *words: str, stdin: str | None = None, timeout_s: float | None = None
    ) -> TmuxReply:
        """Run one call through the control client, else by the tmux program; return its reply.

        ``words`` are those of one call, as `commands.join` returns them. ``timeout_s`` replaces the
        client's own time limit. ``stdin`` is tmux's whole input; with it, the tmux program runs. It
        does not raise if tmux reports a failure.

        Raises:
            NotInstalledError: tmux is not installed.
            TerminalUnreachableError: tmux did not answer in time; it may still carry the command
                out.
        """
        limit_s = timeout_s or self.timeout_s
        reply = None if stdin is not None else self.pipe.ask(words, timeout_s=limit_s)
        if reply is not None:
            return reply
        return TmuxClient.run(self, *words, stdin=stdin, timeout_s=timeout_s)


class ControlClients:
    """The clients in control mode, at most one per tmux server; several threads may use it.

    `of` returns the client for a server, and starts it if necessary.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipes: dict[str, ControlPipe] = {}

    def of(self, target: Target) -> ControlClient:
        """Return the control client for the server of ``target``; start one if none is running.

        Raises:
            NotInstalledError: tmux is not installed.
        """
        socket = target.server.socket
        with self._lock:
            pipe = self._pipes.get(socket)
            if pipe is None or not pipe.is_open:
                if pipe is not None:
                    pipe.close()  # its client has ended, but its ends of the pipe are open
                pipe = self._pipes[socket] = ControlPipe(socket, target.session)
        return ControlClient(socket=socket, pipe=pipe)

    def running(self, socket: str) -> ControlClient | None:
        """Return the control client for the server at ``socket``; None if none is running.

        It starts none.
        """
        with self._lock:
            pipe = self._pipes.get(socket)
        if pipe is None or not pipe.is_open:
            return None
        return ControlClient(socket=socket, pipe=pipe)

    def close(self) -> None:
        """End all clients; `of` starts new ones."""
        with self._lock:
            pipes, self._pipes = tuple(self._pipes.values()), {}
        for pipe in pipes:
            pipe.close()
