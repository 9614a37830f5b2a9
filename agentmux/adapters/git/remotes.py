"""Pushes to the remotes that are configured in the user's repository."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
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
        urls = self._list_urls(remote, "--push", "--all")
        places = dict(self._resolve_urls(urls))
        resolved = (f"url.{place}.insteadOf={url}" for url, place in places.items())
        settings = (word for each in resolved for word in ("-c", each))
        # The language: a word of git is looked for.
        reply = self._git.run(*settings, *words, extra={"LANGUAGE": "en"}, out=end())
        # Of several places, the remote-tracking branch does not say which one has the commit.
        if reply.status != 0 and not (len(urls) < 2 and self._was_pushed(remote, branch, commit)):
            is_same = not places and urls == self._list_urls(remote, "--all")
            named = [remote] if is_same else [places.get(url, url) for url in urls]
            place = next((each for each in named if _has_rejected(each, reply.err)), named[0])
            hints = (self._hint_to_catch_up(place, branch),) if _REJECTED in reply.err else ()
            raise to_refused_error(f"git could not push to `{remote}`", reply, hints=hints)

    def _hint_to_catch_up(self, place: str, branch: str) -> str:
        git = f"git -C {shlex.quote(str(self._git.root()))}"
        fetch = f"{git} fetch {shlex.quote(_without_password(place))} {shlex.quote(branch)}"
        # A clone of a single branch has no remote-tracking branch for others, nor has a URL.
        return f"bring in what others pushed there: {fetch} && {merge('FETCH_HEAD', git=git)}"

    def _list_urls(self, remote: str, *options: str) -> list[str]:
        reply = self._git.read("remote", "get-url", *options, remote)
        return decode_output(reply.out).splitlines()

    def _resolve_urls(self, urls: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield the relative ones of these URLs, each with its place.

        They count from the main checkout, where the user's own ``git push`` runs; a worktree is in
        another place.
        """
        shared = self._git.common_dir()
        for url in urls if shared.name == ".git" else ():
            place = os.path.normpath(shared.parent / url)
            if url.startswith(("./", "../")) and "=" not in place:
                yield url, place

    def _was_pushed(self, remote: str, branch: str, commit: str) -> bool:
        """Whether the remote branch is known to contain ``commit`` already; it asks no server."""
        ref = f"refs/remotes/{remote}/{branch}"
        return self._git.read("merge-base", "--is-ancestor", commit, ref).status == 0


def _has_rejected(url: str, output: str) -> bool:
    """Return whether the place with this URL, which git names without a user, has rejected."""
    named = re.sub(r"^(\w+://)?[^/@]*@", r"\1", url)
    return f"To {named}\n ! {_REJECTED}" in output


def _without_password(url: str) -> str:
    return re.sub(r"^(\w+://[^/:@]*):[^/@]*@", r"\1@", url)
