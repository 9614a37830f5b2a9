"""``agentmux demo`` in a terminal: a person watches a feature, resumes it and decides on it.

The person sees the commands and the screens of a project of their own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from agentmux.adapters.system.processes import processes
from agentmux.adapters.system.processes.child import Child
from agentmux.adapters.system.processes.foreground import terminal_kept
from agentmux.adapters.tmux.commands import client_argv
from agentmux.adapters.tmux.server import TmuxTerminal
from agentmux.core.names.phase import Phase
from agentmux.demo.commands import DEADLINE_S, DemoCommands, DemoError, argv
from agentmux.demo.follower import Follower, JournalStep
from agentmux.demo.home import Scene, git
from agentmux.demo.play import find_session, is_middle, wants_decision
from agentmux.demo.project import FEATURE, make_project
from agentmux.demo.screen import DemoScreen
from agentmux.demo.stage import ENDING_S, perform
from agentmux.errors import ExitCode
from agentmux.ports.tmux.terminal import Server

THINK_S: Final = 1.5
"""How many seconds each agent takes for its work, so that a person can follow."""
NOTICE_S: Final = 4.0
"""How many seconds a person has to read what happens next."""
_PATIENCE_S: Final = 3600.0
_LOOK_S: Final = 0.1


def run(*, keep: bool) -> ExitCode:
    """Show the demo to a person in this terminal, and return the exit code OK.

    Args:
        keep: Whether to leave the demo's folder and processes at the end.

    Raises:
        AgentmuxError: The demo could not be finished or cleaned up.
    """
    make = partial(make_project, think_s=THINK_S)
    return perform(make, lambda scene, screen: Tour(scene, screen).all(), keep=keep, proves=False)


class Tour:
    """Runs the commands of the demo in this terminal, one after the other."""

    def __init__(self, demo: Scene, screen: DemoScreen) -> None:
        self._demo, self._screen = demo, screen
        self._commands = DemoCommands(demo.homes[0], demo.project, screen)
        self._socket = demo.homes[0].socket
        self._command: subprocess.Popen[bytes] | None = None

    def all(self) -> bool:
        """Run all commands of the demo; return True, whatever the person has decided."""
        self._screen.line("An offline agent plays every role. Nothing of yours is touched.")
        self._commands.run("trust", "--yes", announced=False, shown=False)
        with terminal_kept():
            self._open("start", FEATURE)
            follower = Follower(self._session(), self._tell)
            self._follow(follower, lambda: is_middle(follower.state))
            self._kill_server()
            self._open("resume")
            self._follow(follower, lambda: wants_decision(follower.state))
            self._leave_monitor(follower.state.session_name)
            self._open()
            self._wait()
        follower.look()
        self._tell_end(done=follower.state.phase == Phase.DONE)
        return True

    # -- its parts ---------------------------------------------------------------------------

    def _open(self, *words: str) -> None:
        """Start an ``agentmux`` command in this terminal."""
        self._commands.announce(words)
        self._command = subprocess.Popen(
            argv(words), cwd=self._demo.project, env=self._demo.environment
        )

    def _is_open(self) -> bool:
        return self._command is not None and self._command.poll() is None

    def _wait(self, limit_s: float | None = None) -> None:
        """Wait until the command has ended, or ``limit_s`` seconds have passed."""
        if self._command is not None:
            try:
                self._command.wait(limit_s)
            except subprocess.TimeoutExpired:
                return

    def _session(self) -> Path:
        """Wait for the session that the first command starts, and return its directory.

        Raises:
            DemoError: The command has ended without one.
        """
        while True:
            ended = not self._is_open()
            try:
                return find_session(self._demo.project)
            except DemoError:
                if ended:
                    raise
            self._wait(_LOOK_S)

    def _follow(self, follower: Follower, is_there: Callable[[], bool]) -> None:
        """Wait until the session is there, or nothing of it runs any more."""
        follower.wait_for(
            lambda: is_there() or not (self._is_open() or self._server().pid),
            "the next step of the demo",
            deadline_s=_PATIENCE_S,
        )

    def _tell(self, step: JournalStep) -> None:
        """Print an event, unless a command shows it."""
        if not self._is_open():
            self._screen.step(step)

    def _kill_server(self) -> None:
        self._announce("Next, this tmux server is killed with all its agents, as in a crash.")
        server = self._server()
        if server.pid:
            os.kill(server.pid, signal.SIGKILL)
            processes.left_after([(server.pid, server.started)], wait_s=ENDING_S)
        self._wait(DEADLINE_S)
        self._screen.head("The tmux server was killed, and a coder in the middle of its work.")
        self._screen.line("Its work and its conversation come back. Next, they are resumed.")
        threading.Event().wait(NOTICE_S)  # what comes next takes the whole screen

    def _leave_monitor(self, session: str) -> None:
        self._announce("The feature is yours to decide on. Next, the desk opens.")
        self._tmux("detach-client", "-s", session)
        self._wait(DEADLINE_S)

    def _announce(self, text: str) -> None:
        """Show a text in the last line of tmux until it was read, or the person leaves tmux."""
        if not self._is_open():
            return
        shown_ms = f"{NOTICE_S * 1000:.0f}"
        for client in self._tmux("list-clients", "-F", "#{client_name}").split():
            self._tmux("display-message", "-c", client, "-d", shown_ms, f"demo: {text}")
        self._wait(NOTICE_S)

    def _tmux(self, *words: str) -> str:
        """Run a tmux command, and return what it prints; nothing if the server has ended."""
        command = (*client_argv(self._socket), *words)
        folder, environment = self._demo.project, self._demo.environment
        done = Child(argv=command, cwd=folder, env=environment, limit_s=DEADLINE_S).run()
        return done.out.decode("utf-8", "replace")

    def _server(self) -> Server:
        return TmuxTerminal(self._socket).server()

    def _tell_end(self, *, done: bool) -> None:
        """Print what the person has decided."""
        if not done:
            self._screen.head("You have not approved it: nothing was committed.")
            return
        self._screen.head("$ git show --stat")
        self._screen.lines(git(self._demo.project, self._demo.environment, "show", "--stat"))
