"""Recognises by the URL of a git remote which forge hosts it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from agentmux.core.codec.frozen import dataclass
from agentmux.core.forges.spec import ForgeSpec, RepoRef

_SCP_LIKE: Final = re.compile(r"(?:[^@/:\s]+@)?(?P<host>[^/:@\s]+):(?P<path>[^\s]+)")
_FIRST: Final = ("upstream", "origin")
"""The remotes most likely to have the issues, by their usual names; the most likely first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """A remote of a git repository.

    Attributes:
        name: The remote's name, such as ``origin``.
        urls: Its URL as git uses it, then the URL in the git configuration, if that is another one.
    """

    name: str
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeRemote:
    """A git remote that a forge hosts.

    Attributes:
        remote: The remote's name in git, such as ``origin``.
        repository: The repository on the forge.
    """

    remote: str
    repository: RepoRef


def host_and_path(url: str) -> tuple[str, str] | None:
    """Return the host and the repository's path in a remote's URL; None if it names no host.

    The host is in lower case. It includes the port only for ``http`` and ``https``, because an SSH
    port belongs to another server than the forge's pages. The path has no ``.git`` at its end. The
    result is None for a local path, and for a scheme that no forge uses.

    Source: git-clone(1), "GIT URLS".
    """
    if "://" in url:
        parts = urlsplit(url)
        if parts.scheme not in {"https", "http", "ssh", "git", "git+ssh", "ssh+git"}:
            return None
        host = parts.netloc.rpartition("@")[2].lower()
        if not parts.scheme.startswith("http"):
            host = host.partition(":")[0]
        return host, _repository(parts.path)
    match = _SCP_LIKE.fullmatch(url)
    return None if match is None else (match["host"].lower(), _repository(match["path"]))


def _repository(path: str) -> str:
    return path.strip("/").removesuffix(".git").rstrip("/")


def repository_of(specs: Mapping[str, ForgeSpec], urls: Sequence[str]) -> RepoRef | None:
    """Return the forge repository that one of these URLs of a remote names.

    The first URL that a forge recognises is used; None if none is recognised.

    Args:
        specs: The known forges, by name.
        urls: The URLs, as in `Remote.urls`.
    """
    for host, path in filter(None, map(host_and_path, urls)):
        for spec in specs.values():
            if spec.knows(host) and re.fullmatch(spec.repository, path):
                return RepoRef(forge=spec.name, host=spec.aliases.get(host, host), repo=path)
    return None


def forge_remotes(
    specs: Mapping[str, ForgeSpec], remotes: Iterable[Remote]
) -> tuple[ForgeRemote, ...]:
    """Return the remotes that are hosted by a forge in ``specs``, in the same order.

    ``specs`` has the known forges, by name. Other remotes are left out.
    """
    pairs = ((each.name, repository_of(specs, each.urls)) for each in remotes)
    return tuple(ForgeRemote(remote=name, repository=place) for name, place in pairs if place)


def main_remote(found: Sequence[ForgeRemote]) -> ForgeRemote | None:
    """Return the remote whose repository has the issues and pull requests; None if it is unclear.

    If all remotes are the same repository, that is the first of them; if not, it is ``upstream``,
    or else ``origin``. None, too, if ``found`` is empty or has neither.
    """
    by_name = {each.remote: each for each in found}
    named = next((by_name[name] for name in _FIRST if name in by_name), None)
    alone = all(each.repository.is_same(found[0].repository) for each in found)
    return found[0] if found and alone else named
