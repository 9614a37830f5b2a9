"""The definitions of pipelines that a project can use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from agentmux.core.definitions.source import Source


class Pipelines(Protocol):
    """The definitions that are built in, the project's and the user's.

    Of two with the same name, the built-in one wins over the project's, and that over the user's.
    """

    def names(self) -> tuple[str, ...]:
        """Return the names of all files, also of those that cannot be used; built-in ones first."""

    def list_shadowed(self) -> tuple[str, ...]:
        """Return the paths of the files that have no effect, as another one has the same name."""

    def source(self, name: str) -> Source | None:
        """Return the definition with this name, and what it names; nothing in it is checked.

        None if there is none, or if the project's is not trusted and the user has none.
        """
