"""Runs ``agentmux`` commands in a demo home, and prints the commands and their output."""

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
"""How many seconds one wait of the demo may take. On an idle machine, the whole demo takes less."""


class DemoError(AgentmuxError):
    """A command that the demo runs has failed, or the demo could not be cleaned up."""


class DemoCommands:
    """Runs ``agentmux`` commands with the environment of one demo home."""

    def __init__(
        self, home: DemoHome, folder: Path, screen: DemoScreen, *, prompt: str = ""
    ) -> None:
        """Set where the commands run. No command is run yet.

        Args:
            home: The home whose environment the commands get.
            folder: The working directory of the commands.
            screen: Prints the commands and their output.
            prompt: The text to print before the ``$`` in front of each command.
        """
        self._home, self._folder, self._screen, self._prompt = home, folder, screen, prompt

    def run(
        self,
        *words: str,
        announced: bool = True,
        shown: bool = True,
        deadline_s: float = DEADLINE_S,
    ) -> str:
        """Run one ``agentmux`` command until it ends.

        Args:
            words: The arguments after ``agentmux``.
            announced: Whether to print the command itself.
            shown: Whether to print the command's output; it is always printed if the command fails.
            deadline_s: The most seconds that the command may take.

        Returns:
            The command's stdout.

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
        """Start one ``agentmux`` command in the background, and print the command.

        The command runs in its own process session, so that Ctrl-C reaches only the demo. Its
        stdout is discarded.

        Args:
            words: The arguments after ``agentmux``.

        Returns:
            The process. The caller has to read its stderr.
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
        """Print an ``agentmux`` command as a heading; ``words`` are its arguments."""
        self._screen.head(f"{self._prompt}$ agentmux {shlex.join(words)}".rstrip())


def argv(words: Iterable[str]) -> list[str]:
    """Return the full command line that runs this ``agentmux`` with the arguments ``words``."""
    return [*program(), *words]
