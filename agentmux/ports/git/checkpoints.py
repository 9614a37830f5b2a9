"""Work-tree checkpoints: the files of a work tree as commits that only their session has.

Paths are relative to the top of the work tree. A name that ends in ``/`` is a directory.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from agentmux.core.codec.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTree:
    """A work tree as it was saved.

    Attributes:
        commit: The commit with the files; only the session's directory has it.
        head: The commit that was checked out; None before the first one.
        branch: Short name of the branch that was checked out; None where HEAD was detached.
        missing: The files that could not be saved: too large, unreadable, refused by a filter of
            git, or in a repository of their own.
    """

    commit: str
    head: str | None
    branch: str | None
    missing: tuple[str, ...] = ()


class TreeCheckpoints(Protocol):
    """The checkpoints of one session's work tree.

    No method changes a ref, the index, the configuration or the objects of the repository, but for
    one ref outside of ``refs/heads`` where nothing else keeps the commit that a checkpoint is based
    on.
    """

    def take(
        self, message: str, *, limit_s: float, replaced_by: str | None = None
    ) -> SavedTree | None:
        """Save the files of the work tree that git does not ignore; None outside of git.

        Files in ``.agentmux`` are saved as they are in the index.

        Args:
            message: The message of the commit.
            limit_s: How long it may take.
            replaced_by: A checkpoint that is to be written next: the files that it would replace
                are saved even if git ignores them.

        Raises:
            GitError: Git refuses.
            MissingError: Git is not installed, or took longer than ``limit_s``.
            OSError: The session's directory cannot be written.
        """

    def tree(self, *, limit_s: float) -> str | None:
        """Return the id of the work tree's files, as a checkpoint has them; None outside of git.

        It is git's id of the tree: equal for equal files, and of the commit with these files.
        Nothing is kept.

        Args:
            limit_s: How long it may take.

        Raises:
            GitError: Git refuses.
            MissingError: Git is not installed, or took longer than ``limit_s``.
        """

    def changed_since(self, commit: str) -> tuple[str, ...]:
        """Return the files that `write_files` would change for a checkpoint; keeps nothing.

        Raises:
            GitError: Git refuses, for example because the commit is gone.
            MissingError: Git is not installed, or takes too long.
        """

    def write_files(self, since: str, until: str, *, leave: Collection[str]) -> tuple[str, ...]:
        """Make the files that differ between two commits as they are in ``until``.

        It may be called any number of times. Other files stay as they are; so do repositories in
        the work tree, the files in ``.agentmux`` and in ``leave``, and files that ``until`` does
        not have because it ignores them.

        Returns:
            The files that could not be written, or that one in ``leave`` is in the way of.

        Raises:
            GitError: Git refuses, for example because a commit is gone.
        """

    def differing(self, since: str, until: str) -> tuple[str, ...]:
        """Return the files in which two commits differ, without those in ``.agentmux``.

        Raises:
            GitError: Git refuses, for example because a commit is gone.
        """

    def hand_over(self, commit: str | None) -> str:
        """Copy a checkpoint into the objects of the repository; return its commit.

        Nothing refers to it there: once the caller's reference is gone, git deletes it one day.

        Args:
            commit: The checkpoint; None saves the work tree as it is now, for this alone.

        Raises:
            GitError: Git refuses, for example because the commit is gone.
            MissingError: Git is not installed, or takes too long.
        """

    def forget(self) -> None:
        """Delete the session's ref, if it has one; the objects go with the session's directory."""
