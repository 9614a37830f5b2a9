"""Work-tree checkpoints: commits of a work tree's files, stored in the session's directory only.

Paths are relative to the top of the work tree. A path that ends in ``/`` is a directory.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from agentmux.core.codec.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTree:
    """The commit in which a work tree was saved, and what was checked out at that time.

    Attributes:
        commit: The id of the commit with the files, which only the session's directory has.
        head: The id of the commit that was checked out; None if the repository had no commit.
        branch: Short name of the branch that was checked out; None if HEAD was detached.
        missing: The paths of the files that could not be saved because they are too large,
            unreadable, refused by a git filter, or in a nested repository. If there are more than
            200, the names of their top-level folders instead, which end in ``/``.
    """

    commit: str
    head: str | None
    branch: str | None
    missing: tuple[str, ...] = ()


class TreeCheckpoints(Protocol):
    """The checkpoints of one session's work tree.

    A checkpoint is given as the id of its commit, and a file as its path from the top of the work
    tree. Except for `hand_over`, no method changes the repository's index, configuration or
    objects. The only ref that is ever written is outside of ``refs/heads``; it keeps the commit
    that a checkpoint is based on, if no other ref does.
    """

    def take(
        self, message: str, *, limit_s: float, replaced_by: str | None = None
    ) -> SavedTree | None:
        """Save the files of the work tree that git does not ignore.

        Files in ``.agentmux`` are saved as they are in the index.

        Args:
            message: The message of the commit.
            limit_s: How many seconds the call may take.
            replaced_by: The id of the commit of the checkpoint whose files are about to be written
                over the work tree: the files that it would replace are saved even if git ignores
                them. None if no checkpoint is about to be written.

        Returns:
            The saved work tree; None outside of a git repository.

        Raises:
            GitError: Git refuses.
            MissingError: Git is not installed, or took longer than ``limit_s``.
            OSError: The session's directory cannot be written.
        """

    def tree(self, *, limit_s: float) -> str | None:
        """Return the id of the git tree that a checkpoint taken now would have; stores nothing.

        Work trees with equal files have equal ids. Like `take`, it leaves out ignored files.

        Args:
            limit_s: How many seconds the call may take.

        Returns:
            The id of the tree; None outside of a git repository.

        Raises:
            GitError: Git refuses.
            MissingError: Git is not installed, or took longer than ``limit_s``.
        """

    def changed_since(self, commit: str) -> tuple[str, ...]:
        """Return the files of the work tree that differ from the checkpoint ``commit``.

        `write_files` would change or delete these files to bring back the checkpoint. Nothing is
        stored. Paths are relative to the top of the work tree. Empty if nothing differs.

        Raises:
            GitError: Git refuses, for example because the commit is gone, or the session works
                outside of a git repository.
            MissingError: Git is not installed, or takes too long.
        """

    def write_files(self, since: str, until: str, *, leave: Collection[str]) -> tuple[str, ...]:
        """Write or delete the files in which two commits differ, as in ``until``; safe to repeat.

        The files are written in the work tree; files that ``until`` lacks are deleted there. Files
        in which the commits do not differ are not changed. Nor are nested repositories, the files
        in ``.agentmux``, and files that ``until`` lacks because its own rules ignore them.

        Args:
            since: The commit with which ``until`` is compared; the work tree is not compared.
            until: The commit whose files are written.
            leave: Files and folders that must not be changed, as paths from the top of the work
                tree; a folder ends in ``/``.

        Returns:
            The paths, from the top of the work tree, of the files that could not be written or
            deleted, some of them because a path in ``leave`` is in the way; empty if there are
            none.

        Raises:
            GitError: Git refuses, for example because a commit is gone.
        """

    def differing(self, since: str, until: str) -> tuple[str, ...]:
        """Return the files in which two commits differ, except those in ``.agentmux``.

        The commits are work-tree checkpoints, or commits of the repository, given by their ids.
        Paths are relative to the top of the work tree. Empty if nothing differs.

        Raises:
            GitError: Git refuses, for example because a commit is gone.
        """

    def list_unique(self, commit: str, others: Sequence[str]) -> tuple[str, ...]:
        """Return the files of a checkpoint whose content none of the commits ``others`` has there.

        Files in ``.agentmux`` are left out. Paths are sorted, and relative to the top of the work
        tree. Empty if the checkpoint, or the first of ``others``, is gone; the others of them are
        ignored then. ``others`` are ids, or names of refs.
        """

    def objects(self) -> str:
        """Return the value of ``GIT_ALTERNATE_OBJECT_DIRECTORIES`` with which git can read them.

        Empty if there is no checkpoint.
        """

    def list_ignored(self, since: str, until: str | None) -> tuple[str, ...]:
        """Return the files of the checkpoint ``since`` that ``until`` lacks as it ignores them.

        ``until`` is a later checkpoint, whose ``.gitignore`` files count; None is the work tree as
        it is now, and the result has then only files that exist there. Paths are relative to the
        top of the work tree.

        Raises:
            GitError: Git refuses, for example because a commit is gone.
            MissingError: Git is not installed, or takes too long.
        """

    def hand_over(self, commit: str | None) -> str:
        """Copy a checkpoint's commit into the repository's objects, and return the commit's id.

        No ref is created: unless the caller creates one, git may delete the commit at any later
        time.

        Args:
            commit: The checkpoint; None saves the work tree as it is now, and copies that commit,
                which the session does not keep.

        Raises:
            GitError: Git refuses, for example because the commit is gone.
            MissingError: Git is not installed, or takes too long.
        """

    def forget(self) -> None:
        """Delete the session's ref from the repository, if there is one.

        The checkpoints themselves are deleted with the session's directory.
        """
