"""The user's trust in a project's files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # who only needs tmux must not import the core
    from agentmux.core.config.trust import Part, TrustedParts


class Trust(Protocol):
    """The parts of a project's files that need trust, and which of them are trusted."""

    def parts(self) -> tuple[Part, ...]:
        """Return all parts that need trust, as they were when the files were first read.

        Raises:
            ConfigError: A prompt extension of the project cannot be used.
        """

    def trusted_parts(self) -> TrustedParts:
        """Return the trusted parts as they were when first read; later changes are not seen."""

    def keep(self, parts: TrustedParts, /, *, only: bool = False) -> None:
        """Record that the user trusts these parts, beside those trusted before.

        Args:
            parts: The digest of each part, by the part's key.
            only: Whether to trust nothing else any more.

        Raises:
            DataError: The trust cannot be written; the old trust stays.
        """

    def revoke(self) -> None:
        """Record that the user trusts no part any more."""
