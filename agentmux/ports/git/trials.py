"""Trials: a session's current files, checked out in the user's own checkout to try them."""

from __future__ import annotations

from typing import Protocol

from agentmux.core.codec.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A session's files that are checked out in the user's checkout, and how to go back.

    Attributes:
        session: The name of the session.
        commit: The commit with the session's files, at which HEAD is detached during the trial.
        branch: Short name of the branch that was checked out before; None if HEAD was detached.
        head: The commit that was checked out before.
        is_shown: Whether its files were checked out completely. If not, HEAD may still be at
            ``head``, and some of the files may be there.
    """

    session: str
    commit: str
    branch: str | None
    head: str
    is_shown: bool = False


class Trials(Protocol):
    """Begins and ends trials in one checkout, which has at most one trial at a time."""

    def current(self) -> Trial | None:
        """Return the trial that has begun and not ended, else None; does not run git."""

    def begin(self, trial: Trial) -> None:
        """Record the trial, then check out its commit with a detached HEAD.

        Continues a checkout that was killed.

        Raises:
            CheckoutDirtyError: Something of the user is where the trial has other files.
            GitRefusedError: Git refuses, and no trial has begun. The message names the files that
                git has written and that could not be taken back; then the record is kept, so that
                `end` can take them back.
        """

    def list_written(self, trial: Trial) -> tuple[str, ...]:
        """Return the paths that a killed checkout, for the trial or back from it, has changed.

        They are relative to the top of the checkout; empty if none was killed. HEAD must be at the
        trial's commit, or where it was before.
        """

    def end(self, trial: Trial) -> None:
        """Check out what was checked out before the trial, and delete the record of the trial.

        If the trial's checkout was killed, what it has written is taken back. If HEAD is not at the
        trial's commit, nothing is checked out otherwise. The trial's entries in HEAD's reflog are
        deleted, so that ``git switch -`` works as before.

        Args:
            trial: The trial that `current` has returned.

        Raises:
            GitRefusedError: Git refuses; the trial goes on.
            CheckoutDirtyError: The checkout was killed, and the user has changed its files since.
        """

    def delete_record(self) -> None:
        """Delete the record of a trial that the user ended with git alone; safe to repeat."""
