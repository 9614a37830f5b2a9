"""A small project with its own tmux server, home and demo agent, driven by the command line.

It uses none of the user's files or processes, and none of its processes may outlive the test.
"""

import fcntl
import hashlib
import json
import os
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest

from agentmux.adapters.system.processes.processes import end, processes_with_variable
from agentmux.core.names import layout
from agentmux.wiring import build
from tests.conftest import SCRATCH, TEST_ID, _wait_until, trust
from tests.e2e.preloaded import Preloaded
from tests.fakes.forge import FakeForge

DEADLINE_S = 60
QUICK: Mapping[str, Any] = {"roles": {"planner": {"plan": {"parts": 1}}}}
"""The shortest scenario: one sub-plan, one reviewer, everything passes."""

_OURS = ("TMUX", "XDG_", "AGENTMUX_", "CLAUDE", "CODEX_", "GIT_")

PRELOADED = Preloaded()
PROBES: dict[str, bytes] = {}
"""The files in the cache of probes after the demo agent was asked what it can do."""

Said = subprocess.CompletedProcess[str]


class Project:
    """One project with its own home, tmux server and demo agent."""

    def __init__(self, root: Path, *, name: str = "calc", git: bool = True) -> None:
        """Make the project below ``root``, whose path is short enough for a socket."""
        self.root = root
        self.path = root / name
        self.home = root / "home"
        self.test_id = uuid.uuid4().hex
        self.env = {key: text for key, text in os.environ.items() if not key.startswith(_OURS)}
        self.env |= {
            "HOME": str(self.home),
            "TMUX_TMPDIR": str(root),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "AGENTMUX_DEMO_HOME": str(self.home / "demo"),
            "AGENTMUX_DEMO_SCENARIO": str(root / "scenario.json"),
            "TERM": "xterm-256color",
            TEST_ID: self.test_id,
        }
        for kind in ("CONFIG", "STATE", "DATA", "CACHE"):
            self.env[f"XDG_{kind}_HOME"] = str(self.home / kind.lower())
        self.path.mkdir()
        self.home.mkdir()
        self._probe()
        (self.home / ".gitconfig").write_text(
            "[user]\n\tname = Test\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n"
            # Newer versions of git clean up in the background, while a test may compare every byte.
            "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
        )
        self.scenario(QUICK)
        (self.path / "calc.py").write_text("def add(a, b):\n    return a + b\n")
        if git:
            self.git("init", "-q")
            self.git("add", "-A")
            self.git("commit", "-qm", "Begin")

    def _probe(self) -> None:
        """Leave what the demo agent can do in the cache, as an earlier session leaves it.

        The agent is asked once in a run of the tests. A test that removes the cache asks again.
        """
        folder = self.home / "cache" / "agentmux"
        if PROBES:
            (folder / "probes").mkdir(parents=True)
        for name, data in PROBES.items():
            (folder / "probes" / name).write_bytes(data)
        if not PROBES:
            world = build.world(self.path, environ=self.env)
            assert world.agents.programs.probe(world.agents.spec("demo")).installed
            PROBES.update({each.name: each.read_bytes() for each in (folder / "probes").iterdir()})

    # -- programs ----------------------------------------------------------------------------

    def program(self, *argv: str, cwd: Path | None = None, **more: Any) -> Said:
        """Run a program to its end, in the project, without a terminal."""
        env = {**self.env, **more.pop("env", {})}
        given: dict[str, Any] = {} if "input" in more else {"stdin": subprocess.DEVNULL}
        return subprocess.run(
            argv,
            check=False,
            cwd=cwd or self.path,
            env=env,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=DEADLINE_S,
            **given,
            **more,
        )

    def run(self, *words: str, **more: Any) -> Said:
        """Run an agentmux command; fail if it shows a traceback.

        It is a process of its own, but its imports are not repeated if no test could tell.
        """
        env = {**self.env, **more.get("env", {})}
        if more.keys() <= {"env", "cwd"} and PRELOADED.can_run(env):
            cwd = more.get("cwd") or self.path
            done = PRELOADED.run(words, cwd=cwd, env=env, timeout_s=DEADLINE_S)
        else:
            done = self.program(sys.executable, "-m", "agentmux", *words, **more)
        assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
        assert "this is a bug" not in done.stderr, done.stderr
        return done

    def ok(self, *words: str, **more: Any) -> str:
        """Run an agentmux command that succeeds; return what it printed."""
        done = self.run(*words, **more)
        assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def json(self, *words: str, code: int = 0, **more: Any) -> dict[str, Any]:
        """Run an agentmux command with ``--json``; return its one answer."""
        done = self.run(words[0], "--json", *words[1:], **more)
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        answer: dict[str, Any] = json.loads(done.stdout)
        assert answer["schema"] == 1
        return answer

    def fails(self, code: int, *words: str, **more: Any) -> str:
        """Run an agentmux command that exits with ``code``; return its error message."""
        done = self.run(*words, **more)
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        assert done.stderr.startswith("error: ") or "\nerror: " in done.stderr, done.stderr
        return done.stderr

    def git(self, *words: str) -> str:
        return self.git_at(self.path, *words)

    def git_at(self, folder: Path, *words: str) -> str:
        done = self.program("git", *words, cwd=folder)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something is so."""
        _wait_until(condition, 20, lambda: self.run("list").stdout)

    def tmux(self, *words: str) -> str:
        done = self.program("tmux", *words)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    # -- sessions ----------------------------------------------------------------------------

    def scenario(self, said: Mapping[str, Any]) -> None:
        """Set the behaviour of the agents that are launched from now on."""
        (self.root / "scenario.json").write_text(json.dumps(said))

    def config(self, text: str, *, trusted: bool = True) -> None:
        """Write the project's configuration, and trust it as its user would."""
        folder = self.path / ".agentmux"
        folder.mkdir(exist_ok=True)
        (folder / "config.yaml").write_text("version: 1\n" + text)
        if trusted:
            trust(self.path, self.env)

    def start(self, feature: str = "add a greeting", *words: str, **more: Any) -> "Session":
        """Start a feature with the demo agent."""
        answer = self.json("start", "--agent", "demo", *words, "--", feature, **more)
        return Session(self, self.path / answer["path"])

    def sessions(self) -> list[Path]:
        """Return every entry in the sessions' folder, also incomplete sessions."""
        folder = self.path / ".agentmux" / ".sessions"
        found = folder.iterdir() if folder.is_dir() else ()
        ours = (".git", ".gitignore", "agentmux.lock", "agentmux.lock.json")
        return sorted(each for each in found if each.name not in ours)

    def tree(self) -> str:
        """Return one hash of all files in the project and the home, with their modes and times.

        The cache is left out, because AgentMux may cache what it learns about installed programs.
        """
        made = hashlib.sha256()
        for top in (self.path, self.home):
            for path in sorted(top.rglob("*")):
                if path.is_relative_to(self.home / "cache"):
                    continue
                facts = path.lstat()
                made.update(f"{path}\0{facts.st_mode:o}\0".encode("utf-8", "surrogateescape"))
                if stat.S_ISREG(facts.st_mode):
                    made.update(f"{facts.st_mtime_ns}\0".encode() + path.read_bytes())
        return made.hexdigest()

    def processes(self) -> tuple[tuple[int, int], ...]:
        """Return all processes that were started for this project, including tmux servers."""
        return processes_with_variable(f"{TEST_ID}={self.test_id}")

    def close(self) -> None:
        """End all processes; fail if one outlives the tmux server by more than 10 s."""
        self.program("tmux", "kill-server")
        try:
            _wait_until(lambda: not self.processes(), 10, self._left)
        finally:
            end(self.processes(), grace_s=0.2)
            shutil.rmtree(self.root, ignore_errors=True)

    def _left(self) -> str:
        words = []
        for pid, _ in self.processes():
            with suppress(OSError):  # it has ended meanwhile
                words.append(Path(f"/proc/{pid}/cmdline").read_bytes())
        return f"still running: {words}"


