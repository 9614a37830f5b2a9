"""Runs commands in a home of the demo as a user would, and shows them."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from agentmux.adapters.system.processes.child import Child
from agentmux.demo.home import DemoHome
from agentmux.demo.screen import DemoScreen
from agentmux.errors import AgentmuxError
from agentmux.wiring.machine import program

DEADLINE_S: Final = 30.0
"""How many seconds each wait of the demo may last. On an idle machine the whole demo takes less."""


class DemoError(AgentmuxError):
    """A command of the demo failed, or the demo could not be cleaned up."""


class DemoCommands:
    """The commands of one home."""

    def __init__(
        self, home: DemoHome, folder: Path, screen: DemoScreen, *, prompt: str = ""
    ) -> None:
        """Run nothing yet.

        Args:
            home: Whose environment the commands have.
            folder: Where they run.
            screen: Where they are shown.
            prompt: What is shown before the ``$`` of each command.
        """
        self._home, self._folder, self._screen, self._prompt = home, folder, screen, prompt

    def run(
        self,
        *words: str,
        announced: bool = True,
        shown: bool = True,
        deadline_s: float = DEADLINE_S,
    ) -> str:
        """Run one agentmux command to its end.

        Args:
            words: The command line after ``agentmux``.
            announced: Whether to print the command itself.
            shown: Whether to print what the command writes to stdout.
            deadline_s: How many seconds it may take.

        Returns:
            What the command wrote to stdout.

        Raises:
            DemoError: The command failed, or took too long.
        """
        if announced:
            self.announce(words)
        try:
            done = Child(
                argv=argv(words),
                cwd=self._folder,
                env=self._home.environment,
                limit_s=deadline_s,
            ).run()
        except subprocess.TimeoutExpired:
            raise DemoError(f"agentmux {shlex.join(words)} took over {deadline_s:g} s") from None
        out = done.out.decode("utf-8", "replace")
        if shown or done.status:
            self._screen.lines(out)
        self._screen.lines(done.err.decode("utf-8", "replace"))
        if done.status:
            raise DemoError(f"agentmux {words[0]} ended with {done.status}")
        return out

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start one agentmux command that goes on, and print it; the caller reads its stderr.

        It is in a process session of its own, so that Ctrl-C is the demo's alone.
        """
        self.announce(words)
        return subprocess.Popen(
            argv(words),
            cwd=self._folder,
            env=self._home.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def announce(self, words: Iterable[str]) -> None:
        """Print a command as a heading."""
        self._screen.head(f"{self._prompt}$ agentmux {shlex.join(words)}")


def argv(words: Iterable[str]) -> list[str]:
    """Return the command line of ``agentmux`` with these words."""
    return [*program(), *words]
