"""Merging a session's result into its base: the branch from which its own branch was created."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from agentmux.core.codec.frozen import dataclass
from agentmux.ports.git.repository import GitError


class MergeConflictError(GitError):
    """The commit to merge and the base, the branch to merge into, change the same places of a file.

    Nothing was changed.

    Attributes:
        paths: The files in conflict, relative to the top of the repository.
        said: Git's messages about the conflicts, one line for each.
    """

    def __init__(
        self, message: str, *, paths: tuple[str, ...], said: str, hints: tuple[str, ...] = ()
    ) -> None:
        self.paths, self.said = paths, said
        super().__init__(message, hints=hints)


class BaseMovedError(GitError):
    """The base, the branch to merge into, has moved since the merge was computed.

    Nothing was changed; compute the merge again.
    """


class CheckoutDirtyError(GitError):
    """The merge would overwrite uncommitted changes in the work tree that has the base checked out.

    The base is the branch to merge into. Nothing was changed.

    Attributes:
        paths: The files with these changes, relative to the top of that work tree.
    """

    def __init__(self, message: str, *, paths: tuple[str, ...], hints: tuple[str, ...]) -> None:
        self.paths = paths
        super().__init__(message, hints=hints)


class CheckoutBusyError(GitError):
    """A work tree that has the base checked out has an unfinished rebase, merge or the like.

    The base is the branch to merge into. The user must finish the operation first. Nothing was
    changed.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePlan:
    """A merge that was computed, but does not count until the base is moved to ``new``.

    Attributes:
        base: Short name of the branch that gets the result.
        old: The id of the base's last commit before the merge.
        new: The id of the base's last commit after the merge; equal to ``old`` if the base contains
            the result already.
    """

    base: str
    old: str
    new: str


class Merging(Protocol):
    """Merges commits into branches of one repository; needs no work tree.

    In the methods, ``base`` is the short name of the branch to merge into.
    """

    def plan(self, base: str, result: str, *, branch: str, trailer: tuple[str, str]) -> MergePlan:
        """Compute the merge of a commit into a branch, without moving the branch.

        If the base can be fast-forwarded, `MergePlan.new` is ``result`` itself. Otherwise a merge
        commit is created with the user's identity, and signed if the user's commits are.

        Args:
            base: Short name of the branch to merge into.
            result: The id of the commit to merge.
            branch: The name of the result's branch, for the message of the merge commit.
            trailer: Key and value of a line at the end of that message.

        Raises:
            MergeConflictError: The base and the result change the same places.
            GitError: The branch does not exist, git is older than 2.38, or git refuses.
        """

    def check_mergeable(
        self, base: str, tree: Path, home: Path, session: str, *, leave_out: Collection[str] = ()
    ) -> None:
        """Check whether the files of a work tree could be committed and merged into the base now.

        This changes nothing, and runs no hook. The real merge may still fail for another reason.

        Args:
            base: Short name of the branch to merge into.
            tree: The top of the work tree.
            home: The directory of the session that works there.
            session: The session's uuid.
            leave_out: Changed files that will not be committed because they were changed before
                the session began, for example by its setup.

        Raises:
            MergeConflictError: The base and the files change the same places.
            CheckoutDirtyError: Uncommitted changes where the base is checked out are in the way.
            CheckoutBusyError: A rebase, merge or the like is unfinished there.
            IndexBusyError: Another git process is using that checkout.
            GitError: The branch does not exist, git is older than 2.38, or git refuses.
        """

    def stash_hints(self, base: str) -> tuple[str, ...]:
        """Return hints with commands that restore the changes that the user stashed for a merge.

        Only reads. When uncommitted changes were in the way of a merge, a hint told the user a
        ``git stash`` command. Each stash that this command made on ``base`` gets two hints: how to
        restore it, and how to see it. The oldest stash comes first.

        Args:
            base: Short name of the branch that was to be merged into.

        Returns:
            The hints; empty if there is no such stash, or git cannot list the stashes.
        """

    def checkout_of(self, base: str) -> Path | None:
        """Return the top of the work tree that has the branch ``base`` checked out, else None.

        Raises:
            CheckoutBusyError: The branch is being rebased in a work tree.
            GitError: It is checked out in a work tree whose folder is missing, and which git does
                not call prunable.
        """

    def is_merged(self, plan: MergePlan) -> bool:
        """Return whether the base contains the plan's new commit; False if the base is gone."""

    def move(self, plan: MergePlan) -> None:
        """Move the base from the plan's old commit to its new one.

        Nothing happens if the base contains the new commit already. No work tree may have the base
        checked out: `fast_forward` is for that case.

        Raises:
            BaseMovedError: The base is at another commit, or a work tree has it checked out.
            CheckoutBusyError: The base is being rebased in a work tree.
            GitError: Git refuses, or another merge of AgentMux is under way in the repository.
        """

    def fast_forward(
        self, plan: MergePlan, top: Path, *, keep: AbstractContextManager[None] | None = None
    ) -> None:
        """Move the base, and the files of the work tree that has it checked out, to the new commit.

        If a call is killed, the next one completes it. The user's uncommitted changes are kept: the
        call is refused if the merge would overwrite a file that is neither as in ``plan.old`` nor
        as in ``plan.new``. No other process merges in the repository during the call.

        Args:
            plan: The computed merge.
            top: The top of the work tree that has the base checked out.
            keep: A context manager that is entered during the change, to keep sessions from
                working at ``top``; None if that is not needed.

        Raises:
            BaseMovedError: The base is at neither commit of the plan, or not checked out at
                ``top`` any more.
            CheckoutBusyError: A rebase, merge or the like is unfinished at ``top``.
            CheckoutDirtyError: Uncommitted changes are in the way.
            IndexBusyError: Another git process is using that checkout.
            GitError: Git refuses.
        """