class Session:
    """One session of a project."""

    def __init__(self, project: Project, path: Path) -> None:
        self.project = project
        self.path = path
        self.name = path.name

    @property
    def short(self) -> str:
        """The name by which messages call the session, by the sessions that there are now."""
        there = {each.name for each in self.path.parent.glob("*")}
        return layout.short_names({*there, self.name})[self.name]

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.path / "state.json").read_text())
        return found

    @property
    def runtime(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.path / "runtime_state.json").read_text())
        return found

    @property
    def events(self) -> list[dict[str, Any]]:
        *lines, _ = (self.path / "tool_events.jsonl").read_text().split("\n")  # complete lines only
        return [json.loads(line) for line in lines]

    def kinds(self, *wanted: str) -> list[str]:
        """Return the kinds of all events, or of the selected ones, in order."""
        found = [each["event"] for each in self.events]
        return [each for each in found if not wanted or each in wanted]

    def launched(self) -> list[str]:
        """Return the seats of all launches, in order."""
        return [each["seat"] for each in self.events if each["event"] == "agent_launched"]

    def read(self, path: str) -> str:
        return (self.path / path).read_text()

    def wait(self, goal: str = "decision", timeout: float = 30) -> "Session":
        self.project.ok("wait", self.name, "--for", goal, "--timeout", str(timeout))
        return self

    def approve(self) -> "Session":
        said = self.project.run("approve", self.name, "--yes")
        log = "".join(each.read_text() for each in self.path.glob("*.log"))
        assert said.returncode == 0, f"{said.returncode}\n{said.stdout}{said.stderr}{log}"
        return self.wait("done")

    def gone(self) -> "Session":
        """Wait until no process of a finished session runs any more."""
        _wait_until(lambda: not self.project.processes(), 10, self.project._left)
        return self

    def seat_env(self, seat: str) -> dict[str, str]:
        """Return the environment variables that AgentMux sets for the agent in ``seat``."""
        launch = self.state["seats"][seat]["launch"]
        found = json.loads(self.read(f"launches/{launch}/launch.json"))
        made: dict[str, str] = found["env"]
        return made

    def submit(self, seat: str, *words: str, code: int = 0) -> dict[str, Any]:
        """Submit as the agent in ``seat``."""
        return self.project.json("submit", *words, code=code, env=self.seat_env(seat))

    def until_seat(self, seat: str, status: str = "launched") -> "Session":
        def held() -> bool:
            return bool(self.state.get("seats", {}).get(seat, {}).get("status") == status)

        _wait_until(held, 20, lambda: self.project.run("status", self.name).stdout)
        return self

    def settled(self, seat: str) -> "Session":
        """Wait until the seat's prompt has arrived and all events are applied."""

        def quiet() -> bool:
            size = (self.path / "tool_events.jsonl").stat().st_size
            cursor = json.loads(self.read("tool_event_state.json"))  # written after the state
            return (
                bool(self.state["seats"].get(seat, {}).get("reached"))
                and cursor["applied_offset"] == size
            )

        _wait_until(quiet, 20, lambda: self.read("tool_events.jsonl"))
        return self


