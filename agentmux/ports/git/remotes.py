"""The remotes of a repository, to which a result can be pushed."""

from __future__ import annotations

from typing import Protocol

from agentmux.ports.git.repository import GitError


class NoRemoteError(GitError):
    """Git's configuration does not say to which remote a branch is pushed.

    Attributes:
        remotes: The names of the remotes there are.
    """

    def __init__(self, message: str, *, remotes: tuple[str, ...], hints: tuple[str, ...]) -> None:
        self.remotes = remotes
        super().__init__(message, hints=hints)


class Remotes(Protocol):
    """The remotes of one repository."""

    def target(self, branch: str) -> str:
        """Return the remote to which a branch is pushed: its name, or a URL; only reads.

        That is what git's configuration says (``branch.<name>.pushRemote``, ``remote.pushDefault``,
        ``branch.<name>.remote``), else the only remote.

        Raises:
            NoRemoteError: There is none, or there are several.
        """

    def push(self, remote: str, branch: str, commit: str) -> None:
        """Push a commit to the branch of this name; never forced, and safe to repeat.

        Raises:
            GitError: Git, the remote or a hook refuses.
            MissingError: The remote does not answer.
        """
