"""The git repository of one project."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal, Protocol

from agentmux.core.codec.frozen import dataclass
from agentmux.errors import AgentmuxError

InProgress = Literal["rebase", "merge", "cherry-pick", "revert"]


class GitError(AgentmuxError):
    """Git failed; the message contains what it printed."""


class GitRefusedError(GitError):
    """The commit was not made: a hook, the signing or git itself refused it.

    Attributes:
        output: What git and the hooks printed.
    """

    def __init__(self, message: str, *, output: str = "", hints: tuple[str, ...] = ()) -> None:
        self.output = output
        super().__init__(message, hints=hints)


class HeadMovedError(GitError):
    """HEAD is not where the caller expected it.

    Attributes:
        expected: Where it should be.
        found: Where it is.
    """

    def __init__(self, expected: Head, found: Head) -> None:
        self.expected = expected
        self.found = found
        super().__init__(
            f"HEAD moved: expected {expected.describe()}, found {found.describe()}",
            hints=("look at what changed: git log --oneline --all -n 10",),
        )


class ResultChangedError(GitRefusedError):
    """The files are not those that were approved: nothing was committed."""

    def __init__(self) -> None:
        super().__init__(
            "the files have changed since they were shown for the approval: nothing was committed",
            hints=("look at them, then approve again",),
        )


class IndexBusyError(GitError):
    """The user's index cannot be updated to a new commit now.

    The new commit counts only once the index is updated: an index that still has the old files
    would make the user's next commit undo it.

    Attributes:
        lock: The lock file of another git process, to wait for until it is gone; None if git has
            another reason.
    """

    def __init__(self, lock: Path | None, *, said: str = "") -> None:
        self.lock = lock
        if lock is None:
            message = f"the index could not be updated to the commit: {said}"
            hint = "fix that, then stop the session and resume it"
        else:
            message = f"{lock} exists: another git is running, or one that crashed left it"
            remove = f"rm {shlex.quote(str(lock))}"
            hint = f"the commit is made when that file is gone; if no git is running: {remove}"
        super().__init__(message, hints=(hint,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where HEAD is.

    Attributes:
        commit: The id of the commit; None before the first commit.
        branch: Short name; None when detached.
        in_progress: The operation, such as a merge, that the user has to finish first; None for
            none.
    """

    commit: str | None
    branch: str | None
    in_progress: InProgress | None = None

    def describe(self) -> str:
        """Return the place as text for messages: ``1a2b3c4d5e6f on main``."""
        commit = self.commit[:12] if self.commit else "no commit"
        return f"{commit} on {self.branch}" if self.branch else f"{commit}, detached"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftCommits:
    """Commits that were made in a work tree, and that its HEAD has left.

    Attributes:
        commit: The last of them.
        subjects: Hash and subject of each that the history of HEAD does not have, oldest first.
        is_related: Whether they have an ancestor with HEAD.
    """

    commit: str
    subjects: tuple[str, ...]
    is_related: bool = True


def finish_it(head: Head, worktree: str | None = None) -> str:
    """Return the hint to finish what is in progress; to abort it would lose what was done in it."""
    git = f"git -C {shlex.quote(worktree)}" if worktree else "git"
    return f"finish it: {git} {head.in_progress} --continue"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRange:
    """Two states of the code.

    Attributes:
        since: A commit.
        until: A commit; None for the work tree with all files that git does not ignore.
        leave_out: Paths that do not count.
        home: The directory of the session whose work-tree checkpoints may be named; None for none.
    """

    since: str
    until: str | None = None
    leave_out: tuple[str, ...] = ()
    home: Path | None = None


