"""Runs a demo in a temporary folder, and removes everything of it, even after an interruption."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from agentmux.adapters.system.processes import processes
from agentmux.adapters.tmux.server import TmuxTerminal
from agentmux.demo.claims import Claim
from agentmux.demo.commands import DemoError
from agentmux.demo.home import DemoHome, Scene, write_environment
from agentmux.demo.screen import DemoScreen
from agentmux.errors import ExitCode, MissingError
from agentmux.wiring import machine

ENDING_S: Final = 5.0
"""How many seconds to wait for processes that end by themselves."""
_ROUNDS: Final = 2

Make = Callable[[Path, Mapping[str, str], Path], Scene]
"""Creates a demo's scene; takes its folder, the environment variables, and this program's path."""
Play = Callable[[Scene, DemoScreen], bool]
"""Runs a demo's steps in its scene; returns whether every check passed."""


def perform(make: Make, play: Play, *, keep: bool, proves: bool = True) -> ExitCode:
    """Run a demo in a new temporary folder, and clean up.

    Args:
        make: Creates the scene in that folder, and returns it; takes the folder, the user's
            environment variables, and the path of this program.
        play: Runs the steps of the demo in the scene, and prints them on the screen that it is
            given; returns whether every check passed.
        keep: Whether to leave the demo's folder and processes at the end, instead of ending the
            processes and deleting the folder.
        proves: Whether to check that no process is left, and to print whether all checks passed.

    Returns:
        OK if every check passed, else FAILED.

    Raises:
        AgentmuxError: The demo could not be finished or cleaned up.
        KeyboardInterrupt: Ctrl-C, SIGTERM or SIGHUP interrupted the demo; it was cleaned up as
            usual.
    """
    environ = machine.environment()
    screen = DemoScreen(environ)
    root = Path(tempfile.mkdtemp(prefix="agentmux-demo-")).resolve()
    scene: Scene | None = None
    with _handling(_interrupt, signal.SIGTERM, signal.SIGHUP):
        try:
            scene = make(root, environ, Path(sys.argv[0]).absolute())
            good = play(scene, screen)
            good = (not proves or _nothing_runs(scene, screen)) and good
        except KeyboardInterrupt:
            screen.head("interrupted" if keep else "interrupted: deleting everything")
            raise
        finally:
            with _handling(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                if keep and scene is not None:
                    _keep(scene, screen)
                else:
                    _take_away(root, scene)
    if proves:
        screen.verdict(good=good)
    if good:
        screen.next(machine.scripts() / "agentmux", environ.get("PATH", ""))
    return ExitCode.OK if good else ExitCode.FAILED


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """Handle SIGTERM and SIGHUP like Ctrl-C, so that the demo is cleaned up.

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


def _nothing_runs(scene: Scene, screen: DemoScreen) -> bool:
    """Wait a few seconds for all processes of the demo to end, and print whether they have ended.

    Processes that still run are not killed here.

    Returns:
        Whether all have ended.
    """
    deadline = time.monotonic() + ENDING_S
    while (left := _running(scene)) and time.monotonic() < deadline:
        processes.left_after(left, wait_s=deadline - time.monotonic())
    names = ", ".join(str(pid) for pid, _ in left)
    text = f"these processes are still there: {names}" if left else "no process is left"
    return screen.claims([Claim(holds=not left, text=text)])


def _running(scene: Scene) -> tuple[tuple[int, int], ...]:
    """Return the processes of this demo that still run, as pairs of pid and start time."""
    # Without /proc, only the tmux servers can be found; the other processes end with them.
    pairs: set[tuple[int, int]] = set()
    for home in scene.homes:
        pairs |= {*_server(home), *processes.processes_with_variable(home.mark)}
    return tuple(pairs)


def _server(home: DemoHome) -> tuple[tuple[int, int], ...]:
    """Return the home's tmux server as a pair of pid and start time; empty if it does not answer.

    A server that hangs is found by its environment instead, like all other processes.
    """
    try:
        server = TmuxTerminal(home.socket).server()
    except MissingError:
        return ()
    return ((server.pid, server.started),) if server.pid else ()


def _take_away(root: Path, scene: Scene | None) -> None:
    """End the processes of the demo and delete its folder.

    Args:
        root: The demo's folder.
        scene: The scene; None if it was not created.

    Raises:
        DemoError: A process or the folder could not be removed.
    """
    stays: tuple[int, ...] = ()
    if scene is not None:
        for _ in range(_ROUNDS):  # an orchestrator may just have started an agent
            stays = processes.end(_running(scene), grace_s=1.0)
    shutil.rmtree(root, ignore_errors=True)
    if stays or root.exists():
        raise DemoError(f"could not delete everything: `{root}`, processes {stays}")


def _keep(scene: Scene, screen: DemoScreen) -> None:
    script = write_environment(scene)
    live = [home.socket for home in scene.homes if _server(home)]
    screen.print_kept(scene, script, live)
