"""Forges, where AgentMux reads issues and opens requests (pull or merge requests)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from agentmux.core.codec.frozen import dataclass
from agentmux.core.forges.remote_urls import Remote
from agentmux.core.forges.spec import ForgeSpec, RepoRef
from agentmux.errors import MissingError, NotInstalledError


class ForgeError(MissingError):
    """A forge's command-line program is missing, is not logged in, fails or does not answer."""


class ForgeNotInstalledError(ForgeError, NotInstalledError):
    """A forge's command-line program is not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueComment:
    """A comment on an issue, by an author who may write to the repository."""

    author: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueText:
    """The text of an issue, written by people who may not be trusted.

    Attributes:
        place: The repository that has the issue.
        comments: The comments by authors who may write to the repository, oldest first.
        left_out: The number of other comments. It is 0, and ``comments`` is empty, if the comments
            were not read.
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
    """A request (pull or merge request) on a forge.

    Attributes:
        branch: The short name of the branch to be merged.
        commit: The id of the newest commit of ``branch``, as far as the forge knows.
        base: The branch that ``branch`` is to be merged into.
        is_open: Whether the request is neither merged nor closed.
        is_merged: Whether the request was merged.
        source: The repository that has ``branch``, named as by `Forges.identity`.
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
    """A request (pull or merge request) to be opened.

    Attributes:
        place: The repository in which the request is opened; it has ``base``.
        source: The repository that has ``branch``; often the same as ``place``.
        branch: The branch to be merged.
        base: The branch that ``branch`` is to be merged into.
        title: The title of the request.
        body: The description, in Markdown.
        is_draft: Whether to open the request as a draft.
    """

    place: RepoRef
    source: RepoRef
    branch: str
    base: str
    title: str
    body: str
    is_draft: bool


class Forges(Protocol):
    """Access to all known forges, through their own command-line programs."""

    @property
    def specs(self) -> Mapping[str, ForgeSpec]:
        """The descriptions of the known forges, by the forge's name.

        Raises:
            ConfigError: The user's file that describes forges is invalid.
        """

    def require_program(self, place: RepoRef) -> None:
        """Check that the program of the forge that hosts ``place`` is installed.

        Raises:
            ForgeError: It is not installed.
        """

    def issue(self, place: RepoRef, number: int, *, comments: bool) -> IssueText:
        """Return the issue ``number`` of a repository.

        Args:
            place: The repository.
            number: The issue's number.
            comments: Whether to read the comments, too. Those of authors who may not write to the
                repository are only counted.

        Raises:
            ForgeError: The forge's program cannot answer.
        """

    def identity(self, place: RepoRef) -> str:
        """Return how the forge names the repository ``place`` in `ForgeRequest.source`.

        Depending on the forge, this is an id or a path such as ``owner/name``. A request whose
        ``source`` equals the result comes from this repository.

        Raises:
            ForgeError: The forge's program cannot answer.
        """

    def requests(self, place: RepoRef, branch: str) -> tuple[ForgeRequest, ...]:
        """Return the open requests in ``place`` that ask to merge a branch named ``branch``.

        The branch may be in any repository, for example in a fork. Empty if there are none.

        Raises:
            ForgeError: The forge's program cannot answer.
        """

    def request(self, place: RepoRef, number: int) -> ForgeRequest:
        """Return the request ``number`` of ``place``, whether it is open or closed.

        Raises:
            ForgeError: The forge's program cannot answer.
        """

    def wait_for_commit(self, place: RepoRef, number: int, commit: str) -> ForgeRequest:
        """Wait until the forge shows ``commit`` as the newest one of a request's branch.

        A forge needs a moment to notice a push. The wait ends after some seconds in any case, and
        does not raise then.

        Args:
            place: The repository that has the request.
            number: The number of the request.
            commit: The id of the commit that was pushed to the request's branch.

        Returns:
            The request as the forge last showed it; its commit may still be another one.

        Raises:
            ForgeError: The forge's program cannot answer.
        """

    def open(self, new: NewRequest) -> str:
        """Open a request on the forge, and return what the forge's program printed to stdout.

        The text is not parsed: the caller has to look for the request's URL in it.

        Raises:
            ForgeError: The program failed; the request may have been opened nevertheless.
        """


class RemoteBranches(Protocol):
    """The remotes of the project's repository, and the branches on them."""

    def all(self) -> tuple[Remote, ...]:
        """Return every remote, in the order of git's configuration; empty outside a repository."""

    def branch(self, name: str, *, remote: str | None = None) -> str | None:
        """Return the id of a branch's newest commit; None if there is no such branch.

        Args:
            name: Short name of the branch, such as ``main``.
            remote: The name of the remote that has the branch. The remote is not asked: its state
                at the last fetch counts. None looks for a local branch.
        """

    def bring(self, name: str, commit: str, remote: str) -> None:
        """Fetch a branch, and create a local branch of the same name that tracks it.

        Args:
            name: Short name of the branch, such as ``main``.
            commit: The id of the commit at which the local branch is created.
            remote: The name of the remote to fetch from.

        Raises:
            GitError: Git cannot fetch the branch; or it refuses to create the local one, because
                one of this name exists or the repository lacks ``commit``.
        """

    def fetch(self, name: str, commit: str, remote: str) -> None:
        """Fetch a branch, so that the repository has ``commit``; create no local branch.

        Args:
            name: Short name of the branch, such as ``main``.
            commit: The id of a commit of the branch.
            remote: The name of the remote to fetch from.

        Raises:
            GitError: Git cannot fetch the branch, or the repository lacks ``commit`` afterwards.
        """

    def main_branch(self, remote: str) -> str | None:
        """Return the short name of a remote's main branch; None if it is not recorded locally.

        It is the branch that ``refs/remotes/<remote>/HEAD`` names; the remote is not asked.
        """
