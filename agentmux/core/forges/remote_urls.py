"""Recognise the forge that a git remote is on, by the URL of the remote. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from agentmux.core.codec.frozen import dataclass
from agentmux.core.forges.spec import ForgeSpec, RepoRef

_SCP_LIKE: Final = re.compile(r"(?:[^@/:\s]+@)?(?P<host>[^/:@\s]+):(?P<path>[^\s]+)")
_FIRST: Final = ("upstream", "origin")
"""The remotes that are most likely the repository with the issues, by their usual names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """A remote of a git repository.

    Attributes:
        urls: Its URL as git uses it, and as it is written in the configuration.
    """

    name: str
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemotePlace:
    """A remote, and the repository on a forge that it is."""

    remote: str
    place: RepoRef


def host_and_path(url: str) -> tuple[str, str] | None:
    """Return the host and the path that a remote's URL names; None for a local path.

    A port belongs to the host in URLs of the web alone: that of SSH is another server's.

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


def place_of(specs: Mapping[str, ForgeSpec], urls: Sequence[str]) -> RepoRef | None:
    """Return the repository on a forge that a remote with one of these URLs is; None for none."""
    for host, path in filter(None, map(host_and_path, urls)):
        for spec in specs.values():
            if spec.knows(host) and re.fullmatch(spec.repository, path):
                return RepoRef(forge=spec.name, host=spec.aliases.get(host, host), repo=path)
    return None


def places(specs: Mapping[str, ForgeSpec], remotes: Iterable[Remote]) -> tuple[RemotePlace, ...]:
    """Return those of the remotes that are on a forge, in the same order."""
    pairs = ((each.name, place_of(specs, each.urls)) for each in remotes)
    return tuple(RemotePlace(remote=name, place=place) for name, place in pairs if place)


def main_place(found: Sequence[RemotePlace]) -> RemotePlace | None:
    """Return the repository that has the issues and takes the requests; None if it is not clear.

    That is the only one; else the remote ``upstream``, else ``origin``.
    """
    by_name = {each.remote: each for each in found}
    named = next((by_name[name] for name in _FIRST if name in by_name), None)
    alone = all(each.place.is_same(found[0].place) for each in found)
    return found[0] if found and alone else named
