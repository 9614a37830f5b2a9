"""The offline agent's user interface, and its implementation without a terminal."""

from __future__ import annotations

import os
import select
from collections.abc import Sequence
from typing import Protocol


class UserInterface(Protocol):
    """The user interface of the offline agent: shows text and dialogs, pauses, and reads prompts.

    Implemented by `terminal.TerminalInterface` and `PipeInterface`.
    """

    def say(self, text: str) -> None:
        """Show ``text``, which may have several lines."""

    def work(self, seconds: float) -> None:
        """Wait for ``seconds``, as if the agent were thinking.

        Raises:
            TurnCancelledError: The user pressed Esc or Ctrl-C.
            QuitError: The user ended the program, or the terminal is lost.
        """

    def choose(self, head: Sequence[str], choices: Sequence[str], selected: int) -> int:
        """Show a dialog and wait for the user's choice.

        Args:
            head: The lines above the choices.
            choices: The choices.
            selected: The index of the choice that is selected at first.

        Returns:
            The index of the user's choice; -1 if the user pressed Esc or Ctrl-C.

        Raises:
            QuitError: The terminal is lost.
        """

    def busy(self, on: bool) -> None:
        """Show (``on``) or hide the sign that the agent is working."""

    def next_prompt(self) -> str:
        """Wait for a prompt and return it.

        Raises:
            QuitError: The user ended the program, or the terminal is lost.
        """

    def close(self) -> None:
        """Restore the terminal."""


class PipeInterface:
    """The user interface without a terminal: no dialogs, and one prompt from standard input."""

    def say(self, text: str) -> None:
        """Write ``text`` and a newline to stdout."""
        os.write(1, text.encode() + b"\n")

    def work(self, seconds: float) -> None:
        """Wait for ``seconds``."""
        select.select((), (), (), seconds)

    def choose(self, head: Sequence[str], choices: Sequence[str], selected: int) -> int:  # noqa: ARG002 (for other faces)
        """Return 0, the index of the first choice, without asking the user."""
        return 0

    def busy(self, on: bool) -> None:
        """Do nothing."""

    def next_prompt(self) -> str:
        """Read standard input to its end, and return it without whitespace at both ends.

        The result is empty if there is no input; it does not raise QuitError.
        """
        data = b""
        while chunk := os.read(0, 65536):
            data += chunk
        return data.decode("utf-8", "replace").strip()

    def close(self) -> None:
        """Do nothing."""
