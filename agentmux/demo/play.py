"""``agentmux demo``: runs a feature, crashes it in the middle, resumes it and checks the result.

The demo runs the same commands as a user, and follows the journal from outside to check what
happened.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

from agentmux.adapters.disk import session_folders
from agentmux.adapters.system import processes
from agentmux.adapters.tmux.server import TmuxTerminal
from agentmux.core.definitions.definition import Kind
from agentmux.core.journal.state import SessionState
from agentmux.core.names import layout
from agentmux.core.names.conversations import how_it_comes_back
from agentmux.core.names.phase import Phase
from agentmux.core.pipeline.registry import kind_of
from agentmux.demo.claims import FINISHED, INTERRUPTED, Claim, claims, read_trace
from agentmux.demo.follower import Follower
from agentmux.demo.project import (
    FEATURE,
    TRACE,
    DemoProject,
    git,
    make_project,
    run_tests,
    write_environment,
)
from agentmux.demo.screen import DemoScreen
from agentmux.errors import AgentmuxError, ExitCode, MissingError
from agentmux.wiring import machine
from agentmux.wiring.machine import program

_DEADLINE_S: Final = 30.0
"""How many seconds each wait of the demo may last. On an idle machine the whole demo takes less."""

_ENDING_S: Final = 5.0
_ROUNDS: Final = 2


class DemoError(AgentmuxError):
    """A command of the demo failed, or the demo could not be cleaned up."""


def run(*, keep: bool) -> ExitCode:
    """Run the demo.

    Args:
        keep: Do not delete the demo's folder at the end, and leave running processes alone.

    Returns:
        OK if every check passed, else FAILED.

    Raises:
        AgentmuxError: The demo could not be finished or cleaned up.
        KeyboardInterrupt: The demo was interrupted; unless ``keep``, nothing is left of it.
    """
    environ = machine.environment()
    screen = DemoScreen(environ)
    root = Path(tempfile.mkdtemp(prefix="agentmux-demo-")).resolve()
    demo: DemoProject | None = None
    with _handling(_interrupt, signal.SIGTERM, signal.SIGHUP):
        try:
            demo = make_project(root, environ, Path(sys.argv[0]).absolute())
            good = Play(demo, screen).all()
            good = _nothing_runs(demo, screen) and good
        except KeyboardInterrupt:
            screen.head("interrupted" if keep else "interrupted: deleting everything")
            raise
        finally:
            with _handling(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                if keep and demo is not None:
                    _keep(demo, screen)
                else:
                    _take_away(root, demo)
    screen.verdict(good=good)
    if good:
        screen.next(machine.scripts() / "agentmux", environ.get("PATH", ""))
    return ExitCode.OK if good else ExitCode.FAILED


class Play:
    """The steps of the demo. Each one waits for an event, never for a fixed time."""

    def __init__(self, demo: DemoProject, screen: DemoScreen) -> None:
        self._demo = demo
        self._screen = screen
        self._terminal = TmuxTerminal(demo.socket)

    def all(self) -> bool:
        """Run all steps and print the checks; return whether every check passed."""
        demo, screen = self._demo, self._screen
        screen.line(f"a small project in {demo.project}, with a tmux server of its own")
        screen.line(f"watch it from another terminal: tmux -S {demo.socket} attach -r")
        self._command("trust", "--yes")
        self._command("start", FEATURE, "--detach")
        follower = Follower(self._session(), screen.step)
        killed_at = self._kill_in_the_middle(follower)
        self._resume(follower)
        self._reach(follower, "decision", lambda: _wants_decision(follower.state))
        self._command("approve", "--yes")
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
            When the server was killed, in Unix time.
        """
        follower.until(
            lambda: _is_middle(follower.state),
            f"{FINISHED} done and {INTERRUPTED} at work",
            deadline_s=_DEADLINE_S,
        )
        server = self._terminal.server()
        self._screen.head(f"$ kill -KILL {server.pid}   # the tmux server, with all its panes")
        at = time.time()
        os.kill(server.pid, signal.SIGKILL)
        processes.left_after([(server.pid, server.started)], wait_s=_ENDING_S)
        return at

    def _resume(self, follower: Follower) -> None:
        answer = self._command("resume", "--dry-run", "--json", shown=False)
        for each in _sessions(answer):
            panes = ", ".join(_pane_line(pane) for pane in each["panes"])
            self._screen.lines(f"{each['phase']} goes on; {panes}")
        self._command("resume", "--yes", "--detach")
        follower.look()

    def _reach(self, follower: Follower, goal: str, is_there: Callable[[], bool]) -> None:
        """Run ``agentmux wait`` while printing what happens in the session.

        Args:
            follower: Follows the session.
            goal: What ``agentmux wait --for`` waits for.
            is_there: Returns whether the session's state has reached the goal.

        Raises:
            DemoError: ``agentmux wait`` failed.
            AgentmuxError: The session failed, or did not reach the goal in time.
        """
        words = ["wait", follower.path.name, "--for", goal, "--timeout", f"{_DEADLINE_S:g}"]
        self._announce(words)
        waiting = subprocess.Popen(
            _argv(words),
            cwd=self._demo.project,
            env=self._demo.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            follower.until(is_there, f"waiting for {goal}", deadline_s=_DEADLINE_S)
            _, said = waiting.communicate(timeout=_ENDING_S)
        finally:
            waiting.kill()
            waiting.wait()
        if waiting.returncode:
            raise DemoError(f"agentmux wait ended with {waiting.returncode}: {said.strip()}")

    def _command(self, *words: str, shown: bool = True) -> str:
        """Run one agentmux command as a user would.

        Args:
            words: The command line after ``agentmux``.
            shown: Whether to print what the command writes to stdout.

        Returns:
            What the command wrote to stdout.

        Raises:
            DemoError: The command failed.
        """
        self._announce(words)
        done = subprocess.run(
            _argv(words),
            cwd=self._demo.project,
            env=self._demo.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_DEADLINE_S,
        )
        if shown or done.returncode:
            self._screen.lines(done.stdout)
        self._screen.lines(done.stderr)
        if done.returncode:
            raise DemoError(f"agentmux {words[0]} ended with {done.returncode}")
        return done.stdout

    def _announce(self, words: Iterable[str]) -> None:
        self._screen.head(f"$ agentmux {shlex.join(words)}")

    def _session(self) -> Path:
        folder = self._demo.project / layout.SESSIONS_DIR
        names = session_folders.names(folder)
        if len(names) != 1:
            raise DemoError(f"expected one session in `{folder}`, found {len(names)}")
        return folder / names[0]

    def _project_claims(self) -> Iterator[Claim]:
        project, environment = self._demo.project, self._demo.environment
        made = git(project, environment, "rev-list", "--count", "main").strip()
        files = git(project, environment, "show", "--format=", "--name-only").split()
        dirt = git(project, environment, "status", "--porcelain").strip()
        yield Claim(
            holds=made == "2" and not dirt,
            text=f"{int(made) - 1} commit was made on main, with {len(files)} files; the work tree "
            f"is {'clean' if not dirt else 'dirty: ' + dirt}",
        )
        passed, counted = run_tests(self._demo)
        yield Claim(holds=passed, text=f"the project's tests pass: {counted}")


def _is_middle(state: SessionState) -> bool:
    """Whether the first coder is done and the second one has received its prompt."""
    seat = state.seats.get(INTERRUPTED)
    return state.completed_subplans == (1,) and seat is not None and seat.reached


def _wants_decision(state: SessionState) -> bool:
    return kind_of(state) is Kind.COMPLETE and state.summary_submitted


def _sessions(answer: str) -> list[dict[str, Any]]:
    sessions = json.loads(answer)["sessions"]
    return sessions if isinstance(sessions, list) else []


def _pane_line(pane: Mapping[str, Any]) -> str:
    return f"{pane['seat']}: {how_it_comes_back(pane['mode'], pane['reason'])}"


def _argv(words: Iterable[str]) -> list[str]:
    return [*program(), *words]


# -- the end -------------------------------------------------------------------------------------


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """Handle SIGTERM or SIGHUP like Ctrl-C, so that the demo is deleted.

    Raises:
        KeyboardInterrupt: Always.
    """
    raise KeyboardInterrupt


@contextmanager
def _handling(
    handler: Callable[[int, FrameType | None], None] | signal.Handlers, *numbers: signal.Signals
) -> Iterator[None]:
    kept = {each: signal.signal(each, handler) for each in numbers}
    try:
        yield
    finally:
        for each, before in kept.items():
            signal.signal(each, before)


def _nothing_runs(demo: DemoProject, screen: DemoScreen) -> bool:
    """Wait a few seconds for all processes of the demo to end, and print whether they have ended.

    Returns:
        Whether all have ended; one that still runs is not ended here.
    """
    deadline = time.monotonic() + _ENDING_S
    while (left := _running(demo)) and time.monotonic() < deadline:
        processes.left_after(left, wait_s=deadline - time.monotonic())
    names = ", ".join(str(pid) for pid, _ in left)
    text = f"these processes are still there: {names}" if left else "no process is left"
    return screen.claims([Claim(holds=not left, text=text)])


def _running(demo: DemoProject) -> tuple[tuple[int, int], ...]:
    """Return the processes of this demo that still run, as pairs of pid and start time."""
    # Without /proc, only the tmux server can be found; the rest ends with it.
    return tuple({*_server(demo), *processes.carriers(demo.mark)})


def _server(demo: DemoProject) -> tuple[tuple[int, int], ...]:
    """Return the demo's tmux server as a pair of pid and start time; empty if it does not answer.

    A server that hangs is found by its environment instead, like all other processes.
    """
    try:
        server = TmuxTerminal(demo.socket).server()
    except MissingError:
        return ()
    return ((server.pid, server.started),) if server.pid else ()


def _take_away(root: Path, demo: DemoProject | None) -> None:
    """End the processes of the demo and delete its folder.

    Args:
        root: The demo's folder.
        demo: The demo's project; None if it was not created.

    Raises:
        DemoError: A process or the folder could not be removed.
    """
    stays: tuple[int, ...] = ()
    if demo is not None:
        for _ in range(_ROUNDS):  # an orchestrator may just have started an agent
            stays = processes.end(_running(demo), grace_s=1.0)
    shutil.rmtree(root, ignore_errors=True)
    if stays or root.exists():
        raise DemoError(f"could not delete everything: `{root}`, processes {stays}")


def _keep(demo: DemoProject, screen: DemoScreen) -> None:
    script = write_environment(demo)
    screen.kept(demo.root, script, demo.socket, lives=bool(_server(demo)))
