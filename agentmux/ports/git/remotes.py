"""The remotes of a repository to which AgentMux can push a session's result."""

from __future__ import annotations

from typing import Protocol

from agentmux.ports.git.repository import GitError


class NoRemoteError(GitError):
    """Git's configuration does not say to which remote a branch is pushed.

    Attributes:
        remotes: The names of all remotes; empty if there are none.
    """

    def __init__(self, message: str, *, remotes: tuple[str, ...], hints: tuple[str, ...]) -> None:
        self.remotes = remotes
        super().__init__(message, hints=hints)


class Remotes(Protocol):
    """The remotes of one repository."""

    def target(self, branch: str) -> str:
        """Return the name or URL of the remote to which a branch is pushed; changes nothing.

        Git's configuration names it (``branch.<name>.pushRemote``, ``remote.pushDefault``,
        ``branch.<name>.remote``, in this order). If it does not, the only remote is returned.

        Raises:
            NoRemoteError: The configuration names none, and there is no remote or more than one.
        """

    def push(self, remote: str, branch: str, commit: str) -> None:
        """Push a commit to the branch of this name on a remote, never forced; safe to repeat.

        Args:
            remote: The remote's name or URL.
            branch: Short name of the branch on the remote.
            commit: The commit to push.

        Raises:
            GitError: Git, the remote or a hook refuses.
            MissingError: The remote does not answer.
        """
