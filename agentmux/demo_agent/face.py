"""How the agent talks to its user, on a terminal or through plain pipes."""

from __future__ import annotations

import os
import select
from collections.abc import Sequence
from typing import Protocol


class AgentFace(Protocol):
    """Shows text, waits and asks; implemented by ``TerminalFace`` and ``Plain``."""

    def say(self, text: str) -> None:
        """Add lines to the transcript."""

    def work(self, seconds: float) -> None:
        """Let time pass with the busy mark on; raise `TurnCancelledError` on Esc or Ctrl-C."""

    def choose(self, head: Sequence[str], choices: Sequence[str], selected: int) -> int:
        """Show a dialog and return the index of the choice; -1 for Esc."""

    def busy(self, on: bool) -> None:
        """Show or hide the busy mark."""

    def next_prompt(self) -> str:
        """Wait for a message and return it; raise `QuitError` when none can come."""

    def close(self) -> None:
        """Restore the terminal's modes."""


class Plain:
    """Output without a terminal: transcript lines on stdout, no dialogs, one prompt."""

    def say(self, text: str) -> None:
        """Write the lines at once."""
        os.write(1, text.encode() + b"\n")

    def work(self, seconds: float) -> None:
        """Let time pass."""
        select.select((), (), (), seconds)

    def choose(self, head: Sequence[str], choices: Sequence[str], selected: int) -> int:  # noqa: ARG002 (for other faces)
        """Answer every dialog with its first choice, which is Yes."""
        return 0

    def busy(self, on: bool) -> None:
        """Show nothing."""

    def next_prompt(self) -> str:
        """Read stdin to its end."""
        data = b""
        while chunk := os.read(0, 65536):
            data += chunk
        return data.decode("utf-8", "replace").strip()

    def close(self) -> None:
        """Do nothing."""
