"""``agentmux demo --auto``: runs a feature, crashes it in the middle, resumes it and checks it.

The demo runs the same commands as a user, and follows the journal from outside to check what
happened.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from agentmux.adapters.disk.session import session_folders
from agentmux.adapters.system.processes import processes
from agentmux.adapters.tmux.server import TmuxTerminal
from agentmux.core.definitions.definition import Kind
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.conversations import how_it_comes_back
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.registry import kind_of
from agentmux.demo.claims import FINISHED, INTERRUPTED, Claim, claims, read_trace
from agentmux.demo.commands import DEADLINE_S, DemoCommands, DemoError, argv
from agentmux.demo.follower import Follower
from agentmux.demo.home import TRACE, Scene, git, run_tests
from agentmux.demo.project import FEATURE, make_project
from agentmux.demo.screen import DemoScreen
from agentmux.demo.stage import ENDING_S, perform
from agentmux.errors import ExitCode


def run(*, keep: bool) -> ExitCode:
    """Run the demo without a person, and print what happens; return its exit code.

    The exit code is OK if every check of the demo passed, else FAILED.

    Args:
        keep: Whether to leave the demo's folder and processes at the end.

    Raises:
        AgentmuxError: The demo could not be finished or cleaned up.
    """
    return perform(make_project, lambda scene, screen: Play(scene, screen).run(), keep=keep)


class Play:
    """Runs the steps of the demo. Each step waits for an event, never for a fixed time."""

    def __init__(self, demo: Scene, screen: DemoScreen) -> None:
        self._demo = demo
        self._screen = screen
        self._commands = DemoCommands(demo.homes[0], demo.project, screen)
        self._socket = demo.homes[0].socket

    def run(self) -> bool:
        """Run all steps and print the checks; return whether every check passed."""
        demo, screen = self._demo, self._screen
        screen.line(f"a small project in {demo.project}, with a tmux server of its own")
        screen.line(f"watch it from another terminal: tmux -S {self._socket} attach -r")
        self._commands.run("trust", "--yes")
        self._commands.run("start", FEATURE, "--detach")
        follower = Follower(find_session(demo.project), screen.step)
        killed_at = self._kill_in_the_middle(follower)
        self._resume(follower)
        self._reach(follower, "decision", lambda: wants_decision(follower.state))
        self._commands.run("approve", "--yes")
        self._reach(follower, "done", lambda: follower.state.phase == Phase.DONE)
        screen.table(follower.steps, killed_at)
        screen.head("$ git show --stat")
        screen.lines(git(demo.project, demo.environment, "show", "--stat"))
        screen.head("nothing was lost, and nothing was done twice")
        trace = read_trace((follower.path / TRACE).read_text("utf-8"))
        return screen.claims((*claims(follower.steps, trace), *self._project_claims()))

    # -- its parts ---------------------------------------------------------------------------

    def _kill_in_the_middle(self, follower: Follower) -> float:
        """Kill the tmux server while one coder is done and the other one is working.

        Returns:
            When the server was killed, in seconds of Unix time.
        """
        follower.wait_for(
            lambda: is_middle(follower.state),
            f"{FINISHED} done and {INTERRUPTED} at work",
            deadline_s=DEADLINE_S,
        )
        server = TmuxTerminal(self._socket).server()
        self._screen.head(f"$ kill -KILL {server.pid}   # the tmux server, with all its panes")
        at = time.time()
        os.kill(server.pid, signal.SIGKILL)
        processes.left_after([(server.pid, server.started)], wait_s=ENDING_S)
        return at

    def _resume(self, follower: Follower) -> None:
        answer = self._commands.run("resume", "--dry-run", "--json", shown=False)
        for each in _sessions(answer):
            panes = ", ".join(_pane_line(pane) for pane in each["panes"])
            self._screen.lines(f"{each['phase']} goes on; {panes}")
        self._commands.run("resume", "--yes", "--detach")
        follower.look()

    def _reach(self, follower: Follower, goal: str, is_there: Callable[[], bool]) -> None:
        """Run ``agentmux wait`` until it ends, and print the session's events meanwhile.

        Args:
            follower: Follows the session.
            goal: The value for ``agentmux wait --for``.
            is_there: Returns whether the session has reached the goal, judged by its journal.

        Raises:
            DemoError: ``agentmux wait`` failed.
            AgentmuxError: The session failed, or did not reach the goal in time.
        """
        words = ["wait", follower.path.name, "--for", goal, "--timeout", f"{DEADLINE_S:g}"]
        self._commands.announce(words)
        waiting = subprocess.Popen(
            argv(words),
            cwd=self._demo.project,
            env=self._demo.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            follower.wait_for(is_there, f"waiting for {goal}", deadline_s=DEADLINE_S)
            _, errors = waiting.communicate(timeout=ENDING_S)
        finally:
            waiting.kill()
            waiting.wait()
        if waiting.returncode:
            raise DemoError(f"agentmux wait ended with {waiting.returncode}: {errors.strip()}")

    def _project_claims(self) -> Iterator[Claim]:
        project, environment = self._demo.project, self._demo.environment
        count = git(project, environment, "rev-list", "--count", "main").strip()
        files = git(project, environment, "show", "--format=", "--name-only").split()
        dirt = git(project, environment, "status", "--porcelain").strip()
        yield Claim(
            holds=count == "2" and not dirt,
            text=f"{int(count) - 1} commit was made on main, with {len(files)} files; the work tree"
            f" is {'clean' if not dirt else 'dirty: ' + dirt}",
        )
        passed, counted = run_tests(self._demo)
        yield Claim(holds=passed, text=f"the project's tests pass: {counted}")


def find_session(project: Path) -> Path:
    """Return the directory of the project's only session, without waiting for one.

    Raises:
        DemoError: There is none yet, or there are several.
    """
    folder = project / layout.SESSIONS_DIR
    names = session_folders.names(folder)
    if len(names) != 1:
        raise DemoError(f"expected one session in `{folder}`, found {len(names)}")
    return folder / names[0]


def is_middle(state: SessionState) -> bool:
    """Return whether the session has come to the point at which the demo kills the tmux server.

    The first coder is done then, and the second one has received its prompt.
    """
    seat = state.seats.get(INTERRUPTED)
    return state.completed_subplans == (1,) and seat is not None and seat.reached


def wants_decision(state: SessionState) -> bool:
    """Return whether the session waits for the decision of its user."""
    return kind_of(state) is Kind.COMPLETE and state.summary_submitted


def _sessions(answer: str) -> list[dict[str, Any]]:
    sessions = json.loads(answer)["sessions"]
    return sessions if isinstance(sessions, list) else []


def _pane_line(pane: Mapping[str, Any]) -> str:
    return f"{pane['seat']}: {how_it_comes_back(pane['mode'], pane['reason'])}"
