"""The git repository of one project."""

from __future__ import annotations

import shlex
from collections.abc import Collection
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


class IndexBusyError(GitError):
    """The user's index cannot be updated to a commit now; until it is, the commit does not count.

    With an index that is behind HEAD, the user's next commit would undo ours.

    Attributes:
        lock: The file to wait for until it is gone; None where git has another reason.
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
        commit: None before the first commit.
        branch: Short name; None when detached.
        in_progress: The operation that the user has to finish first; None for none.
    """

    commit: str | None
    branch: str | None
    in_progress: InProgress | None = None

    def describe(self) -> str:
        """Return it as text for messages: ``1a2b3c4d5e6f on main``."""
        commit = self.commit[:12] if self.commit else "no commit"
        return f"{commit} on {self.branch}" if self.branch else f"{commit}, detached"


class Repository(Protocol):
    """The git repository of one project. Paths are relative to the top level."""

    def top_level(self) -> Path | None:
        """Return the top of the work tree; None outside a repository."""

    def head(self) -> Head:
        """Return where HEAD is."""

    def index_lock(self) -> Path | None:
        """Return the lock file of the user's index while it exists, else None."""

    def changes(self) -> tuple[str, ...]:
        """Return what `dirty` and `nested` return, in this order, with one call of git."""

    def dirty(self) -> tuple[str, ...]:
        """Return the files that differ from HEAD or are untracked, without ``.agentmux``."""

    def nested(self) -> tuple[str, ...]:
        """Return folders (``name/``) that are repositories themselves; no commit includes them."""

    def changed_since(self, dirty_at_start: Collection[str]) -> tuple[str, ...]:
        """Return the dirty files that are not in ``dirty_at_start``."""

    def find_commit(self, trailer: tuple[str, str], *, since: str | None) -> str | None:
        """Return the commit after ``since`` that has the trailer; None for none."""

    def settle_index(self, commit: str) -> None:
        """Update the user's index to a commit; safe to repeat. Raises `IndexBusyError`."""

    def require_new_branch(self, name: str) -> None:
        """Check that a branch of this name can be created."""

    def create_branch(self, name: str) -> None:
        """Create a branch at HEAD and switch to it."""

    def take_back_branch(self, name: str, before: Head) -> None:
        """Undo `create_branch`, unless the branch was used since; ignores errors of git."""

    def commit(
        self,
        message: str,
        paths: Collection[str],
        *,
        trailer: tuple[str, str],
        onto: Head | None = None,
    ) -> str:
        """Commit exactly these files, and return the commit; what the user has staged stays staged.

        `IndexBusyError` may be raised before the commit is made or after it: ask `find_commit`.
        """
