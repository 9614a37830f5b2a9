"""Bringing a session's result into the branch that its own branch began on."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from agentmux.core.codec.frozen import dataclass
from agentmux.ports.git.repository import GitError


class MergeConflictError(GitError):
    """The two sides change the same places; nothing was changed.

    Attributes:
        paths: The files in conflict.
        said: What git says of each conflict, one line each.
    """

    def __init__(
        self, message: str, *, paths: tuple[str, ...], said: str, hints: tuple[str, ...] = ()
    ) -> None:
        self.paths, self.said = paths, said
        super().__init__(message, hints=hints)


class BaseMovedError(GitError):
    """The base has moved since the merge was computed; nothing was changed: compute it again."""


class CheckoutDirtyError(GitError):
    """The base is checked out, and the merge would touch what is not committed there.

    Attributes:
        paths: The files in question; nothing of them was changed.
    """

    def __init__(self, message: str, *, paths: tuple[str, ...], hints: tuple[str, ...]) -> None:
        self.paths = paths
        super().__init__(message, hints=hints)


class CheckoutBusyError(GitError):
    """The base is checked out where an operation of git waits for the user; nothing was changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePlan:
    """A merge that is computed and not made.

    Attributes:
        base: Short name of the branch that gets the result.
        old: Its commit before.
        new: Its commit after; ``old`` where it contains the result already.
    """

    base: str
    old: str
    new: str


class Merging(Protocol):
    """Merges into branches of one repository, without a work tree of their own."""

    def plan(self, base: str, result: str, *, branch: str, trailer: tuple[str, str]) -> MergePlan:
        """Compute the merge of the commit ``result`` into the branch ``base``; move no branch.

        Where the base has nothing else, its new commit is ``result`` itself; else a merge commit is
        made, by the user's identity, and signed if the user's commits are.

        Args:
            base: Short name of a branch.
            result: A commit.
            branch: The name of the result's branch, for the merge commit's message.
            trailer: Key and value of a line at the end of that message.

        Raises:
            MergeConflictError: The two sides change the same places.
            GitError: The branch does not exist; git is older than 2.38, or refuses.
        """

    def foresee(
        self, base: str, tree: Path, home: Path, session: str, *, leave_out: Collection[str] = ()
    ) -> None:
        """Raise why the files of a work tree, once committed, could not be merged now.

        It changes nothing, and runs no hook. A merge may meet something else, later.

        Args:
            base: Short name of the branch that would get them.
            tree: The top of the work tree.
            home: The directory of the session that works there.
            session: The session's uuid.
            leave_out: Changed files that will not be committed: those that were changed already
                when the session began, such as by its setup.

        Raises:
            MergeConflictError: The two sides change the same places.
            CheckoutDirtyError: The base is checked out, and files there are in the way.
            IndexBusyError: Another git uses that checkout.
            GitError: As for `plan`.
        """

    def ways_to_put_back(self, base: str) -> tuple[str, ...]:
        """Return hints for each stash that was made as one of our hints says; oldest first.

        ``base`` is the branch that was to be merged into. It is empty if git cannot tell.
        """

    def checkout_of(self, base: str) -> Path | None:
        """Return the top of the work tree in which the branch is checked out; None for none."""

    def is_merged(self, plan: MergePlan) -> bool:
        """Return whether the base contains the new commit, and its checkout agrees with it."""

    def move(self, plan: MergePlan) -> None:
        """Move the base, which is checked out nowhere, from ``old`` to ``new``.

        Raises:
            BaseMovedError: It is at neither of them.
            GitError: Git refuses.
        """

    def fast_forward(
        self, plan: MergePlan, top: Path, *, keep: AbstractContextManager[None] | None = None
    ) -> None:
        """Move the base, which is checked out at ``top``, and its files, from ``old`` to ``new``.

        A call that was killed is completed by the next one. Files that differ from HEAD are left
        alone: the call is refused if the merge would touch one that is neither as in ``old`` nor as
        in ``new``.

        Args:
            plan: What to move.
            top: The top of the work tree.
            keep: Entered for that time: it keeps sessions from working there. No other session
                merges meanwhile.

        Raises:
            BaseMovedError: The base is at neither of them.
            CheckoutDirtyError: Files there are in the way.
            IndexBusyError: Another git uses that checkout.
            GitError: Git refuses.
        """
