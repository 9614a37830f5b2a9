"""The remotes of a project's repository."""

from __future__ import annotations

from agentmux.adapters.git.program import GitProgram, decoded
from agentmux.core.forges.remote_urls import Remote


class GitRemoteBranches:
    """Reads the remotes; `agentmux.ports.forge.RemoteBranches`."""

    def __init__(self, git: GitProgram) -> None:
        """Take the git of a project."""
        self._git = git

    def all(self) -> tuple[Remote, ...]:
        """Return every remote, in the order of the configuration; none outside of a repository."""
        if self._git.top_level() is None:
            return ()
        named = self._git.must_read("list the remotes", "remote")
        return tuple(map(self._remote, decoded(named.out).splitlines()))

    def main_branch(self, remote: str) -> str | None:
        """Return the main branch of a remote, as far as git knows without asking; else None."""
        head = f"refs/remotes/{remote}/HEAD"
        found = self._git.read("symbolic-ref", "--quiet", head)
        prefix = f"refs/remotes/{remote}/"
        return decoded(found.out).strip().removeprefix(prefix) if found.status == 0 else None

    def _remote(self, name: str) -> Remote:
        # As git uses it, with `url.….insteadOf` applied; and as it is written, because that may
        # point to a mirror.
        used = self._git.read("remote", "get-url", "--", name)
        written = self._git.read("config", "--get", f"remote.{name}.url")
        urls = (decoded(reply.out).strip() for reply in (used, written) if reply.status == 0)
        return Remote(name=name, urls=tuple(dict.fromkeys(urls)))
