"""Worktrees: the git worktrees that AgentMux creates, each for one session alone."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol

from agentmux.core.codec.frozen import dataclass
from agentmux.core.journal.state import TreeCheckpoint
from agentmux.errors import BlockedError


class WorktreeTakenError(BlockedError):
    """The path or the branch that a session's worktree needs is already used by something else."""

    def __init__(self, message: str, *, hints: tuple[str, ...] = ()) -> None:
        super().__init__(message, reason="worktree_taken", hints=hints)


WORKTREE_GONE: Final = "worktree_gone"
"""The ``reason`` of a `FolderGoneError`."""


class FolderGoneError(BlockedError):
    """The folder of a worktree is missing, and git still keeps work that belongs to it."""

    def __init__(self, message: str, *, hints: tuple[str, ...] = ()) -> None:
        super().__init__(message, reason=WORKTREE_GONE, hints=hints)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeSpec:
    """Describes the worktree of one session.

    Attributes:
        path: The top of the worktree, absolute and without symbolic links.
        branch: Short name of the branch that is checked out there; empty if the worktree has
            ``commit`` checked out with a detached HEAD.
        commit: The id of the commit on which the branch is created.
        session: The text that marks branch and worktree as belonging to the session: its uuid, or
            another text without a line break for a second worktree of the session.
        home: The session's directory.
        inner: Path of the project in the worktree, relative to its top; ``.`` is the top.
        checkpoint: The work-tree checkpoint whose changes are applied if the worktree is created
            again; None applies none.
        is_continued: Whether the branch existed before the session. Such a branch is never
            created, moved back or deleted.
        leaves_folder: Whether a missing worktree is created again even if git still keeps work for
            its old folder; the user has agreed to that.
    """

    path: Path
    branch: str
    commit: str
    session: str
    home: Path
    inner: Path
    checkpoint: TreeCheckpoint | None = None
    is_continued: bool = False
    leaves_folder: bool = False

    @property
    def label(self) -> str:
        """The branch or commit that is checked out, as text for messages."""
        return f"branch {self.branch}" if self.branch else f"commit {self.commit[:12]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseCommit:
    """The commit from which a session's branch is created.

    Attributes:
        commit: The commit's id.
        branch: Short name of the branch that the user named, or else that is checked out; None if
            the user named something else, or HEAD is detached.
        has_submodules: Whether the commit has submodules.
    """

    commit: str
    branch: str | None
    has_submodules: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeRootFacts:
    """The facts from which the path and the branch of a new worktree are chosen.

    Attributes:
        root: The directory for all worktrees, absolute and without symbolic links; it may not
            exist.
        inside: The repository that contains ``root``: this repository or its superproject. None if
            neither contains it.
        is_writable: Whether directories can be created in ``root``.
        names: The names that are in use in ``root``, including those of worktrees that were deleted
            by hand.
        branches: Short names of all branches, including those that sessions have reserved.
        version: Git's version; empty if it is unknown.
    """

    root: Path
    inside: Path | None
    is_writable: bool
    names: frozenset[str]
    branches: frozenset[str]
    version: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RewoundEdits:
    """Files, sorted, whose content only the checkpoint ``saved``, from before a rewind, has."""

    saved: TreeCheckpoint
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeLoss:
    """The work that would be lost if a session's worktree and branch were removed.

    As a bool it is true if work would be lost: ``changed``, ``commits``, ``commits_off_branch``,
    ``modules``, ``staged``, ``saved``, ``rewound`` or ``operation`` is not empty. Commits are given
    as abbreviated hash and subject, oldest first.

    Attributes:
        changed: The uncommitted files in the worktree, including ``hidden``, without files that git
            ignores and untracked ones in ``.agentmux`` folders. A path that ends in ``/`` is a
            nested repository. A submodule, or a nested repository that git ignores, is included
            only if it has changes, stashes, or commits that none of its remotes has.
        hidden: The files of ``changed`` that `git status` does not show, because git was told to
            skip them (``git update-index --skip-worktree``).
        commits: The commits of the session's branch that no other branch and no tag contains, and
            whose changes the base does not contain.
        commits_off_branch: Commits like ``commits`` that are not on the session's branch either.
        dropped: The commits that the base contained when the session began and no longer contains;
            merging ``commits`` would bring them back.
        tip: The id of the last commit of the session's branch; None if the branch does not exist.
        is_beside: Whether some of ``commits_off_branch`` are in the history of the worktree's HEAD.
        tips_off_branch: The ids of those commits of ``commits_off_branch`` at which HEAD of the
            worktree was before it went elsewhere, that a ref of the worktree itself names (such as
            one of a bisection), or that are checked out in a worktree of ``kept``.
        is_there: Whether the worktree exists, and would be removed.
        branch: The branch that would be deleted; empty if none would be.
        besides: Other uncommitted files in the worktree, which are not the session's work: those
            that git ignores, and untracked ones in ``.agentmux`` folders. A folder that contains
            nothing else is given as one path, which ends in ``/``.
        modules: The git directories of submodules of the worktree that are not checked out and have
            stashes, or commits that none of their remotes has.
        kept: Git directories that would be removed, too: those that git still has for folders of
            the worktree that were deleted, were moved or are not mounted. Such a folder would no
            longer be a work tree.
        staged: The files whose content is only in the index of a worktree of ``kept``, and the
            submodules of these worktrees that have commits of their own, which end in ``/``.
        saved: The files whose content only the last work-tree checkpoint has, because the folder of
            the worktree is missing.
        operation: The unfinished git operation, such as ``rebase``, in the worktree or in one of
            ``kept``; git may have saved changes for its end. Empty if there is none.
        rewound: The files that only checkpoints from before a rewind have; they go with the session
            itself.
        needed_by: The names of sessions that began on the session's branch and are not done: the
            branch stays for them, so that ``branch``, ``tip`` and ``commits`` are empty.
    """

    changed: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    commits_off_branch: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    tip: str | None = None
    is_beside: bool = False
    is_there: bool = False
    branch: str = ""
    besides: tuple[str, ...] = ()
    tips_off_branch: tuple[str, ...] = ()
    modules: tuple[Path, ...] = ()
    kept: tuple[Path, ...] = ()
    staged: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()
    operation: str = ""
    rewound: tuple[RewoundEdits, ...] = ()
    needed_by: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether any work would be lost."""
        has_commits = self.commits or self.commits_off_branch or self.modules
        has_saved = self.saved or self.rewound
        return bool(self.changed or has_commits or self.staged or has_saved or self.operation)


class CheckpointUnusableError(BlockedError):
    """The changes of a work-tree checkpoint cannot be applied to the session's branch."""


