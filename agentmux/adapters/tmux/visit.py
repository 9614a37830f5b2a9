"""Temporarily switches the tmux client of a user who is inside tmux to one of our sessions.

This uses libtmux, which has no time limit: here a person is waiting, and the server is known to
answer. Modules that faster commands load must not import this one, because importing libtmux takes
as long as a whole ``agentmux submit``. What happens to clients is read in tmux's control mode,
which libtmux does not offer.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import libtmux

from agentmux.adapters.system.processes.child import ANSWER_MAX, pipes_of
from agentmux.adapters.tmux import commands as tmux_commands
from agentmux.ports.tmux.terminal import Target, TerminalError, TerminalGoneError

_END_S: Final = 0.5
"""Seconds that a session takes to end after it has sent its clients back."""

# This client shows nothing to anybody, so it must not change the size of a window.
_LISTEN: Final = f"attach-session -f ignore-size,{tmux_commands.UNSEEN}"


class Visit:
    """Makes the tmux client that shows this process's pane show one of our sessions instead.

    `begin` switches the client and returns at once; `wait` blocks until it has left the session.
    """

    def __init__(self, target: Target, environ: Mapping[str, str]) -> None:
        """Find the client that shows this process's pane.

        Args:
            target: The session to show.
            environ: Environment of this process, which runs in a pane of the same server.

        Raises:
            TerminalError: No client shows the pane.
        """
        self._target = target
        self._environ = {name: text for name, text in environ.items() if name != "TMUX"}
        self._server = libtmux.Server(socket_path=target.server.socket)
        lines = self._server.cmd("display-message", "-p", "#{client_name}").stdout
        self._client = lines[0] if lines else ""
        if not self._client:
            raise TerminalError(
                "no tmux client shows this pane",
                hints=(f"in another terminal: tmux attach-session -t '{target.session}'",),
            )

    def begin(self) -> None:
        """Switch the client to the session.

        Raises:
            TerminalGoneError: The session is gone.
        """
        words = tmux_commands.show_session_command(self._target, f"switch-client -c {self._client}")
        if self._server.cmd(*words).stderr:
            raise TerminalGoneError("the tmux session is gone")

    def wait(self) -> None:
        """Block until the client shows another session or has ended, or the session has ended."""
        with self._listening() as ear:
            while (line := ear.line()) is not None and not line.startswith("%session-changed"):
                pass  # after that line, this client hears every change
            if not self.is_showing_session():
                return
            while (line := ear.line()) is not None and not self._is_over(line):
                pass
            until = time.monotonic() + _END_S
            while ear.line(until) is not None:
                pass

    def is_showing_session(self) -> bool:
        """Return whether the client currently shows the session; False if either is gone."""
        shown = self._server.cmd("list-clients", "-F", "#{client_name} #{session_id}").stdout
        return f"{self._client} {self._target.session}" in shown

    def _is_over(self, line: str) -> bool:
        """Return whether this control-mode line says that the client left the session."""
        what, _, rest = line.partition(" ")
        if what == "%client-detached":
            return rest == self._client
        moved = what == "%client-session-changed" and rest.startswith(f"{self._client} $")
        return moved and not rest.startswith(f"{self._client} {self._target.session} ")

    @contextmanager
    def _listening(self) -> Iterator[_Ear]:
        """Attach an invisible control-mode client, which hears what happens to the others."""
        words = (*tmux_commands.client_argv(self._target.server.socket), "-C")
        with subprocess.Popen(
            (*words, *tmux_commands.show_session_command(self._target, _LISTEN)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._environ,
        ) as process:
            stdin, stdout = pipes_of(process)
            try:
                yield _Ear(stdout.fileno())
            finally:
                stdin.close()  # this makes the client detach
                process.terminate()


class _Ear:
    """Reads the lines that a tmux client in control mode prints."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._data = b""

    def line(self, until: float | None = None) -> str | None:
        """Wait for the next line that the client prints, and return it without its line break.

        None at the end of the output, or if the line is not complete at the time ``until``, in
        seconds of `time.monotonic`. Without ``until``, the wait has no limit.
        """
        while b"\n" not in self._data:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([self._fd], [], [], left)[0]:
                return None
            more = os.read(self._fd, 65536)
            if not more or len(self._data) > ANSWER_MAX:
                return None
            self._data += more
        line, _, self._data = self._data.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")
