"""A test environment for the demo agent: a home, a session, a project, a fake ``agentmux``."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import SCRATCH

FAKE_AGENTMUX = """\
#!/bin/sh
printf '%s|%s\\n' "$DEMO_THREAD_ID" "$*" >> "$FAKE_LOG"
case " $* " in *" hello "*|*" research "*) exit 0;; esac
if [ -s "$FAKE_REFUSALS" ]; then
  left=$(wc -l < "$FAKE_REFUSALS"); : > "$FAKE_REFUSALS"
  i=1; while [ "$i" -lt "$left" ]; do echo x >> "$FAKE_REFUSALS"; i=$((i + 1)); done
  echo "refused: a rule is broken"; exit 8
fi
echo accepted
"""
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
DEADLINE_S = 60.0


class World:
    """Folders and environment variables, and methods that start the agent with them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project, self.session = root / "project", root / "session"
        self.log, self.trace = root / "calls", root / "trace"
        for folder in (root, self.project, self.session, root / "bin"):
            folder.mkdir()
        fake = root / "bin" / "agentmux"
        fake.write_text(FAKE_AGENTMUX)
        fake.chmod(0o755)
        self.env = {
            "PATH": f"{root / 'bin'}:{os.environ['PATH']}", "HOME": str(root), "LC_ALL": "C.UTF-8",
            "TERM": "tmux-256color", "AGENTMUX_DEMO_HOME": str(root / "home"),
            "AGENTMUX_DEMO_TRACE": str(self.trace), "FAKE_LOG": str(self.log),
            "FAKE_REFUSALS": str(root / "refusals"), "AGENTMUX_SESSION_DIR": str(self.session),
            "AGENTMUX_SESSION_ID": "s1", "AGENTMUX_LAUNCH_ID": "aaaaaaaaaaaa",
        }  # fmt: skip
        self.argv = [sys.executable, "-m", "agentmux.demo_agent"]

    def play(self, role: str, **env: str) -> None:
        self.env.update({"AGENTMUX_ROLE": role, "AGENTMUX_SEAT": role, **env})

    def scenario(self, **blocks: object) -> None:
        path = self.root / "scenario.json"
        path.write_text(json.dumps(blocks))
        self.env["AGENTMUX_DEMO_SCENARIO"] = str(path)

    def refuse(self, times: int) -> None:
        (self.root / "refusals").write_text("x\n" * times)

    def prompt(self, *signals: str, write: tuple[str, ...] = (), text: str = "") -> str:
        """Write a prompt file; return the line that names it."""
        path = self.root / "prompt.md"
        lines = [text, *(f"Write: `{self.session / name}`" for name in write)]
        path.write_text("\n".join([*lines, "", "```sh", *signals, "```", ""]))
        return f"Read the file {path} and do what it says."

    def run(self, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run the agent without a terminal."""
        return subprocess.run(
            [*self.argv, *args], env=self.env, cwd=self.project, input=stdin, text=True,
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def did(self) -> list[tuple[str, str]]:
        lines = self.trace.read_text().splitlines() if self.trace.exists() else []
        return [(line["did"], line["what"]) for line in map(json.loads, lines)]


class Child:
    """The agent on a pty."""

    def __init__(self, world: World, *args: str) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(world.project)
            os.execve(world.argv[0], [*world.argv, *args], world.env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 150, 0, 0))
        self.output = ""

    def expect(self, pattern: str) -> str:
        """Wait until ``pattern`` appears in the new output, and drop the output up to its end."""
        end = time.monotonic() + DEADLINE_S
        while True:
            plain = _ESCAPES.sub("", self.output)
            if match := re.search(pattern, plain):
                self.output = plain[match.end() :]
                return match[0]
            assert time.monotonic() < end, f"no {pattern!r} in {plain!r}"
            if select.select([self.fd], (), (), 0.5)[0]:
                self.output += self._read()

    def send(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def status(self) -> int:
        """Wait until the agent ends; return its status, negative for a signal."""
        end = time.monotonic() + DEADLINE_S
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
            assert time.monotonic() < end, "it did not end"
            if select.select([self.fd], (), (), 0.02)[0]:
                self.output += self._read()

    def end(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def _read(self) -> str:
        try:
            return os.read(self.fd, 65536).decode("utf-8", "replace")
        except OSError:
            return ""


class Starter:
    """Starts agents on ptys, and ends them after the test."""

    def __init__(self, world: World) -> None:
        self.world, self.children = world, []

    def __call__(self, *args: str) -> Child:
        child = Child(self.world, *args)
        self.children.append(child)
        return child

    children: list[Child]


class Pane:
    """The agent in a real tmux pane on a private socket."""

    def __init__(self, world: World, socket: Path) -> None:
        self.world, self.socket = world, socket

    def tmux(self, *args: str, stdin: str = "") -> str:
        done = subprocess.run(
            ["tmux", "-u", "-S", str(self.socket), "-f", "/dev/null", *args],
            env=self.world.env, input=stdin, text=True, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, *args: str) -> None:
        self.tmux(
            "new-session", "-d", "-x", "80", "-y", "24", "-c", str(self.world.project),
            *self.world.argv, *args,
        )  # fmt: skip

    def expect(self, pattern: str) -> str:
        """Wait until the visible screen matches; return it."""
        end = time.monotonic() + DEADLINE_S
        while True:
            screen = self.tmux("capture-pane", "-p")
            if re.search(pattern, screen, re.MULTILINE):
                return screen
            assert time.monotonic() < end, screen
            select.select((), (), (), 0.02)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "demo")


@pytest.fixture
def start(world: World) -> Iterator[Starter]:
    starter = Starter(world)
    yield starter
    for child in starter.children:
        child.end()


@pytest.fixture
def pane(world: World) -> Iterator[Pane]:
    sockets = Path(tempfile.mkdtemp(prefix="dm", dir=SCRATCH))
    made = Pane(world, sockets / "s")
    yield made
    subprocess.run(
        ["tmux", "-S", str(sockets / "s"), "kill-server"], check=False, capture_output=True
    )
    shutil.rmtree(sockets)
