"""A machine of its own for pictures: a home, projects, tmux servers, and terminals to look at."""

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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from agentmux.adapters.system.processes.processes import end, processes_with_variable

DEADLINE_S: Final = 40
_HOME: Final = "/home/ada/src/projects"  # as long as the real one
_SOCKETS: Final = "/tmp/tmux-1000/default"
_MARK: Final = "AGENTMUX_PICTURES"
_FOREIGN: Final = ("TMUX", "XDG_", "AGENTMUX_", "CLAUDE", "CODEX_", "GIT_", "NO_COLOR", "COLORTERM")


class StageError(Exception):
    """What was to be seen was not seen."""


def wait_until(held: Callable[[], bool], told: Callable[[], str]) -> None:
    """Wait until something holds.

    Raises:
        StageError: It does not within the deadline; the message is ``told()``.
    """
    end_at = time.monotonic() + DEADLINE_S
    while not held():
        if time.monotonic() > end_at:
            raise StageError(told())
        time.sleep(0.05)


def leave_at_signals() -> None:
    """End this process as an exception does, where a signal would end it: a `Stage` is closed then.

    Ctrl-C does that anyway.
    """

    def leave(number: int, _: object) -> None:
        sys.exit(128 + number)

    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, leave)


class Stage:
    """A home with projects, of which nothing stays.

    Attributes:
        told: What pictures show in the place of texts that are others each time, such as ids.
    """

    def __init__(self) -> None:
        """Make the home; `close` ends all that runs in it and removes it."""
        self.root = Path(tempfile.mkdtemp(prefix="amx-", dir="/tmp"))  # short, for sockets
        self.home = self.root / "home"
        self.home.mkdir()
        self.told: dict[str, str] = {}
        self.env = {key: text for key, text in os.environ.items() if not key.startswith(_FOREIGN)}
        self.env |= {
            "HOME": str(self.home),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "TMUX_TMPDIR": str(self.root),
            "TERM": "tmux-256color",
            "SHELL": "/bin/sh",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            _MARK: str(self.root),
        }
        (self.home / ".tmux.conf").write_text("set -g status-right ''\n")  # the host and the time
        (self.home / ".gitconfig").write_text(
            "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
            "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes and remove all files."""
        end(processes_with_variable(f"{_MARK}={self.root}"), grace_s=2)
        shutil.rmtree(self.root, ignore_errors=True)

    def run(self, *argv: str, cwd: Path | None = None, **env: str) -> str:
        """Run a program to its end; return what it printed.

        Raises:
            StageError: It failed.
        """
        done = subprocess.run(
            argv,
            check=False,
            cwd=cwd or self.home,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
        )
        if done.returncode:
            raise StageError(f"{shlex.join(argv)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def project(self, name: str, files: Mapping[str, str]) -> Path:
        """Make a git repository with these files, and trust them."""
        folder = self.home / name
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "Begin")):
            self.run("git", *words, cwd=folder)
        self.run("agentmux", "trust", "--yes", cwd=folder)
        return folder

    def start(self, project: Path, feature: str, script: Mapping[str, Any], *words: str) -> str:
        """Start a feature whose agents follow a script; return the name of the session."""
        scripts = self.root / "scripts"
        scripts.mkdir(exist_ok=True)
        file = scripts / f"{len(list(scripts.iterdir()))}.json"
        file.write_text(json.dumps(script))
        argv = ("agentmux", "start", "--json", "--detach", *words, "--", feature)
        said = self.run(*argv, cwd=project, AGENTMUX_DEMO_SCENARIO=str(file))
        return Path(json.loads(said)["path"]).name

    def same(self, capture: str) -> str:
        """Return a capture as on another machine, of which no path is as it is here.

        Raises:
            StageError: One still is.
        """
        sockets = f"{self.root}/tmux-{os.getuid()}/default"
        capture = capture.replace(str(self.home), _HOME)
        capture = capture.replace(sockets, _SOCKETS.ljust(len(sockets)))
        for each, told in self.told.items():
            capture = capture.replace(each, told)
        if self.root.name in capture:
            raise StageError(f"a path of this machine is shown:\n{capture}")
        return capture

    @contextmanager
    def terminal(
        self, command: str, *, cwd: Path, size: tuple[int, int] = (110, 30)
    ) -> Iterator[Terminal]:
        """Run a shell command in a terminal of its own."""
        tmux = ("tmux", "-L", "outer", "-u", "-f", "/dev/null")
        cols, rows = map(str, size)
        shell = f"unset TMUX TMUX_PANE; {command}; exec cat"
        self.run(
            *(*tmux, "new-session", "-d", "-s", "stage", "-x", cols, "-y", rows, "-c", str(cwd)),
            *("sh", "-c", shell),
        )
        try:
            yield Terminal(self, tmux)
        finally:
            pid = self.run(*tmux, "display-message", "-p", "#{pid}").strip()
            self.run(*tmux, "kill-server")
            wait_until(lambda: not Path(f"/proc/{pid}").exists(), lambda: "the terminal stays")


class Terminal:
    """A terminal in which a program runs."""

    def __init__(self, stage: Stage, tmux: tuple[str, ...]) -> None:
        self._stage, self._tmux = stage, tmux

    def press(self, *keys: str) -> None:
        """Press keys, by tmux's names for them."""
        self._stage.run(*self._tmux, "send-keys", "-t", "stage", *keys)

    def type(self, text: str) -> None:
        """Type a text."""
        self._stage.run(*self._tmux, "send-keys", "-l", "-t", "stage", text)

    def shows(self, *words: str) -> None:
        """Wait until the screen has all of these words.

        Raises:
            StageError: It has not within the deadline.
        """
        wait_until(
            lambda: all(word in self.screen() for word in words),
            lambda: f"the screen lacks one of {words}:\n{self.screen()}",
        )

    def lacks(self, word: str) -> None:
        """Wait until the screen has this word no longer.

        Raises:
            StageError: It has it at the deadline.
        """
        wait_until(lambda: word not in self.screen(), lambda: f"{word}:\n{self.screen()}")

    def until(self, word: str, key: str) -> None:
        """Press a key again and again, until the screen has this word; 20 times at most."""
        for _ in range(20):
            before = self.screen()
            if word in before:
                return
            self.press(key)
            wait_until(partial(self._is_another, before), self.screen)
        self.shows(word)

    def _is_another(self, screen: str) -> bool:
        return self.screen() != screen

    def screen(self) -> str:
        """Return the words on the screen."""
        return self._stage.run(*self._tmux, "capture-pane", "-p", "-t", "stage")

    def capture(self) -> str:
        """Return the screen with its colours."""
        return self._stage.run(*self._tmux, "capture-pane", "-peN", "-t", "stage")
