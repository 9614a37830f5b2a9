"""The texts that prompts are made of."""

from __future__ import annotations

from typing import Protocol


class Templates(Protocol):
    """The built-in templates of prompts, and the project's extensions."""

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
