"""Claims: file locks that show which launch on this host uses which conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Claims(Protocol):
    """The claim files of this host; a launch locks the file of the conversation that it uses.

    No method here locks a file.
    """

    def require_writable(self) -> None:
        """Check that claim files can be written on this host, without changing anything.

        Raises:
            DataError: They cannot be written, so no agent could be launched.
        """

    def path(self, program: str, home: str, conversation: str) -> Path:
        """Return the path of a conversation's claim file, which need not exist.

        Args:
            program: Base name of the program that owns the conversation.
            home: The program's config home; empty for its default.
            conversation: The conversation's id; while it is unknown, the id of its launch.
        """

    def is_held(self, path: Path) -> bool:
        """Return whether a running process has locked the claim file at ``path``.

        False also if there is no such file.
        """

    def holder(self, path: Path) -> str | None:
        """Return a description of the process that has locked ``path``, for messages; None if none.

        Such as ``process 42 of session NAME``. This is slower than `is_held`.
        """

    def latest(self, program: str, home: str, cwd: str) -> tuple[str, ...]:
        """Return the stored ids that may identify the program's latest conversation in ``cwd``.

        Some programs can only resume the latest conversation of a config home and a directory.

        Args:
            program: Base name of the program.
            home: The program's config home; empty for its default.
            cwd: The directory that the program runs in.

        Returns:
            The ids of the last launch there, of the launches that ran at the same time, and of
            their conversations where these are known. Empty if no ids were stored.
        """

    def note_latest(self, program: str, home: str, cwd: str, owners: tuple[str, ...]) -> None:
        """Store the ids that may identify the program's latest conversation in ``cwd``.

        Args:
            program: Base name of the program.
            home: The program's config home; empty for its default.
            cwd: The directory that the program runs in.
            owners: The ids of the launches that run there now, and of their conversations; they
                replace what was stored before.

        Raises:
            DataError: They cannot be written.
        """
