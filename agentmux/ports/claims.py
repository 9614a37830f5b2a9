"""Claims: file locks that show which launch on this host uses which conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Claims(Protocol):
    """The claim files of this host; a launch locks the file of the conversation that it uses."""

    def require_writable(self) -> None:
        """Check that claim files can be written on this host, without changing anything.

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
        """Return a description of the process that holds the lock on ``path``; None if none does.

        This is slower than `is_held`.
        """

    def latest(self, program: str, home: str, cwd: str) -> tuple[str, ...]:
        """Return every id that may identify the program's latest conversation in a directory.

        Some programs can only resume the latest conversation of a config home and a directory.

        Returns:
            The ids of the last launch there, of the launches that ran at the same time, and of
            their conversations where these are known. Empty if no ids were stored.

        Args:
            program: Base name of the program.
            home: The program's config home, or empty.
            cwd: The directory that the program runs in.
        """

    def note_latest(self, program: str, home: str, cwd: str, owners: tuple[str, ...]) -> None:
        """Store the ids ``owners``, which `latest` then returns for the same arguments.

        They replace the ids that were stored before for these arguments; see `latest` for them.

        Raises:
            DataError: They cannot be written.
        """
