"""The user's trust in a project's files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # who only needs tmux must not import the core
    from agentmux.core.config.trust import Part, TrustedParts


class Trust(Protocol):
    """Tells which parts of a project's files need the user's trust, and records that trust.

    A part is a piece that makes AgentMux run a program or tell an agent something. It has a key,
    and a digest of its content; after a change of the content it has to be trusted again.
    """

    def parts(self) -> tuple[Part, ...]:
        """Return all parts that need trust, as they were when the files were first read.

        Raises:
            ConfigError: A prompt extension of the project cannot be used.
        """

    def trusted_parts(self) -> TrustedParts:
        """Return the digest of each part that the user has trusted, by the part's key.

        A part that has another digest now, because it was changed, is no longer trusted. Later
        changes of the record do not count: it is read at the first call.
        """

    def keep(self, parts: TrustedParts, /, *, only: bool = False) -> None:
        """Record that the user trusts these parts, in addition to those trusted before.

        Args:
            parts: The digest of each part, by the part's key.
            only: Whether the user trusts only these parts from now on.

        Raises:
            DataError: The record cannot be written; the old one stays.
        """

    def revoke(self) -> None:
        """Record that the user no longer trusts any part of the project."""
