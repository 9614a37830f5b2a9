"""The trial of a session's state in the user's own checkout."""

from __future__ import annotations

from typing import Protocol

from agentmux.core.codec.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A session's state in the user's checkout.

    Attributes:
        session: The name of the session.
        commit: The commit with its files, at which HEAD is detached.
        branch: Short name of the branch that was checked out before; None where HEAD was detached.
        head: The commit that was checked out before.
    """

    session: str
    commit: str
    branch: str | None
    head: str


class Trials(Protocol):
    """The trial in one checkout; there is one at most."""

    def current(self) -> Trial | None:
        """Return the trial that was begun and not ended; None for none. Starts no git."""

    def begin(self, trial: Trial) -> None:
        """Note the trial, and check its commit out, detached.

        Raises:
            GitRefusedError: Git refuses; nothing was changed.
        """

    def end(self, trial: Trial) -> None:
        """Check out what was checked out before; leave no trace in the log of HEAD.

        Raises:
            GitRefusedError: Git refuses; the trial goes on.
        """

    def forget(self) -> None:
        """Remove the note of a trial that the user has ended without us; safe to repeat."""
