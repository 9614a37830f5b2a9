"""Claims: which launch of this host holds which conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Claims(Protocol):
    """Where the launches of this host say which conversation they hold."""

    def require_writable(self) -> None:
        """Check that claims can be made; changes nothing.

        Raises:
            DataError: Claims cannot be made, so no agent could be launched.
        """

    def path(self, program: str, home: str, conversation: str) -> Path:
        """Return the path of a conversation's claim file, which need not exist.

        Args:
            program: Base name of the program that owns the conversation.
            home: The program's config home, or empty.
        """

    def is_held(self, path: Path) -> bool:
        """Whether a process holds the claim file at ``path``."""

    def holder(self, path: Path) -> str | None:
        """Return who holds the claim file at ``path``, in words; None where nobody does.

        Slower than `is_held`.
        """

    def latest(self, program: str, home: str, cwd: str) -> tuple[str, ...]:
        """Return who may own "the latest conversation" of a program, home and directory.

        These are the last launch there and the launches that ran beside it, each with the id of
        its conversation where that is known; empty where nothing was noted.
        """

    def note_latest(self, program: str, home: str, cwd: str, owners: tuple[str, ...]) -> None:
        """Replace what `latest` returns.

        Raises:
            DataError: It cannot be written.
        """
