"""Pushes to the remotes that are configured in the user's repository."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import Final

from agentmux.adapters.git.program import GitProgram, decode_output, to_refused_error
from agentmux.adapters.system.processes.child import end
from agentmux.core.names.words.git_commands import merge
from agentmux.ports.git.remotes import NoRemoteError

_REJECTED: Final = "[rejected]"
"""What git says of a branch that has commits which the pushed one has not."""


class ConfiguredRemotes:
    """The remotes of one repository: finds the one to push a branch to, and pushes.

    Implements `ports.git.remotes.Remotes`.
    """

    def __init__(self, git: GitProgram) -> None:
        """Use ``git``, which runs in the work tree whose hooks a push runs; this starts nothing."""
        self._git = git

    def target(self, branch: str) -> str:
        configured = next(self._list_configured(branch), "")
        if configured:
            return configured
        names = decode_output(self._git.must_read("list the remotes", "remote").out).splitlines()
        if len(names) == 1:
            return names[0]
        if not names:
            raise NoRemoteError(
                "the repository has no remote to push to",
                remotes=(),
                hints=("add one: git remote add origin URL",),
            )
        raise NoRemoteError(
            f"the repository has several remotes: {', '.join(names)}",
            remotes=tuple(names),
            hints=("git config remote.pushDefault NAME", "then: agentmux approve --push"),
        )

    def _list_configured(self, branch: str) -> Iterator[str]:
        """Yield the remotes configured for ``branch``, in git's order of precedence."""
        for key in (f"branch.{branch}.pushRemote", "remote.pushDefault", f"branch.{branch}.remote"):
            reply = self._git.read("config", "--get", key)
            name = reply.text
            # A dot means this repository: the upstream is one of its own branches.
            if reply.status == 0 and name not in {"", "."} and not name.startswith("-"):
                yield name

    def push(self, remote: str, branch: str, commit: str) -> None:
        words = ("push", "--quiet", remote, f"{commit}:refs/heads/{branch}")
        # The language: a word of git is looked for.
        places = dict(self._resolve_urls(remote))
        resolved = (f"url.{place}.insteadOf={url}" for url, place in places.items())
        settings = (word for each in resolved for word in ("-c", each))
        reply = self._git.run(*settings, *words, extra={"LANGUAGE": "en"}, out=end())
        if reply.status != 0 and not self._was_pushed(remote, branch, commit):
            place = next(iter(places.values()), remote)
            hints = (self._hint_to_catch_up(place, branch),) if _REJECTED in reply.err else ()
            raise to_refused_error(f"git could not push to `{remote}`", reply, hints=hints)

    def _hint_to_catch_up(self, place: str, branch: str) -> str:
        git = f"git -C {shlex.quote(str(self._git.root()))}"
        fetch = f"{git} fetch {shlex.quote(place)} {shlex.quote(branch)}"
        # A clone of a single branch has no remote-tracking branch for others, nor has a URL.
        return f"bring in what others pushed there: {fetch} && {merge('FETCH_HEAD', git=git)}"

    def _resolve_urls(self, remote: str) -> Iterator[tuple[str, str]]:
        """Yield the relative URLs of a remote, each with its place as seen from the main checkout.

        There the user's own ``git push`` runs; a worktree is in another place.
        """
        shared = self._git.common_dir()
        urls = decode_output(self._git.read("remote", "get-url", "--push", "--all", remote).out)
        for url in urls.splitlines() if shared.name == ".git" else ():
            place = os.path.normpath(shared.parent / url)
            if url.startswith(("./", "../")) and "=" not in place:
                yield url, place

    def _was_pushed(self, remote: str, branch: str, commit: str) -> bool:
        """Whether the remote branch is known to contain ``commit`` already; it asks no server."""
        ref = f"refs/remotes/{remote}/{branch}"
        return self._git.read("merge-base", "--is-ancestor", commit, ref).status == 0
