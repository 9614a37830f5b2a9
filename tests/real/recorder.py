"""``./dev test-real --record``: bring real programs to each kind of screen, and record it.

Every scene runs once for each width, with a new start of the program, so that no screen is one that
was resized. Each run has its own home and project, always at the same neutral path.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from agentmux.adapters.config.agent_registry import load_registry
from agentmux.adapters.system.processes.processes import processes_with_variable
from agentmux.core.agents.command_lines import launch_argv, resume_argv
from agentmux.core.agents.spec import AgentSpec, StrategyKind
from agentmux.core.config.settings import Settings
from tests.real.clis import CLIS, Place
from tests.real.model_server import ModelServer
from tests.real.recorded_screens import ROWS, WIDTHS, Fixture
from tests.real.run import found_here
from tests.real.scenes import SCENES, Scene

HOME: Final = Path("/var/tmp/agentmux")
SESSION_ID: Final = str(uuid.UUID(int=7, version=4))
UNKNOWN_ID: Final = str(uuid.UUID(int=8, version=4))
_OURS: Final = ".made-by-the-recorder"
PORT: Final = 8080
"""The model server's port, which is fixed because some error messages contain it."""
MARKER: Final = "AGENTMUX_RECORDING"

_STILL_S: Final = 0.7
_MOVES_S: Final = 4.0
"""A screen that keeps changing (a spinner) is recorded after this time."""


@dataclass(slots=True)
class Stage:
    """One program in one tmux pane."""

    spec: AgentSpec
    place: Place
    model: ModelServer
    program: Path
    cols: int
    patience_s: float
    env: dict[str, str] = field(default_factory=dict)

    def tmux(self, *words: str) -> str:
        """Run tmux on the stage's own server."""
        argv = ("tmux", "-u", "-S", str(HOME / "socket"), "-f", "/dev/null", *words)
        env = {**self.env, "TERM": "xterm-256color"}
        done = subprocess.run(argv, capture_output=True, text=True, check=False, env=env)
        return done.stdout

    def open(self, argv: tuple[str, ...]) -> None:
        """Start the program in a pane of the wanted size; the pane stays when the program ends."""
        size = ("-x", str(self.cols), "-y", str(ROWS), "-c", str(self.place.project))
        keep = ("set", "-g", "remain-on-exit", "on", ";", "set", "-g", "status", "off", ";")
        extended = ("set", "-s", "extended-keys", "on", ";")
        self.tmux("start-server", ";", *keep, *extended, "new-session", "-d", *size, *argv)

    def close(self) -> None:
        """End the tmux server and all processes that the program has left."""
        self.tmux("kill-server")
        for _ in range(50):
            left = processes_with_variable(f"{MARKER}={os.getpid()}")
            if not left:
                return
            for pid, _ in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)

    def text(self) -> str:
        """Return the screen without SGR codes."""
        return self.tmux("capture-pane", "-p")

    def until(self, pattern: str) -> None:
        """Wait until the screen shows ``pattern``, also across several rows.

        Raises:
            TimeoutError: The screen did not show it in time.
        """
        end = time.monotonic() + self.patience_s
        while time.monotonic() < end:
            text = self.text()
            if re.search(pattern, text, re.MULTILINE) or re.search(pattern, " ".join(text.split())):
                return
            time.sleep(0.05)
        said = "\n".join(self.model.problems)
        raise TimeoutError(f"never showed {pattern!r}:\n{said}\n{self.text()}")

    def settle(self) -> None:
        """Wait until the screen does not change any more, or for `_MOVES_S` at most."""
        end, since, last = time.monotonic() + _MOVES_S, time.monotonic(), self.text()
        while time.monotonic() < end:
            now = self.text()
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since >= _STILL_S:
                return
            time.sleep(0.05)

    def press(self, *keys: str) -> None:
        """Press keys, named as tmux names them."""
        for key in keys:
            self.tmux("send-keys", key)
            time.sleep(0.3)

    def say(self, text: str) -> None:
        """Type a message as a person would, and send it."""
        self.tmux("send-keys", "-l", text)
        self.until(re.escape(text))
        time.sleep(0.4)
        self.press("Enter")


