"""The branches of a repository and of its remotes: finds and fetches them."""

from __future__ import annotations

from agentmux.adapters.git.program import GitProgram, decode_output, to_refused_error
from agentmux.adapters.system.processes.child import end
from agentmux.core.forges.remote_urls import Remote


class GitRemoteBranches:
    """Finds and fetches the branches of a repository and its remotes, with git.

    Implements `agentmux.ports.forge.RemoteBranches`.
    """

    def __init__(self, git: GitProgram) -> None:
        """Use ``git``, which runs in the project; this starts nothing."""
        self._git = git

    def all(self) -> tuple[Remote, ...]:
        """Return all remotes (not branches) of the repository, as ``git remote`` lists them.

        Empty outside a repository.
        """
        if not self._git.exists():
            return ()
        named = self._git.must_read("list the remotes", "remote")
        return tuple(map(self._remote, decode_output(named.out).splitlines()))

    def branch(self, name: str, *, remote: str | None = None) -> str | None:
        ref = f"refs/heads/{name}" if remote is None else f"refs/remotes/{remote}/{name}"
        # Exact names only: `rev-parse` would take `x~1`, too.
        reply = self._git.read("show-ref", "--verify", "--hash", ref)
        return reply.text if reply.status == 0 else None

    def bring(self, name: str, commit: str, remote: str) -> None:
        ref = f"refs/heads/{name}"
        self._fetch(name, remote)
        reply = self._git.run("update-ref", "-m", f"agentmux: {remote}/{name}", ref, commit, "")
        if reply.status != 0:
            raise to_refused_error(f"git could not make branch `{name}`", reply)
        for key, value in (("remote", remote), ("merge", ref)):
            self._git.run("config", "--local", f"branch.{name}.{key}", value)

    def fetch(self, name: str, commit: str, remote: str) -> None:
        self._fetch(name, remote)
        there = self._git.read("cat-file", "-e", f"{commit}^{{commit}}")
        if there.status != 0:
            raise to_refused_error(
                f"branch `{name}` of {remote} is not at {commit[:12]} any more", there
            )

    def _fetch(self, name: str, remote: str) -> None:
        words = ("fetch", "--quiet", "--no-tags", "--", remote, f"refs/heads/{name}")
        fetched = self._git.run(*words, out=end())
        if fetched.status != 0:
            raise to_refused_error(f"git could not fetch branch `{name}` from {remote}", fetched)

    def main_branch(self, remote: str) -> str | None:
        head = f"refs/remotes/{remote}/HEAD"
        reply = self._git.read("symbolic-ref", "--quiet", head)
        prefix = f"refs/remotes/{remote}/"
        return reply.text.removeprefix(prefix) if reply.status == 0 else None

    def _remote(self, name: str) -> Remote:
        # Both URLs: the one that git uses (`url.….insteadOf` applied, perhaps a mirror) and the one
        # in the configuration.
        used = self._git.read("remote", "get-url", "--", name)
        written = self._git.read("config", "--get", f"remote.{name}.url")
        urls = (reply.text for reply in (used, written) if reply.status == 0)
        return Remote(name=name, urls=tuple(dict.fromkeys(urls)))
