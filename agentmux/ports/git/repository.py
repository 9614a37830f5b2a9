"""The git repository of a project: its HEAD, branches, changed files and commits."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal, Protocol

from agentmux.core.codec.frozen import dataclass
from agentmux.errors import AgentmuxError

InProgress = Literal["rebase", "merge", "cherry-pick", "revert"]
"""A git operation that may be unfinished in a work tree."""


class GitError(AgentmuxError):
    """A git command failed; the message contains what git printed."""


class GitRefusedError(GitError):
    """Git, a hook or the signing refused a change, such as a commit; the change was not made.

    Attributes:
        output: What git and the hooks printed.
    """

    def __init__(self, message: str, *, output: str = "", hints: tuple[str, ...] = ()) -> None:
        self.output = output
        super().__init__(message, hints=hints)


class HeadMovedError(GitError):
    """HEAD is not at the commit or branch that the caller expected.

    Attributes:
        expected: The commit and branch at which HEAD should be, as a `Head`.
        found: The `Head` as it is.
    """

    def __init__(self, expected: Head, found: Head) -> None:
        self.expected = expected
        self.found = found
        super().__init__(
            f"HEAD moved: expected {expected.describe()}, found {found.describe()}",
            hints=("look at what changed: git log --oneline --all -n 10",),
        )


class ResultChangedError(GitRefusedError):
    """The files have changed since the user approved them; nothing was committed."""

    def __init__(self) -> None:
        super().__init__(
            "the files have changed since they were shown for the approval: nothing was committed",
            hints=("look at them, then approve again",),
        )


class IndexBusyError(GitError):
    """The user's index cannot be updated to a new commit now.

    The new commit counts only once the index is updated: with the old files in the index, the
    user's next commit would undo it.

    Attributes:
        lock: The lock file of another git process; the update can be tried again once it is gone.
            None if there is another reason.
    """

    def __init__(self, lock: Path | None, *, said: str = "", then: str = "") -> None:
        """Say what is in the way.

        Args:
            lock: See the class.
            said: What git said, if there is no lock file.
            then: A hint with the command that tries again once the lock file is gone; empty if that
                happens by itself, as with a commit.
        """
        self.lock = lock
        hints: tuple[str, ...]
        if lock is None:
            message = f"the index could not be updated to the commit: {said}"
            hints = ("fix that, then stop the session and resume it",)
        else:
            message = f"{lock} exists: another git is running, or one that crashed left it"
            remove = f"if no git is running: rm {shlex.quote(str(lock))}"
            is_made = f"the commit is made when that file is gone; {remove}"
            hints = (remove, then) if then else (is_made,)
        super().__init__(message, hints=hints)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The commit and branch at which HEAD is.

    Attributes:
        commit: The id of the commit; None if the repository has no commit yet.
        branch: Short name of the branch; None if HEAD is detached.
        in_progress: The unfinished git operation (merge, rebase, …), which the user must finish
            before AgentMux can commit; None if there is none.
    """

    commit: str | None
    branch: str | None
    in_progress: InProgress | None = None

    def describe(self) -> str:
        """Return HEAD as text for messages, such as ``1a2b3c4d5e6f on main``."""
        commit = self.commit[:12] if self.commit else "no commit"
        return f"{commit} on {self.branch}" if self.branch else f"{commit}, detached"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftCommits:
    """Commits that were made in a work tree, and that the history of its HEAD no longer contains.

    Attributes:
        commit: The id of the last of these commits.
        subjects: Abbreviated hash and subject of each of these commits, oldest first.
        is_related: Whether these commits and HEAD have a common ancestor.
    """

    commit: str
    subjects: tuple[str, ...]
    is_related: bool = True


