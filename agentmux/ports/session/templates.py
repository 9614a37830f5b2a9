"""The prompt templates, and the project's own files that add to them."""

from __future__ import annotations

from typing import Protocol


class Templates(Protocol):
    """The built-in prompt templates, and the project's prompt extensions and copy patterns."""

    def template(self, name: str, *, again: bool = False) -> str:
        """Return a built-in prompt template, between the opening and the ending that all share.

        Its placeholders, such as ``{{read}}``, are not filled in.

        Args:
            name: The name of the template, such as ``coder``.
            again: Whether the seat was started for the same work before; if so, the text warns of
                unfinished work.

        Raises:
            OSError: There is no template of this name.
        """

    def extension(self, role: str) -> str | None:
        """Return the text that the project adds to the prompts of ``role``.

        None if the project adds none, or the user does not trust it.

        Raises:
            ConfigError: The file with the text cannot be used.
        """

    def copy_patterns(self) -> str | None:
        """Return the patterns (as in ``.gitignore``) of ignored files to copy into a new worktree.

        None if the project has no patterns, or the user does not trust them.

        Raises:
            ConfigError: The file with the patterns cannot be used.
        """
