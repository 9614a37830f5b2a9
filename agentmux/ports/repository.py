"""Git, for one project."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from pathlib import Path
from typing import Literal, Protocol

from agentmux.core.codec.frozen import dataclass
from agentmux.errors import AgentmuxError

InProgress = Literal["rebase", "merge", "cherry-pick", "revert"]


class GitError(AgentmuxError):
    """Git failed, with its own words in the message."""


class GitRefusedError(GitError):
    """The commit was not made: a hook, a signature or git itself said no.

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
    """The user's index cannot be brought up to a commit now; until it is, no commit counts as made.

    An index that is behind HEAD would have the user's next commit take this one back.

    Attributes:
        lock: The file to wait for until it is gone; None where git has another reason.
    """

    def __init__(self, lock: Path | None, *, said: str = "") -> None:
        self.lock = lock
        if lock is None:
            message = f"the index could not be brought up to the commit: {said}"
            hint = "fix that, then stop the session and resume it"
        else:
            message = f"{lock} is there: another git is at work, or one that crashed left it"
            remove = f"rm {shlex.quote(str(lock))}"
            hint = f"the commit is made when it is gone; if no git is running: {remove}"
        super().__init__(message, hints=(hint,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where HEAD is.

    Attributes:
        commit: None before the first commit.
        branch: Short name; None when detached.
        in_progress: What git waits for the user to finish, if anything.
    """

    commit: str | None
    branch: str | None
    in_progress: InProgress | None = None

    def describe(self) -> str:
        """For messages: ``1a2b3c4d5e6f on main``."""
        commit = self.commit[:12] if self.commit else "no commit"
        return f"{commit} on {self.branch}" if self.branch else f"{commit}, detached"


class Repository(Protocol):
    """Git, for one project. Paths are relative to the top level."""

    def top_level(self) -> Path | None:
        """The top of the work tree; None outside a repository."""

    def head(self) -> Head:
        """Where HEAD is."""

    def index_lock(self) -> Path | None:
        """Return the lock of the user's index while somebody holds it."""

    def changes(self) -> tuple[str, ...]:
        """What `dirty` and `nested` return, in this order, by one look."""

    def dirty(self) -> tuple[str, ...]:
        """Files that differ from HEAD or are untracked; never those of ``.agentmux``."""

    def nested(self) -> tuple[str, ...]:
        """Folders, ending in ``/``, with a repository of their own, which no commit takes in."""

    def changed_since(self, dirty_at_start: Collection[str]) -> tuple[str, ...]:
        """Dirty files that were not dirty then."""

    def find_commit(self, trailer: tuple[str, str], *, since: str | None) -> str | None:
        """Return the commit after ``since`` that carries the trailer."""

    def settle_index(self, commit: str) -> None:
        """Bring the user's index up to a commit; safe to repeat. Raises `IndexBusyError`."""

    def require_new_branch(self, name: str) -> None:
        """Check that a branch of this name can be made."""

    def create_branch(self, name: str) -> None:
        """Make a branch at HEAD and switch to it."""

    def take_back_branch(self, name: str, before: Head) -> None:
        """Undo `create_branch` as far as nothing was done there since; raises nothing of git."""

    def commit(
        self,
        message: str,
        paths: Collection[str],
        *,
        trailer: tuple[str, str],
        onto: Head | None = None,
    ) -> str:
        """Commit exactly these files; what the user has staged stays staged.

        `IndexBusyError` may come before the commit is made or after it: `find_commit` tells.
        """
