"""Trials: a session's current files, checked out in the user's own checkout to try them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from agentmux.core.codec.frozen import dataclass, field


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
        is_returning: Whether the checkout back has begun. If it was interrupted, some of the files
            may be as they were before the trial.
        flags: The files whose changes git was told not to show before, with their letters in ``git
            ls-files -v``, as far as the trial checks others out. The end gives them back.
    """

    session: str
    commit: str
    branch: str | None
    head: str
    is_shown: bool = False
    is_returning: bool = False
    flags: Mapping[str, str] = field(default_factory=dict)


class Trials(Protocol):
    """Begins and ends trials in one checkout, which has at most one trial at a time."""

    def current(self) -> Trial | None:
        """Return the trial that has begun and not ended, else None; does not run git."""

    def begin(self, trial: Trial) -> None:
        """Record the trial, then check out its commit with a detached HEAD.

        The checkout has no changes. Flags that tell git not to show changes are taken from the
        files that it checks out, because git would not write those with ``skip-worktree``; they are
        recorded with the trial.

        Raises:
            CheckoutDirtyError: A file of the user, such as an ignored one, is where the trial has
                one, even with the same content.
            GitRefusedError: Git refuses, and no trial has begun. The message names the files that
                git has written and that could not be taken back; then the record is kept, so that
                `end` can take them back.
        """

    def list_returned(self, trial: Trial) -> tuple[str, ...]:
        """Return the paths that an interrupted checkout back from the trial has already changed.

        They are relative to the top of the checkout, in which HEAD must be at the trial's commit.
        Empty if no such checkout was interrupted.
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
                Or changes that git does not show, or ignored files, are where the way back has
                files; then nothing has changed.
        """

    def delete_record(self) -> None:
        """Give the files their flags back, and delete the record of the trial; safe to repeat."""
