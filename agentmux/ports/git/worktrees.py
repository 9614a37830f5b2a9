"""The worktrees that sessions have of their own, in the repository of one project."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol

from agentmux.core.codec.frozen import dataclass
from agentmux.core.journal.state import TreeCheckpoint
from agentmux.errors import BlockedError


class WorktreeTakenError(BlockedError):
    """The path or the branch of a session's worktree belongs to something else."""

    def __init__(self, message: str, *, hints: tuple[str, ...] = ()) -> None:
        super().__init__(message, reason="worktree_taken", hints=hints)


WORKTREE_GONE: Final = "worktree_gone"


class FolderGoneError(BlockedError):
    """The folder of a worktree is not at its place, and git keeps work for it."""

    def __init__(self, message: str, *, hints: tuple[str, ...] = ()) -> None:
        super().__init__(message, reason=WORKTREE_GONE, hints=hints)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeSpec:
    """The worktree of one session.

    Attributes:
        path: Its top, absolute and without links.
        branch: Short name of the branch that is checked out there; empty for a worktree that only
            shows ``commit``, with a detached HEAD.
        commit: Where the branch begins.
        session: The session's uuid, by which branch and worktree are known as ours; or another text
            without a line break, for a second worktree of the session.
        home: The session's directory.
        inner: Where the project is in the worktree, relative to its top; ``.`` is the top.
        checkpoint: The work-tree checkpoint whose changes a worktree that is made again gets; None
            for none.
        is_continued: Whether the branch was there before the session: then it is never made,
            moved back or deleted.
        leaves_folder: Whether a worktree that is not at its place is made again even if git keeps
            work for its folder; the person agreed to that.
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
        """What is checked out, for people: the branch, or the commit that it shows."""
        return f"branch {self.branch}" if self.branch else f"commit {self.commit[:12]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseCommit:
    """The commit that a worktree begins on.

    Attributes:
        branch: Short name of the branch that was named, or is checked out; None for another ref.
        has_submodules: Whether the commit has submodules.
    """

    commit: str
    branch: str | None
    has_submodules: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeRoom:
    """What is known before a worktree is made.

    Attributes:
        root: The directory of all worktrees, absolute and without links; it may not exist.
        inside: The directory of the repository, or of the one whose submodule it is, that contains
            ``root``; None where none does.
        is_writable: Whether directories can be made in ``root``.
        names: What is in ``root``, also worktrees that were deleted by hand.
        branches: Short names of all branches, and of branches that sessions are about to make.
        version: Git's version; empty where unknown.
    """

    root: Path
    inside: Path | None
    is_writable: bool
    names: frozenset[str]
    branches: frozenset[str]
    version: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeLoss:
    """What a removal of worktree and branch would lose.

    Attributes:
        changed: The files in the worktree that are not committed, also the ``hidden`` ones; ignored
            ones do not count. A
            repository in the worktree counts, and ends in ``/``; a submodule, or a repository that
            git ignores, only if it has changes, stashes, or commits that no remote of it has.
        hidden: Those of them that git was told not to look at (``git update-index
            --skip-worktree``), so that `git status` does not show them.
        commits: Hash and subject of the session's commits that are on no other branch and on no
            tag, and whose changes the base does not have; oldest first.
        loose: The same of commits that are not on the session's branch, either.
        dropped: The same of those that a merge of ``commits`` would bring back: the base had them
            when the session began, and has them no more.
        tip: The commit of the branch; None if it does not exist.
        is_beside: Whether HEAD of the worktree has some of ``loose``.
        behind: The ends of those of ``loose`` that HEAD of the worktree had, and has left, that a
            ref of the worktree alone has, or that are checked out in a worktree of ``kept``.
        is_there: Whether the worktree exists; it would be removed.
        branch: The branch that would be deleted; empty if none would.
        besides: What else is in the worktree and in no commit, and is not the session's work: what
            git ignores, and changes in a ``.agentmux`` folder. A folder with nothing else is named
            alone, and ends in ``/``.
        kept: The git directories of worktrees whose folder is not at its place: deleted, moved or
            not mounted. They would be removed, and such a folder is no work tree any more then.
        staged: The files that only an index in ``kept`` has so, and submodules there with commits
            of their own, which end in ``/``.
        saved: The files that only the last work-tree checkpoint has so, as the worktree is not at
            its place.
        operation: What is under way in the worktree, or in one of ``kept``, such as ``rebase``:
            git may have saved changes for its end. Empty for nothing.
    """

    changed: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    tip: str | None = None
    is_beside: bool = False
    is_there: bool = False
    branch: str = ""
    besides: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    kept: tuple[Path, ...] = ()
    staged: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()
    operation: str = ""

    def __bool__(self) -> bool:
        """Whether any work would be lost."""
        has_commits = self.commits or self.loose
        return bool(self.changed or has_commits or self.staged or self.saved or self.operation)


class CheckpointUnusableError(BlockedError):
    """The files of a work-tree checkpoint cannot be put on the branch of the session."""


class Worktrees(Protocol):
    """The worktrees of sessions."""

    def base(self, ref: str | None) -> BaseCommit | None:
        """Return the commit of ``ref``, or of HEAD; None where there is no such commit."""

    def room(self, root: str | None) -> WorktreeRoom:
        """Return what is known before a worktree is made; changes nothing.

        Args:
            root: As in ``git.root``: relative to the top of the repository; None is the default,
                ``<repository>-worktrees`` beside it.
        """

    def checkout_of(self, branch: str) -> Path | None:
        """Return the top of the work tree in which a branch is checked out; None for none."""

    def is_made(self, spec: WorktreeSpec) -> bool:
        """Return whether the worktree exists, complete and belonging to the session."""

    def is_there(self, spec: WorktreeSpec) -> bool:
        """Return whether the worktree exists, so that `make` does not begin a new one.

        Unlike in `is_made`, git may not know it any more, because the repository was moved.
        """

    def place(self, spec: WorktreeSpec) -> Path:
        """Return where the worktree is now.

        That is ``spec.path``, unless the repository was moved since the session last ran, and the
        worktree with it.
        """

    def reserve(self, spec: WorktreeSpec) -> None:
        """Keep other sessions from taking the branch's name, before it is made."""

    def find_branch(self, session: str) -> str | None:
        """Return the short name of the branch that is known as a session's; None for none."""

    def adopt(self, spec: WorktreeSpec, tip: str) -> None:
        """Make the session's branch at ``tip``, before there is a worktree.

        It may be called any number of times. A continued branch that is there may be at ``tip``,
        but nowhere else.

        Raises:
            WorktreeTakenError: A branch of the user's, or at another commit, has the name.
            GitError: Git refuses.
        """

    def list_kept(self, spec: WorktreeSpec) -> tuple[Path, ...]:
        """Return the git directories of its folders that are not at their place.

        They are those of a folder that was deleted, moved or is not mounted, and of earlier ones,
        in whose place the worktree was made again.
        """

    def obstacle(self, spec: WorktreeSpec, *, again: bool) -> BlockedError | None:
        """Return why `make` would refuse; None where it would not; only reads.

        A worktree that exists needs no git to be recognised.
        """

    def copy(self, spec: WorktreeSpec, patterns: str) -> tuple[str, ...]:
        """Copy the ignored files that ``patterns`` name into a worktree that exists.

        A file that is there already stays as it is. It may be called any number of times.

        Returns:
            A warning for each file that was not copied.
        """

    def make(self, spec: WorktreeSpec, *, again: bool) -> tuple[str, ...]:
        """Make the branch and the worktree, or what is missing of them; return warnings.

        A new worktree gets copies of the files that the session's patterns name (`layout.COPIED`)
        and that git ignores in the
        checkout and in the worktree, so that no commit can contain them by accident.

        A worktree that is made again has the files of ``spec.checkpoint``. If the branch has moved
        since then, it has the branch's files, with the changes of the checkpoint applied to them.

        A worktree that is there is kept as it is; it is linked to its repository again where that
        was moved. A call that is killed at any point is completed by the next one.

        One that is made again gets a git directory of its own. That of the folder before stays
        until `take_away`, so that a folder that was only moved is a worktree still.

        Args:
            again: The worktree was made before: the branch must exist.

        Raises:
            BlockedError: As from `obstacle`.
            GitError: Git refuses.
        """

    def take_back(self, spec: WorktreeSpec) -> None:
        """Undo `make`, if no agent has worked there; ignores errors of git.

        A branch that has moved stays.
        """

    def loss(
        self,
        spec: WorktreeSpec,
        base: str | None,
        *,
        merged: str | None = None,
        delivered: str | None = None,
    ) -> WorktreeLoss:
        """Return what `take_away` would lose.

        Args:
            base: The branch that the session's began on; None where it is not known.
            merged: A commit that was merged elsewhere, and so is not lost; None for none.
            delivered: The commit of the session's result, which has what an older checkpoint has;
                None for none.

        Raises:
            BlockedError: The repository was moved, so that git does not know the worktree; or the
                worktree was moved, and git knows where to.
            GitError: Git cannot tell.
        """

    def take_away(self, spec: WorktreeSpec, tip: str | None) -> None:
        """Remove the worktree with all files in it, and the branch if it is still at ``tip``.

        A call that is killed at any point is completed by the next one. A branch that is checked
        out elsewhere stays.

        Raises:
            DataError: A file cannot be deleted.
            GitError: Git refuses.
        """