def _environment(name: str, program: Path) -> dict[str, str]:
    cache = program.parent.parent.parent
    more = (str(each) for pattern in CLIS[name].path for each in cache.glob(pattern))
    path = ":".join((str(program.parent), *more, os.environ["PATH"]))
    return {
        "PATH": path,
        "HOME": str(HOME / "user"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "SHELL": "/bin/sh",
        MARKER: str(os.getpid()),
    }


def _clear() -> None:
    """Remove the folder of an earlier scene.

    Raises:
        SystemExit: The folder was not made by the recorder.
    """
    if HOME.exists() and not (HOME / _OURS).exists():
        raise SystemExit(f"error: {HOME} is not ours; the screens are recorded there: move it away")
    shutil.rmtree(HOME, ignore_errors=True)


@contextlib.contextmanager
def stage(scene: Scene, program: Path, cols: int) -> Iterator[Stage]:
    """Make the stage of one scene, and end its processes afterwards."""
    _clear()
    project, home = HOME / "project", HOME / "home"
    for folder in (project, home, HOME / "user"):
        folder.mkdir(parents=True)
    (HOME / _OURS).touch()
    chats = CLIS[scene.agent].chats
    model = ModelServer(HOME / "requests.jsonl", think_s=0.3, port=PORT, chats=chats)
    url = "http://127.0.0.1:9" if scene.unreachable else model.url
    place = Place(home=home, project=project, url=url, trusted=scene.trusted)
    spec = load_registry(Settings())[scene.agent]
    env = {**_environment(scene.agent, program), **CLIS[scene.agent].prepare(place), **scene.env}
    if scene.configure is not None:
        scene.configure(place, env)
    made = Stage(
        spec=spec,
        place=place,
        model=model,
        program=program,
        cols=cols,
        patience_s=scene.patience_s,
        env=env,
    )
    project.joinpath("README.md").write_text("A project.\n")
    git = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", str(project))
    begin = ("init", "-q", "-b", scene.branch)
    for words in (begin, ("add", "."), ("commit", "-q", "-m", "Begin")):
        subprocess.run((*git, *words), check=True, env=env)
    try:
        yield made
    finally:
        made.close()
        model.close()


def argv(scene: Scene, spec: AgentSpec, *, resuming: bool) -> tuple[str, ...]:
    """Return the command line that AgentMux would use, with the scene's own arguments."""
    first = spec.strategies[0]
    given = {"args": scene.args, "session_ref": SESSION_ID, "checkpoint_dir": str(HOME / "kept")}
    if scene.kind == "rejected":
        if scene.unknown:
            return (*spec.command, *scene.unknown)
        return resume_argv(spec, first, **{**given, "session_ref": UNKNOWN_ID})  # type: ignore[arg-type]
    if not resuming:
        return launch_argv(spec, first, **given)  # type: ignore[arg-type]
    kind = StrategyKind.CONTINUE if first.kind is StrategyKind.LEARN else first.kind
    strategy = next(each for each in spec.strategies if each.kind is kind)
    return resume_argv(spec, strategy, **given)  # type: ignore[arg-type]


def play(scene: Scene, program: Path, version: str, cols: int) -> Fixture:
    """Bring the program to the scene's screen and return it."""
    with stage(scene, program, cols) as at:
        line = argv(scene, at.spec, resuming=False)
        # Its last output would be gone if it were the pane's program.
        last = ("sh", "-c", '"$@"; exec sleep 600', "sh")
        at.open((*last, *line) if scene.kind == "rejected" else line)
        if scene.ready:
            at.until(scene.ready)
            at.settle()
            scene.script(at.model)
            for text in scene.say:
                at.say(text)
        if scene.kind == "resumed" and scene.say:
            at.until(scene.then)
            at.settle()
            at.tmux("kill-server")
            time.sleep(0.5)
            at.open(argv(scene, at.spec, resuming=True))
        elif scene.then:
            at.until(scene.then)
            at.settle()
            scene.after(at.model)
            at.press(*scene.keys)
            for text in scene.say_then:
                at.say(text)
        at.until(scene.shows)
        at.settle()
        at.until(scene.shows)
        where = at.tmux("display-message", "-p", "#{cursor_y} #{cursor_x}").split()
        ansi = at.tmux("capture-pane", "-p", "-e", "-N")
        return Fixture(
            agent=scene.agent,
            screen=scene.screen,
            version=version,
            how=scene.how,
            mark=scene.mark,
            says=scene.says,
            cols=cols,
            cursor=(int(where[0]), int(where[1])),
            rows=tuple(row.rstrip() for row in ansi.split("\n")),
        )


def wanted(names: list[str]) -> list[Scene]:
    """Return the scenes with these names: ``claude``, ``claude/limit`` or ``claude/limit-week``."""

    def is_named(scene: Scene) -> bool:
        known = {scene.agent, f"{scene.agent}/{scene.kind}", f"{scene.agent}/{scene.screen}"}
        return not names or not known.isdisjoint(names)

    return [scene for scene in SCENES if is_named(scene)]


def main(words: list[str]) -> int:
    """Record the named scenes, or all; return 1 if any of them failed."""
    parser = argparse.ArgumentParser(prog="./dev test-real --record")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--cols", type=int, action="append")
    parser.add_argument("--show", action="store_true", help="print, keep nothing")
    given = parser.parse_args(words)
    found = found_here(os.environ)
    failed = 0
    for scene in wanted(given.names):
        for cols in given.cols or WIDTHS:
            failed += not record(scene, found.get(scene.agent, {}), cols, show=given.show)
    _clear()
    return 1 if failed or not wanted(given.names) else 0


def record(scene: Scene, program: Mapping[str, str], cols: int, *, show: bool) -> bool:
    """Record one scene at one width, and print the result."""
    name = f"{scene.agent}/{scene.screen} {cols}"
    if "program" not in program:
        return _said(f"{name}: {program.get('missing', 'not installed')}", done=False)
    try:
        fixture = play(scene, Path(program["program"]), program["version"], cols)
    except TimeoutError as error:
        return _said(f"{name}: FAILED: {error}", done=False)
    if show:
        return _said(f"{name}: shown\n{fixture.text}", done=True)
    fixture.write()
    return _said(f"{name}: recorded", done=True)


def _said(text: str, *, done: bool) -> bool:
    print(text, file=sys.stderr, flush=True)
    return done