def finish_it(head: Head, worktree: str | None = None) -> tuple[str, str]:
    """Return hints with the git commands that finish the operation in progress; runs nothing.

    The first one shows what is left to do: with conflicts, git refuses to finish it. No command
    aborts the operation, because that would lose the work done in it.

    Args:
        head: A HEAD with an operation in progress.
        worktree: The work tree for ``git -C``; None for the current directory.
    """
    git = f"git -C {shlex.quote(worktree)}" if worktree else "git"
    left = f"see what is left to resolve: {git} status"
    return left, f"finish it: {git} {head.in_progress} --continue"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsavedWork:
    """Work in a work tree that its checkpoints leave out. Paths are relative to the top.

    Attributes:
        hidden: The changed files whose changes git was told not to show, for example by
            ``skip-worktree``.
        modules: The submodules with changes, stashes, or commits that no remote of theirs has; each
            ends in ``/``.
        staged: The files that were changed again since they were staged; what is staged of them is
            not saved.
        ignored: What git ignores. A folder without other files is one entry that ends in ``/``.
    """

    hidden: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRange:
    """Two states of the code to be compared.

    Attributes:
        since: The commit with the earlier state.
        until: The commit with the later state; None for the work tree as it is now, with all files
            that git does not ignore.
        leave_out: Paths that are not compared, besides those in ``.agentmux``.
        home: The directory of a session, if one of the commits may be one of its work-tree
            checkpoints; else None.
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
        """Return the top of the work tree; None outside of a work tree."""

    def is_bare(self) -> bool:
        """Return whether the project is in a bare repository, which has no work tree.

        False outside a repository.
        """

    def head(self) -> Head:
        """Return HEAD's commit and branch, and the unfinished git operation."""

    def is_bisecting(self) -> bool:
        """Return whether a ``git bisect`` has begun in the work tree and was not ended."""

    def contains(self, commit: str, *, tip: str = "HEAD") -> bool:
        """Return whether the history of ``tip`` contains a commit; ``tip`` itself counts.

        Args:
            commit: The commit to look for: an id, or a ref.
            tip: The commit or ref whose history is searched.

        Raises:
            GitError: One of the two does not exist.
        """

    def fork(self, base: str, *, since: str, head: str = "HEAD") -> str:
        """Return the last commit that the histories of ``head`` and ``base`` have in common.

        The result is the commit's id, or ``since`` as it was given. It is never earlier than
        ``since``; it is later if ``base`` was merged into the work meanwhile.

        Args:
            base: The branch on which the work of ``head`` began.
            since: The commit on which the work began. It is also the result if ``base`` does not
                exist any more.
            head: The commit with the work.
        """

    def with_environment(self, environ: Mapping[str, str]) -> Repository:
        """Return a copy of this object that runs git, hooks and signing programs with ``environ``.

        ``environ`` replaces the present environment; it does not add to it. This object does not
        change.
        """

    def committed_since(self, commit: str) -> tuple[str, ...]:
        """Return the files in which HEAD differs from a commit, except those of sessions.

        Uncommitted changes do not count. Paths are relative to the top of the work tree.

        Raises:
            GitError: Git fails, for example because a commit does not exist.
        """

    def list_undone(self, commit: str) -> tuple[str, ...]:
        """Return those of `committed_since` that the work tree has as they were in ``commit``.

        A commit of these files would undo what was committed since.

        Raises:
            GitError: Git fails, for example because a commit does not exist.
        """

    def list_dropped_commits(self, commit: str, branch: str) -> tuple[str, ...]:
        """Return the commits in the history of ``commit`` that a branch does not contain.

        If the branch had ``commit`` before, it has dropped these since. Each is given as
        abbreviated hash and subject, oldest first. ``branch`` is a short name. The result is empty
        if there is no such branch.
        """

    def is_related(self, commit: str) -> bool:
        """Return whether HEAD and a commit have a common ancestor; False if one does not exist."""

    def end_before_root(self) -> str | None:
        """Return the commit at which HEAD was before its history began anew with a root commit.

        That happens if somebody deletes the branch that is checked out, and then commits. It is
        known from the reflog of HEAD; None if that shows no such commit in HEAD's history.
        """

    def left_commits(
        self, *, since: str, known: Collection[str] = (), also: Collection[str] = ()
    ) -> tuple[LeftCommits, ...]:
        """Return the commits that were made in this work tree and that HEAD no longer contains.

        They were made on another branch, or on a detached HEAD, before HEAD went elsewhere; or a
        reset took them away. Commits whose changes HEAD or the files contain as well, for example
        after a cherry-pick, are left out, and those whose files were all written again since a
        reset.

        Args:
            since: The commit on which the work began.
            known: Branches and commits whose history counts as HEAD's.
            also: Further commits at which HEAD was here, known from another source than the reflog.

        Returns:
            One entry for each line of history; empty if there are no such commits.
        """

    def subjects(self, since: str) -> tuple[str, ...]:
        """Return abbreviated hash and subject of each commit after ``since`` up to HEAD.

        The oldest commit comes first. Empty if there are none.

        Raises:
            GitError: Git fails, for example because a commit does not exist.
        """

    def show_changes(self, found: ChangeRange, *, paths: Collection[str], stat: bool) -> int:
        """Let git show the changes on the terminal, with the user's pager; wait until it ends.

        Args:
            found: What to compare.
            paths: Show only these files and directories, relative to the top of the work tree;
                empty shows all.
            stat: Show only how many lines of each file changed, as ``git diff --stat`` does.

        Returns:
            Git's exit status.
        """

    def stat(self, found: ChangeRange) -> tuple[str, ...]:
        """Return the lines of ``git diff --stat``: the first 40 changed files, and the total last.

        Empty if nothing differs. ``found`` says what to compare.

        Raises:
            GitError: Git fails, for example because a commit does not exist.
        """

    def patch(self, found: ChangeRange) -> tuple[str, ...]:
        """Return the lines of ``git diff`` for the changes, without colours, cut at about 2 MB.

        ``found`` says what to compare. The lines have no newline. Empty if nothing differs.

        Raises:
            GitError: Git fails, for example because a commit does not exist.
        """

    def missing_hooks(self) -> str | None:
        """Return the value of ``core.hooksPath`` if that directory does not exist; else None.

        Git then runs no hooks.
        """

    def index_lock(self) -> Path | None:
        """Return the path of the lock file of the user's index, else None; may remove a stale one.

        A lock file that a killed AgentMux process has left is removed first, and not returned.
        """

    def changes(self) -> tuple[str, ...]:
        """Return all uncommitted files, as `dirty` does, then the folders of `list_nested`.

        `dirty` returns files that differ from HEAD or are untracked; `list_nested`, untracked
        repositories. Paths are relative to the top of the work tree. This calls git only once.
        """

    def list_unsaved(self) -> UnsavedWork:
        """Return the work that a checkpoint of the work tree does not save, though it could."""

    def dirty(self) -> tuple[str, ...]:
        """Return the files that differ from HEAD or are untracked, except those in ``.agentmux``.

        Files that git ignores are left out; of a renamed file, both paths are returned. Paths are
        relative to the top of the work tree. Empty if the work tree is clean.
        """

    def list_internal_changes(self) -> tuple[str, ...]:
        """Return the files in ``.agentmux`` folders that have changes or are new, sorted.

        `dirty` and commits of results leave them out. Files that git ignores, or that belong to a
        session, do not count. Paths are relative to the top of the work tree.
        """

    def list_nested(self) -> tuple[str, ...]:
        """Return the untracked folders that are repositories themselves; each ends in ``/``.

        Git adds none of their files to a commit of this repository. Paths are relative to the top
        of the work tree. Empty if there are none.
        """

    def list_tracked_files(self, paths: Collection[Path]) -> tuple[str, ...]:
        """Return the files at or below ``paths`` that are in git's index.

        They came with the repository, or will be committed to it. ``paths`` are absolute paths of
        files or folders; those outside of the work tree are skipped. The result is relative to the
        top of the work tree. If git refuses to list files, as in a submodule, the paths themselves
        are returned. Empty outside of a repository.
        """

    def protect_from_clean(self, sessions: Path) -> bool:
        """Make ``git clean -fdx`` keep the folder of the project's sessions; safe to repeat.

        This creates an empty repository in the folder, and adds a line to git's ``info/exclude``.

        Args:
            sessions: The existing folder of the project's sessions.

        Returns:
            Whether git keeps the folder. False outside of a repository, or if the user's own files
            or missing permissions prevent it.
        """

    def changed_since(self, dirty_at_start: Collection[str]) -> tuple[str, ...]:
        """Return the uncommitted files that the session has changed, for its commit.

        They are those that `dirty` returns now, without ``dirty_at_start``: what `dirty` returned
        when the session started. The changes of these files are the user's. Paths are relative to
        the top of the work tree.
        """

    def aside_hints(
        self, paths: Collection[str], why: str, *, is_all: bool = False
    ) -> tuple[str, ...]:
        """Return hints with the commands that put changes aside; changes nothing.

        The last is ``put them aside: `` and a stash, unless nothing can be stashed. A hint comes
        before it for each change that git does not stash: a repository nested in the work tree, a
        submodule with another commit, a link in place of a folder.

        Args:
            paths: The paths of the changes, relative to the top of the work tree.
            why: The message of the stash, by which `stash_hints` recognises it.
            is_all: Whether these are all changes outside ``.agentmux``, so that none need be named.
        """

    def stash_hints(self, *asides: str, on: str = "") -> tuple[str, ...]:
        """Return hints how to restore each stash with one of these messages; restores nothing.

        An earlier hint told the user a ``git stash`` command with such a message. If ``on`` names a
        commit by its whole id, only stashes that were made there count. Each stash gets two
        hints, sentences with a git command: how to restore it, and how to see it. The oldest comes
        first. Empty if there are none, or git cannot list the stashes.
        """

    def transfer_hints(self, made_on: str, to: Path | None) -> tuple[str, ...]:
        """Return hints how to make what was changed in a trial in the session's worktree.

        There is one for each stash of that trial, the newest first, and one how to see each stash
        of any trial. Changes nothing. Empty if there are none, or git cannot list the stashes.

        Args:
            made_on: The commit of the trial; changes of other commits may not fit the worktree.
            to: The top of the worktree; None if there is none.
        """

    def find_commit(
        self, trailer: tuple[str, str], *, since: str | None, also: Collection[str] = ()
    ) -> str | None:
        """Return the id of the newest commit in HEAD's history that has a trailer, else None.

        Args:
            trailer: Key and value of a line at the end of the commit message.
            since: Only commits after this one count; None searches all.
            also: Further values of the trailer that count.
        """

    def settle_index(self, commit: str) -> None:
        """Update the user's index to HEAD for the files that ``commit`` changed; safe to repeat.

        `commit` does this at its end: it is needed only for a commit after which `commit` failed or
        was killed.

        Raises:
            IndexBusyError: The index is locked, or git cannot write it.
        """

    def has_branch(self, name: str) -> bool:
        """Return whether ``git switch`` finds this branch: locally, or as fetched from a remote."""

    def list_unnamed_commits(self, commit: str) -> tuple[str, ...]:
        """Return the commits in the history of ``commit`` that no branch, tag, stash or HEAD has.

        Each is given as abbreviated hash and subject, oldest first. Empty if the commit does not
        exist, or git fails.
        """

    def require_author(self) -> None:
        """Check that git has an author for a new commit.

        Raises:
            GitRefusedError: No name or no e-mail is configured; the hints are the two commands.
        """

    def require_new_branch(self, name: str) -> None:
        """Check that a branch of this name can be created.

        Raises:
            UsageError: The name is invalid, or a branch of this name exists.
        """

    def create_branch(self, name: str) -> None:
        """Create a branch at HEAD and switch to it.

        Raises:
            UsageError: The name is invalid, or there is already a branch of this name.
            GitRefusedError: Git refuses to switch.
        """

    def take_back_branch(self, name: str, before: Head) -> None:
        """Undo `create_branch`: switch back to ``before``, and delete the branch ``name``.

        The branch is kept if it has new commits, or if git refuses; that is no error.
        """

    def take_branch(self, name: str, head: Head) -> Head:
        """Move a branch forward to HEAD's commit, and make it the branch that is checked out.

        The files, the index and the branch that was checked out before do not change. The caller
        must have checked that no other work tree has the branch checked out.

        Args:
            name: Short name of an existing branch; HEAD's history must contain its last commit.
            head: Where HEAD must be.

        Returns:
            The new HEAD.

        Raises:
            HeadMovedError: HEAD is not at ``head``.
            GitError: The branch has commits that HEAD does not have, an operation such as a merge
                is unfinished, or git refuses.
        """

    def result_tree(self, paths: Collection[str]) -> str:
        """Return the id of the git tree that a commit of ``paths`` would have now; stores nothing.

        ``paths`` are relative to the top of the work tree; without any, it is the id of HEAD's
        tree.
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

        Other files that the user has staged stay staged.

        Args:
            message: The commit message; must not be blank.
            paths: The files to commit, relative to the top of the work tree; a file that does not
                exist is committed as deleted.
            trailer: Key and value of a line to add to the message, for `find_commit`.
            onto: Where HEAD must be; None allows any place.
            tree: The id that `result_tree` must return for ``paths``; empty allows any. It is
                checked before the commit hooks run, which may change files.

        Raises:
            ResultChangedError: `result_tree` returns another id than ``tree``.
            IndexBusyError: The user's index cannot be updated. The commit may have been made
                nevertheless; `find_commit` tells.
            HeadMovedError: HEAD is not at ``onto``.
            GitRefusedError: There is nothing to commit, the message is blank, no author is
                configured, or git or a hook refused.
        """
