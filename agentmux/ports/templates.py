"""The texts that prompts are made of."""

from __future__ import annotations

from typing import Protocol


class Templates(Protocol):
    """The built-in templates of prompts, and what the project adds to them."""

    def template(self, name: str, *, again: bool = False) -> str:
        """Return the text to render for the template ``name``, with its frame.

        Args:
            again: The seat was started for the same work before; the text says so.
        """

    def extension(self, role: str) -> str | None:
        """Return what the project adds to the prompts of ``role``, where that is trusted.

        None where it adds nothing.

        Raises:
            ConfigError: The file of the addition cannot be used.
        """
