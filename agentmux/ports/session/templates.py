"""The texts of the project that a session uses."""

from __future__ import annotations

from typing import Protocol


class Templates(Protocol):
    """The built-in templates of prompts, and the project's extensions and patterns."""

    def template(self, name: str, *, again: bool = False) -> str:
        """Return the text of the template ``name``, joined from its parts.

        Args:
            again: Whether the seat was started for the same work before; the text then says so.
        """

    def extension(self, role: str) -> str | None:
        """Return the text that the project adds to the prompts of ``role``.

        None if there is none, or the user has not trusted it.

        Raises:
            ConfigError: The file of the extension cannot be used.
        """

    def copy_patterns(self) -> str | None:
        """Return the patterns (as in ``.gitignore``) of the ignored files that a worktree gets.

        None if there are none, or the user has not trusted them.

        Raises:
            ConfigError: The file of the patterns cannot be used.
        """
