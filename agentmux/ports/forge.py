"""A forge: where issues are read, and requests (pull requests, merge requests) are opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from agentmux.core.codec.frozen import dataclass
from agentmux.core.forges.remote_urls import Remote
from agentmux.core.forges.spec import ForgeSpec, RepoRef
from agentmux.errors import MissingError, NotInstalledError


class ForgeError(MissingError):
    """A forge's program is not installed, is not logged in, fails, or does not answer in time."""


class ForgeNotInstalledError(ForgeError, NotInstalledError):
    """A forge's program is not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueComment:
    """A comment on an issue, by somebody who may write to the repository."""

    author: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueText:
    """An issue, in the words of people outside.

    Attributes:
        comments: Oldest first; only those whose authors may write to the repository.
        left_out: How many other comments there are.
    """

    place: RepoRef
    number: int
    url: str
    title: str
    body: str
    comments: tuple[IssueComment, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeRequest:
    """A request on a forge.

    Attributes:
        branch: The branch that it asks to merge.
        commit: The commit at which that branch is, as far as the forge knows.
        base: The branch into which it asks to merge.
        is_open: Whether it is neither merged nor closed.
        is_merged: Whether it was merged.
        source: The repository that has ``branch``, as `Forge.identity` names it.
    """

    number: int
    url: str
    branch: str
    commit: str
    base: str
    is_open: bool
    is_merged: bool
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRequest:
    """A request to be opened.

    Attributes:
        place: The repository that it is for.
        source: The repository that has ``branch``; often the same.
        is_draft: Whether it is opened as a draft.
    """

    place: RepoRef
    source: RepoRef
    branch: str
    base: str
    title: str
    body: str
    is_draft: bool


class Forge(Protocol):
    """All forges that are known, asked by their own programs."""

    @property
    def specs(self) -> Mapping[str, ForgeSpec]:
        """The forges by name.

        Raises:
            ConfigError: The user's file of forges is wrong.
        """

    def require_program(self, place: RepoRef) -> None:
        """Check that the forge's program is installed.

        Raises:
            ForgeError: It is not.
        """

    def issue(self, place: RepoRef, number: int, *, comments: bool) -> IssueText:
        """Read an issue.

        Raises:
            ForgeError: The forge's program does not tell.
        """

    def identity(self, place: RepoRef) -> str:
        """Return the name by which requests of this repository are known.

        Raises:
            ForgeError: The forge's program does not tell.
        """

    def requests(self, place: RepoRef, branch: str) -> tuple[ForgeRequest, ...]:
        """Return the open requests for a branch of this name, from whatever repository.

        Raises:
            ForgeError: The forge's program does not tell.
        """

    def request(self, place: RepoRef, number: int) -> ForgeRequest:
        """Return a request, also one that is closed.

        Raises:
            ForgeError: The forge's program does not tell.
        """

    def wait_for_commit(self, place: RepoRef, number: int, commit: str) -> ForgeRequest:
        """Return a request once it is at ``commit``; after some seconds, as it is.

        A forge takes a moment to see what was pushed.

        Raises:
            ForgeError: The forge's program does not tell.
        """

    def open(self, new: NewRequest) -> str:
        """Open a request; return what the program printed.

        Raises:
            ForgeError: The program failed; the request may exist all the same.
        """


class RemoteBranches(Protocol):
    """The remotes of the project's repository."""

    def all(self) -> tuple[Remote, ...]:
        """Return every remote, in the order of the configuration."""

    def branch(self, name: str, *, remote: str | None = None) -> str | None:
        """Return the commit of a branch here, or of one on a remote as last fetched; else None."""

    def bring(self, name: str, commit: str, remote: str) -> None:
        """Fetch a branch, and make one here with the same name, at ``commit``, that tracks it.

        Raises:
            GitError: Git cannot fetch it, or it is not at that commit any more.
            UsageError: A branch of this name exists here, or could not.
        """

    def fetch(self, name: str, commit: str, remote: str) -> None:
        """Fetch a branch, so that ``commit`` is here; make no branch.

        Raises:
            GitError: Git cannot fetch it, or the branch does not have that commit any more.
        """

    def main_branch(self, remote: str) -> str | None:
        """Return the main branch of a remote, as far as git knows without asking; else None."""
