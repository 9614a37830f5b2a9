"""Claims: file locks that show which launch on this host uses which conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Claims(Protocol):
    """The claim files of this host; a launch locks the file of the conversation that it uses."""

    def require_writable(self) -> None:
        """Check that claim files can be written here; changes nothing.

        Raises:
            DataError: They cannot be written, so no agent could be launched.
        """

    def path(self, program: str, home: str, conversation: str) -> Path:
        """Return the path of a conversation's claim file, which need not exist.

        Args:
            program: Base name of the program that owns the conversation.
            home: The program's config home, or empty.
            conversation: The conversation's id; while it is unknown, the id of its launch.
        """

    def is_held(self, path: Path) -> bool:
        """Whether a running process has locked the claim file at ``path``."""

    def holder(self, path: Path) -> str | None:
        """Say in words who has locked the claim file at ``path``; None if nobody has.

        Slower than `is_held`.
        """

    def latest(self, program: str, home: str, cwd: str) -> tuple[str, ...]:
        """Return ids, any of which may stand for a program's latest conversation.

        Some programs can only resume the latest conversation of a config home and a directory. The
        ids are those of the last launch there and of the launches that ran beside it, and the ids
        of their conversations as far as they are known; empty if none were stored.

        Args:
            program: Base name of the program.
            home: The program's config home, or empty.
            cwd: The directory that the program runs in.
        """

    def note_latest(self, program: str, home: str, cwd: str, owners: tuple[str, ...]) -> None:
        """Store ``owners``: the ids that `latest` will return for this program, home and directory.

        Raises:
            DataError: They cannot be written.
        """