class Client:
    """A program on its own terminal, such as an attached tmux client."""

    def __init__(self, project: Project, *argv: str, size: tuple[int, int] = (80, 24)) -> None:
        self._ours, theirs = os.openpty()
        columns, rows = size
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            argv,
            cwd=project.path,
            env=project.env,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 (no threads)
        )
        os.close(theirs)
        self._said = bytearray()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with suppress(OSError):  # raised when the terminal's last program has ended
            while data := os.read(self._ours, 65536):
                self._said += data

    @property
    def said(self) -> str:
        return self._said.decode("utf-8", "replace")

    def ended(self, code: int) -> str:
        """Wait until the program has ended with ``code``; return all that it said."""
        assert self.process.wait(60) == code, self.said
        self._reader.join(60)  # it reads on after the end
        return self.said

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(60)
        self._reader.join(60)
        os.close(self._ours)


def everything(folder: Path) -> Iterator[Path]:
    """Yield all files and folders below one of a live session; those that go meanwhile are not."""
    for top, folders, names in os.walk(folder):
        yield from (Path(top, name) for name in (*folders, *names))


def make_root() -> Path:
    return Path(tempfile.mkdtemp(prefix="amx-", dir=SCRATCH))


@pytest.fixture
def project() -> Iterator[Project]:
    made = Project(make_root())
    yield made
    made.close()


@pytest.fixture
def forge(project: Project) -> FakeForge:
    """A forge with the repository ``o/r``, the project's remote ``origin``, that has ``main``."""
    made = FakeForge(project.root / "forge")
    project.env |= made.environment
    project.env["PATH"] = f"{made.bin}:{project.env['PATH']}"
    bare, url = project.root / "r.git", "https://github.com/o/r.git"
    project.git("init", "-q", "--bare", "-b", "main", str(bare))
    project.git("remote", "add", "origin", url)
    project.git("config", f"url.{bare}.insteadOf", url)
    project.git("push", "-q", "origin", "main")
    made.repository("o/r", bare)
    return made


@pytest.fixture
def outside() -> Iterator[Project]:
    """A project outside any git repository."""
    made = Project(make_root(), git=False)
    yield made
    made.close()


def bare(project: Project) -> Path:
    """Give the project a remote that has its branch ``main``."""
    made = project.root / "r.git"
    project.git("init", "-q", "--bare", "-b", "main", str(made))
    project.git("remote", "add", "origin", str(made))
    project.git("push", "-q", "origin", "main")
    project.git("fetch", "-q", "origin")
    return made


def older_git(project: Project) -> str:
    """Return a ``PATH`` with a git that says it is 2.37."""
    stub = project.root / "older" / "git"
    stub.parent.mkdir()
    said = 'case " $* " in *" version "*) exec echo git version 2.37.1;; esac'
    stub.write_text(f'#!/bin/sh\n{said}\nexec {shutil.which("git")} "$@"\n')
    stub.chmod(0o755)
    return f"{stub.parent}{os.pathsep}{project.env['PATH']}"


@pytest.fixture
def away(project: Project) -> Iterator[Project]:
    """Another home, tmux server and clone of the project's remote, as on another machine."""
    remote = bare(project)
    made = Project(make_root(), git=False)
    shutil.rmtree(made.path)
    made.git_at(made.root, "clone", "-q", str(remote), str(made.path))
    yield made
    made.close()
