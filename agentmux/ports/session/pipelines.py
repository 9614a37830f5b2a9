"""The pipeline definitions that a project can use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from agentmux.core.definitions.source import Source


class Pipelines(Protocol):
    """The built-in pipeline definitions, the project's and the user's.

    A definition is the file that says what a pipeline is. If several have the same name, the
    built-in one is used, else the project's, if the user trusts it, else the user's.
    """

    def names(self) -> tuple[str, ...]:
        """Return the names of all definitions, even invalid or untrusted ones; built-in first."""

    def list_shadowed(self) -> tuple[str, ...]:
        """Return the paths, for messages, of definitions that another of the same name hides."""

    def source(self, name: str) -> Source | None:
        """Return the definition ``name`` with the files that it refers to, not yet checked.

        None if there is no such definition, or if only the project has it and the user does not
        trust the project's.
        """