class Worktrees(Protocol):
    """Creates, examines and removes the worktrees of sessions in one repository."""

    def base(self, ref: str | None) -> BaseCommit | None:
        """Return the commit that ``ref`` names; None if there is no such commit.

        Args:
            ref: A branch, tag or commit; None means HEAD.
        """

    def root_facts(self, root: str | None) -> WorktreeRootFacts:
        """Return the facts from which a new worktree's path and branch are chosen; changes nothing.

        Args:
            root: The directory for worktrees, as the setting ``git.root`` names it: relative to the
                top of the repository. None is the default, ``<repository>-worktrees`` beside it.
        """

    def checkout_of(self, branch: str) -> Path | None:
        """Return the top of the work tree that has a branch checked out; None if none has.

        Its folder may be missing. ``branch`` is a short name.
        """

    def is_made(self, spec: WorktreeSpec) -> bool:
        """Return whether the worktree exists, is complete and belongs to the session."""

    def is_there(self, spec: WorktreeSpec) -> bool:
        """Return whether the session's worktree exists, so that `make` would keep it.

        Unlike `is_made`, this is true even if the repository or the session's directory was moved,
        so that git no longer recognises the worktree.
        """

    def place(self, spec: WorktreeSpec) -> Path:
        """Return the path at which the worktree is now; only looks, and moves nothing.

        It is ``spec.path``, unless repository and worktree were moved since the session last ran.
        It is ``spec.path``, too, if no worktree is found.
        """

    def reserve(self, spec: WorktreeSpec) -> None:
        """Record in git's configuration that the name ``spec.branch`` belongs to the session.

        The branch itself need not exist yet. If ``spec.branch`` is empty, nothing happens.
        """

    def find_branch(self, session: str) -> str | None:
        """Return the short name of the branch that is reserved for a session; None if none is.

        ``session`` is the session's uuid, as in `WorktreeSpec.session`, not its name.
        """

    def adopt(self, spec: WorktreeSpec, tip: str) -> None:
        """Create the session's branch at the commit ``tip``, and reserve its name; safe to repeat.

        This is for a session whose worktree is to be created later. If ``spec.branch`` is empty, or
        the branch exists at ``tip`` and belongs to the session, nothing happens.

        Raises:
            WorktreeTakenError: The branch exists, but at another commit, or it is the user's own.
            GitError: Git refuses.
        """

    def list_kept(self, spec: WorktreeSpec) -> tuple[Path, ...]:
        """Return the git directories that are left of the worktree's missing folders.

        A folder is missing if it was deleted, was moved or is not mounted. There may be several,
        because the worktree may have been created again at the same path. Empty if no folder is
        missing.
        """

    def obstacle(self, spec: WorktreeSpec, *, again: bool) -> BlockedError | None:
        """Check whether `make` would refuse, and return its error; None if it would not.

        The error is returned, not raised, and nothing is changed. A worktree that exists is
        recognised without running git.

        Args:
            spec: The worktree.
            again: Whether the worktree was created before; if so, the branch must exist.
        """

    def copy(self, spec: WorktreeSpec, patterns: str) -> tuple[str, ...]:
        """Copy ignored files from the user's checkout into an existing worktree; safe to repeat.

        Files that exist in the worktree are not overwritten.

        Args:
            spec: The worktree.
            patterns: Patterns of the files to copy: the text of a file like ``.gitignore``, with
                one pattern on each line.

        Returns:
            A warning for each file that was to be copied and was not; empty if there are none.
        """

    def make(self, spec: WorktreeSpec, *, again: bool) -> tuple[str, ...]:
        """Create the branch and the worktree, as far as they do not exist.

        A new worktree gets copies of the files that match the session's patterns (`layout.COPIED`)
        and that git ignores both in the checkout and in the worktree, so that no commit can contain
        them by accident.

        A worktree that exists keeps its files; if the repository was moved, the two are linked
        again. If a call is killed, the next one completes it.

        A worktree that is created again gets the files of ``spec.checkpoint``. If the branch has
        moved since that checkpoint, it gets the branch's files, with the changes of the checkpoint
        applied to them. It also gets a new git directory. The old git directory stays until
        `remove`, so that a folder that was only moved is still a worktree.

        Args:
            spec: The worktree.
            again: Whether the worktree was created before; if so, the branch must exist.

        Returns:
            Warnings for the user; empty if there are none.

        Raises:
            BlockedError: The error that `obstacle` returns.
            GitError: Git refuses.
        """

    def undo_make(self, spec: WorktreeSpec) -> None:
        """Delete what `make` has created, before any agent has worked in it; ignores errors.

        The branch is kept if it has moved since, or existed before the session.
        """

    def removal_loss(
        self,
        spec: WorktreeSpec,
        base: str | None,
        *,
        merged: str | None = None,
        delivered: str | None = None,
    ) -> WorktreeLoss:
        """Return the work that `remove` would lose.

        Args:
            spec: The worktree.
            base: Short name of the branch from which the session's branch was created; None if it
                is unknown.
            merged: A commit that was merged elsewhere, so that it is not lost; None if there is
                none.
            delivered: The commit with the session's result, which contains the work of earlier
                checkpoints; None if there is none.

        Raises:
            BlockedError: Git does not recognise the worktree, because the repository was moved; or
                the user moved the worktree with git, or left a link in its place, or locked it.
            GitError: Git cannot answer.
        """

    def remove(self, spec: WorktreeSpec, tip: str | None) -> None:
        """Remove the worktree with all its files, and delete the branch if it is still at ``tip``.

        A branch that is checked out elsewhere is kept. If a call is killed, the next one completes
        it.

        Args:
            spec: The worktree.
            tip: The id of the commit at which the branch should be; None if there is no branch to
                delete.

        Raises:
            DataError: A file cannot be deleted. If that is known before, because git's directory
                cannot be written, nothing was removed.
            GitError: Git refuses.
        """