class Repository(Protocol):
    """The git repository of one project. Paths are relative to the top level.

    Methods raise `GitError` if git fails, and `MissingError` if git is not installed or does not
    answer in time.
    """

    def top_level(self) -> Path | None:
        """Return the root folder of the working tree; None outside of one."""

    def is_bare(self) -> bool:
        """Return whether the project is in a bare repository: it has no working tree."""

    def head(self) -> Head:
        """Return HEAD's commit and branch, and the operation that is in progress."""

    def contains(self, commit: str, *, tip: str = "HEAD") -> bool:
        """Return whether the history of ``tip`` contains a commit."""

    def fork(self, base: str, *, since: str, head: str = "HEAD") -> str:
        """Return the commit at which the history of ``head`` left that of ``base``.

        It is ``since``, or a later commit of ``base`` that was merged meanwhile.
        """

    def with_environment(self, environ: Mapping[str, str]) -> Repository:
        """Return the same repository, whose git, hooks and signing programs have ``environ``."""

    def committed_since(self, commit: str) -> tuple[str, ...]:
        """Return the files in which HEAD differs from a commit, without ``.agentmux``."""

    def list_dropped_commits(self, commit: str, branch: str) -> tuple[str, ...]:
        """Return hash and subject of the commits up to ``commit`` that a branch has not any more.

        The oldest is first; none where the branch does not exist.
        """

    def is_related(self, commit: str) -> bool:
        """Return whether HEAD and a commit have a common ancestor."""

    def left_commits(
        self, *, since: str, known: Collection[str] = (), also: Collection[str] = ()
    ) -> tuple[LeftCommits, ...]:
        """Return what was made in this work tree and is not in the history of HEAD.

        It was committed on another branch, or on none, before that was left. What HEAD or the files
        have as well, for example by a cherry-pick, is not returned.

        Args:
            since: The commit on which the work began.
            known: Branches and commits whose history counts as HEAD's.
            also: Commits that HEAD was at here, by another record than git's log of HEAD.
        """

    def subjects(self, since: str) -> tuple[str, ...]:
        """Return the subjects of the commits after ``since``, oldest first."""

    def show_changes(self, found: ChangeRange, *, paths: Collection[str], stat: bool) -> int:
        """Let git show the changes on the terminal, with the user's pager; return its exit status.

        Args:
            found: What to compare.
            paths: Only these files and directories; all if empty.
            stat: Only the names, and how much changed.
        """

    def stat(self, found: ChangeRange) -> tuple[str, ...]:
        """Return the lines of ``git diff --stat`` for the changes; of the first 40 files."""

    def patch(self, found: ChangeRange) -> tuple[str, ...]:
        """Return the lines of ``git diff`` for the changes, without colours; cut at some 2 MB."""

    def missing_hooks(self) -> str | None:
        """Return the configured directory of hooks if it does not exist here; else None."""

    def index_lock(self) -> Path | None:
        """Return the path of the lock file of the user's index while it exists, else None."""

    def changes(self) -> tuple[str, ...]:
        """Return all uncommitted changes: first those of `dirty`, then those of `list_nested`.

        It takes one call of git.
        """

    def modules_with_work(self) -> tuple[str, ...]:
        """Return the submodules with work that only they have, ending in ``/``.

        That are changes, stashes, and commits that none of their remotes has.
        """

    def dirty(self) -> tuple[str, ...]:
        """Return the files that differ from HEAD or are untracked, without ``.agentmux``."""

    def list_nested(self) -> tuple[str, ...]:
        """Return the untracked folders that are repositories themselves, ending in ``/``.

        Git adds none of their files to a commit of this repository.
        """

    def list_tracked_files(self, paths: Collection[Path]) -> tuple[str, ...]:
        """Return the files at or below these places that came with the repository, or will go."""

    def protect_from_clean(self, sessions: Path) -> bool:
        """Have ``git clean -fdx`` spare the folder of the project's sessions; safe to repeat.

        Returns:
            Whether git spares it: not outside of a repository, and not where the user's own files
            or rights keep us from that.
        """

    def changed_since(self, dirty_at_start: Collection[str]) -> tuple[str, ...]:
        """Return the files of `dirty` that are not in ``dirty_at_start``."""

    def ways_to_put_back(self, aside: str) -> tuple[str, ...]:
        """Return hints for each stash with the message of one of our hints; oldest first.

        It is empty if git cannot tell.
        """

    def find_commit(
        self, trailer: tuple[str, str], *, since: str | None, also: Collection[str] = ()
    ) -> str | None:
        """Return the id of the newest commit with this trailer in HEAD's history; None for none.

        Args:
            trailer: Key and value of a line at the end of the commit message.
            since: Only commits after this one count; None for all.
            also: Further values of the trailer that count.
        """

    def settle_index(self, commit: str) -> None:
        """Update the user's index to HEAD for the files that ``commit`` changed; safe to repeat.

        Raises:
            IndexBusyError: The index is locked, or git cannot write it.
        """

    def has_branch(self, name: str) -> bool:
        """Return whether ``git switch`` finds a branch of this name: here, or at a remote."""

    def list_unnamed_commits(self, commit: str) -> tuple[str, ...]:
        """Return the commits up to this one that no branch, tag, stash or HEAD leads to.

        Each is an abbreviated id and a subject; the oldest is first. Nothing is returned for a
        commit that does not exist, or if git fails.
        """

    def require_author(self) -> None:
        """Check that a commit would have an author.

        Raises:
            GitRefusedError: No name or no e-mail is configured; the hints are the two commands.
        """

    def require_new_branch(self, name: str) -> None:
        """Check that a branch of this name can be created.

        Raises:
            UsageError: The name is invalid, or a branch has it already.
        """

    def create_branch(self, name: str) -> None:
        """Create a branch at HEAD and switch to it.

        Raises:
            UsageError: As in `require_new_branch`.
            GitRefusedError: Git refuses to switch.
        """

    def take_back_branch(self, name: str, before: Head) -> None:
        """Switch back to ``before``, and delete the branch ``name`` that `create_branch` created.

        The branch stays if it has moved since then, or if git refuses; that is no error.
        """

    def take_branch(self, name: str, head: Head) -> Head:
        """Move a branch forward to HEAD, and check it out; return HEAD then.

        Files and index stay as they are, and so does the branch that HEAD was on. The caller has
        checked that no other work tree has the branch checked out.

        Args:
            name: Of a branch whose history HEAD's contains.
            head: Where HEAD must be.

        Raises:
            HeadMovedError: It is elsewhere by now.
            GitError: The branch has commits that HEAD does not have, or git refuses.
        """

    def result_tree(self, paths: Collection[str]) -> str:
        """Return git's id of all files that the commit of these ``paths`` would have now.

        It is that of HEAD's files if there are no paths. Nothing is kept.
        """

    def commit(
        self,
        message: str,
        paths: Collection[str],
        *,
        trailer: tuple[str, str],
        onto: Head | None = None,
        tree: str = "",
    ) -> str:
        """Commit exactly these files as they are on the disk, and return the commit's id.

        What the user has staged stays staged.

        Args:
            message: Must not be blank.
            paths: The files; one that is not on the disk is committed as deleted.
            trailer: Key and value of a line to add to the message, for `find_commit`.
            onto: Where HEAD must be; None allows any place.
            tree: What `result_tree` must return for the paths; empty allows any files. Hooks may
                change them later.

        Raises:
            ResultChangedError: It returns something else.
            IndexBusyError: The user's index cannot be updated. The commit may have been made all
                the same: ask `find_commit`.
            HeadMovedError: HEAD is not at ``onto``.
            GitRefusedError: There is nothing to commit, no author is configured, or git or a hook
                refused.
        """
